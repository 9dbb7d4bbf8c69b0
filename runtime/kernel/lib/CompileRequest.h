// From a complete request to an artifact, with every stage dumped and every choice logged where somebody asks.
#pragma once
#include "BuildKey.h"
#include "tilewright/artifact/Artifact.h"

namespace tw {

/// Code for the CPU, or for a GPU by way of its text; for a GPU only the text, unless it is to be assembled.
[[nodiscard]] Artifact compileRequest(const Program &program, const Request &request, bool assemble = true);

} // namespace tw

// From a complete request to an artifact, with every stage dumped and every choice logged where somebody asks.
#pragma once
#include "BuildKey.h"
#include "tilewright/artifact/Artifact.h"
#include "tilewright/pipeline/Compile.h"
#include <functional>

namespace tw {

using StageSink = std::function<void(const Stage &)>;

/// Code for the CPU, or for a GPU by way of its text; for a GPU only the text, unless it is to be assembled. Where the assembler's code would be
/// slow, the request's other schedules are tried in turn. `sink` gets every stage of every try.
[[nodiscard]] Artifact compileRequest(const Program &program, const Request &request, bool assemble = true, const StageSink &sink = {});

} // namespace tw

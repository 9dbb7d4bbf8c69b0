// MLIR's diagnostics, kept until they become an exception.
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "tilewright/dsl/Diagnostic.h"
#include <functional>
#include <optional>
#include <string>

namespace tw {

/// The user's line in a location, if there is one.
[[nodiscard]] std::optional<Location> lineOf(mlir::Location where);

/// Collects errors of a context, without the operations that MLIR would print beside them. Remarks go to `onRemark` where it is set; else they, and warnings, pass on to whoever listened before.
class Refusals {
public:
  Refusals(mlir::MLIRContext &context, const std::function<void(const Diagnostic &)> &onRemark);
  /// Throws what was collected: a ProgramError at the user's line where an error has one, else a
  /// CompileError. `otherwise` is the message where nothing was said.
  [[noreturn]] void raise(const std::string &otherwise) const;

private:
  std::string text;                       // all errors, one a line
  std::optional<Diagnostic> atUsersLine;  // the first that has one
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tw

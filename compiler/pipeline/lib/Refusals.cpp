// MLIR's diagnostics, kept until they become an exception.
#include "Refusals.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "tilewright/pipeline/Compile.h"

namespace tw {

std::optional<Location> lineOf(mlir::Location where) {
  std::optional<Location> found;
  where->walk([&](mlir::Location inner) {
    if (auto line = mlir::dyn_cast<mlir::FileLineColLoc>(inner); line && !found)
      found = Location::of(line.getFilename().str(), line.getLine());
    return mlir::WalkResult::advance();
  });
  return found;
}

Refusals::Refusals(mlir::MLIRContext &context, const std::function<void(const Diagnostic &)> &onRemark)
    : handler(&context, [this, onRemark](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark && onRemark) {
          onRemark({lineOf(diagnostic.getLocation()).value_or(Location()), diagnostic.str(), {}});
          return mlir::success();
        }
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
          return mlir::failure();
        text += (text.empty() ? "" : "\n") + diagnostic.str();
        auto line = lineOf(diagnostic.getLocation());
        if (line && !atUsersLine) {
          atUsersLine = Diagnostic{*line, diagnostic.str(), {}};
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            if (auto place = lineOf(note.getLocation()))
              atUsersLine->notes.push_back({*place, note.str()});
        }
        return mlir::success();
      }) {
  context.printOpOnDiagnostic(false);   // an operation is nothing that a user wrote
}

void Refusals::raise(const std::string &otherwise) const {
  if (atUsersLine)
    throw ProgramError(*atUsersLine);
  throw CompileError(text.empty() ? otherwise : otherwise + ":\n" + text);
}

} // namespace tw

// One compilation: a module on its way through phases, each of which a person may want to see.
#pragma once
#include "Refusals.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/Target.h"
#include <functional>
#include <vector>

namespace tw {

/// Passes that make one step which a person may want to see.
struct Phase {
  const char *name;
  std::function<void(mlir::OpPassManager &)> add;
  bool ofModule = false;   // its passes run on the module, not on each kernel
};

/// Of a table, for one tile that is listed: a GPU's warp has less time for them.
std::int64_t mostElementsOf(const Target &target);

/// From what the importer makes to the tile module that the target lowers. `explain`: passes remark on their choices.
std::vector<Phase> tilePhases(const Schedule &schedule, const Target &target, bool explain);

std::string textOf(mlir::ModuleOp module);

/// A context of its own, so that any number of threads may compile.
class Compilation {
public:
  Compilation(const Program &program, const Schedule &schedule, const CompileOptions &options);

  void run(const std::vector<Phase> &phases);
  /// What the passes ask of every extent and every integer scalar.
  std::int64_t limit();
  /// The lists of tiles that an item that runs needs.
  std::vector<ListFacts> lists();
  /// Whether a mask keeps more of the fold the further the item's tile of the block axis lies.
  bool heaviestLast();

  const Program &program;
  const Schedule &schedule;
  const CompileOptions &options;
  mlir::MLIRContext context;
  Refusals refusals;
  Roles roles;
  mlir::OwningOpRef<mlir::ModuleOp> module;

private:
  void show(const char *name);
  void checkSchedule();
};

/// The arguments of a kernel, in order.
std::vector<Parameter> parametersOf(const Program &program, const Roles &roles);

} // namespace tw

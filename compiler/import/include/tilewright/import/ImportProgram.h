// From a program and a schedule to a tile module: the only place below the DSL that reads programs.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/dsl/Schedule.h"

namespace tw {

/// The module holds one kernel (see docs/TileDialect.md): arguments are the tensors in order of first
/// mention, the extents of all axes, the run-time scalars, then the item's coordinates (free axes in
/// order, the block axis last). Names and the user's lines ride in locations.
/// `widths` of the schedule must name the block, the fold and every inner axis.
/// Throws ProgramError at the user's line for what a kernel cannot be made of.
[[nodiscard]] mlir::OwningOpRef<mlir::ModuleOp> importProgram(mlir::MLIRContext &context, const Program &program, const Roles &roles,
                                                              const Schedule &schedule);

/// The name of the kernel's function: the program's name, with what no symbol may hold replaced by `_`.
[[nodiscard]] std::string kernelName(const Program &program);

} // namespace tw

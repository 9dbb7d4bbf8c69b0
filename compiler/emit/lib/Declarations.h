// What a kernel declares: its parameters, which become the fields of a struct, and what lies in shared memory, which become constants.
#pragma once
#include "Expression.h"
#include "Names.h"
#include "Text.h"
#include "tilewright/artifact/DeviceFacts.h"
#include "tilewright/ir/Device.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace tw::emit {

class Declarations {
public:
  /// Reads the declarations of `kernel`; where shared memory is not laid out, that is an error. Names are taken from `names`.
  static llvm::FailureOr<Declarations> of(device::KernelOp kernel, Names &names);

  /// The comment on top, the parameter struct, the constants of shared memory.
  void printHeader(Text &text) const;
  /// Names the rings and barriers for the simulator's reports, and sets the barriers up: one thread does.
  void printSetup(Text &text) const;

  /// How a body reads a parameter: `p.len_q`. The operation must be a parameter other than a map.
  Expression parameter(mlir::Value value) const;
  /// `&p.tm_K`
  std::string map(mlir::Value value) const;
  std::vector<std::string> maps() const;
  /// How a body reads how many numbers a list has room for.
  std::string roomOf(device::ListsOp lists) const;
  /// The threads that copy where no engine does: a warp of the producer's, or all of the consumers'.
  int64_t copyingThreads() const;
  /// Whether each of them arrives on these barriers, for what it has copied; else one arrival counts, a copy engine's or a post's.
  bool arrivedAtByLanes(mlir::Value barriers) const { return filledByLanes.contains(barriers); }
  /// Whether these lanes also store elements themselves, for which each arrives once more.
  bool storedByLanes(mlir::Value barriers) const { return storedThere.contains(barriers); }
  /// The stem of a ring's (K_AT, K_BYTES), of barriers' (K_FULL, K_EMPTY) or of a mailbox's (NEXT_AT) constants.
  const std::string &stem(mlir::Value declaration) const { return stems.find(declaration)->second; }

  LaunchFacts launch;

private:
  explicit Declarations(device::KernelOp kernel) : kernel(kernel) {}
  void addField(mlir::Operation *op, ParameterField field, Names &names);
  void addParameter(mlir::Operation &op, Names &names);
  llvm::LogicalResult addShared(mlir::Operation &op, Names &names);
  void addRingTensors();

  device::KernelOp kernel;
  llvm::DenseSet<mlir::Value> filledByLanes, storedThere;
  llvm::DenseMap<mlir::Value, std::string> fields, stems;
  llvm::StringMap<std::string> known;   // the same parameter declared twice is one field
  std::int64_t sharedEnd = 0;
};

/// Is this operation a declaration, which bodies refer to?
bool isDeclaration(mlir::Operation *op);

} // namespace tw::emit

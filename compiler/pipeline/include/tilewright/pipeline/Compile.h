// The whole way from a program to an artifact, and the one place where MLIR's diagnostics become exceptions.
#pragma once
#include "tilewright/artifact/Artifact.h"
#include "tilewright/artifact/CompileError.h"
#include "tilewright/dsl/Diagnostic.h"
#include "tilewright/dsl/Program.h"
#include "tilewright/dsl/Schedule.h"
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tw {

struct Target;

/// One state of a kernel on its way, as text.
struct Stage {
  std::string name;          // "import", "form-masks", …, "host", "llvm", "assembly"; files are numbered in this order
  std::string extension;     // ".mlir", ".ll", ".s", ".txt"
  std::string text;
};

struct CompileOptions {
  /// Called with every stage in order; texts are made only if it is set.
  std::function<void(const Stage &)> onStage = {};
  /// Called with what passes say of their choices, at the user's lines: why a mask does not bound a fold, why no tile is known to be
  /// full, why a fold keeps to exact steps. Passes explain themselves only if it is set.
  std::function<void(const Diagnostic &)> onRemark = {};
  /// For tensors of any strides and alignment, along their innermost dimension too: a GPU's kernel copies and stores element by element. Goes with a target that
  /// is withoutCopyEngine().
  bool strided = false;
};

/// How far a compilation goes.
enum class Emit {
  program,   // the DSL's text form
  tile,      // the tile module after all its passes
  host,      // what the CPU target makes of it, before LLVM
  device     // the program of one thread block of a GPU
};

/// Compiles for the CPU of this machine (target "host"). Throws ProgramError at the user's line, CompileError, and
/// std::invalid_argument for a schedule that names unknown axes.
[[nodiscard]] Artifact compileHost(const Program &program, const Schedule &schedule, const CompileOptions &options = {});

/// Compiles for a GPU as far as CUDA text: `source`, `instructions`, `launch` are filled, `code` and `resources` are the assembler's.
/// Needs no GPU. Throws as compileHost does, and CompileError for the host.
[[nodiscard]] Artifact compileDevice(const Program &program, const Schedule &schedule, const Target &target, const CompileOptions &options = {});

/// Throws what compileDevice throws where fields of a schedule do not go together on a GPU, and std::invalid_argument where a tile is not as wide as the inner
/// axis that lies in it, of these lengths. Compiles nothing.
void checkSchedule(const Program &program, const Schedule &schedule, const Target &target, const std::map<std::string, std::int64_t> &inner);

/// The text of one stage on the way to a target (without one: to the CPU). `program` needs no schedule.
[[nodiscard]] std::string emitText(const Program &program, const Schedule &schedule, const Target &target, Emit what, const CompileOptions &options = {});
[[nodiscard]] std::string emitText(const Program &program, const Schedule &schedule, Emit what);

/// What must hold at launch, as data: so that lengths known earlier can be checked earlier. Throws ProgramError for a
/// requirement on more than lengths, dimensions, scalars and arithmetic.
[[nodiscard]] std::vector<RequirementFacts> requirementsOf(const Program &program);

/// Where tensors are read at computed places, in the order of Artifact::indices, with the lines of this program.
[[nodiscard]] std::vector<IndexFacts> readsOf(const Program &program, const Schedule &schedule);

/// Changes whenever compiled code may: part of every cache key. Content of the compiler and LLVM's version.
[[nodiscard]] const std::string &compilerDigest();

} // namespace tw

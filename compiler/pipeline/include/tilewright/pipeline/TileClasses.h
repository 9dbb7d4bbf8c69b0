// What kernels know of the tiles of a fold at given lengths and tables: which they skip, which they visit without their masks.
#pragma once
#include "tilewright/dsl/Diagnostic.h"
#include "tilewright/dsl/Evaluate.h"
#include "tilewright/dsl/Program.h"
#include "tilewright/dsl/Schedule.h"
#include <memory>
#include <string>
#include <vector>

namespace tw {

struct Target;

enum class TileClass { empty, partial, full };

/// A mask of the fold, as the program has it.
struct MaskPlace {
  std::string name;       // of the step or value that made it; may be empty
  Location where;
};

/// What one mask says of a tile; neither where ranges of what it compares decide nothing.
struct MaskAnswer {
  bool empty = false;     // excludes all of it, and may skip it
  bool full = false;      // keeps all of it
};

struct ClassifiedTile {
  TileClass is = TileClass::partial;
  std::vector<MaskAnswer> answers;   // of the masks in order
  bool endsInside = true;            // it ends before its axis does
};

/// Interprets the scalar code by which a kernel of this schedule for this target classifies the tiles of its fold.
class TileClasses {
public:
  /// Throws what compiling throws. A fold without masks has full tiles only.
  TileClasses(const Program &program, const Schedule &schedule, const Target &target);
  ~TileClasses();

  [[nodiscard]] const std::vector<MaskPlace> &masks() const;
  [[nodiscard]] const std::string &blockAxis() const;
  [[nodiscard]] const std::string &foldAxis() const;
  [[nodiscard]] int blockWidth() const;
  [[nodiscard]] int foldWidth() const;

  /// The tiles of the fold, in ascending order, for the item whose coordinates `item` gives: of every free axis, and the first
  /// one of its tile of the block axis. `inputs.extents` gives the lengths of all axes of the kernel; tables are among the
  /// tensors, and of other tensors the shape is read at most.
  [[nodiscard]] std::vector<ClassifiedTile> classify(const Evaluation &inputs, const std::map<std::string, std::int64_t> &item) const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tw

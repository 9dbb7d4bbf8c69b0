// The tensors of a problem on which schedules are tried, in memory of the host or of a GPU.
#pragma once
#include "tilewright/cuda/Buffer.h"
#include "tilewright/kernel/Tune.h"
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tw {

struct Artifact;

/// Tensors that several programs share which run in turn.
struct SharedTensors {
  std::set<std::string> between;                          // lie between them: their rows begin at multiples of 16 bytes, as layOut() has them
  std::map<std::string, std::vector<std::byte>> stored;   // what an earlier one stored, element by element
};

/// The shape of every tensor of the program: those given, and those of stored tensors by the lengths of their axes. Throws
/// std::invalid_argument naming a tensor that is read and has none.
[[nodiscard]] std::map<std::string, std::vector<std::int64_t>>
allShapes(const Program &program, const std::map<std::string, std::vector<std::int64_t>> &given, const std::map<std::string, std::int64_t> &inner);

/// `K=4x8x4096x128 Q=4x32x4096x128`
[[nodiscard]] std::string shapesText(const std::map<std::string, std::vector<std::int64_t>> &shapes);

/// Shapes that are cut down to what evaluate() takes some tenths of a second for: some tiles along block and fold, odd lengths, few of the rest. Tried in
/// turn, as a program may require something of its lengths.
[[nodiscard]] std::vector<TuningInputs> smallProblems(const Artifact &artifact, const TuningInputs &whole);

/// The tensors of a problem, with one set of stored ones.
class TuneProblem {
public:
  /// On GPU `ordinal`, or of the host where there is none. Every tensor has a shape.
  TuneProblem(const Program &program, TuningInputs inputs, std::optional<int> ordinal, const SharedTensors &shared = {});

  [[nodiscard]] const Arguments &arguments() const { return given; }
  [[nodiscard]] const std::vector<std::string> &stored() const { return outputs; }
  /// Makes all stored tensors NaN, or -1 where they are integers: what is not written shows.
  void clearStored();
  /// As evaluate() takes them; of what was made here, too.
  [[nodiscard]] Evaluation evaluation() const;
  /// Some elements of a stored tensor: all of them up to `most`, else runs of neighbours, evenly spread.
  [[nodiscard]] std::vector<double> sample(const std::string &tensor, std::size_t most) const;
  /// All of a tensor as it is now, element by element.
  [[nodiscard]] std::vector<std::byte> elementsOf(const std::string &tensor) const;
  /// Of all tensors.
  [[nodiscard]] std::size_t bytes() const;
  /// How many the tensor has.
  [[nodiscard]] std::size_t elements(const std::string &tensor) const;

private:
  struct Place {
    std::vector<std::byte> host;
    cuda::Buffer device;
    std::size_t row = 0, step = 0;   // bytes of one, and from one to the next
    [[nodiscard]] std::vector<std::byte> gathered(const std::vector<std::byte> &from) const;
  };
  [[nodiscard]] Place placeOf(const TensorInfo &tensor, const TuningInputs &inputs, const SharedTensors &shared, bool isStored) const;

  std::optional<int> ordinal;
  Arguments given;
  std::vector<std::string> outputs;
  std::map<std::string, Place> places;
};

} // namespace tw

// What `run` runs: a variant, and its inputs as numbers.
#pragma once
#include "Options.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/kernel/Kernel.h"
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tw::cli {

/// A program and inputs that are exactly representable in its tensors' types.
struct Problem {
  std::string variant;
  Program program;
  Type type = Type::bf16;
  Shape shape;
  Evaluation inputs;
  VariantFacts facts = {};
};

/// The shape as the gallery takes it.
[[nodiscard]] VariantShape variantShape(const Shape &shape);

/// Normal numbers of mean 0 and deviation 1 by `seed` for Q, K and V; other tensors from the files of `captures`, by name, or as the variant's facts make them;
/// rounded to the types.
[[nodiscard]] Problem randomProblem(const std::string &variant, Type type, const Shape &shape, std::uint64_t seed, const std::map<std::string, std::string> &captures = {});

/// Files for Q, K, V and other tensors by name. Values are converted to `type`, or, without one, must be of the type of Q.
struct Files {
  std::string q, k, v;
  std::map<std::string, std::string> captures;
};
[[nodiscard]] Problem filedProblem(const std::string &variant, std::optional<Type> type, const Files &files);

/// Makes the rows of K and V at these keys NaN; negative ones count from the end.
void spoilKeys(Problem &problem, const std::vector<std::int64_t> &keys);

/// The shape of tensor `name`, Q, K, V, O or lse.
[[nodiscard]] std::vector<std::int64_t> shapeOf(const Shape &shape, const std::string &name);

/// Tensors of a program in memory, in their types, as a kernel takes them.
class Memory {
public:
  explicit Memory(const Problem &problem);
  [[nodiscard]] const Arguments &arguments() const { return given; }
  [[nodiscard]] std::size_t bytesOf(const std::string &tensor) const;
  /// A stored tensor as numbers.
  [[nodiscard]] Array read(const std::string &tensor) const;
  /// What the program stores.
  [[nodiscard]] std::map<std::string, Array> outputs() const;

private:
  std::vector<std::string> stored;
  std::map<std::string, std::unique_ptr<std::byte[]>> bytes;
  Arguments given;
};

} // namespace tw::cli

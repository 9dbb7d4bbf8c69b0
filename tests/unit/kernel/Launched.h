// Runs a kernel on arrays of numbers, as a test wants to see it.
#pragma once
#include "support/Arrays.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/kernel/Elements.h"
#include "tilewright/kernel/Kernel.h"
#include <cstring>
#include <memory>

namespace tw::tests {

/// Tensors in memory; stored ones start as NaN.
class Tensors {
public:
  Tensors(const Program &program, const Evaluation &inputs, const std::map<std::string, std::vector<std::int64_t>> &stored) {
    for (const auto &tensor : tensorsOf(program)) {
      auto out = stored.find(tensor->name);
      const auto &shape = out != stored.end() ? out->second : inputs.tensors.at(tensor->name).shape;
      std::size_t count = 1;
      for (std::int64_t n : shape)
        count *= static_cast<std::size_t>(n);
      auto &bytes = memory[tensor->name] = std::vector<std::byte>(count * static_cast<std::size_t>(tw::bytes(tensor->type)) + 1, std::byte(0xff));
      if (out == stored.end())
        putElements(inputs.tensors.at(tensor->name).data, tensor->type, bytes.data());
      arguments.tensors[tensor->name] = {bytes.data(), tensor->type, shape, {}};
    }
    arguments.scalars = inputs.scalars;
  }

  [[nodiscard]] Array read(const std::string &name) const {
    const TensorView &view = arguments.tensors.at(name);
    return {view.shape, getElements(view.type, view.data, (memory.at(name).size() - 1) / static_cast<std::size_t>(tw::bytes(view.type)))};
  }

  Arguments arguments;

private:
  std::map<std::string, std::vector<std::byte>> memory;
};

/// Lengths of one attention problem.
struct Lengths {
  std::int64_t b = 1, h = 2, hkv = 1, sq = 7, skv = 9, d = 8, dv = 8;
};

inline Evaluation randomInputs(const Lengths &n, Type type, unsigned seed = 1) {
  return {{{"Q", randomArray({n.b, n.h, n.sq, n.d}, seed, type)}, {"K", randomArray({n.b, n.hkv, n.skv, n.d}, seed + 1, type)}, {"V", randomArray({n.b, n.hkv, n.skv, n.dv}, seed + 2, type)}}, {}};
}

inline std::map<std::string, std::vector<std::int64_t>> outputs(const Lengths &n) {
  return {{"O", {n.b, n.h, n.sq, n.dv}}, {"lse", {n.b, n.h, n.sq}}};
}

inline BuildOptions headDims(const Lengths &n) {
  BuildOptions options;
  options.extents = {{"d", n.d}, {"e", n.dv}};
  options.useCache = false;
  return options;
}

} // namespace tw::tests

// Gradients of a program by kernels for the CPU, and by a tape in float64.
#pragma once
#include "Launched.h"
#include "support/Compare.h"
#include "support/Tape.h"
#include "tilewright/kernel/GradientKernels.h"
#include <catch2/catch.hpp>

namespace tw::tests {

/// Memory for a program and its gradients; what kernels write starts as NaN.
struct GradientRun {
  GradientRun(const Program &program, const Evaluation &inputs, const BuildOptions &options, const GradientOptions &wanted = {}) : GradientRun(program, buildGradient(program, options, wanted), inputs) {}

  /// With kernels that are there already; `hasExpected`: what the gradients should be is wanted too.
  GradientRun(const Program &program, GradientKernels built, const Evaluation &inputs, bool hasExpected = true) : kernels(std::move(built)), in(inputs) {
    const Gradient &made = kernels.programs();
    std::erase_if(in.tensors, [&](const auto &tensor) { return !mentions(program, tensor.first); });
    Tape tape(program, in);
    const auto outputs = tape.forward();
    std::map<std::string, Array> upstream;
    unsigned seed = 100;
    for (const Store &store : program.stores)
      reserve(store.tensor.name(), store.tensor.type(), outputs.at(store.tensor.name()).shape);
    for (const auto &[output, name] : made.upstream) {
      const Type type = arguments.tensors.at(output).type;
      upstream[output] = randomArray(outputs.at(output).shape, ++seed, type);
      reserve(name, type, upstream[output].shape, &upstream[output]);
    }
    if (hasExpected)
      expected = tape.backward(upstream);
    for (const auto &tensor : tensorsOf(program))
      if (auto given = in.tensors.find(tensor->name); given != in.tensors.end())
        reserve(tensor->name, tensor->type, given->second.shape, &given->second);
    arguments.scalars = in.scalars;
    for (const Program &each : made.backward)
      for (const Store &store : each.stores)
        for (const auto &[input, name] : made.gradients)
          if (name == store.tensor.name())
            reserve(name, store.tensor.type(), in.tensors.count(input) ? in.tensors.at(input).shape : std::vector<std::int64_t>{1});
    workspace.assign(kernels.workspaceBytes(arguments) + 64, std::byte(0xff));
  }

  static bool mentions(const Program &program, const std::string &name) {
    for (const auto &tensor : tensorsOf(program))
      if (tensor->name == name)
        return true;
    return false;
  }

  void run() {
    void *start = workspace.data();
    std::size_t room = workspace.size();
    start = std::align(64, room - 64, start, room);
    kernels.forward(hostStream, arguments, {start, room});
    kernels.backward(hostStream, arguments, {start, room});
  }

  [[nodiscard]] Array of(const std::string &input) const { return read(kernels.programs().gradients.at(input)); }

  [[nodiscard]] Array read(const std::string &name) const {
    const TensorView &view = arguments.tensors.at(name);
    std::size_t count = 1;
    for (std::int64_t n : view.shape)
      count *= std::size_t(n);
    return {view.shape, getElements(view.type, view.data, count)};
  }

  GradientKernels kernels;
  Evaluation in;
  Arguments arguments;
  std::map<std::string, Array> expected;   // by input

private:
  void reserve(const std::string &name, Type type, const std::vector<std::int64_t> &shape, const Array *values = nullptr) {
    std::size_t count = 1;
    for (std::int64_t n : shape)
      count *= std::size_t(n);
    auto &bytes = memory[name] = std::vector<std::byte>(count * std::size_t(tw::bytes(type)) + 1, std::byte(0xff));
    if (values)
      putElements(values->data, type, bytes.data());
    arguments.tensors[name] = {bytes.data(), type, shape, {}};
  }
  std::map<std::string, std::vector<std::byte>> memory;
  std::vector<std::byte> workspace;
};

/// Every gradient is within what rounding of the type explains, relative to the largest element.
inline void check(GradientRun &run, Type type) {
  run.run();
  for (const auto &[input, name] : run.kernels.programs().gradients) {
    const Array &want = run.expected.at(input);
    double largest = 0;
    for (double x : want.data)
      largest = std::max(largest, std::abs(x));
    const double u = unitRoundoff(type), sums = unitRoundoff(type == Type::f64 ? Type::f64 : Type::f32);
    const Comparison c = compare(run.of(input), want, {largest * (2 * u + 64 * sums) + 1e-30, u});
    INFO(name << ": " << c.summary);
    CHECK(c.ok);
  }
}

inline Evaluation inputsFor(const Lengths &n, Type type) {
  Evaluation in = randomInputs(n, type);
  in.tensors["slopes"] = randomArray({n.h}, 9, type == Type::f64 ? Type::f64 : Type::f32, 0.1);
  return in;
}

} // namespace tw::tests

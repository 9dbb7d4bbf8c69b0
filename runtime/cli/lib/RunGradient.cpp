// `tilewright run --pass backward`: the gradients of a variant's inputs.
#include "Commands.h"
#include "Run.h"
#include "Watch.h"
#include "tilewright/cpu/ThreadPool.h"
#include "tilewright/dsl/Gradient.h"
#include "tilewright/kernel/Elements.h"
#include "tilewright/kernel/GradientKernels.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <random>

namespace tw::cli {
namespace {

using Arrays = std::map<std::string, Array>;

/// What one run of the backward pass found out. Times are seconds.
struct BackwardReport {
  Arrays gradients;                 // by input
  double forwardSeconds = 0, backwardSeconds = 0, buildSeconds = 0;
  std::vector<std::string> kernels; // in order; empty: there are none
  std::size_t workspaceBytes = 0;
  int threads = 1;
};

std::size_t points(const std::vector<std::int64_t> &shape) {
  std::size_t n = 1;
  for (std::int64_t length : shape)
    n *= std::size_t(length);
  return n;
}

/// Numbers from -1 to 1, the same with every C++ library.
class Uniform {
public:
  explicit Uniform(std::uint64_t seed) : generator(seed) {}
  double operator()() { return double(generator() >> 11) * 0x1p-52 - 1; }

private:
  std::mt19937_64 generator;
};

/// The problem's inputs and the derivatives of the loss: normal enough, and rounded to O's type.
Evaluation withDerivatives(const Problem &problem, const Gradient &made) {
  Evaluation inputs = problem.inputs;
  Uniform uniform(0x6772);
  Array array{shapeOf(problem.shape, "O"), {}};
  for (std::size_t i = 0, n = points(array.shape); i < n; ++i)
    array.data.push_back(rounded(uniform() + uniform() + uniform(), problem.type));
  inputs.tensors[made.upstream.at("O")] = std::move(array);
  return inputs;
}

Arrays byInput(const Gradient &made, const Arrays &stored) {
  Arrays gradients;
  for (const auto &[input, name] : made.gradients)
    gradients[input] = stored.at(name);
  return gradients;
}

class Tensors {
public:
  TensorView &add(const std::string &name, Type type, const std::vector<std::int64_t> &shape) {
    auto &own = bytes[name] = std::vector<std::byte>(points(shape) * std::size_t(tw::bytes(type)) + 1, std::byte(0xff));   // NaN: what is not written shows
    return arguments.tensors[name] = {own.data(), type, shape, {}};
  }
  Arguments arguments;

private:
  std::map<std::string, std::vector<std::byte>> bytes;
};

struct Free {
  void operator()(std::byte *memory) const { ::operator delete(memory, std::align_val_t(256)); }
};

BackwardReport onCpu(const Problem &problem, const Evaluation &inputs, const GradientOptions &wanted, const RunOptions &options) {
  BackwardReport report;
  const Watch building;
  const GradientKernels kernels = buildGradient(problem.program, buildOptionsOf(problem, options, "host"), wanted);
  report.buildSeconds = building.seconds();
  report.threads = ThreadPool::shared().threads();
  for (const Kernel &kernel : kernels.kernels())
    report.kernels.push_back(kernel.name() + ": " + print(kernel.schedule()));
  const Gradient &made = kernels.programs();
  Tensors tensors;
  for (const auto &tensor : tensorsOf(problem.program)) {
    auto given = inputs.tensors.find(tensor->name);
    TensorView &view = tensors.add(tensor->name, tensor->type, given != inputs.tensors.end() ? given->second.shape : shapeOf(problem.shape, tensor->name));
    if (given != inputs.tensors.end()) {
      putElements(given->second.data, view.type, view.data);
      if (auto gradient = made.gradients.find(tensor->name); gradient != made.gradients.end())
        tensors.add(gradient->second, tensor->type, given->second.shape);
    }
  }
  for (const auto &[output, name] : made.upstream) {
    TensorView &view = tensors.add(name, tensors.arguments.tensors.at(output).type, inputs.tensors.at(name).shape);
    putElements(inputs.tensors.at(name).data, view.type, view.data);
  }
  for (const Tile &scalar : scalarsOf(problem.program))
    if (auto gradient = made.gradients.find(scalar.node().label); gradient != made.gradients.end())
      tensors.add(gradient->second, scalar.type(), {1});
  tensors.arguments.scalars = inputs.scalars;
  report.workspaceBytes = kernels.workspaceBytes(tensors.arguments);
  const std::unique_ptr<std::byte, Free> memory(static_cast<std::byte *>(::operator new(report.workspaceBytes, std::align_val_t(256))));
  const Workspace workspace{memory.get(), report.workspaceBytes};
  std::vector<double> forward, backward;
  for (int i = 0; i <= options.repeat.value_or(RunOptions::usualRepeat); ++i) {   // the first warms caches and threads
    const Watch first;
    kernels.forward(hostStream, tensors.arguments, workspace);
    const double seconds = first.seconds();
    const Watch second;
    kernels.backward(hostStream, tensors.arguments, workspace);
    if (i == 0)
      continue;
    forward.push_back(seconds);
    backward.push_back(second.seconds());
  }
  report.forwardSeconds = median(forward);
  report.backwardSeconds = median(backward);
  for (const auto &[input, name] : made.gradients) {
    const TensorView &view = tensors.arguments.tensors.at(name);
    report.gradients[input] = {view.shape, getElements(view.type, view.data, points(view.shape))};
  }
  return report;
}

BackwardReport byEvaluate(const Evaluation &inputs, const Gradient &made) {
  BackwardReport report;
  Evaluation tiled = inputs;
  tiled.foldTile = 64;
  const Watch watch;
  report.gradients = byInput(made, evaluateGradient(made, tiled));
  report.backwardSeconds = watch.seconds();
  return report;
}

double unitRoundoff(Type type) { return type == Type::f16 ? 0x1p-11 : type == Type::bf16 ? 0x1p-8 : type == Type::f64 ? 0x1p-53 : 0x1p-24; }

double largestDifference(const Array &a, const Array &b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.data.size(); ++i)
    if (std::isfinite(a.data[i]) && std::isfinite(b.data[i]))
      largest = std::max(largest, std::abs(a.data[i] - b.data[i]));
  return largest;
}

Comparison compareGradient(const std::string &name, const Array &result, const Array &expected, Type type, double tolerance) {
  Comparison c{name};
  c.isRight = true;
  std::int64_t finite = 0;
  double squares = 0;
  auto place = [&](std::size_t at) {
    std::vector<std::int64_t> index(expected.shape.size());
    for (std::size_t d = index.size(); d-- > 0; at /= std::size_t(expected.shape[d]))
      index[d] = std::int64_t(at % std::size_t(expected.shape[d]));
    return index;
  };
  auto wrong = [&](std::size_t at, const char *what) {
    if (c.wrong.empty())
      c.wrong = fmt::format("{} at [{}]: {}, expected {}", what, fmt::join(place(at), ", "), result.data[at], expected.data[at]);
    c.isRight = false;
  };
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    const double got = result.data[i], want = expected.data[i];
    if (std::isnan(got) && std::isnan(want)) {
      ++c.nans;
      continue;
    }
    if (std::isnan(got) || std::isnan(want)) {
      wrong(i, std::isnan(got) ? "NaN" : "no NaN");
      continue;
    }
    if (!std::isfinite(got) || !std::isfinite(want)) {
      if (got != want && got != rounded(want, type))
        wrong(i, "an infinity on one side");
      continue;
    }
    const double error = std::abs(got - want), allowed = tolerance + unitRoundoff(type) * std::abs(want), share = allowed > 0 ? error / allowed : error > 0 ? INFINITY : 0;
    ++finite;
    squares += error * error;
    c.maxError = std::max(c.maxError, error);
    if (error > allowed)
      wrong(i, "too far off");
    if (c.worst.empty() || share > c.largestShare) {
      c.largestShare = share;
      c.worst = place(i);
      c.result = got;
      c.expected = want;
      c.tolerance = allowed;
    }
  }
  c.rmsError = finite ? std::sqrt(squares / double(finite)) : 0;
  return c;
}

/// Against float64. What rounding explains is measured: four times what the largest element of a gradient moves by when all that kernels
/// store between them is rounded to its type, and when every input moves by what 16 roundings in the arithmetic's type, or one in its own, may.
std::vector<Comparison> checkGradients(const Problem &problem, const Gradient &made, const Evaluation &inputs, const BackwardReport &report) {
  const Arrays exact = byInput(made, evaluateGradient(made, inputs));
  const Arrays stored = byInput(made, evaluateGradient(made, inputs, [](double x, Type type) { return rounded(x, type); }));
  const double u = std::max(unitRoundoff(problem.type), 16 * unitRoundoff(problem.type == Type::f64 ? Type::f64 : Type::f32));
  Evaluation moved = inputs;
  Uniform uniform(1);
  for (auto &[name, array] : moved.tensors)
    for (double &x : array.data)
      x *= 1 + u * uniform();
  const Arrays shaken = byInput(made, evaluateGradient(made, moved));
  std::vector<Comparison> comparisons;
  for (const auto &[input, expected] : exact) {
    const auto tensors = tensorsOf(problem.program);
    const auto tensor = std::find_if(tensors.begin(), tensors.end(), [&, name = &input](const auto &info) { return info->name == *name; });
    const Type type = tensor != tensors.end() ? (*tensor)->type : Type::f32;
    const double tolerance = 4 * (largestDifference(stored.at(input), expected) + largestDifference(shaken.at(input), expected));
    comparisons.push_back(compareGradient(made.gradients.at(input), report.gradients.at(input), expected, type, tolerance));
  }
  return comparisons;
}

void printReport(const Problem &problem, const BackwardReport &report, const std::vector<Comparison> &comparisons, const RunOptions &options) {
  const Shape &s = problem.shape;
  if (options.json) {
    Json json = {{"variant", problem.variant}, {"dtype", name(problem.type)}, {"on", options.on}, {"pass", "backward"},
                 {"shape", {{"B", s.b}, {"H", s.h}, {"Hkv", s.hkv}, {"Sq", s.sq}, {"Skv", s.skv}, {"D", s.d}, {"Dv", s.dv}}}, {"threads", report.threads}, {"seconds", report.backwardSeconds}};
    if (!report.kernels.empty()) {
      json["forward_seconds"] = report.forwardSeconds;
      json["build_seconds"] = report.buildSeconds;
      json["workspace_bytes"] = report.workspaceBytes;
      json["kernels"] = report.kernels;
    }
    for (const Comparison &c : comparisons)
      json["check"][c.tensor] = toJson(c);
    return printJson(json);
  }
  std::string text = fmt::format("{} {} backward on {}: B {}, H {}, Hkv {}, Sq {}, Skv {}, D {}, Dv {}\n", problem.variant, name(problem.type), options.on, s.b, s.h, s.hkv, s.sq, s.skv, s.d, s.dv);
  for (const std::string &kernel : report.kernels)
    text += fmt::format("kernel    {}\n", kernel);
  if (report.kernels.empty())
    text += fmt::format("time      {:.3f} ms in float64, tiles of 64\n", report.backwardSeconds * 1e3);
  else
    text += fmt::format("built     in {:.1f} ms; {} bytes of workspace\ntime      forward {:.3f} ms, backward {:.3f} ms (medians of {}) on {} thread{}\n", report.buildSeconds * 1e3, report.workspaceBytes,
                        report.forwardSeconds * 1e3, report.backwardSeconds * 1e3, options.repeat.value_or(RunOptions::usualRepeat), report.threads, report.threads == 1 ? "" : "s");
  for (const Comparison &c : comparisons)
    text += toText(c);
  printText(text);
}

} // namespace

int runBackward(const Problem &problem, const RunOptions &options) {
  const GradientOptions wanted{.outputs = {"O"}, .inputs = {}};
  const Gradient made = gradient(problem.program, wanted);
  const Evaluation inputs = withDerivatives(problem, made);
  const BackwardReport report = options.on == "cpu" ? onCpu(problem, inputs, wanted, options) : byEvaluate(inputs, made);
  const std::vector<Comparison> comparisons = options.check ? checkGradients(problem, made, inputs, report) : std::vector<Comparison>();
  printReport(problem, report, comparisons, options);
  return std::all_of(comparisons.begin(), comparisons.end(), [](const Comparison &c) { return c.isRight; }) ? right : failedCheck;
}

} // namespace tw::cli

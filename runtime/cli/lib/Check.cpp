#include "Check.h"
#include "CompareElements.h"
#include "Output.h"
#include "Variant.h"
#include "tilewright/kernel/Elements.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <random>
#include <set>

namespace tw::cli {
namespace {

/// Whether a value of which `is` holds has a part in what the program stores.
bool hasValue(const Program &program, const std::function<bool(const Node &)> &is) {
  std::set<const Node *> seen;
  std::function<bool(const Tile &)> has = [&](const Tile &value) {
    const Node &node = value.node();
    if (!seen.insert(&node).second)
      return false;
    auto any = [&](const std::vector<Tile> &tiles) { return std::any_of(tiles.begin(), tiles.end(), has); };
    return is(node) || any(node.operands) || (node.fold && (any(node.fold->starts) || any(node.fold->yields)));
  };
  return std::any_of(program.stores.begin(), program.stores.end(), [&](const Store &store) { return has(store.value); });
}

/// Of the arithmetic that makes the outputs: that of f32 unless all of it is in f64.
double arithmeticRoundoff(const Problem &problem) {
  const bool isNarrow = problem.type != Type::f64 || hasValue(problem.program, [](const Node &node) { return isFloat(node.type) && node.type != Type::f64 && node.op != Op::constant; });
  return unitRoundoff(isNarrow ? Type::f32 : Type::f64);
}

/// Elements [from, from + count) of the array's dimension `dimension`, all of the others.
Array slice(const Array &array, std::size_t dimension, std::int64_t from, std::int64_t count) {
  std::int64_t outer = 1, inside = 1;
  for (std::size_t d = 0; d < array.shape.size(); ++d)
    (d < dimension ? outer : inside) *= d == dimension ? 1 : array.shape[d];
  Array out{array.shape, {}};
  out.shape[dimension] = count;
  const std::int64_t length = array.shape[dimension];
  for (std::int64_t o = 0; o < outer; ++o) {
    auto start = array.data.begin() + (o * length + from) * inside;
    out.data.insert(out.data.end(), start, start + count * inside);
  }
  return out;
}

/// Whether heads may be evaluated one by one: nothing but tensors tells one head from another. Of a variant in a file that is not known.
bool isByHead(const Problem &problem) {
  return problem.facts.isBounded() && !hasValue(problem.program, [](const Node &node) { return node.op == Op::random; });   // these stand on coordinates
}

/// What of tensor `name` some heads of queries see that share a head of keys.
Array headsOf(const Problem &problem, const std::string &name, const std::vector<std::string> &shape, std::int64_t b, std::int64_t head, std::int64_t count) {
  Array array = problem.inputs.tensors.at(name);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == "B")
      array = slice(array, d, b, 1);
    if (shape[d] == "H")
      array = slice(array, d, head, count);
    if (shape[d] == "Hkv")
      array = slice(array, d, head / (problem.shape.h / problem.shape.hkv), 1);
  }
  return array;
}

std::map<std::string, Array> capturesOf(const Problem &problem, std::int64_t b, std::int64_t head, std::int64_t count) {
  std::map<std::string, Array> captures;
  for (const Capture &capture : problem.facts.captures)
    captures[capture.name] = headsOf(problem, capture.name, capture.shape, b, head, count);
  return captures;
}

/// The inputs of `count` heads of queries that share a head of keys.
Evaluation part(const Problem &problem, std::int64_t b, std::int64_t head, std::int64_t count) {
  Evaluation inputs = {capturesOf(problem, b, head, count), problem.inputs.scalars};
  inputs.tensors["Q"] = headsOf(problem, "Q", {"B", "H", "Sq", "D"}, b, head, count);
  for (const char *name : {"K", "V"})
    inputs.tensors[name] = headsOf(problem, name, {"B", "Hkv", "Skv", "D"}, b, head, count);
  return inputs;
}

/// O and lse by a kernel for the CPU in float64: as far from the GPU's as a compiled kernel can be, and much quicker than evaluate().
std::map<std::string, Array> compiledOracle(const Problem &problem) {
  Problem exact{problem.variant, programOf(problem.variant, {.type = Type::f64, .lse = true}), Type::f64, problem.shape, problem.inputs, problem.facts};
  BuildOptions options;
  options.extents = {{"d", problem.shape.d}, {"e", problem.shape.dv}};
  const Kernel kernel = build(exact.program, options);
  const Memory memory(exact);
  kernel.launch(memory.arguments());
  return memory.outputs();
}

/// Multiplications that an oracle does for one head, were nothing masked.
double work(const Shape &s) { return double(s.sq) * double(s.skv) * double(s.d + s.dv); }

/// Takes a comparison of part of a tensor into that of the whole.
void merge(Comparison &whole, const Comparison &part) {
  if (whole.tensor.empty()) {
    whole = part;
    return;
  }
  // The root of a mean: parts are equally large.
  whole.rmsError = std::sqrt((whole.rmsError * whole.rmsError * whole.parts + part.rmsError * part.rmsError) / (whole.parts + 1));
  ++whole.parts;
  whole.isRight &= part.isRight;
  whole.maxError = std::max(whole.maxError, part.maxError);
  whole.nans += part.nans;
  whole.limited += part.limited;
  if (whole.wrong.empty())
    whole.wrong = part.wrong;
  if (whole.worst.empty() || part.largestShare > whole.largestShare) {
    whole.largestShare = part.largestShare;
    whole.worst = part.worst;
    whole.result = part.result;
    whole.expected = part.expected;
    whole.tolerance = part.tolerance;
  }
}

/// What the tolerance of an element is made of.
struct Bounds {
  std::vector<double> score;      // [b, h, q]: absolute error of a score, as a bound on the relative one of exp(score)
  std::vector<double> value;      // [b, hkv, e]: the largest finite |V|, times what an output is of a mean
  std::vector<double> slope;      // [b, h, q]: where outputs are no means, how the weights of a row move together with its scores
  Array magnitudes;               // where outputs are no means, Σ |weight · V|
  double sum = 0;                 // relative error of a sum over the keys
  std::map<std::string, double> measured;   // of a variant of which no bound is known: by tensor, what rounding may move its elements by
};

/// Outputs were all terms of their sums positive.
Array magnitudesOf(const Problem &problem) {
  Evaluation inputs = problem.inputs;
  for (double &v : inputs.tensors.at("V").data)
    v = std::abs(v);
  return evaluate(programOf(problem.variant, {.type = problem.type, .lse = false, .magnitudes = true}), inputs).at("O");
}

/// The largest finite Euclidean norm of rows [first, first + count) of length `length`.
double largestNorm(const std::vector<double> &data, std::int64_t first, std::int64_t count, std::int64_t length) {
  double largest = 0;
  for (std::int64_t row = first; row < first + count; ++row) {
    double squares = 0;
    for (std::int64_t i = 0; i < length; ++i)
      squares += data[std::size_t(row * length + i)] * data[std::size_t(row * length + i)];
    if (std::isfinite(squares))
      largest = std::max(largest, std::sqrt(squares));
  }
  return largest;
}

/// Of the same problem in float64: by evaluate(), or by a kernel for the CPU where that would take too long.
std::map<std::string, Array> exactOutputs(const Problem &problem) {
  const Shape &s = problem.shape;
  return work(s) * double(s.b * s.h) <= usualBudget.interpreted ? oracle(problem) : compiledOracle(problem);
}

/// Four times what the largest element of each output moves by when every input moves by 16 roundings of the arithmetic, and when V does by one of
/// its own, as weights do that are rounded to it.
std::map<std::string, double> measuredBounds(const Problem &problem, const std::map<std::string, Array> &exact) {
  std::map<std::string, double> bounds;
  std::mt19937_64 random(1);
  auto move = [&](Array &array, double size) {
    for (double &x : array.data)
      x *= 1 + size * (double(random() >> 11) * 0x1p-52 - 1);
  };
  Problem all = problem, values = problem;
  for (const auto &tensor : tensorsOf(problem.program))
    if (const auto input = all.inputs.tensors.find(tensor->name); input != all.inputs.tensors.end() && isFloat(tensor->type))
      move(input->second, 16 * arithmeticRoundoff(problem));
  move(values.inputs.tensors.at("V"), unitRoundoff(problem.type));
  for (const Problem *moved : {&all, &values})
    for (const auto &[name, array] : exactOutputs(*moved))
      if (const auto expected = exact.find(name); expected != exact.end())
        bounds[name] += 4 * largestDifference(array.data, expected->second.data);
  return bounds;
}

/// The largest constant that a tanh is multiplied by, 0 where there is none.
double largestTangent(const Program &program) {
  double largest = 0;
  (void)hasValue(program, [&](const Node &node) {
    for (std::size_t i = 0; node.op == Op::mul && i < 2; ++i)
      if (node.operands[i].node().op == Op::tanh && node.operands[1 - i].node().op == Op::constant)
        largest = std::max(largest, std::abs(node.operands[1 - i].node().literal));
    return false;
  });
  return largest;
}

Bounds boundsOf(const Problem &problem, const std::map<std::string, Array> &exact) {
  const Shape &s = problem.shape;
  if (!problem.facts.isBounded()) {
    Bounds bounds;
    bounds.measured = measuredBounds(problem, exact);
    return bounds;
  }
  const auto &inputs = problem.inputs.tensors;
  const auto &q = inputs.at("Q").data, &k = inputs.at("K").data, &v = inputs.at("V").data;
  const double u = unitRoundoff(problem.type == Type::f64 ? Type::f64 : Type::f32);
  const double approximation = hasValue(problem.program, [](const Node &node) { return node.op == Op::tanhApproximate; }) ? 0x1p-11 : 0;
  const double tangent = problem.type == Type::f64 ? 0 : 0x1p-21 * largestTangent(problem.program);
  Bounds bounds;
  bounds.sum = 4 * std::sqrt(double(std::max<std::int64_t>(s.skv, 1))) * u + 8 * u;
  const std::int64_t group = s.hkv ? s.h / s.hkv : 0;
  const VariantShape shape = variantShape(s);
  const double scale = problem.facts.scale(inputs);
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.h; ++h) {
      const double key = largestNorm(k, (b * s.hkv + h / group) * s.skv, s.skv, s.d);
      const auto captures = capturesOf(problem, b, h, 1);
      const auto [factor, bias] = problem.facts.scoreBound(shape, captures);
      for (std::int64_t row = 0; row < s.sq; ++row) {
        const double size = largestNorm(q, (b * s.h + h) * s.sq + row, 1, s.d) * key / std::sqrt(double(s.d)), most = factor * size + bias;
        bounds.score.push_back((4 * std::sqrt(double(s.d)) + 16) * u * (most + 1) + approximation * most + tangent);
        bounds.slope.push_back(problem.facts.isMean ? 0 : problem.facts.slope(shape, captures, most));
      }
    }
  if (!problem.facts.isMean)
    bounds.magnitudes = magnitudesOf(problem);
  for (std::int64_t head = 0; head < s.b * s.hkv; ++head)
    for (std::int64_t e = 0; e < s.dv; ++e) {
      double largest = 0;
      for (std::int64_t key = 0; key < s.skv; ++key)
        if (double size = std::abs(v[std::size_t((head * s.skv + key) * s.dv + e)]); std::isfinite(size))
          largest = std::max(largest, size);
      bounds.value.push_back(largest * scale);
    }
  return bounds;
}

/// The most that O may be off by, beside its own rounding, as a part of the largest |V|. A row of O is a weighted mean of V: a
/// tolerance near that size would accept any mean.
constexpr double largestPart = 0.05;

Tolerance toleranceOf(const Problem &problem, const Bounds &bounds, const std::string &tensor, const std::vector<std::int64_t> &index, double expected) {
  const Shape &s = problem.shape;
  if (!problem.facts.isBounded()) {
    const double u = unitRoundoff(tensor == "lse" && problem.type != Type::f64 ? Type::f32 : problem.type);
    return {bounds.measured.at(tensor) + u * std::abs(expected) + (problem.type == Type::f16 ? 0x1p-25 : 0), false};
  }
  const auto row = std::size_t((index[0] * s.h + index[1]) * s.sq + index[2]);
  const double weights = 2 * bounds.score[row];
  if (tensor == "lse")
    return {weights + bounds.sum + 2 * unitRoundoff(problem.type == Type::f64 ? Type::f64 : Type::f32) * std::abs(expected), false};
  const double u = unitRoundoff(problem.type), value = bounds.value[std::size_t((index[0] * s.hkv + index[1] / (s.h / s.hkv)) * s.dv + index[3])];
  const double part = weights + bounds.sum + (problem.type == Type::f64 ? 0 : u);
  if (!problem.facts.isMean) {
    const double magnitude = bounds.magnitudes.data[row * std::size_t(s.dv) + std::size_t(index[3])];
    return {u * std::abs(expected) + magnitude * part + value * bounds.slope[row] * bounds.score[row] + (problem.type == Type::f16 ? 0x1p-25 : 0), false};
  }
  return {u * std::abs(expected) + value * std::min(part, largestPart) + (problem.type == Type::f16 ? 0x1p-25 : 0), part > largestPart};
}

Comparison compareWithin(const Problem &problem, const Bounds &bounds, const std::string &tensor, const Array &result, const Array &expected, const Origin &origin) {
  const Type type = tensor == "lse" ? (problem.type == Type::f64 ? Type::f64 : Type::f32) : problem.type;
  return compareElements(tensor, result, expected, type, [&](std::size_t at) { return toleranceOf(problem, bounds, tensor, place(expected.shape, at), expected.data[at]); }, origin);
}

} // namespace

std::map<std::string, Array> oracle(const Problem &problem, std::int64_t foldTile) {
  const Shape &s = problem.shape;
  if (!isByHead(problem) || s.b == 0 || s.h == 0 || s.hkv == 0 || s.h % s.hkv != 0) {
    Evaluation inputs = problem.inputs;
    inputs.foldTile = foldTile;
    return evaluate(problem.program, inputs);
  }
  Progress progress("float64");
  std::map<std::string, Array> outputs;
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t head = 0; head < s.hkv; ++head) {
      Evaluation inputs = part(problem, b, head * (s.h / s.hkv), s.h / s.hkv);
      inputs.foldTile = foldTile;
      for (auto &[name, array] : evaluate(problem.program, inputs)) {
        Array &whole = outputs[name];   // heads are next to each other, so the parts only need be appended
        whole.shape = shapeOf(s, name);
        whole.data.insert(whole.data.end(), array.data.begin(), array.data.end());
      }
      progress.show(double(b * s.hkv + head + 1) / double(s.b * s.hkv));
    }
  return outputs;
}

bool Verdict::isRight() const {
  return std::all_of(comparisons.begin(), comparisons.end(), [](const Comparison &c) { return c.isRight; });
}

Verdict checkAll(const Problem &problem, const std::map<std::string, Array> &outputs) {
  Verdict verdict;
  const std::map<std::string, Array> exact = problem.facts.isBounded() ? oracle(problem) : exactOutputs(problem);
  const Bounds bounds = boundsOf(problem, exact);
  for (const auto &[name, expected] : exact)
    verdict.comparisons.push_back(compareWithin(problem, bounds, name, outputs.at(name), expected, {}));
  return verdict;
}

Verdict checkWithin(const Problem &problem, const std::map<std::string, Array> &outputs, const CheckBudget &budget) {
  const Shape &s = problem.shape;
  Verdict verdict;
  verdict.pairs = s.b * s.h;
  if (!isByHead(problem) || verdict.pairs == 0 || work(s) * double(verdict.pairs) <= budget.interpreted)
    return checkAll(problem, outputs);
  const std::int64_t count = std::min(verdict.pairs, std::clamp(static_cast<std::int64_t>(budget.compiled / work(s)), std::int64_t(1), budget.mostHeads));
  Progress progress("float64");
  std::map<std::string, Comparison> wholes;
  for (std::int64_t i = 0; i < count; ++i) {
    // The first, the last, and others evenly between them.
    const std::int64_t pair = count == 1 ? verdict.pairs - 1 : i * (verdict.pairs - 1) / (count - 1), b = pair / s.h, h = pair % s.h;
    verdict.heads.emplace_back(b, h);
    const Problem one{problem.variant, problem.program, problem.type, {1, 1, 1, s.sq, s.skv, s.d, s.dv}, part(problem, b, h, 1), problem.facts};
    const std::map<std::string, Array> exact = compiledOracle(one);
    const Bounds bounds = boundsOf(one, exact);
    for (const auto &[name, expected] : exact)
      merge(wholes[name], compareWithin(one, bounds, name, slice(slice(outputs.at(name), 0, b, 1), 1, h, 1), expected, {b, h}));
    progress.show(double(i + 1) / double(count));
  }
  for (auto &[name, whole] : wholes)
    verdict.comparisons.push_back(std::move(whole));
  return verdict;
}

Comparison compare(const Problem &problem, const std::string &tensor, const Array &result, const Array &expected, const Origin &origin) {
  return compareWithin(problem, boundsOf(problem, {{tensor, expected}}), tensor, result, expected, origin);
}

} // namespace tw::cli

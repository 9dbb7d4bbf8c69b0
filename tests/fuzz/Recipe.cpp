// From a recipe to a program with inputs and what may be expected of its outputs.
#include "Recipe.h"
#include "support/Arrays.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <optional>
#include <random>

namespace tw::fuzz {
namespace {

constexpr double grid = 0.125;             // inputs are multiples of it up to 1, so that dots of up to 64 of them are exact in f32
constexpr double scoreScale = 0.125, f32Error = 0x1p-22;
constexpr double mostDot = 64 * scoreScale;
constexpr int leastListed = 9;             // elements of a list that is looked at in part

struct Places {
  std::map<std::string, Tensor> &captures;
  Axis h, q, k;
  Tile score;
};

const Axis &axisOf(const Term &term, const Places &at) { return term.by == "head" ? at.h : term.by == "query" ? at.q : at.k; }

Tile read(const Term &term, const Places &at) {
  const Tensor tensor = at.captures.try_emplace(term.name, term.name, term.type, 1).first->second;
  const Axis &axis = axisOf(term, at);
  return term.shift ? tensor(axis + term.shift) : tensor(axis);
}

/// Of `contains`: the value, and how many elements are looked at, no more than there are, or all.
Tile search(const Term &term, const Places &at, Tile value, std::optional<Tile> count) {
  if (count && rangeOf(term.args[1]).high > leastListed)
    count = min(*count, leastListed);
  const Tensor list = at.captures.try_emplace(term.name, term.name, term.args[0].type, term.by.empty() ? 1 : 2).first->second;
  std::vector<Operand> row;
  if (!term.by.empty())
    row.emplace_back(term.shift ? floorDiv(index(axisOf(term, at)), term.shift) : index(axisOf(term, at)));
  return count ? contains(list, std::move(row), std::move(value), *count) : contains(list, std::move(row), std::move(value));
}

Tile tileOf(const Term &term, const Places &at) {
  auto arg = [&](std::size_t i) { return tileOf(term.args[i], at); };
  static const std::map<std::string, std::function<Tile(Operand)>> unary{{"neg", [](Operand a) { return -a; }},
                                                                         {"abs", [](Operand a) { return abs(a); }},
                                                                         {"exp", [](Operand a) { return exp(a); }},
                                                                         {"exp2", [](Operand a) { return exp2(a); }},
                                                                         {"log", [](Operand a) { return log(a); }},
                                                                         {"tanh", [](Operand a) { return tanh(a); }},
                                                                         {"sigmoid", [](Operand a) { return sigmoid(a); }},
                                                                         {"sqrt", [](Operand a) { return sqrt(a); }},
                                                                         {"expm1", [](Operand a) { return expm1(a); }},
                                                                         {"log1p", [](Operand a) { return log1p(a); }},
                                                                         {"log2", [](Operand a) { return log2(a); }},
                                                                         {"rsqrt", [](Operand a) { return rsqrt(a); }},
                                                                         {"sin", [](Operand a) { return sin(a); }},
                                                                         {"cos", [](Operand a) { return cos(a); }},
                                                                         {"erf", [](Operand a) { return erf(a); }},
                                                                         {"floor", [](Operand a) { return floor(a); }},
                                                                         {"ceil", [](Operand a) { return ceil(a); }},
                                                                         {"round", [](Operand a) { return round(a); }},
                                                                         {"trunc", [](Operand a) { return trunc(a); }},
                                                                         {"not", [](Operand a) { return !a; }},
                                                                         {"named", [](Operand a) { return named("part", a); }}};
  static const std::map<std::string, std::function<Tile(Operand, Operand)>> binary{{"add", [](Operand a, Operand b) { return a + b; }},
                                                                                   {"sub", [](Operand a, Operand b) { return a - b; }},
                                                                                   {"mul", [](Operand a, Operand b) { return a * b; }},
                                                                                   {"div", [](Operand a, Operand b) { return a / b; }},
                                                                                   {"floor_div", [](Operand a, Operand b) { return floorDiv(a, b); }},
                                                                                   {"mod", [](Operand a, Operand b) { return mod(a, b); }},
                                                                                   {"min", [](Operand a, Operand b) { return min(a, b); }},
                                                                                   {"max", [](Operand a, Operand b) { return max(a, b); }},
                                                                                   {"lt", [](Operand a, Operand b) { return a < b; }},
                                                                                   {"le", [](Operand a, Operand b) { return a <= b; }},
                                                                                   {"gt", [](Operand a, Operand b) { return a > b; }},
                                                                                   {"ge", [](Operand a, Operand b) { return a >= b; }},
                                                                                   {"eq", [](Operand a, Operand b) { return a == b; }},
                                                                                   {"ne", [](Operand a, Operand b) { return a != b; }},
                                                                                   {"and", [](Operand a, Operand b) { return a & b; }},
                                                                                   {"or", [](Operand a, Operand b) { return a | b; }},
                                                                                   {"pow", [](Operand a, Operand b) { return pow(a, b); }},
                                                                                   {"bit_and", [](Operand a, Operand b) { return a & b; }},
                                                                                   {"bit_or", [](Operand a, Operand b) { return a | b; }},
                                                                                   {"bit_xor", [](Operand a, Operand b) { return a ^ b; }},
                                                                                   {"shift_left", [](Operand a, Operand b) { return a << b; }},
                                                                                   {"shift_right", [](Operand a, Operand b) { return a >> b; }}};
  if (term.op == "score")
    return at.score;
  if (term.op == "head")
    return index(at.h);
  if (term.op == "query")
    return index(at.q);
  if (term.op == "key")
    return index(at.k);
  if (term.op == "queries")
    return extent(at.q);
  if (term.op == "keys")
    return extent(at.k);
  if (term.op == "number")
    return constant(term.number, term.type);
  if (term.op == "scalar")
    return scalar(term.name, term.type);
  if (term.op == "capture")
    return read(term, at);
  if (term.op == "contains")
    return search(term, at, arg(0), term.args.size() > 1 ? std::optional(arg(1)) : std::nullopt);
  if (term.op == "cast")
    return cast(arg(0), term.type);
  if (term.op == "select")
    return where(arg(0), arg(1), arg(2));
  if (term.op == "random") {
    std::vector<Operand> coordinates;
    for (std::size_t i = 1; i < term.args.size(); ++i)
      coordinates.emplace_back(arg(i));
    return random(arg(0), std::move(coordinates));
  }
  if (auto found = unary.find(term.op); found != unary.end())
    return found->second(arg(0));
  return binary.at(term.op)(arg(0), arg(1));
}

/// Arguments before what they are given to.
void eachTerm(const Term &term, const std::function<void(const Term &)> &visit) {
  for (const Term &arg : term.args)
    eachTerm(arg, visit);
  visit(term);
}

/// Multiples of `grid` up to 1, which every float type holds.
Array onGrid(std::vector<std::int64_t> shape, std::mt19937_64 &random) {
  Array array = tests::zeros(std::move(shape));
  for (double &x : array.data)
    x = grid * double(std::int64_t(random() % 17) - 8);
  return array;
}

double drawn(Type type, std::mt19937_64 &random) {
  const double whole = double(std::int64_t(random() % 19) - 9);
  return type == Type::boolean ? double(random() % 2) : isInteger(type) ? whole : whole * grid;
}

/// The inputs that a term reads.
void give(const Term &term, const Recipe &recipe, Evaluation &inputs, std::mt19937_64 &random) {
  eachTerm(term, [&](const Term &part) {
    if (part.op == "scalar" && !inputs.scalars.contains(part.name))
      inputs.scalars[part.name] = drawn(part.type, random);
    const bool isList = part.op == "contains";
    if ((part.op != "capture" && !isList) || inputs.tensors.contains(part.name))
      return;
    const std::int64_t length = part.by == "head" ? recipe.heads : part.by == "query" ? recipe.queries : recipe.keys;
    std::vector<std::int64_t> shape{length + part.shift};
    if (isList) {   // of a few of the first blocks, or coordinates
      shape = {std::int64_t(part.args.size() > 1 ? leastListed + random() % 3 : random() % 10)};
      if (!part.by.empty())
        shape.insert(shape.begin(), part.shift ? (length + part.shift - 1) / part.shift : length);
    }
    Array &array = inputs.tensors[part.name] = tests::zeros(std::move(shape));
    for (double &x : array.data)
      x = isList ? double(random() % 13) - 1 : drawn(part.type, random);
  });
}

} // namespace

Range rangeOf(const Term &term) {
  std::vector<Range> args;
  for (const Term &arg : term.args)
    args.push_back(rangeOf(arg));
  const std::string &op = term.op;
  auto rounded = [](Range r) { return Range{r.low, r.high, r.error + f32Error * r.most()}; };
  auto both = [](Range a, Range b) { return Range{std::min(a.low, b.low), std::max(a.high, b.high), std::max(a.error, b.error)}; };
  auto isExact = [&] { return !isFloat(term.type) || std::all_of(args.begin(), args.end(), [](const Range &r) { return r.exact(); }); };
  if (op == "score")
    return {-mostDot, mostDot, 0};
  if (op == "number")
    return {term.number, term.number, isFloat(term.type) && term.number != double(float(term.number)) ? f32Error * std::abs(term.number) : 0};
  if (op == "capture" || op == "scalar") {
    const double most = term.type == Type::boolean ? 1 : isInteger(term.type) ? 9 : 9 * grid;
    return {term.type == Type::boolean ? 0 : -most, most, 0};
  }
  if (args.empty())
    return {0, 200, 0};                    // coordinates and lengths
  const Range a = args[0], b = args.back();
  if (term.type == Type::boolean)
    return {0, 1, 0};
  if (op == "cast" || op == "named")
    return term.args[0].type == Type::boolean ? Range{0, 1, 0} : a;
  if (op == "select")
    return both(args[1], args[2]);
  if (op == "random")
    return {0, 1, 0};
  if (op == "floor" || op == "ceil" || op == "round" || op == "trunc")   // of what is exact
    return {a.low - 1, a.high + 1, a.error};
  if (op == "bit_and" || op == "bit_or" || op == "bit_xor")
    return {-2 * std::max(a.most(), b.most()) - 1, 2 * std::max(a.most(), b.most()) + 1, 0};
  if (op == "shift_left")
    return {a.low * 16, std::max(a.high, 0.0) * 16, 0};
  if (op == "shift_right")
    return {std::min(a.low, 0.0) - 1, std::max(a.high, 0.0), 0};
  if (op == "neg")
    return {-a.high, -a.low, a.error};
  if (op == "abs")
    return {0, a.most(), a.error};
  if (op == "min" || op == "max")
    return {op == "min" ? std::min(a.low, b.low) : std::max(a.low, b.low), op == "min" ? std::min(a.high, b.high) : std::max(a.high, b.high), std::max(a.error, b.error)};
  if (op == "add" || op == "sub") {
    const Range sum = op == "add" ? Range{a.low + b.low, a.high + b.high, a.error + b.error} : Range{a.low - b.high, a.high - b.low, a.error + b.error};
    return isExact() ? sum : rounded(sum);
  }
  if (op == "mul") {                       // of floats that are exact, a power of two is one
    const double most = a.most() * b.most();
    const Range product{-most, most, a.most() * b.error + b.most() * a.error};
    int exponent = 0;
    const bool isScale = term.args[1].op == "number" && std::abs(std::frexp(b.low, &exponent)) == 0.5;
    return isExact() && (!isFloat(term.type) || isScale) ? product : rounded(product);
  }
  if (!isFloat(term.type))                 // quotients by more than 0, and their rests
    return op == "mod" ? Range{-b.most(), b.most(), 0} : Range{-a.most() - 1, a.most() + 1, 0};
  if (op == "div") {                       // by at least b.low
    const double most = a.most() / b.low;
    return rounded({-most, most, a.error / b.low + most * b.error / b.low + 2 * f32Error * most});
  }
  auto through = [&](double low, double high, double slope) { return rounded({low, high, a.error * slope + 4 * f32Error * std::max(1.0, std::max(std::abs(low), std::abs(high)))}); };
  if (op == "exp")
    return through(std::exp(a.low), std::exp(a.high), std::exp(a.high));
  if (op == "exp2")
    return through(std::exp2(a.low), std::exp2(a.high), std::exp2(a.high));
  if (op == "log")
    return through(std::log(a.low), std::log(a.high), 1 / a.low);
  if (op == "sqrt")
    return through(std::sqrt(a.low), std::sqrt(a.high), 0.5 / std::sqrt(a.low));
  if (op == "rsqrt")
    return through(1 / std::sqrt(a.high), 1 / std::sqrt(a.low), 0.5 * std::pow(a.low, -1.5));
  if (op == "expm1")
    return through(std::expm1(a.low), std::expm1(a.high), std::exp(a.high));
  if (op == "log1p")
    return through(std::log1p(a.low), std::log1p(a.high), 1);
  if (op == "log2")
    return through(std::log2(a.low), std::log2(a.high), 1.5 / a.low);
  if (op == "erf")
    return through(-1, 1, 1.2);
  if (op == "sin" || op == "cos")
    return through(-1, 1, 1);
  if (op == "pow") {   // of at least 0.5, by a small constant
    const double low = std::pow(a.low, b.low), high = std::pow(a.high, b.low);
    return through(std::min(low, high), std::max(low, high), std::abs(b.low) * std::max(std::pow(a.low, b.low - 1), std::pow(a.high, b.low - 1)));
  }
  return through(op == "tanh" ? -1 : 0, 1, 1);      // tanh, sigmoid
}

tests::Held build(const Recipe &recipe) {
  const Axis h("h"), q("q"), k("k"), d("d"), e("e");
  const bool isDouble = recipe.type == Type::f64;
  const Type sums = isDouble ? Type::f64 : Type::f32;
  const Tensor X("X", recipe.type, 3), W("W", recipe.type, 3), V("V", recipe.type, 3), Y("Y", recipe.rounds ? recipe.type : sums, 3), R("R", sums, 2);
  const Tile x = X(h, q, d);
  std::map<std::string, Tensor> captures;
  auto scoreOf = [&] {
    Places at{captures, h, q, k, dot(x, W(h, k, d), over(d)) * scoreScale};
    for (const Term &term : recipe.scores)
      at.score = tileOf(term, at);
    return at.score;
  };
  auto masked = [&](Tile value, double otherwise) {
    const Places at{captures, h, q, k, value};
    for (const Term &mask : recipe.masks)
      value = where(tileOf(mask, at), value, constant(otherwise, value.type()));
    return value;
  };
  tests::Held held{{kindNames[int(recipe.kind)], {}}, {{"d", recipe.d}, {"e", recipe.e}}, {}, {}, {}};
  std::mt19937_64 random(recipe.data);
  auto &tensors = held.inputs.tensors;
  tensors["X"] = onGrid({recipe.heads, recipe.queries, recipe.d}, random);
  tensors["W"] = onGrid({recipe.heads, recipe.keys, recipe.d}, random);
  const bool hasValues = recipe.kind == Kind::softmax || recipe.kind == Kind::weights || recipe.kind == Kind::product;
  if (hasValues) {
    tensors["V"] = onGrid({recipe.heads, recipe.keys, recipe.e}, random);
    held.stored["Y"] = {recipe.heads, recipe.queries, recipe.e};
  } else {
    held.inner.erase("e");
  }
  if (recipe.kind != Kind::weights && recipe.kind != Kind::product)
    held.stored["R"] = {recipe.heads, recipe.queries};
  Range score{-mostDot, mostDot, 0};
  for (const Term &term : recipe.scores) {
    // A score reads the one before it: what that may be off by comes on top, as steps hardly amplify it.
    const Range next = rangeOf(term);
    score = {next.low, next.high, next.error + 4 * score.error};
    if (recipe.kind != Kind::product)
      give(term, recipe, held.inputs, random);
  }
  for (const Term &mask : recipe.masks)
    give(mask, recipe, held.inputs, random);
  const double n = double(recipe.keys), unit = tests::unitRoundoff(recipe.type);
  const double logError = 2 * score.error + 2e-5, weightError = logError + 2 * unit;
  switch (recipe.kind) {
  case Kind::softmax:
  case Kind::logSumExp: {
    const bool dots = recipe.kind == Kind::softmax;
    auto step = [&](Tile top, Tile total) {
      Tile z = masked(scoreOf(), -infinity), next = stabiliser(max(top, max(z, over(k))));
      Tile safe = where(next == -infinity, constant(0, sums), next), w = exp(z - safe), shrink = exp(top - safe);
      return std::tuple{next, total * shrink + sum(w, over(k)), w, shrink};
    };
    const Tile least = full(-infinity, {h, q}, sums), none = full(0, {h, q}, sums);
    if (dots) {
      auto [top, total, acc] = fold(k, std::tuple{least, none, full(0, {h, q, e}, sums)}, [&](Tile top, Tile total, Tile acc) {
        auto [next, sum, w, shrink] = step(top, total);
        return std::tuple{next, sum, acc * shrink + dot(w, V(h, k, e), over(k))};
      });
      held.program.stores = {store(Y, {h, q, e}, where(total > 0, acc / total, constant(0, sums))), store(R, {h, q}, top + log(total))};
      held.tolerances["Y"] = {weightError, weightError};
    } else {
      auto [top, total] = fold(k, std::tuple{least, none}, [&](Tile top, Tile total) {
        auto [next, sum, w, shrink] = step(top, total);
        return std::tuple{next, sum};
      });
      held.program.stores = {store(R, {h, q}, top + log(total))};
    }
    held.tolerances["R"] = {logError, 1e-5};
    break;
  }
  case Kind::sums: {
    const bool least = recipe.data % 2;       // the least, or the largest
    auto [total, extreme] = fold(k, std::tuple{full(0, {h, q}, sums), full(least ? infinity : -infinity, {h, q}, sums)}, [&](Tile total, Tile extreme) {
      Tile z = scoreOf(), shown = masked(z, least ? 100 : -100);
      return std::tuple{total + sum(masked(z, 0), over(k)), least ? min(extreme, min(shown, over(k))) : max(extreme, max(shown, over(k)))};
    });
    held.program.stores = {store(R, {h, q}, total + min(max(extreme, -200.0), 200.0))};
    held.tolerances["R"] = {n * (score.error + f32Error * score.most()) + 1e-5 * (1 + score.most()), 1e-5};
    break;
  }
  case Kind::weights: {
    auto [acc] = fold(k, std::tuple{full(0, {h, q, e}, sums)}, [&](Tile acc) { return std::tuple{acc + dot(masked(scoreOf(), 0), V(h, k, e), over(k))}; });
    held.program.stores = {store(Y, {h, q, e}, acc)};
    held.tolerances["Y"] = {n * (score.error + 2 * f32Error * score.most()) + 8 * unit * score.most() * std::sqrt(n), unit};
    break;
  }
  case Kind::product: {
    // What comes after a fold: the score terms, of a row, on what was carried.
    auto [acc] = fold(k, std::tuple{full(0, {h, q, e}, sums)}, [&](Tile acc) { return std::tuple{acc + dot(masked(dot(x, W(h, k, d), over(d)) * scoreScale, 0), V(h, k, e), over(k))}; });
    const Tensor rows("rows", Type::f32, 1), columns("columns", Type::f32, 1);
    held.program.stores = {store(Y, {h, q, e}, acc * rows(q) + columns(e))};
    tensors["rows"] = onGrid({recipe.queries}, random);
    tensors["columns"] = onGrid({recipe.e}, random);
    held.tolerances["Y"] = {8 * unit * mostDot * std::sqrt(n) + n * f32Error * mostDot, unit};
    break;
  }
  }
  return held;
}

namespace {
std::string text(const Term &term) {
  if (term.op == "number")
    return fmt::format("{}", term.number) + (term.type == Type::f32 ? "" : std::string(":") + name(term.type));
  if (term.op == "scalar")
    return fmt::format("scalar({}:{})", term.name, name(term.type));
  if (term.op == "capture")
    return fmt::format("{}:{}({}{})", term.name, name(term.type), term.by, term.shift ? fmt::format("+{}", term.shift) : "");
  if (term.args.empty())
    return term.op;
  if (term.op == "contains")
    return fmt::format("contains({}:{}{}, {}{})", term.name, name(term.args[0].type),
                       term.by.empty() ? ""
                       : term.shift    ? fmt::format("({} / {})", term.by, term.shift)
                                       : "(" + term.by + ")",
                       text(term.args[0]), term.args.size() > 1 ? ", " + text(term.args[1]) : "");
  std::string args;
  for (const Term &arg : term.args)
    args += (args.empty() ? "" : ", ") + text(arg);
  return term.op + (term.op == "cast" ? std::string(":") + name(term.type) : "") + "(" + args + ")";
}
} // namespace

std::string print(const Recipe &recipe) {
  std::string out = fmt::format("{} of {}, {} heads, {} x {}, d {} e {}, data {}, on {} under {}\n", kindNames[int(recipe.kind)], name(recipe.type), recipe.heads, recipe.queries, recipe.keys, recipe.d,
                                recipe.e, recipe.data, recipe.target, recipe.schedule.empty() ? "the default schedule" : recipe.schedule);
  for (const Term &term : recipe.scores)
    out += "  score " + text(term) + "\n";
  for (const Term &mask : recipe.masks)
    out += "  mask  " + text(mask) + "\n";
  return out;
}

} // namespace tw::fuzz

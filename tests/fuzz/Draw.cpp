// Random recipes. What is drawn is kept to what the language defines and f32 can be held to: no division by 0, arguments in range, and comparisons of
// floats only where both sides are exact.
#include "Recipe.h"
#include <array>
#include <random>

namespace tw::fuzz {
namespace {

constexpr double mostReal = 16, mostScore = 8, mostWhole = 1e5;

class Drawing {
public:
  explicit Drawing(std::uint64_t seed) : random(seed * 0x9e3779b97f4a7c15ull + 1) {}

  std::uint64_t number() { return random(); }
  bool once(unsigned in) { return random() % in == 0; }
  template <class T, std::size_t n> T of(const T (&choices)[n]) { return choices[random() % n]; }

  static Term constant(double number, Type type = Type::f32) { return {"number", type, {}, number}; }
  static Term apply(const char *op, Type type, std::vector<Term> args) { return {op, type, std::move(args)}; }

  Term truth(int depth) {
    const int way = depth <= 0 ? int(random() % 3) : int(random() % 9);
    const char *comparisons[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    switch (way) {
    case 0: return capture(Type::boolean);
    case 1: return once(3) ? scalarOf(Type::boolean) : capture(Type::boolean);
    case 2:
    case 3: {
      const Type type = once(3) ? Type::i64 : Type::i32;
      return apply(of(comparisons), Type::boolean, {whole(type, depth - 1), whole(type, depth - 1)});
    }
    case 4: return apply(of(comparisons), Type::boolean, {exact(), exact()});
    case 5: return apply("not", Type::boolean, {truth(depth - 1)});
    case 6: return apply(once(2) ? "and" : "or", Type::boolean, {truth(depth - 1), truth(depth - 1)});
    case 7: return listed(whole(once(3) ? Type::i64 : Type::i32, depth - 1));
    default: return apply("select", Type::boolean, {truth(depth - 1), truth(depth - 1), truth(depth - 1)});
    }
  }

  Term whole(Type type, int depth) {
    auto sized = [&](Term term) { return rangeOf(term).most() <= mostWhole ? term : apply("mod", type, {std::move(term), constant(97, type)}); };
    auto divisor = [&] { return once(2) ? constant(of({2.0, 3.0, 7.0, -4.0}), type) : apply("max", type, {apply("abs", type, {whole(type, depth - 2)}), constant(1, type)}); };
    if (depth <= 0)
      return wholeLeaf(type);
    switch (random() % 13) {
    case 9:
    case 12:
      return sized(apply(of({"bit_and", "bit_or", "bit_xor"}), type, {whole(type, depth - 1), whole(type, depth - 1)}));
    case 10:
      return sized(apply("shift_left", type, {whole(type, depth - 1), constant(double(random() % 5), Type::i32)}));
    case 11:
      return apply("shift_right", type, {whole(type, depth - 1), constant(double(random() % 5), Type::i32)});
    case 0: return apply("neg", type, {whole(type, depth - 1)});
    case 1: return apply("abs", type, {whole(type, depth - 1)});
    case 2: return sized(apply("mul", type, {whole(type, depth - 1), whole(type, depth - 1)}));
    case 3: return apply(of({"div", "floor_div"}), type, {whole(type, depth - 1), divisor()});
    case 4: return apply("mod", type, {whole(type, depth - 1), divisor()});
    case 5: return apply(of({"min", "max"}), type, {whole(type, depth - 1), whole(type, depth - 1)});
    case 6: return apply("select", type, {truth(depth - 1), whole(type, depth - 1), whole(type, depth - 1)});
    case 7: return wholeLeaf(type);
    default: return sized(apply(of({"add", "sub"}), type, {whole(type, depth - 1), whole(type, depth - 1)}));
    }
  }

  /// A float that f32 holds exactly.
  Term exact() {
    switch (random() % 6) {
    case 4:
      return apply(of({"floor", "ceil", "round", "trunc"}), Type::f32, {apply("mul", Type::f32, {exact(), constant(of({0.5, 0.25, -0.125}))})});
    case 5: {
      const Term q{"query", Type::i32}, k{"key", Type::i32}, h{"head", Type::i32};
      const Term seed = once(2) ? scalarOf(Type::i64) : constant(double(random() % 1000), Type::i64);
      return once(2) ? apply("random", Type::f32, {seed, h, q, k})
                     : apply("random", Type::f32, {seed, whole(Type::i32, 1), apply("cast", Type::i64, {k})});
    }
    case 0: return apply("cast", Type::f32, {whole(once(3) ? Type::i64 : Type::i32, 1)});
    case 1: return capture(of({Type::f32, Type::f16, Type::bf16}));
    case 2: return apply("mul", Type::f32, {apply("cast", Type::f32, {apply("mod", Type::i32, {whole(Type::i32, 1), constant(8, Type::i32)})}), constant(of({0.5, 0.25, -2.0}))});
    default: return constant(of({0.0, 1.0, -0.5, 3.0}));
    }
  }

  Term real(int depth) {
    if (depth <= 0)
      return once(6) ? Term{"score", Type::f32} : once(5) ? scalarOf(of({Type::f32, Type::f16, Type::bf16})) : exact();
    auto next = [&] { return real(depth - 1); };
    auto away = [&](double from) { return apply("add", Type::f32, {apply("abs", Type::f32, {next()}), constant(from)}); };
    auto upTo = [&](double most) {
      Term term = next();
      return rangeOf(term).high <= most ? term : apply("min", Type::f32, {std::move(term), constant(most)});
    };
    Term term = [&]() -> Term {
      switch (random() % 24) {
      case 15:
        return apply("expm1", Type::f32, {upTo(2)});
      case 16:
        return apply("log1p", Type::f32, {away(0)});
      case 17:
        return apply("log2", Type::f32, {away(0.5)});
      case 18:
        return apply("rsqrt", Type::f32, {away(0.25)});
      case 19:
        return apply("sin", Type::f32, {next()});
      case 20:
        return apply("cos", Type::f32, {next()});
      case 21:
        return apply("erf", Type::f32, {next()});
      case 22:
        return apply("pow", Type::f32, {away(0.5), constant(of({0.7, 1.3, -0.4}))});
      case 0:
        return apply("neg", Type::f32, {next()});
      case 1:
        return apply("abs", Type::f32, {next()});
      case 2:
        return apply("exp", Type::f32, {upTo(2)});
      case 3:
        return apply("exp2", Type::f32, {upTo(2)});
      case 4:
        return apply("log", Type::f32, {away(0.5)});
      case 5:
        return apply("tanh", Type::f32, {next()});
      case 6:
        return apply("sigmoid", Type::f32, {next()});
      case 7:
        return apply("sqrt", Type::f32, {away(0.25)});
      case 8:
        return apply("mul", Type::f32, {next(), next()});
      case 9:
        return apply("div", Type::f32, {next(), away(0.5)});
      case 10:
        return apply(of({"min", "max"}), Type::f32, {next(), next()});
      case 11:
        return apply("select", Type::f32, {truth(depth - 1), next(), next()});
      case 12:
        return apply("cast", Type::f32, {truth(depth - 1)});
      case 13:
        return apply("named", Type::f32, {next()});
      default:
        return apply(of({"add", "sub"}), Type::f32, {next(), next()});
      }
    }();
    return rangeOf(term).most() <= mostReal ? term : apply("tanh", Type::f32, {std::move(term)});
  }

  /// A step of the score, which goes through it.
  Term step() {
    const Term score{"score", Type::f32};
    Term term = [&]() -> Term {
      switch (random() % 7) {
      case 0: return apply("mul", Type::f32, {score, apply("sigmoid", Type::f32, {real(1)})});
      case 1: return apply("select", Type::f32, {truth(2), score, apply("mul", Type::f32, {score, constant(0.5)})});
      case 2: return apply("mul", Type::f32, {constant(4), apply("tanh", Type::f32, {apply("mul", Type::f32, {score, constant(0.25)})})});
      case 3: return apply(of({"max", "min"}), Type::f32, {score, real(1)});
      case 4: return apply("sub", Type::f32, {real(2), score});
      default: return apply("add", Type::f32, {score, real(2)});
      }
    }();
    return rangeOf(term).most() <= mostScore ? term : apply("min", Type::f32, {apply("max", Type::f32, {std::move(term), constant(-mostScore)}), constant(mostScore)});
  }

  Term mask() {
    const Term q{"query", Type::i32}, k{"key", Type::i32}, shift = constant(double(random() % 60) - 30, Type::i32);
    const Term aligned = apply("add", Type::i32, {q, once(2) ? shift : apply("sub", Type::i32, {{"keys", Type::i32}, {"queries", Type::i32}})});
    switch (random() % 8) {
    case 0:
    case 1: return apply(once(2) ? "le" : "lt", Type::boolean, {k, aligned});
    case 2: return apply("and", Type::boolean, {apply("le", Type::boolean, {k, aligned}), apply("ge", Type::boolean, {k, apply("sub", Type::i32, {aligned, constant(40, Type::i32)})})});
    case 3: return apply(of({"ge", "lt", "ne"}), Type::boolean, {k, constant(double(random() % 50), Type::i32)});
    case 4: return apply("eq", Type::boolean, {named(Type::i32, "query"), named(Type::i32, "key")});
    case 5: return listed(apply("floor_div", Type::i32, {k, constant(of({8.0, 16.0, 20.0, 64.0}), Type::i32)}));
    default: return truth(2);
    }
  }

private:
  std::mt19937_64 random;
  int captures = 0, scalars = 0;
  static constexpr int mostCaptures = 5;

  Term named(Type type, const char *by) { return {"capture", type, {}, 0, "c" + std::to_string(captures++), by}; }
  Term capture(Type type) {
    if (captures >= mostCaptures)
      return type == Type::boolean ? apply("lt", Type::boolean, {{"key", Type::i32}, {"query", Type::i32}}) : isInteger(type) ? constant(5, type) : constant(0.25);
    Term term = named(type, of({"head", "query", "key", "key"}));
    if (term.by == "key" && once(3))
      term.shift = int(1 + random() % 5);
    return term;
  }
  /// Whether a list has a number: one list, or one for each head, row, column or block of these; all of it, or the first of its elements.
  Term listed(Term value) {
    if (captures >= mostCaptures)
      return apply("lt", Type::boolean, {std::move(value), constant(5, value.type)});
    Term term = named(Type::boolean, of({"", "head", "query", "query", "key"}));
    term.op = "contains";
    if (term.by == "query" || term.by == "key")
      term.shift = of({0, 16, 50, 64});
    term.args = {std::move(value)};
    if (once(2))
      term.args.push_back(once(2) ? constant(double(random() % 9), Type::i32) : wholeLeaf(Type::i32));
    return term;
  }
  Term scalarOf(Type type) { return {"scalar", type, {}, 0, "s" + std::to_string(scalars++)}; }
  Term wholeLeaf(Type type) {
    if (type == Type::i64)
      return once(2) ? capture(type) : once(3) ? scalarOf(type) : apply("cast", type, {wholeLeaf(Type::i32)});
    if (once(3))
      return once(4) ? scalarOf(type) : capture(type);
    return once(4) ? constant(double(random() % 40), type) : Term{of({"head", "query", "key", "key", "queries", "keys"}), type};
  }
};

} // namespace

Recipe draw(std::uint64_t seed, const std::string &target) {
  Drawing draw(seed);
  const bool onHost = target == "host";
  Recipe recipe;
  recipe.target = target;
  recipe.data = seed;
  recipe.kind = Kind(draw.number() % 5);
  const Type wide[] = {Type::f32, Type::f64, Type::bf16, Type::f16}, narrow[] = {Type::bf16, Type::f16};
  recipe.type = onHost ? draw.of(wide) : draw.of(narrow);
  const std::int64_t lengths[] = {0, 1, 7, 33, 64, 65, 100, 130, 150}, inner[] = {8, 16, 24, 40, 64};
  recipe.heads = 1 + std::int64_t(draw.number() % 3);
  recipe.queries = draw.of(lengths);
  recipe.keys = draw.of(lengths);
  recipe.d = draw.of(inner);
  recipe.e = draw.of(inner);
  for (std::uint64_t n = draw.number() % 4; n > 0; --n)
    recipe.scores.push_back(draw.step());
  for (std::uint64_t n = draw.number() % 3; n > 0; --n)
    recipe.masks.push_back(draw.mask());
  auto field = [&](const std::string &text) { recipe.schedule += (recipe.schedule.empty() ? "" : " ") + text; };
  auto flag = [&](const char *name) { field(std::string(name) + (draw.once(2) ? "=yes" : "=no")); };
  if (onHost) {
    const int widths[] = {4, 7, 8, 16, 32, 64};
    field("q=" + std::to_string(draw.of(widths)));
    field("k=" + std::to_string(draw.of(widths)));
    return recipe;
  }
  const int folds[] = {16, 32, 48, 64}, warpgroups = 1 + int(draw.number() % 2);
  field("k=" + std::to_string(draw.of(folds)));
  field("q=" + std::to_string(64 * warpgroups) + " warpgroups=" + std::to_string(warpgroups));
  const auto stages = 1 + draw.number() % 3, buffers = 1 + draw.number() % 2;
  field("stages=" + std::to_string(stages));
  field("blockBuffers=" + std::to_string(buffers));
  if (stages == 3 && buffers == 2)
    field("blocksPerSM=1");   // two such blocks need not fit, where the default schedule has two
  for (const char *name : {"overlap", "turns", "drawn", "stabilised"})
    flag(name);
  return recipe;
}

namespace {

/// Every term of the same type that is a little smaller.
std::vector<Term> smallerTerms(const Term &term) {
  std::vector<Term> all;
  if (term.op != "number" && term.type != Type::boolean)
    all.push_back({"number", term.type, {}, 1});
  for (const Term &arg : term.args)
    if (arg.type == term.type)
      all.push_back(arg);
  if (term.shift) {
    all.push_back(term);
    all.back().shift = 0;
  }
  if (term.op == "contains" && term.args.size() > 1) {
    all.push_back(term);
    all.back().args.pop_back();
  }
  for (std::size_t i = 0; i < term.args.size(); ++i)
    for (Term &arg : smallerTerms(term.args[i])) {
      all.push_back(term);
      all.back().args[i] = std::move(arg);
    }
  return all;
}

} // namespace

std::vector<Recipe> smaller(const Recipe &recipe) {
  std::vector<Recipe> all;
  auto with = [&](auto change) {
    Recipe made = recipe;
    change(made);
    if (!(made == recipe))
      all.push_back(std::move(made));
  };
  for (auto list : {&Recipe::scores, &Recipe::masks})
    for (std::size_t i = 0; i < (recipe.*list).size(); ++i)
      with([&](Recipe &r) { (r.*list).erase((r.*list).begin() + std::ptrdiff_t(i)); });
  with([](Recipe &r) { r.heads = 1; });
  with([](Recipe &r) { r.schedule.clear(); });
  with([](Recipe &r) { r.d = 16; });
  with([](Recipe &r) { r.e = 16; });
  for (auto length : {&Recipe::queries, &Recipe::keys}) {
    with([&](Recipe &r) { r.*length /= 2; });
    with([&](Recipe &r) { r.*length -= r.*length > 0; });
  }
  for (auto list : {&Recipe::scores, &Recipe::masks})
    for (std::size_t i = 0; i < (recipe.*list).size(); ++i)
      for (Term &term : smallerTerms((recipe.*list)[i]))
        with([&](Recipe &r) { (r.*list)[i] = term; });
  return all;
}

} // namespace tw::fuzz

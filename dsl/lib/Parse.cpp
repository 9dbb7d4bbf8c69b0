// Reads the text form of a program back. The operators of the language make the values, so that every
// rule they hold a C++ program to holds here too.
#include "Fail.h"
#include "Names.h"
#include "Numbers.h"
#include "Tokens.h"
#include "tilewright/dsl/Program.h"
#include <charconv>
#include <map>

namespace tw {
namespace {

using detail::fail;
using detail::Token;
using detail::Tokens;

using Unary = Tile (*)(Operand);
using Binary = Tile (*)(Operand, Operand);
using Along = Tile (*)(Operand, Over);

const std::map<std::string, Unary> unaries{
    {"neg", [](Operand a) { return -a; }}, {"abs", abs}, {"exp", exp}, {"exp2", exp2}, {"expm1", expm1}, {"log", log}, {"log2", log2},
    {"log1p", log1p}, {"tanh", tanh}, {"tanh_approximate", tanhApproximate}, {"sigmoid", sigmoid}, {"sqrt", sqrt}, {"rsqrt", rsqrt}, {"sin", sin}, {"cos", cos}, {"erf", erf},
    {"floor", floor}, {"ceil", ceil}, {"round", round}, {"trunc", trunc}, {"not", [](Operand a) { return !a; }}, {"stabiliser", stabiliser}};
const std::map<std::string, Binary> binaries{
    {"add", [](Operand a, Operand b) { return a + b; }}, {"sub", [](Operand a, Operand b) { return a - b; }},
    {"mul", [](Operand a, Operand b) { return a * b; }}, {"div", [](Operand a, Operand b) { return a / b; }},
    {"floor_div", floorDiv}, {"mod", mod}, {"pow", pow}, {"bit_and", [](Operand a, Operand b) { return a & b; }},
    {"bit_or", [](Operand a, Operand b) { return a | b; }}, {"bit_xor", [](Operand a, Operand b) { return a ^ b; }},
    {"shift_left", [](Operand a, Operand b) { return a << b; }}, {"shift_right", [](Operand a, Operand b) { return a >> b; }}, {"min", [](Operand a, Operand b) { return min(a, b); }}, {"max", [](Operand a, Operand b) { return max(a, b); }},
    {"lt", [](Operand a, Operand b) { return a < b; }}, {"le", [](Operand a, Operand b) { return a <= b; }},
    {"gt", [](Operand a, Operand b) { return a > b; }}, {"ge", [](Operand a, Operand b) { return a >= b; }},
    {"eq", [](Operand a, Operand b) { return a == b; }}, {"ne", [](Operand a, Operand b) { return a != b; }},
    {"and", [](Operand a, Operand b) { return a & b; }}, {"or", [](Operand a, Operand b) { return a | b; }}};
const std::map<std::string, Along> alongs{
    {"reduce_max", [](Operand a, Over o) { return max(a, o); }}, {"reduce_min", [](Operand a, Over o) { return min(a, o); }}, {"reduce_sum", sum}};

std::vector<std::string> operationNames() {
  std::vector<std::string> names{"constant", "load", "contains", "cast", "select", "random", "dot", "named", "fold"};
  for (auto &[name, _] : unaries)
    names.push_back(name);
  for (auto &[name, _] : binaries)
    names.push_back(name);
  for (auto &[name, _] : alongs)
    names.push_back(name);
  return names;
}

class Parser {
public:
  explicit Parser(std::string_view origin) : origin(origin) { scopes.emplace_back(); }

  Program run(std::string_view text) {
    unsigned number = 0;
    while (!text.empty()) {
      std::size_t last = std::min(text.find('\n'), text.size());
      here = Location::of(origin, ++number);
      line(text.substr(0, last));
      text.remove_prefix(std::min(last + 1, text.size()));
    }
    if (!named)
      fail(here, "the text names no program; begin with: program \"name\"");
    if (!folds.empty())
      fail(here, "the fold over '" + folds.back().fold->axis.name() + "' has no end; close it with yield and }", {{folds.back().line, "it begins here"}});
    refusedHere([&] { verify(program); });
    return std::move(program);
  }

private:
  struct OpenFold {
    std::shared_ptr<Fold> fold;
    std::vector<std::string> results;
    bool yielded = false;
    Location line;
  };

  /// Complaints of the language come at the line of the text.
  template <class F> void refusedHere(F f) {
    try {
      f();
    } catch (ProgramError &error) {
      Diagnostic diagnostic = error.diagnostic;
      diagnostic.where = here;
      throw ProgramError(std::move(diagnostic));
    }
  }

  void line(std::string_view text) {
    Tokens tokens(text, here);
    if (tokens.atEnd())
      return;
    refusedHere([&] {
      if (!named && !tokens.is("program"))
        tokens.expected("program \"name\"");
      if (!folds.empty() && folds.back().yielded && !tokens.is("}"))
        tokens.expected("'}' after yield");
      statement(tokens);
      tokens.finish();
    });
  }

  void statement(Tokens &t) {
    if (t.peek().kind == Token::value)
      return definition(t);
    if (t.takeIf("}"))
      return closeFold();
    const std::string word = t.word("a statement");
    if (word == "yield")
      return yield(t);
    if (!folds.empty())
      fail(here, "'" + word + "' stands in the step of a fold; only values, folds and yield may");
    if (word == "program")
      return programName(t);
    if (word == "axis")
      return axisDeclaration(t);
    if (word == "tensor")
      return tensorDeclaration(t);
    if (word == "scalar")
      return scalarDeclaration(t);
    if (word == "require") {
      Operand condition = operand(t);
      std::string message = t.string("a message in quotes");
      program.requirements.push_back(require(condition, message, t.where()));
      return;
    }
    if (word == "store")
      return storeStatement(t);
    fail(here, "'" + word + "' begins no statement; write program, axis, tensor, scalar, require, store, yield or %n = …");
  }

  // ---- declarations
  void programName(Tokens &t) {
    if (named)
      fail(here, "a second program; put each program into a text of its own");
    program.name = t.string("the program's name in quotes");
    named = true;
  }

  void axisDeclaration(Tokens &t) {
    std::string name = t.word("the axis's name");
    if (!axes.emplace(name, Axis(name, t.where())).second)
      fail(here, "axis '" + name + "' is declared twice; declare it once");
  }

  void tensorDeclaration(Tokens &t) {
    std::string name = t.word("the tensor's name");
    Type type = t.type();
    t.expect("[");
    unsigned rank = t.count("the number of dimensions");
    t.expect("]");
    if (!tensors.emplace(name, Tensor(name, type, rank, t.where())).second)
      fail(here, "tensor '" + name + "' is declared twice; declare it once");
  }

  void scalarDeclaration(Tokens &t) {
    std::string name = t.word("the scalar's name");
    Type type = t.type();
    Sign sign = t.takeIf("positive") ? Sign::positive : Sign::any;
    if (!scalars.emplace(name, scalar(name, type, sign, t.where())).second)
      fail(here, "scalar '" + name + "' is declared twice; declare it once");
  }

  void storeStatement(Tokens &t) {
    Tensor tensor = tensorNamed(t);
    Axes index = axisList(t);
    t.expect("=");
    Operand value = operand(t);
    program.stores.push_back(store(tensor, index, value, t.where()));
  }

  // ---- names
  template <class Map> auto &find(const Map &map, const std::string &name, const char *what) {
    if (auto it = map.find(name); it != map.end())
      return it->second;
    std::vector<std::string> known;
    for (auto &[key, _] : map)
      known.push_back(key);
    std::string close = detail::nearest(name, known);
    fail(here, "no " + std::string(what) + " is named '" + name + "'; " + (close.empty() ? "declare it first" : "did you mean '" + close + "'?"));
  }
  const Axis &axisNamed(Tokens &t) { return find(axes, t.word("an axis"), "axis"); }
  const Tensor &tensorNamed(Tokens &t) { return find(tensors, t.word("a tensor"), "tensor"); }

  Axes axisList(Tokens &t) {
    Axes list;
    t.expect("[");
    while (!t.takeIf("]")) {
      if (!list.empty())
        t.expect(",");
      list.push_back(axisNamed(t));
    }
    return list;
  }

  void define(const std::string &name, const Tile &tile) {
    for (auto &scope : scopes)
      if (scope.count(name))
        fail(here, "%" + name + " is defined twice; give each value a number of its own");
    scopes.back().emplace(name, tile);
  }

  // ---- operands
  Operand operand(Tokens &t) {
    const Location where = t.where();
    Token token = t.peek();
    if (token.kind == Token::number)
      return {literal(t, std::nullopt), where};
    if (token.kind == Token::value) {
      t.take();
      for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
        if (auto it = scope->find(token.text); it != scope->end())
          return {it->second, where};
      fail(here, "%" + token.text + " is not defined here; define it above, and outside of other folds' steps");
    }
    std::string word = t.word("a value, a number or an axis");
    if (word == "true" || word == "false")
      return {constant(word == "true", Type::boolean, where), where};
    if (!t.is("("))
      return {index(find(axes, word, "axis"), where), where};
    t.expect("(");
    Operand result = lookup(t, word);
    t.expect(")");
    return result;
  }

  /// What stands in the parentheses of extent(k), dimension(K, 1), scalar(cap).
  Operand lookup(Tokens &t, const std::string &word) {
    const Location where = t.where();
    if (word == "extent")
      return {extent(axisNamed(t), where), where};
    if (word == "scalar")
      return {find(scalars, t.word("a scalar"), "scalar"), where};
    if (word == "dimension") {
      Tensor tensor = tensorNamed(t);
      t.expect(",");
      return {tensor.dimension(t.count("the number of a dimension"), where), where};
    }
    fail(here, "'" + word + "(' begins no value; write extent(axis), dimension(tensor, n) or scalar(name)");
  }

  /// A number, over `axes` if they are given.
  Tile literal(Tokens &t, const std::optional<Axes> &axes) {
    Token token = t.take();
    const bool isBool = token.text == "true" || token.text == "false";
    if (token.kind != Token::number && !isBool)
      fail(here, "expected a number, found '" + token.text + "'");
    double value = token.text == "true";
    bool integral = !isBool && token.text.find_first_of(".en") == std::string::npos;   // n: inf and nan
    if (!isBool) {
      const char *last = token.text.data() + token.text.size();
      auto [stop, error] = std::from_chars(token.text.data(), last, value);
      if (error != std::errc() || stop != last)
        fail(here, "'" + token.text + "' is no number; write 7, 7.0, 1e-3, inf, -inf or nan");
    }
    Type type = token.type ? *token.type : isBool ? Type::boolean : integral ? Type::i32 : Type::f32;
    return axes ? full(value, *axes, type, t.where()) : constant(value, type, t.where());
  }

  std::vector<Operand> operands(Tokens &t, std::size_t count) {
    std::vector<Operand> list;
    for (std::size_t i = 0; i < count; ++i) {
      if (i)
        t.expect(",");
      list.push_back(operand(t));
    }
    return list;
  }

  // ---- values
  struct Stated {
    Type type;
    Axes axes;
  };
  Stated stated(Tokens &t) {
    t.expect(":");
    Type type = t.type();
    return {type, t.is("[") ? axisList(t) : Axes{}};
  }

  void definition(Tokens &t) {
    std::vector<std::string> names{t.take().text};
    while (t.takeIf(",")) {
      if (t.peek().kind != Token::value)
        t.expected("the name of a value");
      names.push_back(t.take().text);
    }
    t.expect("=");
    std::string op = t.word("an operation");
    if (op == "fold")
      return openFold(t, std::move(names));
    if (names.size() != 1)
      fail(here, "'" + op + "' makes one value, not " + std::to_string(names.size()) + "; only fold makes several");
    Stated type{};
    Tile tile = value(t, op, type);
    if (tile.type() != type.type || !same(tile.axes(), sorted(type.axes)))
      fail(here, "'" + op + "' makes " + text(tile) + ", not the stated " + name(type.type) + (type.axes.empty() ? "" : text(type.axes)) + "; correct one of them");
    define(names[0], tile);
  }

  Tile value(Tokens &t, const std::string &op, Stated &type) {
    const Location where = t.where();
    if (auto f = unaries.find(op); f != unaries.end()) {
      Operand a = operand(t);
      type = stated(t);
      return f->second(a);
    }
    if (auto f = binaries.find(op); f != binaries.end()) {
      auto list = operands(t, 2);
      type = stated(t);
      return f->second(list[0], list[1]);
    }
    if (auto f = alongs.find(op); f != alongs.end()) {
      Operand a = operand(t);
      t.expect("over");
      Axis axis = axisNamed(t);
      type = stated(t);
      return f->second(a, over(axis));
    }
    if (op == "dot") {
      auto list = operands(t, 2);
      t.expect("over");
      Axis axis = axisNamed(t);
      type = stated(t);
      return dot(list[0], list[1], over(axis));
    }
    if (op == "select") {
      auto list = operands(t, 3);
      type = stated(t);
      return tw::where(list[0], list[1], list[2]);
    }
    if (op == "random") {
      Operand seed = operand(t);
      std::vector<Operand> coordinates;
      while (t.takeIf(","))
        coordinates.push_back(operand(t));
      type = stated(t);
      return random(seed, std::move(coordinates));
    }
    if (op == "cast") {
      Operand a = operand(t);
      type = stated(t);
      return cast(a, type.type);
    }
    if (op == "constant") {
      Tokens number = t;
      t.take();
      type = stated(t);
      return literal(number, type.axes);
    }
    if (op == "load") {
      Tensor tensor = tensorNamed(t);
      std::vector<Operand> indices = indexList(t);
      type = stated(t);
      return tensor.at(std::move(indices), t.where());
    }
    if (op == "contains") {
      Tensor list = tensorNamed(t);
      std::vector<Operand> at = indexList(t);
      t.expect(",");
      auto more = operands(t, 2);
      type = stated(t);
      return contains(list, std::move(at), more[0], more[1], t.where());
    }
    if (op == "named") {
      std::string label = t.string("a name in quotes");
      Operand result = operand(t);
      std::vector<Tile> inputs;
      if (t.takeIf("from"))
        do
          inputs.push_back(operand(t).tile);
        while (t.takeIf(","));
      type = stated(t);
      return inputs.empty() ? tw::named(label, result) : tw::named(label, result.tile, inputs, where);
    }
    std::string close = detail::nearest(op, operationNames());
    fail(here, "'" + op + "' is no operation; " + (close.empty() ? "docs/dsl.md lists them" : "did you mean '" + close + "'?"));
  }

  std::vector<Operand> indexList(Tokens &t) {
    std::vector<Operand> indices;
    t.expect("[");
    while (!t.takeIf("]")) {
      if (!indices.empty())
        t.expect(",");
      indices.push_back(operand(t));
    }
    return indices;
  }

  // ---- folds
  void openFold(Tokens &t, std::vector<std::string> results) {
    Axis axis = axisNamed(t);
    Order order = t.takeIf("ascending") ? Order::ascending : Order::unspecified;
    std::vector<std::string> names;
    std::vector<Tile> starts;
    t.expect("(");
    while (!t.takeIf(")")) {
      if (!names.empty())
        t.expect(",");
      if (t.peek().kind != Token::value)
        t.expected("the name of a carried value");
      names.push_back(t.take().text);
      t.expect("=");
      starts.push_back(operand(t).tile);
    }
    t.expect("{");
    if (names.size() != results.size())
      fail(here, "the fold carries " + std::to_string(names.size()) + " values and names " + std::to_string(results.size()) + " results; name one result for each");
    auto fold = detail::openFold(axis, order, starts, t.where());
    folds.push_back({fold, std::move(results), false, here});
    scopes.emplace_back();
    for (std::size_t slot = 0; slot < names.size(); ++slot)
      define(names[slot], fold->arguments[slot]);
  }

  void yield(Tokens &t) {
    if (folds.empty())
      fail(here, "yield outside of a fold; it ends the step of one");
    std::vector<Tile> yields;
    do
      yields.push_back(operand(t).tile);
    while (t.takeIf(","));
    detail::closeFold(*folds.back().fold, std::move(yields));
    folds.back().yielded = true;
  }

  void closeFold() {
    if (folds.empty())
      fail(here, "'}' closes no fold; remove it");
    if (!folds.back().yielded)
      fail(here, "the step of the fold yields nothing; write yield before }", {{folds.back().line, "the fold begins here"}});
    OpenFold closed = std::move(folds.back());
    folds.pop_back();
    scopes.pop_back();
    for (unsigned slot = 0; slot < closed.results.size(); ++slot)
      define(closed.results[slot], detail::foldResult(closed.fold, slot));
  }

  std::string origin;
  Location here;
  Program program;
  bool named = false;
  std::map<std::string, Axis> axes;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, Tile> scalars;
  std::vector<std::map<std::string, Tile>> scopes;
  std::vector<OpenFold> folds;
};

} // namespace

Program parseProgram(std::string_view text, std::string_view origin) { return Parser(origin).run(text); }

} // namespace tw

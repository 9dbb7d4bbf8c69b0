// The text form of a program. Its grammar is in docs/dsl.md; Parse.cpp reads it.
#include "Numbers.h"
#include "Place.h"
#include <cmath>
#include <sstream>

namespace tw {
namespace {

using detail::Block;
using detail::Line;

/// `7` is an i32, `7.0` an f32; other types are said: `7:i64`, `7.0:f64`.
std::string literal(const Node &node) {
  if (node.type == Type::boolean)
    return node.literal != 0 ? "true" : "false";
  std::string number = detail::shortest(node.literal);
  if (isInteger(node.type)) {
    std::ostringstream exact;
    exact << static_cast<long long>(node.literal);
    return exact.str() + (node.type == Type::i32 ? "" : ":i64");
  }
  if (std::isfinite(node.literal) && number.find_first_of(".e") == std::string::npos)
    number += ".0";
  return number + (node.type == Type::f32 ? "" : std::string(":") + name(node.type));
}

/// A string in quotes, with `"`, `\` and line ends escaped.
std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

template <class Range, class F> std::string list(const Range &range, F text) {
  std::string out;
  for (const auto &item : range)
    out += (out.empty() ? "" : ", ") + text(item);
  return out;
}

class Printer {
public:
  explicit Printer(Locations locations) : locations(locations) {}

  std::string run(const Program &program) {
    out << "program " << quoted(program.name) << "\n";
    declarations(program);
    Block top = detail::place(program);
    block(top, "");
    for (const Requirement &r : program.requirements)
      end("require " + operand(r.condition) + " " + quoted(r.message), r.where);
    for (const Store &s : program.stores)
      end("store " + s.tensor.name() + text(s.index) + " = " + operand(s.value), s.where);
    return out.str();
  }

private:
  void declarations(const Program &program) {
    for (const Axis &axis : sorted(axesOf(program)))
      end("axis " + axis.name(), axis.where());
    for (const auto &tensor : tensorsOf(program))
      end("tensor " + tensor->name + " " + name(tensor->type) + "[" + std::to_string(tensor->rank) + "]", tensor->where);
    for (const Tile &scalar : scalarsOf(program))
      end("scalar " + scalar.node().label + " " + name(scalar.type()) + (scalar.node().positive ? " positive" : ""), scalar.where());
  }

  void end(const std::string &line, const Location &where) {
    out << line;
    if (locations == Locations::print && where.line)
      out << "   @" << quoted(where.file) << ":" << where.line;
    out << "\n";
  }

  std::string fresh() { return std::string(1, '%').append(std::to_string(next++)); }
  std::string number(const Node &node) { return names[&node] = fresh(); }

  std::string operand(const Tile &tile) {
    const Node &node = tile.node();
    switch (node.op) {
    case Op::constant:
      if (node.axes.empty())
        return literal(node);
      break;
    case Op::index:
      return node.consumed[0].name();
    case Op::extent:
      return "extent(" + node.consumed[0].name() + ")";
    case Op::dimension:
      return "dimension(" + node.tensor->name + ", " + std::to_string(node.slot) + ")";
    case Op::scalar:
      return "scalar(" + node.label + ")";
    case Op::foldResult:
      return folds.at(node.fold.get())[node.slot];
    default:
      break;
    }
    return names.at(&node);
  }

  std::string operation(const Node &node) {
    auto operands = [&] { return list(node.operands, [&](const Tile &t) { return operand(t); }); };
    switch (node.op) {
    case Op::constant:
      return "constant " + literal(node);
    case Op::load:
      return "load " + node.tensor->name + "[" + operands() + "]";
    case Op::contains: {
      const std::vector<Tile> at(node.operands.begin(), node.operands.end() - 2);
      return "contains " + node.tensor->name + "[" + list(at, [&](const Tile &t) { return operand(t); }) + "], " + operand(node.operands.end()[-2]) + ", " + operand(node.operands.back());
    }
    case Op::reduceMax:
    case Op::reduceMin:
    case Op::reduceSum:
    case Op::dot:
      return std::string(name(node.op)) + " " + operands() + " over " + node.consumed[0].name();
    case Op::named: {
      std::string line = "named " + quoted(node.label) + " " + operand(node.operands.back());
      std::vector<Tile> inputs(node.operands.begin(), node.operands.end() - 1);
      return inputs.empty() ? line : line + " from " + list(inputs, [&](const Tile &t) { return operand(t); });
    }
    default:
      return std::string(name(node.op)) + " " + operands();
    }
  }

  void block(const Block &block, const std::string &indent) {
    for (const Line &line : block.lines)
      if (line.fold)
        fold(line, indent);
      else {
        std::string body = operation(*line.node);
        std::string type = name(line.node->type) + text(line.node->axes);
        end(indent + number(*line.node) + " = " + body + " : " + type, line.where);
      }
  }

  void fold(const Line &line, const std::string &indent) {
    const Fold &fold = *line.fold;
    std::vector<std::string> results;
    for (std::size_t slot = 0; slot < fold.starts.size(); ++slot)
      results.push_back(fresh());
    std::string head = indent + list(results, [](const std::string &s) { return s; }) + " = fold " + fold.axis.name() + (fold.order == Order::ascending ? " ascending (" : " (");
    for (std::size_t slot = 0; slot < fold.starts.size(); ++slot)
      head += (slot ? ", " : "") + number(fold.arguments[slot].node()) + " = " + operand(fold.starts[slot]);
    folds[&fold] = results;
    end(head + ") {", line.where);
    block(*line.step, indent + "  ");
    out << indent << "  yield " << list(fold.yields, [&](const Tile &t) { return operand(t); }) << "\n" << indent << "}\n";
  }

  Locations locations;
  std::ostringstream out;
  unsigned next = 0;
  std::map<const Node *, std::string> names;
  std::map<const Fold *, std::vector<std::string>> folds;
};

} // namespace

std::string print(const Program &program, Locations locations) {
  verify(program);
  return Printer(locations).run(program);
}

} // namespace tw

// What must hold at launch, and what binds the length of an axis.
#include "Facts.h"
#include "tilewright/pipeline/Compile.h"
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace tw {
namespace {

AxisFacts::Role roleFact(Role role) {
  switch (role) {
  case Role::free: return AxisFacts::Role::free;
  case Role::block: return AxisFacts::Role::block;
  case Role::fold: case Role::point: return AxisFacts::Role::fold;
  case Role::inner: return AxisFacts::Role::inner;
  }
  return AxisFacts::Role::free;
}

/// Arithmetic without loads and tiles, as data; nothing where a value is not of that kind.
std::optional<Expression> expressionOf(const Tile &tile) {
  const Node &node = tile.node();
  switch (node.op) {
  case Op::constant: return Expression{"constant", node.literal};
  case Op::index: return Expression{"index", 0, node.consumed.front().name()};
  case Op::extent: return Expression{"extent", 0, node.consumed.front().name()};
  case Op::dimension: return Expression{"dimension", 0, node.tensor->name, int(node.slot)};
  case Op::scalar: return Expression{"scalar", 0, node.label};
  case Op::named: case Op::stabiliser: return expressionOf(node.operands.back());
  case Op::cast:
    // A cast keeps the value as far as bounds go, except where it cuts a fraction off.
    return isInteger(node.type) && isFloat(node.operands[0].type()) ? std::nullopt : expressionOf(node.operands[0]);
  case Op::load: case Op::contains: case Op::reduceMax: case Op::reduceMin: case Op::reduceSum: case Op::dot: case Op::foldArgument: case Op::foldResult:
    return {};
  default: break;
  }
  bool wholeDivision = node.op == Op::div && isInteger(node.type);
  Expression made{wholeDivision ? "floor_div" : name(node.op)};
  for (const Tile &operand : node.operands) {
    auto inner = expressionOf(operand);
    if (!inner)
      return {};
    made.operands.push_back(std::move(*inner));
  }
  return made;
}

/// The expression as a person would write it.
std::string text(const Expression &e) {
  static const std::map<std::string, std::string> infix{{"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}, {"floor_div", "/"}, {"mod", "%"},
    {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}, {"eq", "=="}, {"ne", "!="}, {"and", "&"}, {"or", "|"}};
  if (e.op == "constant") {
    std::string number = std::to_string(e.value);
    number.erase(number.find_last_not_of('0') + 1);
    return number.back() == '.' ? number.substr(0, number.size() - 1) : number;
  }
  if (e.op == "extent")
    return "extent(" + e.name + ")";
  if (e.op == "dimension")
    return e.name + ".dimension(" + std::to_string(e.dimension) + ")";
  if (e.operands.empty())
    return e.name;
  auto inner = [](const Expression &operand) { return operand.operands.size() == 2 ? "(" + text(operand) + ")" : text(operand); };
  if (auto sign = infix.find(e.op); sign != infix.end() && e.operands.size() == 2)
    return inner(e.operands[0]) + " " + sign->second + " " + inner(e.operands[1]);
  std::string out = e.op + "(";
  for (const Expression &operand : e.operands)
    out += (out.back() == '(' ? "" : ", ") + text(operand);
  return out + ")";
}

class Reads {
public:
  Reads(Artifact &artifact, const Roles &roles) : artifact(artifact), roles(roles) {}

  void ofProgram(const Program &program) {
    for (const Store &store : program.stores) {
      for (std::size_t d = 0; d < store.index.size(); ++d)
        bind(store.index[d], store.tensor.name(), int(d));
      visit(store.value, {});
    }
  }

private:
  /// `guards` are the axes along which conditions above choose, and the other sides of `&` and `|`: an index along them may
  /// leave the tensor where its element is not chosen.
  void visit(const Tile &tile, const Axes &guards) {
    const Node &node = tile.node();
    if (auto known = seen.find(&node); known != seen.end() && known->second.size() <= guards.size())
      return;
    seen[&node] = guards;
    read(node, guards);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const bool isChosen = node.op == Op::select && i > 0, isJoined = node.op == Op::logicalAnd || node.op == Op::logicalOr;
      visit(node.operands[i], isChosen ? unite(guards, node.operands[0].axes()) : isJoined ? unite(guards, node.operands[1 - i].axes()) : guards);
    }
    if (node.op == Op::foldResult) {
      for (const Tile &start : node.fold->starts)
        visit(start, {});
      for (const Tile &yield : node.fold->yields)
        visit(yield, {});
    }
  }

  void read(const Node &node, const Axes &guards) {
    for (std::size_t d = 0; d < placesRead(node); ++d) {
      const Tile &index = node.operands[d];
      const Node *plain = &index.node();
      while (plain->op == Op::named)
        plain = &plain->operands.back().node();
      if (plain->op == Op::index) {
        bind(plain->consumed.front(), node.tensor->name, int(d));
        continue;
      }
      bool guarded = std::any_of(index.axes().begin(), index.axes().end(), [&](const Axis &axis) { return contains(guards, axis); });
      auto expression = guarded ? std::nullopt : expressionOf(index);
      if (expression && checked.insert({node.tensor->name, int(d), text(*expression)}).second)
        artifact.indices.push_back({node.tensor->name, int(d), *expression, text(*expression), node.where.line ? shortName(node.where) : ""});
    }
  }

  void bind(const Axis &axis, const std::string &tensor, int dimension) {
    for (std::size_t i = 0; i < roles.axes.size(); ++i)
      if (same(roles.axes[i], axis)) {
        auto &bindings = artifact.axes[i].bindings;
        bool known = std::any_of(bindings.begin(), bindings.end(), [&](const AxisBinding &b) { return b.tensor == tensor && b.dimension == dimension; });
        if (!known)
          bindings.push_back({tensor, dimension});
      }
  }

  Artifact &artifact;
  const Roles &roles;
  std::map<const Node *, Axes> seen;
  std::set<std::tuple<std::string, int, std::string>> checked;
};

} // namespace

std::vector<RequirementFacts> requirementsOf(const Program &program) {
  std::vector<RequirementFacts> facts;
  for (const Requirement &requirement : program.requirements)
    if (auto condition = expressionOf(requirement.condition))
      facts.push_back({*condition, requirement.message});
    else
      throw ProgramError({requirement.where, "this requirement cannot be checked at launch: it may use lengths, dimensions, scalars and arithmetic only", {}});
  return facts;
}

void addFacts(Artifact &artifact, const Program &program, const Roles &roles, const Schedule &schedule) {
  artifact.program = program.name;
  artifact.schedule = print(schedule);
  for (std::size_t i = 0; i < roles.axes.size(); ++i) {
    auto width = schedule.widths.find(roles.axes[i].name());
    bool tiled = roles.isTiled(roles.axes[i]) && width != schedule.widths.end();
    artifact.axes.push_back({roles.axes[i].name(), roleFact(roles.roles[i]), tiled ? width->second : 1, {}});
  }
  Reads(artifact, roles).ofProgram(program);
  for (const AxisFacts &axis : artifact.axes)
    if (axis.bindings.empty())
      throw ProgramError({roles.fold->where, "nothing tells the length of axis '" + axis.name + "': no tensor is indexed by it directly; read or store one with '" + axis.name + "' as an index", {}});
  artifact.requirements = requirementsOf(program);
}

std::vector<IndexFacts> readsOf(const Program &program, const Schedule &schedule) {
  Artifact facts;
  addFacts(facts, program, rolesOf(program, schedule.block), schedule);
  return std::move(facts.indices);
}

} // namespace tw

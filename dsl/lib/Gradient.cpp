// gradient(): from a program of one fold to the programs of its gradients. docs/gradients.md has the algebra.
#include "tilewright/dsl/Gradient.h"
#include "Fail.h"
#include "GradientPrograms.h"
#include "HeldFold.h"
#include "Names.h"
#include "Walk.h"
#include <algorithm>

namespace tw {
namespace {

using namespace detail;

class Differentiator {
public:
  Differentiator(const Program &program, const GradientOptions &options)
      : program(program), options(options), roles(rolesOf(program)), type(typeOf(*roles.fold)), programs(algebra, program, roles, type, result),
        held(holdStabilisers(algebra, roles.fold)) {}

  Gradient run() {
    result.forward = program;
    chooseInputs();
    chooseOutputs();
    replaceResults();
    normalise();
    afterFold();
    inFold();
    programs.finishStages();
    return std::move(result);
  }

private:
  static Type typeOf(const Fold &fold) {
    const bool wide = std::any_of(fold.arguments.begin(), fold.arguments.end(), [](const Tile &argument) { return argument.type() == Type::f64; });
    return wide ? Type::f64 : Type::f32;
  }

  [[noreturn]] void unknown(const char *what, const std::string &name, const std::vector<std::string> &known) {
    std::string all, close = nearest(name, known);
    for (const std::string &one : known)
      all += (all.empty() ? "" : ", ") + one;
    fail(program.stores[0].where, std::string("gradient() is asked for the ") + what + " '" + name + "', which program '" + program.name + "' has not as a float" +
                                      (close.empty() ? "" : "; did you mean '" + close + "'?") + "; it has " + all);
  }

  void chooseInputs() {
    std::vector<std::string> known;
    std::set<std::string> stored;
    for (const Store &store : program.stores)
      stored.insert(store.tensor.name());
    for (const auto &tensor : tensorsOf(program))
      if (isFloat(tensor->type) && !stored.count(tensor->name))
        known.push_back(tensor->name);
    for (const Tile &scalar : scalarsOf(program))
      if (isFloat(scalar.type()))
        known.push_back(scalar.node().label);
    for (const std::string &name : options.inputs)
      if (std::find(known.begin(), known.end(), name) == known.end())
        unknown("gradient of", name, known);
    for (const std::string &name : options.inputs.empty() ? known : options.inputs)
      programs.want(name);
  }

  void chooseOutputs() {
    std::vector<std::string> known;
    for (const Store &store : program.stores)
      if (isFloat(store.tensor.type()))
        known.push_back(store.tensor.name());
    for (const std::string &name : options.outputs)
      if (std::find(known.begin(), known.end(), name) == known.end())
        unknown("output", name, known);
    for (const std::string &name : options.outputs.empty() ? known : options.outputs)
      result.upstream[name] = programs.unique(derivativeName(name));
  }

  /// What the program makes of the fold's results, these replaced by placeholders.
  void replaceResults() {
    Walk walk;
    walk.node = [&](const Tile &tile) {
      const Node &node = tile.node();
      if (node.op != Op::foldResult || node.fold != roles.fold)
        return;
      const HeldFold::Slot &slot = held.slots[node.slot];
      Tile sum = slot.start ? algebra.binary(Op::add, *slot.start, slot.result, slot.result.type(), node.where) : slot.result;
      after.replace(tile, sum);
      back.replace(sum, tile);
    };
    walk.over(program);
    for (const Store &store : program.stores)
      values.push_back(after(store.value));
  }

  Tile load(const Tensor &tensor, const Axes &index, Location where) {
    std::vector<Operand> at;
    for (const Axis &axis : index)
      at.push_back(Operand(axis, where));
    return algebra.make(tensor.at(at, where).node());
  }

  /// Chooses what the stabiliser is held at. Where all sums scale with e^−c and results are quotients by one of them, D, it is
  /// log D + c, of which D is 1; else the stabiliser's own value.
  void normalise() {
    std::vector<std::size_t> stabilisers;
    for (std::size_t i = 0; i < held.slots.size(); ++i)
      if (held.slots[i].isHeld)
        stabilisers.push_back(i);
    if (stabilisers.empty())
      return;
    if (stabilisers.size() == 1 && findDivisor(held.slots[stabilisers[0]]))
      return holdAtLog(stabilisers[0]);
    for (std::size_t i : stabilisers) {
      const HeldFold::Slot &slot = held.slots[i];
      const Axes axes = sorted(slot.result.axes());
      Tensor tensor = programs.intermediate(slot.name, axes);
      result.forward.stores.push_back(tw::store(tensor, axes, foldResult(roles.fold, unsigned(i)), roles.fold->where));
      finiteHeld(slot, load(tensor, axes, roles.fold->where));
    }
  }

  /// A row of which no element is left has −inf: held at +inf instead, e^(s − c) is 0 and not e^(−inf + inf).
  void finiteHeld(const HeldFold::Slot &slot, const Tile &saved) {
    const Location where = roles.fold->where;
    const Tile isEmpty = algebra.logic(Op::eq, {saved, algebra.number(-infinity, saved.type())}, where);
    const Tile c = algebra.choose(isEmpty, algebra.number(infinity, saved.type()), saved, where);
    heldAt.push_back({slot.result, c});
    empty.push_back(isEmpty);
  }

  bool findDivisor(const HeldFold::Slot &slot) {
    Degrees degrees(slot.result);
    for (const HeldFold::Slot &sum : held.slots)
      if (!sum.isHeld) {
        const Degrees::Degree degree = sum.term ? degrees.of(*sum.term) : Degrees::Degree{true, true, 0};
        if (!degree.isKnown || (!degree.isAny && degree.n < 1))
          return false;
        degrees.set(sum.result, degree);
      }
    bool isOne = true;
    Walk walk;
    walk.node = [&](const Tile &tile) {
      const Node &node = tile.node();
      if (node.op != Op::div || !isFloat(node.type))
        return;
      const Tile by = meant(node.operands[1]);
      const Degrees::Degree degree = degrees.of(by);
      if (degree.isKnown && (degree.isAny || degree.n == 0))
        return;
      isOne = isOne && degree.isKnown && degree.n == 1 && same(by.axes(), slot.result.axes()) && (!divisor || &divisor->node() == &by.node());
      divisor = by;
    };
    for (const Tile &value : values)
      walk.over(value);
    return divisor && isOne;
  }

  void holdAtLog(std::size_t index) {
    const HeldFold::Slot &slot = held.slots[index];
    const Location where = roles.fold->where;
    const Type own = slot.result.type();
    const Tile logarithm = algebra.binary(Op::add, slot.result, algebra.unary(Op::log, *divisor, own, where), own, where);
    std::optional<Tile> saved;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (&meant(values[i]).node() == &logarithm.node() && program.stores[i].tensor.type() == own)
        saved = load(program.stores[i].tensor, program.stores[i].index, where);
    if (!saved) {
      // Of a row without an element, whose stabiliser is −inf, any c does: 0.
      const Tile top = foldResult(roles.fold, unsigned(index));
      const Tile base = algebra.choose(algebra.logic(Op::lt, {algebra.number(-infinity, own), top}, where), top, algebra.number(0, own), where);
      back.replace(slot.result, base);
      const Axes axes = sorted(slot.result.axes());
      Tensor tensor = programs.intermediate("lse", axes);
      result.forward.stores.push_back(tw::store(tensor, axes, back(logarithm), where));
      saved = load(tensor, axes, where);
    }
    isNormalised = true;
    finiteHeld(slot, *saved);
  }

  /// Values of the graph behind the fold, with the stabiliser held and the divisor 1: what the program has stored is read
  /// again, and sums that nothing tells are stored too.
  void readBack() {
    Rewriter plain(algebra);
    if (isNormalised) {
      plain.replace(*divisor, algebra.number(1, type));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      Tile value = meant(plain(values[i]));
      while (value.node().op == Op::cast && isFloat(value.node().operands[0].type()))
        value = meant(value.node().operands[0]);
      const Node &node = value.node();
      const bool isHeld = std::any_of(held.slots.begin(), held.slots.end(), [&](const HeldFold::Slot &slot) { return slot.isHeld && &slot.result.node() == &node; });
      if (isFloat(node.type) && !isHeld && node.op != Op::constant && node.op != Op::load && program.stores[i].tensor.type() != Type::i32)
        known.emplace(&node, algebra.converted(load(program.stores[i].tensor, program.stores[i].index, program.stores[i].where), node.type, node.where));
    }
    simplify = std::make_unique<Rewriter>(std::move(plain));
  }

  /// The value of a node behind the fold.
  Tile value(const Tile &tile) {
    const Tile simple = meant((*simplify)(tile));
    if (auto found = known.find(&simple.node()); found != known.end())
      return found->second;
    for (std::size_t i = 0; i < held.slots.size(); ++i)
      if (!held.slots[i].isHeld && &held.slots[i].result.node() == &simple.node())
        return known.emplace(&simple.node(), save(i)).first->second;
    const Node &node = simple.node();
    for (const auto &[c, at] : heldAt)
      if (&c.node() == &node)
        return at;
    if (node.operands.empty())
      return simple;
    Node rebuilt = node;
    for (Tile &operand : rebuilt.operands)
      operand = value(operand);
    return known.emplace(&node, algebra.make(std::move(rebuilt))).first->second;
  }

  /// A sum that the backward programs need and the program does not store.
  Tile save(std::size_t slot) {
    const Location where = roles.fold->where;
    Tile sum = foldResult(roles.fold, unsigned(slot));
    if (held.slots[slot].start)
      fail(held.slots[slot].term ? held.slots[slot].term->where() : where, "gradient() needs the value of carried value #" + std::to_string(slot) + " " + text(sum) +
               ", which does not start from 0; store it, or start it from 0");
    const Type own = sum.type();
    if (isNormalised) {
      const Tile by = algebra.converted(back(*divisor), own, where);
      sum = algebra.choose(algebra.logic(Op::eq, {by, algebra.number(0, own)}, where), algebra.number(0, own), algebra.binary(Op::div, sum, by, own, where), where);
    }
    const Axes axes = sorted(held.slots[slot].result.axes());
    Tensor tensor = programs.intermediate(held.slots[slot].name, axes);
    result.forward.stores.push_back(tw::store(tensor, axes, sum, where));
    return load(tensor, axes, where);
  }

  Axes wholeAxes() {
    Axes axes;
    for (std::size_t i = 0; i < roles.axes.size(); ++i)
      if (roles.roles[i] == Role::free || roles.roles[i] == Role::block)
        axes.push_back(roles.axes[i]);
    return axes;
  }

  static bool covers(const Axes &axes, const Axes &others) {
    return std::all_of(others.begin(), others.end(), [&](const Axis &axis) { return contains(axes, axis); });
  }

  bool isSum(const Tile &tile) const {
    return std::any_of(held.slots.begin(), held.slots.end(), [&](const HeldFold::Slot &slot) { return !slot.isHeld && &slot.result.node() == &tile.node(); });
  }

  /// From the outputs to the fold's results: a program of rows, which sums over inner axes as a fold, and stores what of rows
  /// the others read.
  void afterFold() {
    readBack();
    const Axes whole = wholeAxes();
    bool folds = false;
    std::map<const Node *, Tile> adjoints;
    Reverse::Rules rules;
    rules.value = [&](const Tile &tile) { return value(tile); };
    rules.isWanted = [&](const Tile &tile) { return programs.isWanted(tile) || isSum(tile); };
    rules.isInner = [&](const Axis &axis) { return programs.isInner(axis); };
    rules.stopsAt = [&](const Tile &tile) { return !isSum(tile) && (programs.isWanted(tile) || !covers(tile.axes(), whole)); };
    rules.isLater = [&](const Arrival &arrival) {
      return std::any_of(arrival.parts.begin(), arrival.parts.end(), [&](const Contribution &part) { return lacksInner(arrival.node, part); });
    };
    rules.sumLater = [&](const std::vector<Arrival> &arrivals) {
      folds = true;
      return sumOverInner(arrivals);
    };
    rules.settled = [&](const Tile &tile, const Tile &adjoint, const Guard &guard) {
      if (isSum(tile))
        adjoints.insert_or_assign(&tile.node(), guarded(algebra, adjoint, guard));
    };
    Reverse reverse(algebra, type, rules);
    programs.begin("_rows");
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Store &store = program.stores[i];
      auto name = result.upstream.find(store.tensor.name());
      if (name == result.upstream.end())
        continue;
      Tensor upstream(name->second, store.tensor.type(), store.tensor.rank(), store.where);
      reverse.seed(values[i], load(upstream, store.index, store.where));
    }
    std::vector<std::pair<Tile, Tile>> leaves;
    for (const Arrival &arrival : reverse.run()) {
      Contribution sum = reverse.combined(arrival);
      leaves.push_back({arrival.node, guarded(algebra, sum.a, sum.guard)});
    }
    programs.settle(std::move(leaves));
    for (std::size_t i = 0; i < held.slots.size(); ++i)
      if (auto adjoint = adjoints.find(&held.slots[i].result.node()); adjoint != adjoints.end() && held.slots[i].term)
        seeds.push_back({*held.slots[i].term, ofRows(held.slots[i], adjoint->second, folds)});
    if (folds && !seeds.empty())
      for (auto &[c, at] : heldAt)
        at = throughMemory(held.slots[slotOf(c)].name, at);
    programs.finish();
  }

  std::size_t slotOf(const Tile &placeholder) const {
    return std::size_t(std::find_if(held.slots.begin(), held.slots.end(), [&](const HeldFold::Slot &slot) { return &slot.result.node() == &placeholder.node(); }) - held.slots.begin());
  }

  std::vector<Tile> sumOverInner(const std::vector<Arrival> &arrivals) {
    std::optional<Axis> over;
    std::vector<Axes> axes;
    for (const Arrival &arrival : arrivals) {
      Axes all;
      for (const Contribution &part : arrival.parts)
        all = unite(all, part.axes());
      Axes kept;
      for (const Axis &axis : all)
        if (programs.isInner(axis) && !contains(arrival.node.axes(), axis))
          over = over.value_or(axis);
        else
          kept.push_back(axis);
      axes.push_back(kept);
    }
    auto pieces = [&] {
      std::vector<Tile> all;
      for (const Arrival &arrival : arrivals) {
        std::optional<Tile> sum;
        for (const Contribution &part : arrival.parts) {
          if (!lacksInner(arrival.node, part))
            continue;
          Tile product = whole(part);
          for (const Axis &axis : Axes(product.axes()))
            if (programs.isInner(axis) && !contains(arrival.node.axes(), axis))
              product = programs.total(product, axis);
          sum = sum ? algebra.binary(Op::add, *sum, product, type, product.where()) : product;
        }
        all.push_back(*sum);
      }
      return all;
    };
    std::vector<Tile> sums = programs.sums({}, *over, axes, pieces, roles.fold->where);
    for (std::size_t i = 0; i < arrivals.size(); ++i)
      for (const Contribution &part : arrivals[i].parts)
        if (!lacksInner(arrivals[i].node, part))
          sums[i] = algebra.binary(Op::add, sums[i], whole(part), type, sums[i].where());
    return sums;
  }

  bool lacksInner(const Tile &node, const Contribution &part) {
    const Axes axes = part.axes();
    return std::any_of(axes.begin(), axes.end(), [&](const Axis &axis) { return programs.isInner(axis) && !contains(node.axes(), axis); });
  }

  /// The product of a contribution's factors, 0 where it does not matter.
  Tile whole(const Contribution &part) {
    Tile product = part.b ? algebra.binary(Op::mul, part.a, *part.b, type, part.a.where()) : algebra.converted(part.a, type, part.a.where());
    return guarded(algebra, product, part.guard);
  }

  /// What the fold's results are to the loss, for the programs that follow. In a row without an element a sum's terms are 0,
  /// whatever this is, so that it may be 0 where a derivative is not finite.
  Tile ofRows(const HeldFold::Slot &slot, Tile adjoint, bool folds) {
    const bool isRow = std::none_of(slot.result.axes().begin(), slot.result.axes().end(), [&](const Axis &axis) { return programs.isInner(axis); });
    if (!isRow)
      return adjoint;
    if (isNormalised)
      adjoint = guarded(algebra, adjoint, {{empty[0], false}});
    return folds ? throughMemory(derivativeName(slot.name), adjoint) : adjoint;
  }

  Tile throughMemory(const std::string &name, const Tile &value) {
    if (value.node().op == Op::load || value.node().op == Op::constant)
      return value;
    const Axes axes = sorted(value.axes());
    Tensor tensor = programs.intermediate(name, axes);
    programs.put(tw::store(tensor, axes, value, value.where()));
    return load(tensor, axes, value.where());
  }

  /// From the fold's results through one tile of its step.
  void inFold() {
    Rewriter atHeld(algebra);
    for (const auto &[c, at] : heldAt)
      atHeld.replace(c, at);
    std::map<const Node *, bool> sums;
    std::function<bool(const Tile &)> sumsTile = [&](const Tile &tile) {
      const Node &node = tile.node();
      if (auto found = sums.find(&node); found != sums.end())
        return found->second;
      bool answer = node.op >= Op::reduceMax && node.op <= Op::dot && same(node.consumed[0], roles.fold->axis);
      for (const Tile &operand : node.operands)
        answer = answer || sumsTile(operand);
      return sums[&node] = answer;
    };
    Reverse::Rules rules;
    rules.value = [](const Tile &tile) { return tile; };
    rules.isWanted = [&](const Tile &tile) { return programs.isWanted(tile); };
    rules.isInner = [&](const Axis &axis) { return programs.isInner(axis); };
    // A value along one tile axis only is summed first and goes down then; one that has that axis from coordinates alone
    // (slope · k) goes down at once, so that all its leaf gets is summed in one place.
    std::map<const Node *, bool> along;
    std::function<bool(const Tile &)> leafAlongTile = [&](const Tile &tile) {
      const Node &node = tile.node();
      if (auto found = along.find(&node); found != along.end())
        return found->second;
      bool answer = programs.isWanted(tile) && programs.alongTile(tile.axes());
      for (const Tile &operand : node.operands)
        answer = answer || leafAlongTile(operand);
      return along[&node] = answer;
    };
    rules.stopsAt = [&](const Tile &tile) {
      if (programs.isWanted(tile) || programs.isPair(tile.axes()) || sumsTile(tile))
        return programs.isWanted(tile);
      return !programs.alongTile(tile.axes()) || leafAlongTile(tile);
    };
    Reverse reverse(algebra, type, rules);
    for (const auto &[term, adjoint] : seeds)
      reverse.seed(atHeld(term), adjoint);
    programs.sumOverTiles(reverse.run());
  }

  const Program &program;
  const GradientOptions &options;
  Gradient result;
  Algebra algebra;
  Roles roles;
  Type type;
  GradientPrograms programs;
  HeldFold held;
  Rewriter after{algebra}, back{algebra};
  std::unique_ptr<Rewriter> simplify;
  std::vector<Tile> values;                          // of the stores, over placeholders
  std::optional<Tile> divisor;
  bool isNormalised = false;
  std::vector<std::pair<Tile, Tile>> heldAt;         // a stabiliser's placeholder, and what it is held at
  std::vector<Tile> empty;                           // whether a row has no element
  std::map<const Node *, Tile> known;                // values that are stored
  std::vector<std::pair<Tile, Tile>> seeds;          // a sum's term, and what the sum is to the loss
};

} // namespace

Gradient gradient(const Program &program, const GradientOptions &options) {
  verify(program);
  return Differentiator(program, options).run();
}

} // namespace tw

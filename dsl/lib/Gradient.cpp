// gradient(): from a program of one fold to the programs of its gradients. docs/gradients.md has the algebra.
#include "tilewright/dsl/Gradient.h"
#include "Fail.h"
#include "GradientPrograms.h"
#include "Divisor.h"
#include "Names.h"
#include "Walk.h"
#include <algorithm>
#include <utility>

namespace tw {
namespace {

using namespace detail;

class Differentiator {
public:
  Differentiator(const Program &program, const GradientOptions &options)
      : program(program), options(options), roles(rolesOf(program)), type(typeOf(*roles.fold)), programs(algebra, program, roles, type, options, result),
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

  /// What a stabiliser is held at: where results are quotients by one of the sums that scale with it, where that is 1; else its own value.
  struct Hold {
    std::size_t slot;
    std::optional<Divisor> divisor;
    Tile at;        // what stands for its placeholder
    Tile isEmpty;   // whether a row has no element
  };

  void normalise() {
    for (std::size_t i = 0; i < held.slots.size(); ++i)
      if (held.slots[i].isHeld) {
        std::optional<Divisor> divisor = findDivisor(algebra, held, i, values);
        if (divisor)
          values = divisor->values;
        const Tile saved = divisor ? logarithm(i, *divisor) : own(i);
        hold(i, std::move(divisor), saved);
      }
  }

  Tile own(std::size_t slot) {
    const Axes axes = programs.ordered(held.slots[slot].result.axes());
    Tensor tensor = programs.intermediate(held.slots[slot].name, axes);
    result.forward.stores.push_back(tw::store(tensor, axes, foldResult(roles.fold, unsigned(slot)), roles.fold->where));
    return load(tensor, axes, roles.fold->where);
  }

  /// base + log(divisor), as the program stores it or as the forward program then does.
  Tile logarithm(std::size_t index, const Divisor &divisor) {
    const HeldFold::Slot &slot = held.slots[index];
    const Location where = roles.fold->where;
    const Type own = slot.result.type();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (&meant(after(program.stores[i].value)).node() == &divisor.logarithm.node() && program.stores[i].tensor.type() == own)
        return load(program.stores[i].tensor, program.stores[i].index, where);
    // Of a row without an element, whose stabiliser is −inf, any c does: 0.
    const Tile top = foldResult(roles.fold, unsigned(index));
    const Tile base = algebra.choose(algebra.logic(Op::lt, {algebra.number(-infinity, own), top}, where), top, algebra.number(0, own), where);
    const bool isOwn = &divisor.base.node() == &slot.result.node();
    if (isOwn)
      back.replace(slot.result, base);
    const Axes axes = programs.ordered(slot.result.axes());
    Tensor tensor = programs.intermediate("lse", axes);
    result.forward.stores.push_back(tw::store(tensor, axes, back(divisor.logarithm), where));
    return load(tensor, axes, where);
  }

  /// A row of which no element is left has −inf: held at +inf instead, e^(s − c) is 0 and not e^(−inf + inf).
  void hold(std::size_t slot, std::optional<Divisor> divisor, const Tile &saved) {
    const Location where = roles.fold->where;
    const Tile isEmpty = algebra.logic(Op::eq, {saved, algebra.number(-infinity, saved.type())}, where);
    const Tile c = algebra.choose(isEmpty, algebra.number(infinity, saved.type()), saved, where);
    holds.push_back({slot, std::move(divisor), c, isEmpty});
  }

  /// The stabiliser with which a sum scales, if results are quotients by one that does.
  const Hold *normalised(std::size_t slot) const {
    auto found = std::find_if(holds.begin(), holds.end(), [&](const Hold &hold) { return hold.divisor && hold.divisor->degrees[slot] > 0; });
    return found == holds.end() ? nullptr : &*found;
  }

  /// Values of the graph behind the fold, with the stabiliser held and the divisor 1: what the program has stored is read
  /// again, and sums that nothing tells are stored too.
  void readBack() {
    Rewriter plain(algebra);
    for (const Hold &hold : holds)
      if (hold.divisor)
        plain.replace(hold.divisor->divisor, algebra.number(1, type));
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
    for (const Hold &hold : holds)
      if (&held.slots[hold.slot].result.node() == &node)
        return hold.at;
    if (node.operands.empty())
      return simple;
    const Tile &plain = meant(tile);
    if (node.op >= Op::reduceMax && node.op <= Op::dot)
      return known.emplace(&node, saveReduced(plain)).first->second;
    // Operands as the program has them: what it reduces it does before the divisor is 1.
    const bool isAlike = plain.node().op == node.op && plain.node().operands.size() == node.operands.size();
    Node rebuilt = node;
    for (std::size_t i = 0; i < rebuilt.operands.size(); ++i)
      rebuilt.operands[i] = value(isAlike ? plain.node().operands[i] : node.operands[i]);
    return known.emplace(&node, algebra.make(std::move(rebuilt))).first->second;
  }

  /// What the program reduces behind the fold, over an axis that no other program need have whole: stored by it.
  Tile saveReduced(const Tile &tile) {
    const Axes axes = programs.ordered(unite(wholeAxes(), tile.axes()));
    const std::string name = "reduced";
    Tensor tensor = isTile(tile) ? programs.intermediate(name, axes, tileType()) : programs.intermediate(name, axes);
    result.forward.stores.push_back(tw::store(tensor, axes, Operand(back(tile), tile.where()), tile.where()));
    return algebra.converted(load(tensor, axes, tile.where()), tile.type(), tile.where());
  }

  /// A sum that the backward programs need and the program does not store.
  Tile save(std::size_t slot) {
    const Location where = roles.fold->where;
    Tile sum = foldResult(roles.fold, unsigned(slot));
    if (held.slots[slot].start)
      fail(held.slots[slot].term ? held.slots[slot].term->where() : where, "gradient() needs the value of carried value #" + std::to_string(slot) + " " + text(sum) +
               ", which does not start from 0; store it, or start it from 0");
    const Type own = sum.type();
    if (const Hold *hold = normalised(slot)) {
      // From where the program holds it to where the divisor is 1.
      const Divisor &divisor = *hold->divisor;
      const HeldFold::Slot &stabiliser = held.slots[hold->slot];
      const Tile by = algebra.converted(back(divisor.atBase), own, where), shrink = back(algebra.unary(Op::exp, algebra.binary(Op::sub, stabiliser.result, divisor.base, own, where), own, where));
      for (int n = 0; n < divisor.degrees[slot]; ++n)
        sum = algebra.binary(Op::div, algebra.binary(Op::mul, sum, shrink, own, where), by, own, where);
      sum = algebra.choose(algebra.logic(Op::eq, {by, algebra.number(0, own)}, where), algebra.number(0, own), sum, where);
    }
    const Axes axes = programs.ordered(held.slots[slot].result.axes());
    Tensor tensor = isTile(held.slots[slot].result) ? programs.intermediate(held.slots[slot].name, axes, tileType()) : programs.intermediate(held.slots[slot].name, axes);
    result.forward.stores.push_back(tw::store(tensor, axes, Operand(sum, where), where));
    return load(tensor, axes, where);
  }

  /// Whether a value of a row runs along inner axes too.
  bool isTile(const Tile &tile) const {
    return std::any_of(tile.axes().begin(), tile.axes().end(), [&](const Axis &axis) { return programs.isInner(axis); });
  }

  /// In which tiles of rows lie between programs: as results do, so that what multiplies those multiplies these.
  Type tileType() const {
    for (const auto &[output, name] : result.upstream)
      for (const Store &store : program.stores)
        if (store.tensor.name() == output && std::any_of(store.index.begin(), store.index.end(), [&](const Axis &axis) { return programs.isInner(axis); }))
          return store.tensor.type();
    return type;
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
    std::map<const Node *, Tile> adjoints;
    Reverse::Rules rules;
    rules.value = [&](const Tile &tile) { return value(tile); };
    rules.isWanted = [&](const Tile &tile) { return programs.isWanted(tile) || isSum(tile); };
    rules.isInner = [&](const Axis &axis) { return programs.isInner(axis); };
    rules.stopsAt = [&](const Tile &tile) { return !isSum(tile) && (programs.isWanted(tile) || !covers(tile.axes(), whole)); };
    rules.isLater = [&](const Tile &node, const Contribution &part) { return lacksInner(node, part); };
    rules.sumLater = [&](const std::vector<Arrival> &arrivals) { return sumOverInner(arrivals); };
    rules.settled = [&](const Tile &tile, const Tile &adjoint, const Guard &guard) {
      if (isSum(tile))
        adjoints.insert_or_assign(&tile.node(), guarded(algebra, adjoint, guard));
    };
    Reverse reverse(algebra, type, rules);
    programs.beginRows("_rows");
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
      const Tile adjoint = reload(guarded(algebra, sum.a, sum.guard));
      leaves.push_back({arrival.node, isTile(adjoint) ? ofTiles(adjoint) : adjoint});
    }
    programs.settle(std::move(leaves));
    for (std::size_t i = 0; i < held.slots.size(); ++i)
      if (auto adjoint = adjoints.find(&held.slots[i].result.node()); adjoint != adjoints.end() && held.slots[i].term)
        seeds.push_back({*held.slots[i].term, isTile(held.slots[i].result) ? ofTile(held.slots[i], reload(adjoint->second)) : ofRows(i, reload(adjoint->second))});
    if (!rowSums.empty() && !seeds.empty())
      for (Hold &hold : holds)
        hold.at = throughMemory(held.slots[hold.slot].name, hold.at);
    programs.finish();
  }

  /// One fold over an inner axis, for all sums over it that are waiting. Each program has one: what an earlier one sums is stored by it, and read here.
  std::vector<std::optional<Tile>> sumOverInner(const std::vector<Arrival> &arrivals) {
    if (!rowSums.empty()) {
      for (const Tile &sum : std::exchange(rowSums, {}))
        reload.replace(sum, throughMemory("sum", sum));
      programs.finish();
      programs.beginRows("_rows" + std::to_string(++rounds));
    }
    std::optional<Axis> over;
    for (const Arrival &arrival : arrivals)
      for (const Contribution &part : arrival.parts)
        for (const Axis &axis : part.axes())
          if (!over && programs.isInner(axis) && !contains(arrival.node.axes(), axis))
            over = axis;
    std::vector<std::optional<Tile>> sums(arrivals.size());
    std::vector<std::size_t> ours;
    std::vector<Axes> axes;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      Axes all;
      bool isOurs = true;
      for (const Contribution &part : arrivals[i].parts) {
        const Axes own = part.axes();
        isOurs = isOurs && contains(own, *over);
        all = unite(all, own);
      }
      if (!isOurs)
        continue;
      ours.push_back(i);
      axes.emplace_back();
      for (const Axis &axis : all)
        if (!programs.isInner(axis) || contains(arrivals[i].node.axes(), axis))
          axes.back().push_back(axis);
    }
    auto pieces = [&] {
      std::vector<Tile> all;
      for (std::size_t i : ours) {
        std::optional<Tile> sum;
        for (const Contribution &part : arrivals[i].parts) {
          Tile product = reload(whole(part));
          for (const Axis &axis : Axes(product.axes()))
            if (programs.isInner(axis) && !contains(arrivals[i].node.axes(), axis))
              product = programs.total(product, axis);
          sum = sum ? algebra.binary(Op::add, *sum, product, type, product.where()) : product;
        }
        all.push_back(*sum);
      }
      return all;
    };
    rowSums = programs.sums({}, *over, axes, pieces, roles.fold->where);
    for (std::size_t i = 0; i < ours.size(); ++i)
      sums[ours[i]] = rowSums[i];
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

  /// What a sum of rows is to the loss, for the programs that follow. In a row without an element its terms are 0, whatever this is, so that it may
  /// be 0 where a derivative is not finite.
  Tile ofRows(std::size_t slot, Tile adjoint) {
    if (const Hold *hold = normalised(slot))
      adjoint = guarded(algebra, adjoint, {{hold->isEmpty, false}});
    return rowSums.empty() ? adjoint : throughMemory(derivativeName(held.slots[slot].name), adjoint);
  }

  /// The same of a sum whose rows have tiles: a derivative of a result as it was given, times factors of rows, which dots are scaled by; or it is
  /// stored, so that a dot can take it.
  Tile ofTile(const HeldFold::Slot &slot, const Tile &adjoint) {
    const auto [tile, factor] = algebra.factors(adjoint, [&](const Axis &axis) { return programs.isInner(axis); }, type);
    const Tile *given = &meant(tile);
    while (given->node().op == Op::cast)
      given = &meant(given->node().operands[0]);
    if (given->node().op == Op::constant && !factor)
      return adjoint;
    if (given->node().op == Op::load) {
      const Tile wide = algebra.converted(*given, type, adjoint.where());
      return factor ? algebra.binary(Op::mul, wide, ofTiles(*factor), type, adjoint.where()) : wide;
    }
    const Axes axes = programs.ordered(adjoint.axes());
    Tensor tensor = programs.intermediate(derivativeName(slot.name), axes, tileType());
    const Tile made = load(tensor, axes, adjoint.where());
    programs.putTile(tw::store(tensor, axes, Operand(ofTiles(adjoint), adjoint.where()), adjoint.where()), made);
    return algebra.converted(made, type, adjoint.where());
  }

  /// A value of tiles of rows, for another program: sums of rows, which are made here, go through memory.
  Tile ofTiles(const Tile &value) {
    Rewriter stored(algebra);
    for (const Tile &sum : rowSums)
      if (standsOn(value, sum))
        stored.replace(sum, throughMemory("sum", sum));
    return stored(value);
  }

  static bool standsOn(const Tile &value, const Tile &on) {
    bool does = false;
    Walk walk;
    walk.node = [&](const Tile &tile) { does = does || &tile.node() == &on.node(); };
    walk.over(value);
    return does;
  }

  Tile throughMemory(const std::string &name, const Tile &value) {
    if (value.node().op == Op::load || value.node().op == Op::constant)
      return value;
    const Axes axes = programs.ordered(value.axes());
    Tensor tensor = programs.intermediate(name, axes);
    programs.put(tw::store(tensor, axes, value, value.where()));
    return load(tensor, axes, value.where());
  }

  /// From the fold's results through one tile of its step.
  void inFold() {
    Rewriter atHeld(algebra);
    for (const Hold &hold : holds)
      atHeld.replace(held.slots[hold.slot].result, hold.at);
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
  std::vector<Hold> holds;                           // one a stabiliser
  std::vector<Tile> rowSums;                         // results of the fold of the program of rows that is open
  Rewriter reload{algebra};                          // those of earlier ones, read again
  int rounds = 1;
  std::map<const Node *, Tile> known;                // values that are stored
  std::vector<std::pair<Tile, Tile>> seeds;          // a sum's term, and what the sum is to the loss
};

} // namespace

Gradient gradient(const Program &program, const GradientOptions &options) {
  verify(program);
  return Differentiator(program, options).run();
}

} // namespace tw

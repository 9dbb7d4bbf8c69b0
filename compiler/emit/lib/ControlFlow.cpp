// Loops and branches. A value that a loop carries, or a branch yields, is a variable.
#include "Statements.h"
#include <fmt/format.h>
using namespace mlir;

namespace tw::emit {
namespace {

/// What the variables of a loop are called that have no name themselves: a lone one has that of the loop's result.
std::string carriedStem(Operation *loop) { return loop->getNumResults() == 1 ? hintFor(loop->getResult(0), "carried") : "carried"; }

} // namespace

void Statements::assign(ArrayRef<std::pair<Value, std::string>> variables, ValueRange results) {
  SmallVector<Expression> next;
  for (Value result : results)
    next.push_back(values.use(result));
  auto isKept = [&](std::size_t i) { return next[i].text == variables[i].second; };
  for (std::size_t i = 0; i < next.size(); ++i)
    for (std::size_t earlier = 0; earlier < i; ++earlier)
      if (!isKept(i) && !isKept(earlier) && llvm::is_contained(next[i].reads, variables[earlier].first)) {
        const std::string name = names.unique(variables[i].second + "_next");
        text.line(fmt::format("const {} {} = {};", scalarType(results[i].getType()), name, next[i].text));
        next[i] = {name};
      }
  for (std::size_t i = 0; i < next.size(); ++i)
    if (!isKept(i))
      text.line(fmt::format("{} = {};", variables[i].second, next[i].text));
}

LogicalResult Statements::print(scf::ForOp op) {
  for (Value value : op.getRegionIterArgs())
    if (!scalarType(value.getType()))
      return op.emitError() << "carries " << value.getType() << ", which is no scalar of device code";
  if (!scalarType(op.getInductionVar().getType()))
    return op.emitError() << "counts in " << op.getInductionVar().getType() << "; expected i32 or i64";
  SmallVector<std::pair<Value, std::string>> carried;
  for (auto [argument, initial] : llvm::zip(op.getRegionIterArgs(), op.getInitArgs())) {
    const std::string first = values.textOf(initial);
    carried.push_back({argument, values.declareVariable(argument, carriedStem(op), first)});
  }
  const std::string lower = values.textOf(op.getLowerBound());
  const std::string upper = values.lasting(op.getUpperBound()).as(Precedence::shift), by = values.lasting(op.getStep()).text;
  values.settleRegisters();
  {
    Scope scope(names);
    const std::string counter = names.unique(hintFor(op.getInductionVar(), "n"));
    values.bind(op.getInductionVar(), {counter});
    text.open(fmt::format("for ({0} {1} = {2}; {1} < {3}; {4}) {{", scalarType(op.getInductionVar().getType()), counter, lower, upper,
                          by == "1" ? counter + "++" : counter + " += " + by));
    if (failed(block(*op.getBody())))
      return failure();
    assign(carried, op.getBody()->getTerminator()->getOperands());
    text.close();
  }
  for (auto [result, variable] : llvm::zip(op.getResults(), carried))
    values.bind(result, {variable.second});
  return success();
}

LogicalResult Statements::print(scf::WhileOp op) {
  for (Value value : llvm::concat<Value>(op.getBeforeArguments(), op.getAfterArguments()))
    if (!scalarType(value.getType()))
      return op.emitError() << "carries " << value.getType() << ", which is no scalar of device code";
  SmallVector<std::pair<Value, std::string>> carried;
  for (auto [argument, initial] : llvm::zip(op.getBeforeArguments(), op.getInits())) {
    const std::string first = values.textOf(initial);
    carried.push_back({argument, values.declareVariable(argument, carriedStem(op), first)});
  }
  // What the condition passes on is known after the loop if it is carried or older than the loop; else it gets a variable.
  scf::ConditionOp condition = op.getConditionOp();
  SmallVector<std::string> passed(condition.getArgs().size());
  for (auto [i, argument] : llvm::enumerate(condition.getArgs()))
    if (op->isAncestor(argument.getParentBlock()->getParentOp()) && !llvm::is_contained(op.getBeforeArguments(), argument))
      passed[i] = values.declareVariable(op.getResult(i), "passed");
  values.settleRegisters();
  {
    Scope scope(names);
    text.indent();
    std::string test;
    bool printed = true;
    std::string before = text.aside([&] {
      printed = succeeded(block(*op.getBeforeBody()));
      for (auto [i, argument] : llvm::enumerate(condition.getArgs())) {
        Expression expression = values.use(argument);
        if (!passed[i].empty())
          text.line(passed[i] + " = " + expression.text + ";");
        values.bind(op.getAfterArguments()[i], passed[i].empty() ? expression : Expression{passed[i]});
        values.bind(op.getResult(i), passed[i].empty() ? Expression{expression.text} : Expression{passed[i]});
      }
      test = values.textOf(condition.getCondition());
    });
    if (!printed)
      return failure();
    text.close("while (" + (before.empty() ? test : "true") + ") {");
    text.indent();
    if (!before.empty()) {
      text.append(before);
      text.line("if (!(" + test + ")) break;");
    }
    if (failed(block(*op.getAfterBody())))
      return failure();
    assign(carried, op.getYieldOp().getResults());
    text.close();
  }
  return success();
}

LogicalResult Statements::print(scf::IfOp op) {
  SmallVector<std::pair<Value, std::string>> chosen;
  for (Value result : op.getResults()) {
    if (!scalarType(result.getType()))
      return op.emitError() << "yields " << result.getType() << ", which is no scalar of device code";
    chosen.push_back({result, values.declareVariable(result, "chosen")});
  }
  const std::string condition = values.textOf(op.getCondition());
  values.settleRegisters();
  text.open("if (" + condition + ") {");
  {
    Scope scope(names);
    if (failed(block(*op.thenBlock())))
      return failure();
    assign(chosen, op.thenYield().getResults());
  }
  if (Block *otherwise = op.elseBlock(); otherwise && (!otherwise->without_terminator().empty() || !chosen.empty())) {
    text.close("} else {");
    text.indent();
    Scope scope(names);
    if (failed(block(*otherwise)))
      return failure();
    assign(chosen, op.elseYield().getResults());
  }
  text.close();
  for (auto [result, variable] : llvm::zip(op.getResults(), chosen))
    values.bind(result, {variable.second});
  return success();
}

} // namespace tw::emit

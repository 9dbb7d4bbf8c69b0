// Decides where the expression of a value is written.
#include "Values.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>
using namespace mlir;

namespace tw::emit {
namespace {

/// Longer expressions get a name, so that lines stay readable.
constexpr std::size_t longestInline = 64;

/// A name or an element: may be written twice.
bool isPlain(const Expression &expression) {
  return expression.precedence == Precedence::primary && expression.text.find('(') == std::string::npos;
}

bool isUsedInItsBlock(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) { return user->getBlock() == value.getParentBlock(); });
}

} // namespace

void Values::define(Value value, Expression expression, StringRef stem) {
  if (value.use_empty())
    return;
  if (isPlain(expression) && expression.reads.empty())
    return bind(value, std::move(expression));
  const bool mayWait = (isPlain(expression) || value.hasOneUse()) && isUsedInItsBlock(value) && expression.text.size() <= longestInline;
  if (!mayWait)
    return declare(value, expression, stem);
  const auto uses = unsigned(std::distance(value.use_begin(), value.use_end()));
  pending.insert({value, Pending{std::move(expression), uses, stem.str()}});
}

void Values::declare(Value value, const Expression &expression, StringRef stem) {
  const std::string name = names.unique(hintFor(value, stem));
  text.line(Twine("const ") + scalarType(value.getType()) + " " + name + " = " + expression.text + ";");
  bind(value, {name});
}

std::string Values::declareVariable(Value value, StringRef stem, const std::string &initial) {
  const std::string name = names.unique(hintFor(value, stem));
  text.line(Twine(scalarType(value.getType())) + " " + name + (initial.empty() ? "" : " = " + initial) + ";");
  bind(value, {name, Precedence::primary, {value}});
  return name;
}

Expression Values::use(Value value) {
  if (auto found = pending.find(value); found != pending.end()) {
    Expression expression = found->second.expression;
    if (--found->second.uses == 0)
      pending.erase(found);
    return expression;
  }
  auto found = bound.find(value);
  assert(found != bound.end() && "operations are printed in order, so operands have a text");
  return found->second;
}

Expression Values::repeatable(Value value) {
  auto found = pending.find(value);
  if (found == pending.end() || isPlain(found->second.expression))
    return use(value);
  Pending taken = found->second;
  pending.erase(found);
  declare(value, taken.expression, taken.stem);
  return bound[value];
}

Expression Values::lasting(Value value) {
  if (auto found = pending.find(value); found != pending.end() && found->second.expression.readsRegisters()) {
    Pending taken = found->second;
    pending.erase(found);
    declare(value, taken.expression, taken.stem);
  }
  return use(value);
}

void Values::settle(Value written) {
  settleIf([&](const Expression &expression) { return llvm::is_contained(expression.reads, written); });
}

void Values::settleRegisters() {
  settleIf([](const Expression &expression) { return expression.readsRegisters(); });
}

void Values::settleIf(llvm::function_ref<bool(const Expression &)> mustSettle) {
  SmallVector<Value> due;
  for (auto &[value, waiting] : pending)
    if (mustSettle(waiting.expression))
      due.push_back(value);
  for (Value value : due) {
    Pending taken = pending.find(value)->second;
    pending.erase(value);
    declare(value, taken.expression, taken.stem);
  }
}

} // namespace tw::emit

// Gradients of random programs: `fuzz_gradients --first 1 --programs 1000`. Each is held against a tape in float64 that shares no code with gradient();
// with --target its backward kernels, one by one, against evaluate(): on the CPU, or in the simulator. With --state FILE a long run goes on where it was
// stopped. What fails is made smaller and printed with the seed that draws it.
#include "LongRun.h"
#include "Recipe.h"
#include "support/Arrays.h"
#include "support/Tape.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "unit/kernel/Launched.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <set>

using namespace tw;
using namespace tw::fuzz;

namespace {

void eachTerm(Term &term, const std::function<void(Term &)> &visit) {
  visit(term);
  for (Term &arg : term.args)
    eachTerm(arg, visit);
}

/// A recipe whose program has gradients, small enough for a tape. In some, what rows and keys capture is one tensor.
Recipe recipeOf(std::uint64_t seed, const std::string &target) {
  Recipe recipe = draw(seed, target.empty() ? "host" : target);
  if (recipe.kind == Kind::sums)   // carries an extreme, which is no sum
    recipe.kind = seed % 2 ? Kind::weights : Kind::logSumExp;
  recipe.queries = std::min<std::int64_t>(recipe.queries, target.empty() ? 33 : 70);
  recipe.keys = std::min<std::int64_t>(recipe.keys, target.empty() ? 33 : 70);
  if (!target.empty() && target != "host") {   // they multiply derivatives of 16 bits, and copy rows of multiples of 16 bytes: buildGradient lays out what lies between kernels so
    recipe.rounds = true;
    for (std::int64_t *length : {&recipe.queries, &recipe.keys, &recipe.d, &recipe.e})
      *length = (*length + 7) / 8 * 8;
  }
  if (target.empty()) {
    recipe.d = std::min<std::int64_t>(recipe.d, 16);
    recipe.e = std::min<std::int64_t>(recipe.e, 16);
  }
  if (seed % 4 == 0) {
    recipe.keys = recipe.queries;
    for (Term &term : recipe.scores)
      eachTerm(term, [](Term &leaf) {
        if (leaf.op == "capture" && isFloat(leaf.type) && leaf.by != "head" && leaf.shift == 0)
          leaf.name = std::string("shared_") + name(leaf.type);
      });
  }
  return recipe;
}

double largest(const Array &array) {
  double most = 0;
  for (double x : array.data)
    most = std::max(most, std::abs(x));
  return most;
}

struct Outcome {
  enum { right, refused, wrong } is = right;
  std::string text;
};

/// All that the programs read and store, with random derivatives of the loss.
Evaluation everything(const tests::Held &held, const Gradient &made, const std::function<double(double, Type)> &stored) {
  Evaluation all = held.inputs;
  unsigned seed = 100;
  for (const Store &store : held.program.stores)
    if (auto name = made.upstream.find(store.tensor.name()); name != made.upstream.end())
      all.tensors[name->second] = tests::randomArray(held.stored.at(store.tensor.name()), ++seed, store.tensor.type());
  for (auto &[name, array] : evaluateGradient(made, all, stored))
    all.tensors[name] = array;
  return all;
}

/// What differs from the tape.
std::string faultOfPrograms(const tests::Held &held, const Gradient &made) {
  const Evaluation all = everything(held, made, {});
  tests::Tape tape(held.program, held.inputs);
  (void)tape.forward();
  std::map<std::string, Array> upstream;
  for (const auto &[output, name] : made.upstream)
    upstream[output] = all.tensors.at(name);
  const auto expected = tape.backward(upstream);
  std::string fault;
  for (const auto &[input, name] : made.gradients) {
    const Array &want = expected.at(input);
    if (const tests::Comparison c = tests::compare(all.tensors.at(name), want, {1e-9 * (1 + largest(want)), 1e-9}); !c)
      fault += name + ": " + c.summary + "\n";
  }
  return fault;
}

std::map<std::string, std::int64_t> innerOf(const tests::Held &held, const Program &program) {
  std::map<std::string, std::int64_t> inner;
  const Roles roles = rolesOf(program);
  for (const auto &[axis, length] : held.inner)
    for (std::size_t i = 0; i < roles.axes.size(); ++i)
      if (roles.axes[i].name() == axis && roles.roles[i] == Role::inner)
        inner[axis] = length;
  return inner;
}

/// The usual schedule; of steps that add to a tensor one of those that differ in how far apart warpgroups may be, where it fits.
Schedule scheduleOf(const Program &program, const Target &target, const std::map<std::string, std::int64_t> &inner, std::uint64_t seed) {
  const Schedule usual = defaultSchedule(program, target, inner);
  const Roles roles = rolesOf(program, usual.block);
  if (target.isHost() || std::none_of(program.stores.begin(), program.stores.end(), [&](const Store &store) { return addedBySteps(roles, store); }))
    return usual;
  const std::uint64_t bits = seed * 0x9e3779b97f4a7c15ull >> 60;      // even and odd seeds draw other programs
  Schedule drawn = usual;
  drawn.exchangeBuffers = bits % 2 ? 2 : 1;
  drawn.outboxBuffers = bits / 2 % 2 ? 2 : 1;
  drawn.delayed = drawn.exchangeBuffers > 1 && bits / 4 % 2;
  drawn.ahead = drawn.stages > 1 && !drawn.overlap && bits / 8 % 2;
  drawn.blockBuffers = 1;
  return footprint(program, drawn, target).sharedBytes <= target.sharedBytesPerBlock ? drawn : usual;
}

/// What a backward kernel makes of the numbers that the others stored.
std::string faultOfKernels(const tests::Held &held, const Gradient &made, const Target &target, std::uint64_t seed) {
  const Evaluation all = everything(held, made, [](double x, Type type) { return rounded(x, type); });
  std::string fault;
  for (const Program &program : made.backward) {
    tests::Held part{program, {}, {{}, {}}, {}, {}};
    part.inner = innerOf(held, program);
    std::set<std::string> stored;
    for (const Store &store : program.stores) {
      const Array &array = all.tensors.at(store.tensor.name());
      stored.insert(store.tensor.name());
      part.stored[store.tensor.name()] = array.shape;
      const double unit = std::max(tests::unitRoundoff(store.tensor.type()), tests::unitRoundoff(target.isHost() ? Type::f32 : Type::bf16));
      part.tolerances[store.tensor.name()] = {4 * unit * largest(array) + 1e-4 * (1 + largest(array)), unit};
    }
    for (const auto &tensor : tensorsOf(program))
      if (!stored.count(tensor->name))
        part.inputs.tensors[tensor->name] = all.tensors.at(tensor->name);
    for (const Tile &scalar : scalarsOf(program))
      part.inputs.scalars[scalar.node().label] = all.scalars.at(scalar.node().label);
    for (const Axis &axis : axesOf(program))     // of which no tensor that it reads may tell
      for (const auto &[name, tensor, dimension] : {std::tuple("h", "X", 0), std::tuple("q", "X", 1), std::tuple("k", "W", 1)})
        if (axis.name() == name)
          part.inputs.extents[name] = held.inputs.tensors.at(tensor).shape[std::size_t(dimension)];
    const Schedule schedule = scheduleOf(program, target, part.inner, seed);
    if (!target.isHost()) {
      fault += tests::faultOf(part, schedule, target, 0);
      continue;
    }
    tests::Tensors tensors(program, part.inputs, part.stored);
    build(program, {.target = "host", .extents = part.inner, .useCache = false}).launch(tensors.arguments);
    std::map<std::string, Array> outputs;
    for (const auto &[name, shape] : part.stored)
      outputs[name] = tensors.read(name);
    if (std::string own = tests::differences(part, outputs, tests::meaningOf(part)); !own.empty())
      fault += program.name + ": " + own;
  }
  return fault;
}

/// Of either form: sums in memory where a kernel can make them.
Gradient gradientOf(const tests::Held &held, const Recipe &recipe, const RunOptions &options) {
  GradientOptions wanted;
  wanted.accumulates = recipe.queries % 2 == 0;
  if (wanted.accumulates && !options.target.empty() && options.target != "host")
    try {
      Gradient made = gradient(held.program, wanted);
      for (const Program &program : made.backward)
        (void)defaultSchedule(program, findTarget(options.target), innerOf(held, program));
      return made;
    } catch (const std::invalid_argument &) {
      wanted.accumulates = false;
    }
  return gradient(held.program, wanted);
}

Outcome tried(const Recipe &recipe, const RunOptions &options) {
  std::optional<tests::Held> held;
  try {
    held = build(recipe);
  } catch (const ProgramError &) {
    return {};   // a smaller recipe that makes no program
  }
  try {
    const Gradient made = gradientOf(*held, recipe, options);
    const std::string fault = options.target.empty() ? faultOfPrograms(*held, made) : faultOfKernels(*held, made, findTarget(options.target), recipe.data);
    return {fault.empty() ? Outcome::right : Outcome::wrong, fault};
  } catch (const ProgramError &error) {
    // A scalar's gradient that lies along no axis has no kernel of its own, and says so.
    const std::string text = error.what();
    return {!options.target.empty() && text.find("' is stored along no axis") != text.npos ? Outcome::refused : Outcome::wrong, text};
  } catch (const std::exception &error) {
    // A GPU's kernel may be refused, with what to do.
    const std::string text = error.what();
    const bool namesCure = text.find("run on the CPU (target host)") != text.npos || text.find("; take ") != text.npos;
    return {!options.target.empty() && options.target != "host" && namesCure ? Outcome::refused : Outcome::wrong, text};
  }
}

/// The smallest recipe found that is wrong too.
std::pair<Recipe, Outcome> minimised(Recipe recipe, Outcome outcome, const RunOptions &options) {
  int attempts = options.attempts;
  for (bool found = true; found;) {
    found = false;
    for (const Recipe &candidate : smaller(recipe)) {
      if (attempts-- <= 0)
        return {recipe, outcome};
      if (Outcome next = tried(candidate, options); next.is == Outcome::wrong) {
        recipe = candidate;
        outcome = std::move(next);
        found = true;
        break;
      }
    }
  }
  return {recipe, outcome};
}

int run(const RunOptions &options) {
  const auto start = std::chrono::steady_clock::now();
  const std::string where = options.target.empty() ? "evaluate()" : options.target;
  Reached reached = reachedBy(options, where);
  const std::uint64_t end = options.first + options.programs, left = end - reached.next;
  std::uint64_t captured = 0;
  while (reached.next < end) {
    const Recipe recipe = recipeOf(reached.next, options.target);
    const Outcome outcome = tried(recipe, options);
    reached.refusals += outcome.is == Outcome::refused;
    captured += gradient(build(recipe).program).gradients.size() > 3;
    if (outcome.is == Outcome::wrong) {
      ++reached.failures;
      const auto [small, its] = minimised(recipe, outcome, options);
      fmt::print("seed {} fails: {}{}\nmade smaller: {}{}\n", reached.next, print(recipe), outcome.text, print(small), its.text);
      std::fflush(stdout);
    }
    ++reached.next;
    keep(options, where, reached);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("gradients of {} programs on {} from seed {}: {} failed, {} refused, {} of the last {} with captured gradients, {:.1f} s\n", options.programs, where, options.first, reached.failures, reached.refusals,
             captured, left, seconds);
  const bool isVaried = left < 50 || captured * 10 > left;
  if (!isVaried)
    fmt::print("fewer than a tenth have gradients of what they capture\n");
  const bool isRefused = reached.refusals * 2 > options.programs;
  if (isRefused)
    fmt::print("more than half are refused\n");
  return reached.failures || !isVaried || isRefused;
}

} // namespace

int main(int count, char **words) {
  RunOptions options;
  options.attempts = 40;
  CLI::App app("Gradients of random programs against a tape in float64 and, with --target, their kernels against evaluate()", "fuzz_gradients");
  addRunOptions(app, options);
  return runWith(app, count, words, [&] { return run(options); });
}

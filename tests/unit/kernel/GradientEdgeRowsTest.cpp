// Gradients by kernels for the CPU where other kernels' went wrong. Row numbers are those of the project's list of edge cases.
#include "GradientRun.h"
#include <catch2/catch.hpp>
#include <chrono>

using namespace tw;
using namespace tw::tests;

namespace {

Attention attention(const char *name, Type type = Type::f32) {
  Attention made(name, Tensor("Q", type, 4), Tensor("K", type, 4), Tensor("V", type, 4), Tensor("O", type, 4));
  return made;
}

/// Where sequences of these lengths begin, and where the last ends.
Array offsetsOf(const std::vector<std::int64_t> &lengths) {
  Array array{{std::int64_t(lengths.size()) + 1}, {0}};
  for (std::int64_t length : lengths)
    array.data.push_back(array.data.back() + double(length));
  return array;
}

/// What a packed problem reads of its sequences.
void pack(Evaluation &in, const std::vector<std::int64_t> &queries, const std::vector<std::int64_t> &keys) {
  in.tensors["query_offsets"] = offsetsOf(queries);
  in.tensors["key_offsets"] = offsetsOf(keys);
  Array &of = in.tensors["sequences"] = {{0}, {}};
  for (std::size_t i = 0; i < queries.size(); ++i)
    of.data.insert(of.data.end(), std::size_t(queries[i]), double(i));
  of.shape[0] = std::int64_t(of.data.size());
}

bool allFinite(const GradientRun &run) {
  for (const auto &[input, name] : run.kernels.programs().gradients)
    for (double x : run.read(name).data)
      if (!std::isfinite(x))
        return false;
  return true;
}

/// Elements [from, from + count) along dimension 2.
Array rows(const Array &array, std::int64_t from, std::int64_t count) {
  Array out{array.shape, {}};
  out.shape[2] = count;
  const std::int64_t inside = array.shape[3];
  for (std::int64_t o = 0; o < array.shape[0] * array.shape[1]; ++o) {
    const auto start = array.data.begin() + (o * array.shape[2] + from) * inside;
    out.data.insert(out.data.end(), start, start + count * inside);
  }
  return out;
}

} // namespace

TEST_CASE("edge row 15: a mask and a step of the score together, a length that is no multiple of anything") {
  Attention made = attention("row15", Type::bf16);
  made.score([](Tile s, const At &at) { return s + (at.query - at.key); }).mask([](const At &at) { return at.query >= at.key; });
  const Lengths n{1, 1, 1, 193, 193, 64, 64};
  GradientRun run(made.program(), inputsFor(n, Type::bf16), headDims(n));
  check(run, Type::bf16);
  CHECK(allFinite(run));
}

TEST_CASE("edge row 60: a block mask whose blocks are no tile of any kernel is transposed by itself") {
  const Tensor blocks("blocks", Type::i32, 2);
  Attention made = attention("blocks");
  made.mask([=](const At &at) { return blocks(at.query / 24, at.key / 40) != 0; });
  const Lengths n{1, 4, 2, 150, 170, 64, 64};
  Evaluation in = inputsFor(n, Type::f32);
  Array &map = in.tensors["blocks"] = {{7, 5}, {}};
  for (std::int64_t q = 0; q < 7; ++q)
    for (std::int64_t k = 0; k < 5; ++k)
      map.data.push_back(k * 40 <= q * 24 && (q + k) % 3 != 1);   // causal by blocks, with holes; a row of blocks is empty
  BuildOptions options = headDims(n);
  for (const char *schedule : {"block=q q=48 k=32 d=64 e=64", "block=q q=7 k=96 d=64 e=64"}) {
    INFO(schedule);
    options.schedule = parseSchedule(schedule);
    GradientRun run(made.program(), in, options);
    check(run, Type::f32);
  }
  // The same blocks as lists: dK and dV look through the lists of all rows.
  const Tensor lists("lists", Type::i32, 2), counts("counts", Type::i32, 1);
  Attention listed = attention("listed");
  listed.mask(blockLists(lists, counts, 24, 40));
  Evaluation same = inputsFor(n, Type::f32);
  Array &rows = same.tensors["lists"] = {{7, 5}, {}}, &lengths = same.tensors["counts"] = {{7}, {}};
  for (std::int64_t q = 0; q < 7; ++q) {
    std::vector<double> row;
    for (std::int64_t k = 4; k >= 0; --k)
      if (map.data[std::size_t(5 * q + k)] != 0)
        row.push_back(double(k));
    lengths.data.push_back(double(row.size()));
    row.resize(5, double(q % 5));   // behind what counts
    rows.data.insert(rows.data.end(), row.begin(), row.end());
  }
  GradientRun run(made.program(), in, headDims(n)), other(listed.program(), same, headDims(n));
  check(run, Type::f32);
  check(other, Type::f32);
  for (const char *name : {"dQ", "dK", "dV"})
    CHECK(other.read(name).data == run.read(name).data);
}

TEST_CASE("edge row 68: a sink's gradient, with lse in the loss, and without a key") {
  for (std::int64_t keys : {21, 0}) {
    const Lengths n{2, 4, 2, 13, keys, 8, 8};
    Evaluation in = inputsFor(n, Type::f32);
    in.tensors["sinks"] = randomArray({4}, 12, Type::f32);
    GradientRun run(makeVariant("sink+causal", {.type = Type::f32}), in, headDims(n));
    CHECK(run.kernels.programs().upstream.size() == 2);
    CHECK(run.kernels.programs().intermediates.size() == 3);   // as of a softmax without one c and dtotal of rows, and dsinks of rows; no tile
    check(run, Type::f32);
    if (keys == 0)
      for (std::size_t i = 0; i < 13; ++i)
        CHECK(run.read("lse").data[i] == Approx(in.tensors["sinks"].data[0]));
  }
}

TEST_CASE("edge row 70: packed sequences with a window and sinks, as each sequence alone") {
  const std::vector<std::int64_t> lengths{2, 59, 60};
  const Lengths n{1, 8, 2, 121, 121, 96, 96};
  Evaluation in = inputsFor(n, Type::f32);
  in.tensors["sinks"] = randomArray({8}, 12, Type::f32);
  pack(in, lengths, lengths);
  GradientRun run(makeVariant("jagged+window(31,0)+sink", {.type = Type::f32, .lse = false}), in, headDims(n));
  check(run, Type::f32);
  std::int64_t first = 0;
  for (std::int64_t length : lengths) {
    Evaluation alone{{}, {}};
    for (const char *name : {"Q", "K", "V"})
      alone.tensors[name] = rows(in.tensors.at(name), first, length);
    alone.tensors["sinks"] = in.tensors.at("sinks");
    const Gradient made = gradient(makeVariant("window(31,0)+sink", {.type = Type::f32, .lse = false}));
    alone.tensors["dO"] = rows(run.read("dO"), first, length);
    const auto expected = evaluateGradient(made, alone);
    for (const char *name : {"Q", "K", "V"}) {
      const Comparison c = compare(rows(run.of(name), first, length), expected.at("d" + std::string(name)), {1e-4, 1e-5});
      INFO("d" << name << " of the sequence of " << length << ": " << c.summary);
      CHECK(c.ok);
    }
    first += length;
  }
}

TEST_CASE("edge row 77: a thousand packings of random lengths, 0 and 1 among them, end") {
  const auto start = std::chrono::steady_clock::now();
  const Program program = makeVariant("jagged", {.type = Type::f32, .lse = false});
  std::mt19937_64 random(5);
  auto draw = [&] {
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < 5; ++i)
      lengths.push_back(random() % 3 == 0 ? std::int64_t(random() % 2) : std::int64_t(random() % 12));
    return lengths;
  };
  const GradientKernels kernels = buildGradient(program, headDims({1, 2, 1, 1, 1, 8, 8}));
  for (int trial = 0; trial < 1000; ++trial) {
    const std::vector<std::int64_t> queries = draw(), keys = draw();
    const Array ends = offsetsOf(queries), keyEnds = offsetsOf(keys);
    const Lengths n{1, 2, 1, std::int64_t(ends.data.back()), std::int64_t(keyEnds.data.back()), 8, 8};
    Evaluation in = inputsFor(n, Type::f32);
    pack(in, queries, keys);
    GradientRun run(program, kernels, in, trial % 100 == 0);
    if (trial % 100 == 0)
      check(run, Type::f32);
    else
      run.run();
    CHECK(allFinite(run));
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::minutes(5));
}

TEST_CASE("edge row 86: dropout has one mask, forward and backward, whatever the tiles; another seed another") {
  const Lengths n{1, 2, 1, 70, 90, 16, 16};
  Evaluation in = inputsFor(n, Type::f32);
  in.tensors["seed"] = {{1}, {4711}};
  const Program program = makeVariant("dropout(0.3)", {.type = Type::f32});
  std::vector<Array> values;
  for (const char *schedule : {"block=q q=16 k=32 d=16 e=16", "block=q q=7 k=64 d=16 e=16"}) {
    BuildOptions options = headDims(n);
    options.schedule = parseSchedule(schedule);
    GradientRun run(program, in, options);
    check(run, Type::f32);
    values.push_back(run.of("V"));
    // The seed lies in the tensors' memory, and no build knows it.
    const Array before = run.of("Q");
    const std::int64_t other = 4712;
    std::memcpy(run.arguments.tensors.at("seed").data, &other, sizeof other);
    run.run();
    CHECK(run.of("Q").data != before.data);
  }
  CHECK(compare(values[0], values[1], {1e-5, 1e-5}).ok);
}

TEST_CASE("edge row 87: fifty runs give the same bits, of captured tensors too") {
  const Lengths n{2, 4, 2, 45, 61, 16, 16};
  Evaluation in = inputsFor(n, Type::bf16);
  in.tensors["buckets"] = randomArray({32, 4}, 13, Type::f32);
  in.tensors["sinks"] = randomArray({4}, 14, Type::f32);
  GradientRun run(makeVariant("t5+alibi+causal+sink", {.type = Type::bf16}), in, headDims(n));
  run.run();
  std::map<std::string, Array> first;
  for (const auto &[input, name] : run.kernels.programs().gradients)
    first[input] = run.of(input);
  CHECK(first.size() == 6);
  for (int again = 1; again < 50; ++again) {
    run.run();
    for (const auto &[input, array] : first)
      CHECK(run.of(input).data == array.data);
  }
}

// Rows of what attention kernels get wrong that concern variants: the forward pass, on the CPU.
#include "Launched.h"
#include "support/Compare.h"
#include "support/Thrown.h"
#include <catch2/catch.hpp>
#include <regex>
#include <sys/mman.h>
#include <unistd.h>

using namespace tw;
using namespace tw::tests;

namespace {

std::map<std::string, Array> right(const Program &program, const Evaluation &inputs, const Lengths &n, Type type, double size = 8) {
  Tensors tensors(program, inputs, outputs(n));
  build(program, headDims(n)).launch(tensors.arguments);
  std::map<std::string, Array> results;
  Evaluation measured = inputs;
  for (const auto &[name, want] : evaluate(program, measured)) {
    results[name] = tensors.read(name);
    const auto compared = compare(results[name], want, roundingOf(name == "O" ? type : Type::f32, 4, double(n.skv + n.d), size));
    INFO(program.name << " " << name << ": " << compared.summary);
    CHECK(compared.ok);
  }
  return results;
}

Attention attention(Type type, const std::string &name = "variant") {
  Attention made(name, Tensor("Q", type, 4), Tensor("K", type, 4), Tensor("V", type, 4), Tensor("O", type, 4));
  made.lse(Tensor("lse", Type::f32, 3));
  return made;
}

/// Memory after which nothing may be read, and before which neither.
class Guarded {
public:
  Guarded(const Array &array, Type type) {
    const auto page = std::size_t(sysconf(_SC_PAGESIZE)), bytes = array.data.size() * std::size_t(tw::bytes(type));
    whole = (bytes + page - 1) / page * page + 2 * page;
    memory = static_cast<std::byte *>(mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory != MAP_FAILED);
    REQUIRE(mprotect(memory + page, whole - 2 * page, PROT_READ | PROT_WRITE) == 0);
    data = memory + whole - page - bytes;
    putElements(array.data, type, data);
  }
  Guarded(const Guarded &) = delete;
  ~Guarded() { munmap(memory, whole); }
  std::byte *data;

private:
  std::byte *memory;
  std::size_t whole;
};

Array counted(std::int64_t n, const std::function<double(std::int64_t)> &f) {
  Array array{{n}, {}};
  for (std::int64_t i = 0; i < n; ++i)
    array.data.push_back(f(i));
  return array;
}

} // namespace

TEST_CASE("edge row 15: a mask and a score of one's own, a length one beyond a block") {
  const Lengths n{1, 1, 1, 1025, 1025, 64, 64};
  Attention made = attention(Type::bf16);
  made.score([](Tile s, const At &at) { return s + (at.query - at.key); }).mask([](const At &at) { return at.query >= at.key; });
  right(made.program(), randomInputs(n, Type::bf16), n, Type::bf16, 2000);
}

TEST_CASE("edge row 20: a table is read at no place beyond its end") {
  for (std::int64_t s : {240, 2046}) {
    const Lengths n{1, 1, 1, s, s, 16, 16};
    const Tensor table("table", Type::i32, 1), flags("flags", Type::boolean, 1);
    Attention made = attention(Type::f32);
    made.mask([&](const At &at) { return (table(at.query) >= at.key) & flags(at.key) & (table(s - 1 - at.query) >= 0); });
    const Program program = made.program();
    Evaluation inputs = randomInputs(n, Type::f32);
    inputs.tensors["table"] = counted(s, [](std::int64_t i) { return double(i * 7 % 200 + 1); });
    inputs.tensors["flags"] = counted(s, [](std::int64_t i) { return double(i % 5 != 0); });
    Tensors tensors(program, inputs, outputs(n));
    const Guarded tableMemory(inputs.tensors["table"], Type::i32), flagMemory(inputs.tensors["flags"], Type::boolean);
    tensors.arguments.tensors["table"].data = tableMemory.data;
    tensors.arguments.tensors["flags"].data = flagMemory.data;
    build(program, headDims(n)).launch(tensors.arguments);
    for (const auto &[name, want] : evaluate(program, inputs))
      CHECK(compare(tensors.read(name), want, roundingOf(Type::f32, 4, double(s), 8)).ok);
  }
}

TEST_CASE("edge row 20: a table that is too short is named, with the index") {
  const Lengths n{1, 1, 1, 40, 40, 16, 16};
  const Tensor table("table", Type::i32, 1), row("row", Type::i32, 1);
  Attention made = attention(Type::f32);
  made.mask([&](const At &at) { return table(at.query + 1) >= at.key; });
  Evaluation inputs = randomInputs(n, Type::f32);
  inputs.tensors["table"] = counted(40, [](std::int64_t) { return 40.0; });
  Tensors tensors(made.program(), inputs, outputs(n));
  CHECK(messageOf<ArgumentError>([&] { build(made.program(), headDims(n)).launch(tensors.arguments); }) ==
        "tensor 'table' is 40 long along dimension 0 and is read there at q + 1 (EdgeRowsTest.cpp:96), which goes from 1 to 40; give it at least 41 "
        "or shorten what it is indexed by");
  // What only values tell, evaluate() tells: --check of `tilewright run`.
  Attention indirect = attention(Type::f32);
  indirect.mask([&](const At &at) { return table(row(at.query)) >= at.key; });
  inputs.tensors["row"] = counted(40, [](std::int64_t i) { return double(i == 17 ? 40 : i); });
  try {
    (void)evaluate(indirect.program(), inputs);
    FAIL("the read outside was not noticed");
  } catch (const ProgramError &error) {
    CHECK(error.diagnostic.message == "read outside of tensor 'table': index 40 of dimension 0, which is 40 long; give a longer tensor, or guard the read: where(i < table.dimension(0), …, 0)");
  }
}

TEST_CASE("edge row 20: a checked kernel names the table that is left, the index and the line") {
  const Lengths n{2, 2, 1, 40, 50, 16, 16};
  const Tensor table("table", Type::f32, 2), row("row", Type::i32, 2), shift("shift", Type::i32, 1);
  Attention made = attention(Type::f32);
  made.score([&](Tile s, const At &at) {
    const Tile place = row(at.batch, at.key) + shift(at.query);
    return s + where((place >= 0) & (at.key > 1), table(at.head, place), 0.0);
  });
  const Program program = made.program();
  Evaluation inputs = randomInputs(n, Type::f32);
  inputs.tensors["table"] = randomArray({2, 60}, 4, Type::f32);
  inputs.tensors["row"] = counted(100, [](std::int64_t i) { return double(i % 50); });
  inputs.tensors["row"].shape = {2, 50};
  inputs.tensors["shift"] = counted(40, [](std::int64_t i) { return double(i % 3); });
  BuildOptions options = headDims(n);
  const Kernel plain = build(program, options);
  options.checked = true;
  const Kernel kernel = build(program, options);
  auto said = [&](const Kernel &launched) {
    Tensors tensors(program, inputs, outputs(n));
    return messageOf<ArgumentError>([&] { launched.launch(tensors.arguments); });
  };
  CHECK(said(kernel) == "nothing thrown");
  auto &rows = inputs.tensors["row"].data;
  rows[0] = rows[51] = 1000;   // what the guard excludes, in either batch
  rows[30] = -7;
  CHECK(said(kernel) == "nothing thrown");
  rows[50 + 33] = 58;
  INFO(said(kernel));
  CHECK(std::regex_match(said(kernel), std::regex("tensor 'table' is 60 long along dimension 1 and is read there at 60 for b = 1, q = 2, k = 33 \\(EdgeRowsTest\\.cpp:\\d+\\), and outside at 13 of 4000 "
                                                  "places; give a longer tensor, or guard the read: where\\(\\(i >= 0\\) & \\(i < table\\.dimension\\(1\\)\\), …, 0\\)")));
  CHECK(said(plain) == "nothing thrown");   // reads 0 there
}

// A kernel reads 0 outside, and where() discards it.
TEST_CASE("an index that leaves its table harms nothing under where()") {
  const Lengths n{2, 2, 1, 50, 70, 16, 16};
  const Tensor table("table", Type::f32, 1), row("row", Type::i64, 1);
  Attention made = attention(Type::f32);
  made.score([&](Tile s, const At &at) {
    const Tile place = row(at.key) - at.query;
    return s + where((place >= 0) & (place < table.dimension(0)), table(place), 0.5);
  });
  Evaluation inputs = randomInputs(n, Type::f32);
  inputs.tensors["table"] = counted(30, [](std::int64_t i) { return 0.1 * double(i); });
  inputs.tensors["row"] = counted(70, [](std::int64_t i) { return i % 11 == 3 ? 1e12 : double(i); });
  const Program program = made.program();
  Tensors tensors(program, inputs, outputs(n));
  const Guarded memory(inputs.tensors["table"], Type::f32);
  tensors.arguments.tensors["table"].data = memory.data;
  build(program, headDims(n)).launch(tensors.arguments);
  for (const auto &[name, want] : evaluate(program, inputs))
    CHECK(compare(tensors.read(name), want, roundingOf(Type::f32, 4, 100, 8)).ok);
}

TEST_CASE("edge row 21: a table of another batch is refused, one without a batch serves all") {
  const Lengths n{4, 3, 3, 20, 20, 16, 16};
  const Program documents = makeVariant("documents", {.type = Type::f32});
  Evaluation inputs = randomInputs(n, Type::f32);
  for (const char *name : {"query_documents", "key_documents"})
    inputs.tensors[name] = {{1, 20}, counted(20, [](std::int64_t i) { return double(i / 7); }).data};
  Tensors tensors(documents, inputs, outputs(n));
  CHECK(messageOf<ArgumentError>([&] { build(documents, headDims(n)).launch(tensors.arguments); }) ==
        "axis 'b' is 4 long along dimension 0 of 'O' and 1 along dimension 0 of 'query_documents'; they must agree");
  // The same tokens in every batch: a stride of 0, or no such dimension.
  Evaluation repeated = inputs;
  for (const char *name : {"query_documents", "key_documents"}) {
    tensors.arguments.tensors[name].shape = {4, 20};
    tensors.arguments.tensors[name].strides = {0, 1};
    Array &array = repeated.tensors[name];
    array.shape = {4, 20};
    for (int b = 1; b < 4; ++b)
      array.data.insert(array.data.end(), array.data.begin(), array.data.begin() + 20);
  }
  build(documents, headDims(n)).launch(tensors.arguments);
  CHECK(compare(tensors.read("O"), evaluate(documents, repeated).at("O"), roundingOf(Type::f32, 4, 40, 8)).ok);
  const Tensor shared("shared", Type::i32, 1);
  Attention made = attention(Type::f32);
  made.mask([&](const At &at) { return shared(at.query) == shared(at.key); });
  inputs.tensors["shared"] = counted(20, [](std::int64_t i) { return double(i / 7); });
  right(made.program(), inputs, n, Type::f32);
}

TEST_CASE("edge row 22: quotients, remainders and products of coordinates in a mask") {
  const Lengths n{1, 1, 1, 200, 3200, 16, 16};
  int number = 0;
  for (const auto &keep : std::vector<MaskFunction>{
           [](const At &at) { return at.key + 23 * 1024 < at.query; }, [](const At &at) { return at.key + 23 * 128 < at.query * 16; }, [](const At &at) { return at.key / 64 <= at.query / 3; },
           [](const At &at) { return (at.key - 3 * at.query) % 7 == 2; }, [](const At &at) { return (at.query * at.key) % 1001 < 500; },
           [](const At &at) { return floorDiv(at.query - at.key, 37) >= -40; }}) {
    Attention made = attention(Type::f32, "mask" + std::to_string(number++));
    made.mask(keep);
    right(made.program(), randomInputs(n, Type::f32), n, Type::f32);
  }
}

TEST_CASE("edge row 24: a table of blocks for longer keys serves, one for shorter is refused") {
  const Program program = makeVariant("bigbird(128)", {.type = Type::f32});
  const Lengths n{2, 1, 1, 2, 2, 16, 16};
  Evaluation inputs = randomInputs(n, Type::f32);
  inputs.tensors["blocks"] = {{1, 2}, {1, 0}};   // for 128 × 256
  const auto results = right(program, inputs, n, Type::f32);
  for (double x : results.at("lse").data)
    CHECK(std::isfinite(x));
  const Lengths longer{2, 1, 1, 2, 257, 16, 16};
  Evaluation more = randomInputs(longer, Type::f32);
  more.tensors["blocks"] = inputs.tensors["blocks"];
  Tensors tensors(program, more, outputs(longer));
  CHECK_THAT(messageOf<ArgumentError>([&] { build(program, headDims(longer)).launch(tensors.arguments); }),
             Catch::StartsWith("tensor 'blocks' is 2 long along dimension 1 and is read there at k / 128 (") &&
                 Catch::EndsWith("), which goes from 0 to 2; give it at least 3 or shorten what it is indexed by"));
}

TEST_CASE("edge row 32: what a cache holds beyond its length takes no part") {
  const Lengths n{1, 2, 1, 1, 64, 16, 16};
  const Program program = makeVariant("kvcache", {.type = Type::f32});
  Evaluation inputs = randomInputs(n, Type::f32);
  inputs.tensors["positions"] = {{1}, {16}};
  Evaluation zeroed = inputs;
  for (const char *name : {"K", "V"})
    for (std::size_t i = 17 * 16; i < inputs.tensors[name].data.size(); ++i) {
      inputs.tensors[name].data[i] = NAN;
      zeroed.tensors[name].data[i] = 0;
    }
  const auto results = right(program, inputs, n, Type::f32), same = right(program, zeroed, n, Type::f32);
  CHECK(results.at("O").data == same.at("O").data);
}

TEST_CASE("edge row 37: head dims are held or refused by name") {
  for (std::int64_t d : {1, 5, 17, 31, 100, 1032}) {
    const Lengths n{1, 1, 1, 4, 5, d, 8};
    const Program program = makeVariant("causal", {.type = Type::f32});
    Tensors tensors(program, randomInputs(n, Type::f32), outputs(n));
    const std::string message = messageOf<std::exception>([&] { build(program, headDims(n)).launch(tensors.arguments); });
    INFO(d << ": " << message);
    CHECK(message.find("the head dimension of 'Q' and 'K' (dimension 3) must be a multiple of 8 from 8 to 1024") != std::string::npos);
    CHECK(message.find("extent(d) = " + std::to_string(d)) != std::string::npos);
  }
  for (std::int64_t d : {40, 72, 80, 96, 112, 160, 192, 224, 256, 320}) {
    const Lengths n{1, 2, 1, 5, 9, d, d};
    right(makeVariant("causal", {.type = Type::f16}), randomInputs(n, Type::f16), n, Type::f16);
  }
}

TEST_CASE("edge row 45: odd strides, and a base that is one element on") {
  const Lengths n{1, 2, 1, 33, 45, 16, 16};
  const Program program = makeVariant("causal", {.type = Type::f16});
  const Evaluation inputs = randomInputs(n, Type::f16);
  Tensors plain(program, inputs, outputs(n)), odd(program, inputs, outputs(n));
  const Kernel kernel = build(program, headDims(n));
  kernel.launch(plain.arguments);
  std::map<std::string, std::vector<std::uint16_t>> memory;
  for (const char *name : {"Q", "K", "V", "O"}) {
    TensorView &view = odd.arguments.tensors[name];
    const std::int64_t rows = view.shape[1] * view.shape[2];
    memory[name].assign(std::size_t(rows * 17 + 1), 0);
    auto *base = memory[name].data() + 1;
    for (std::int64_t row = 0; row < rows; ++row)
      std::memcpy(base + row * 17, static_cast<const std::uint16_t *>(view.data) + row * 16, 32);
    view.data = base;
    view.strides = {rows * 17, view.shape[2] * 17, 17, 1};
  }
  kernel.launch(odd.arguments);
  const Array want = plain.read("O");
  for (std::size_t i = 0; i < want.data.size(); ++i)
    CHECK(getElement(Type::f16, memory["O"].data() + 1 + i / 16 * 17 + i % 16) == want.data[i]);
}

TEST_CASE("edge row 47: a bias of odd length, one for all batches and heads, one that is part of a padded tensor") {
  for (Type type : {Type::f16, Type::f32}) {
    const Lengths n{2, 3, 1, 43, 43, 16, 16};
    const Program program = makeVariant("bias", {.type = type});
    Evaluation inputs = randomInputs(n, type);
    const Array one = randomArray({43, 77}, 9, type);
    Array all{{2, 3, 43, 43}, {}};
    for (int head = 0; head < 6; ++head)
      for (std::size_t q = 0; q < 43; ++q)
        all.data.insert(all.data.end(), one.data.begin() + std::ptrdiff_t(q * 77 + 5), one.data.begin() + std::ptrdiff_t(q * 77 + 48));
    inputs.tensors["bias"] = all;
    const auto whole = right(program, inputs, n, type);
    Tensors tensors(program, inputs, outputs(n));
    std::vector<std::byte> padded(one.data.size() * std::size_t(bytes(type)));
    putElements(one.data, type, padded.data());
    tensors.arguments.tensors["bias"].data = padded.data() + 5 * bytes(type);
    tensors.arguments.tensors["bias"].strides = {0, 0, 77, 1};
    build(program, headDims(n)).launch(tensors.arguments);
    CHECK(tensors.read("O").data == whole.at("O").data);
  }
}

TEST_CASE("edge row 54: a bias whose batches lie more than 2^31 elements apart") {
  const Lengths n{2, 1, 1, 20, 20, 16, 16};
  const Program program = makeVariant("bias", {.type = Type::f16});
  Evaluation inputs = randomInputs(n, Type::f16);
  inputs.tensors["bias"] = randomArray({2, 1, 20, 20}, 8, Type::f16);
  const auto want = right(program, inputs, n, Type::f16);
  const std::int64_t far = (std::int64_t(1) << 31) + 64;
  const std::size_t whole = std::size_t(far + 400) * 2;
  void *memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto *first = static_cast<std::uint16_t *>(memory);
  const std::vector<double> &bias = inputs.tensors["bias"].data;
  putElements({bias.begin(), bias.begin() + 400}, Type::f16, first);
  putElements({bias.begin() + 400, bias.end()}, Type::f16, first + far);
  Tensors tensors(program, inputs, outputs(n));
  tensors.arguments.tensors["bias"].data = memory;
  tensors.arguments.tensors["bias"].strides = {far, far, 20, 1};
  build(program, headDims(n)).launch(tensors.arguments);
  CHECK(tensors.read("O").data == want.at("O").data);
  munmap(memory, whole);
}

TEST_CASE("edge row 54: a mask by tables whose batches lie more than 2^31 elements apart") {
  const Lengths n{2, 1, 1, 150, 200, 16, 16};
  const Tensor keeps("keeps", Type::boolean, 3), lists("lists", Type::i32, 3);
  Attention made = attention(Type::f32);
  made.mask([&](const At &at) { return keeps(at.batch, at.query / 16, at.key / 16) & contains(lists, {at.batch, at.query / 64}, at.key / 64); });
  const Program program = made.program();
  Evaluation inputs = randomInputs(n, Type::f32);
  inputs.tensors["keeps"] = {{2, 10, 13}, counted(260, [](std::int64_t i) { return double(i * 7 % 5 != 0); }).data};
  inputs.tensors["lists"] = {{2, 3, 2}, {0, 1, 2, 0, 1, 3, 3, 2, 1, 1, 0, 2}};
  const auto want = right(program, inputs, n, Type::f32);
  Tensors tensors(program, inputs, outputs(n));
  const std::int64_t far = (std::int64_t(1) << 31) + 64;
  std::vector<std::pair<void *, std::size_t>> maps;
  for (const char *name : {"keeps", "lists"}) {
    const Array &array = inputs.tensors[name];
    const Type type = name[0] == 'k' ? Type::boolean : Type::i32;
    const std::size_t batch = array.data.size() / 2, whole = (std::size_t(far) + batch) * std::size_t(bytes(type));
    void *memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    maps.emplace_back(memory, whole);
    putElements({array.data.begin(), array.data.begin() + std::ptrdiff_t(batch)}, type, memory);
    putElements({array.data.begin() + std::ptrdiff_t(batch), array.data.end()}, type, static_cast<std::byte *>(memory) + far * bytes(type));
    tensors.arguments.tensors[name].data = memory;
    tensors.arguments.tensors[name].strides = {far, array.shape[2], 1};
  }
  build(program, headDims(n)).launch(tensors.arguments);
  CHECK(tensors.read("O").data == want.at("O").data);
  for (const auto &[memory, whole] : maps)
    munmap(memory, whole);
}

TEST_CASE("edge row 56: windows of all earlier keys are the causal mask") {
  const Lengths n{1, 2, 1, 256, 256, 16, 16};
  const Evaluation inputs = randomInputs(n, Type::f32);
  const auto causal = right(makeVariant("causal", {.type = Type::f32}), inputs, n, Type::f32);
  for (const char *window : {"window(-1,0)", "window(256,0)", "window(255,0)"})
    CHECK(right(makeVariant(window, {.type = Type::f32}), inputs, n, Type::f32).at("O").data == causal.at("O").data);
}

TEST_CASE("edge row 58: a cap bends scores to ±c, as c·tanh(s / c)") {
  const Lengths n{1, 1, 1, 30, 60, 16, 16};
  Evaluation inputs = randomInputs(n, Type::f32);
  for (double &q : inputs.tensors["Q"].data)
    q = roundTo(q * 16, Type::f32);   // scores to ±40 and beyond
  right(makeVariant("softcap(15)", {.type = Type::f32}), inputs, n, Type::f32, 60);
  // The log-sum-exp of one score is that score.
  const Lengths one{1, 1, 1, 81, 1, 8, 8};
  Evaluation scores = randomInputs(one, Type::f32);
  std::fill(scores.tensors["Q"].data.begin(), scores.tensors["Q"].data.end(), 0.0);
  std::fill(scores.tensors["K"].data.begin(), scores.tensors["K"].data.end(), 0.0);
  scores.tensors["K"].data[0] = 1;
  for (int q = 0; q < 81; ++q)
    scores.tensors["Q"].data[std::size_t(q * 8)] = roundTo((q - 40) * std::sqrt(8.0), Type::f32);
  const auto lse = right(makeVariant("softcap(15)", {.type = Type::f32}), scores, one, Type::f32, 60).at("lse").data;
  for (int q = 0; q < 81; ++q)
    CHECK(lse[std::size_t(q)] == Approx(15 * std::tanh((q - 40) / 15.0)).margin(1e-5));
}

TEST_CASE("edge row 62: a window with a negative right side is refused") {
  CHECK_THROWS_WITH(slidingWindow(-1, -3), Catch::Contains("slidingWindow(-1, -3): -3 keys are no width; each side is 0 or more, or -1 for unbounded"));
  CHECK_THROWS_WITH(makeVariant("window(-1,-3)"), Catch::Contains("each is a whole number from 0 to 2147483647, or -1 for unbounded"));
}

TEST_CASE("edge row 68: a sink where there is no key, and where it outweighs all") {
  const Program program = makeVariant("sink", {.type = Type::f32});
  for (std::int64_t skv : {0, 7}) {
    const Lengths n{2, 3, 3, 5, skv, 16, 16};
    Evaluation inputs = randomInputs(n, Type::f32);
    inputs.tensors["sinks"] = {{3}, {0.75, 300, -infinity}};
    const auto results = right(program, inputs, n, Type::f32);
    for (std::size_t i = 0; i < results.at("lse").data.size() && skv == 0; ++i)
      CHECK(results.at("lse").data[i] == inputs.tensors["sinks"].data[i / 5 % 3]);
    for (std::size_t i = 0; i < results.at("O").data.size() && skv == 0; ++i)
      CHECK(results.at("O").data[i] == 0);
  }
}

namespace {

/// Tables of sequences one after the other.
void pack(Evaluation &inputs, const std::vector<std::int64_t> &queries, const std::vector<std::int64_t> &keys) {
  Array sequences{{0}, {}}, queryOffsets{{std::int64_t(queries.size()) + 1}, {0}}, keyOffsets{{std::int64_t(keys.size()) + 1}, {0}};
  for (std::size_t s = 0; s < queries.size(); ++s) {
    sequences.data.insert(sequences.data.end(), std::size_t(queries[s]), double(s));
    queryOffsets.data.push_back(queryOffsets.data.back() + double(queries[s]));
    keyOffsets.data.push_back(keyOffsets.data.back() + double(keys[s]));
  }
  sequences.shape = {std::int64_t(sequences.data.size())};
  inputs.tensors["sequences"] = sequences;
  inputs.tensors["query_offsets"] = queryOffsets;
  inputs.tensors["key_offsets"] = keyOffsets;
}

/// Rows [first, first + count) of the third dimension of a [1, H, S, D] or [1, H, S].
Array rowsOf(const Array &array, std::int64_t first, std::int64_t count) {
  Array rows{array.shape, {}};
  rows.shape[2] = count;
  const std::int64_t inner = array.shape.size() > 3 ? array.shape[3] : 1;
  for (std::int64_t h = 0; h < array.shape[1]; ++h) {
    const auto from = array.data.begin() + (h * array.shape[2] + first) * inner;
    rows.data.insert(rows.data.end(), from, from + count * inner);
  }
  return rows;
}

/// The packed run, which equals a run of each sequence alone.
std::map<std::string, Array> checkPacked(const std::string &packed, const std::string &alone, const Lengths &n,
                                         const std::vector<std::int64_t> &queries, const std::vector<std::int64_t> &keys, Type type) {
  Evaluation inputs = randomInputs(n, type);
  pack(inputs, queries, keys);
  const bool hasSinks = packed.find("sink") != std::string::npos;
  if (hasSinks)
    inputs.tensors["sinks"] = randomArray({n.h}, 3, Type::f32);
  const auto results = right(makeVariant(packed, {.type = type}), inputs, n, type);
  std::int64_t q = 0, k = 0;
  for (std::size_t s = 0; s < queries.size(); ++s) {
    Evaluation one{{{"Q", rowsOf(inputs.tensors["Q"], q, queries[s])}, {"K", rowsOf(inputs.tensors["K"], k, keys[s])}, {"V", rowsOf(inputs.tensors["V"], k, keys[s])}}, {}};
    if (hasSinks)
      one.tensors["sinks"] = inputs.tensors["sinks"];
    for (const auto &[name, want] : evaluate(makeVariant(alone, {.type = type}), one)) {
      const auto compared = compare(rowsOf(results.at(name), q, queries[s]), want, roundingOf(name == "O" ? type : Type::f32, 4, double(n.skv + n.d), 8));
      INFO("sequence " << s << " " << name << ": " << compared.summary);
      CHECK(compared.ok);
    }
    q += queries[s];
    k += keys[s];
  }
  return results;
}

} // namespace

TEST_CASE("edge row 3: a packed sequence without keys has lse -inf in its own rows and no others") {
  const Array lse = checkPacked("jagged", "causal", {1, 2, 2, 9, 11, 64, 64}, {3, 4, 2}, {5, 0, 6}, Type::f16).at("lse");
  for (std::int64_t i = 0; i < 2 * 9; ++i) {
    INFO(i);
    CHECK(std::isinf(lse.data[std::size_t(i)]) == (i % 9 >= 3 && i % 9 < 7));
  }
}

TEST_CASE("edge row 70: packed sequences with sinks and a window") {
  checkPacked("sink+jagged+window(31,0)", "sink+causal+window(31,0)", {1, 8, 2, 121, 121, 96, 96}, {2, 59, 60}, {2, 59, 60}, Type::bf16);
}

TEST_CASE("edge row 75: packed sequences of one query or none, some without keys") {
  checkPacked("jagged", "causal", {1, 9, 3, 2, 8, 64, 64}, {0, 1, 0, 1}, {0, 3, 0, 5}, Type::f16);
}

// The seed lies in memory: another number there, and the same kernel drops others.
TEST_CASE("edge row 86: dropout is the same in tiles of any size, and follows its seed") {
  const Lengths n{2, 2, 1, 70, 150, 16, 16};
  const Program program = makeVariant("dropout(0.3)+causal", {.type = Type::f32});
  Evaluation inputs = randomInputs(n, Type::f32);
  inputs.tensors["seed"] = {{1}, {2024}};
  const Array want = evaluate(program, inputs).at("O");
  Tensors tensors(program, inputs, outputs(n));
  for (const char *schedule : {"block=q q=32 k=16 d=16 e=16", "block=q q=16 k=64 d=16 e=16", "block=q q=64 k=48 d=16 e=16"}) {
    BuildOptions options = headDims(n);
    options.schedule = parseSchedule(schedule);
    const Kernel kernel = build(program, options);
    kernel.launch(tensors.arguments);
    CHECK(compare(tensors.read("O"), want, roundingOf(Type::f32, 8, 200, 8)).ok);
    *static_cast<std::int64_t *>(tensors.arguments.tensors["seed"].data) = 2025;
    kernel.launch(tensors.arguments);
    CHECK_FALSE(compare(tensors.read("O"), want, roundingOf(Type::f32, 8, 200, 8)).ok);
    *static_cast<std::int64_t *>(tensors.arguments.tensors["seed"].data) = 2024;
  }
}

// What is refused before a launch, each with its exact text, on a kernel made by hand.
#include "Checked.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

using namespace tw;

namespace {

Expression leaf(std::string op, std::string name, int dimension = 0) { return {std::move(op), 0, std::move(name), dimension}; }
Expression apply(std::string op, std::vector<Expression> operands) { return {std::move(op), 0, {}, 0, std::move(operands)}; }

/// Y[q, d] f32 from A[q, k] f16, B[k / group] f32, table T[1] f64 at h, scalar scale (positive f32), scalar n (i32).
struct Case {
  Artifact artifact;
  std::map<std::string, std::int64_t> inner{{"d", 4}};
  std::vector<std::byte> memory = std::vector<std::byte>(1 << 16);
  Arguments given;

  Case() {
    using Kind = Parameter::Kind;
    artifact.program = "test";
    artifact.parameters = {{Kind::tensor, "A", "f16", 2},          {Kind::tensor, "B", "f32", 1},  {Kind::tensor, "Y", "f32", 2, true}, {Kind::tensor, "Z", "f32", 1, true},
                           {Kind::extent, "q", "i32"},             {Kind::extent, "k", "i32"},     {Kind::extent, "d", "i32"},
                           {Kind::scalar, "scale", "f32", 0, false, true}, {Kind::scalar, "n", "i32"}, {Kind::item, "q", "i32"},       {Kind::scratch, "scratch"}};
    artifact.axes = {{"q", AxisFacts::Role::block, 8, {{"A", 0}, {"Y", 0}, {"Z", 0}}}, {"k", AxisFacts::Role::fold, 8, {{"A", 1}}}, {"d", AxisFacts::Role::inner, 4, {{"Y", 1}}}};
    artifact.indices = {{"B", 0, apply("floor_div", {leaf("index", "k"), {"constant", 2}}), "k / 2"}};
    artifact.requirements = {{apply("le", {leaf("extent", "q"), leaf("extent", "k")}), "there must be at least as many k as q"}};
    given.tensors["A"] = {at(0), Type::f16, {5, 10}};
    given.tensors["B"] = {at(1024), Type::f32, {5}};
    given.tensors["Y"] = {at(2048), Type::f32, {5, 4}};
    given.tensors["Z"] = {at(4096), Type::f32, {5}};
    given.scalars = {{"scale", 0.5}, {"n", 3}};
  }

  std::byte *at(std::size_t offset) { return memory.data() + offset; }
  TensorView &operator[](const char *name) { return given.tensors[name]; }

  std::string refusal() const {
    try {
      (void)check(artifact, inner, given);
    } catch (const ArgumentError &error) {
      return error.what();
    }
    return "accepted";
  }
};

} // namespace

TEST_CASE("right arguments are accepted, and strides are completed") {
  Case c;
  REQUIRE(c.refusal() == "accepted");
  Checked checked = check(c.artifact, c.inner, c.given);
  CHECK(checked.lengths == std::vector<std::int64_t>{5, 10, 4});
  CHECK(checked.tensors[0].strides == std::vector<std::int64_t>{10, 1});
  CHECK(checked.hasItems);
  float scale;
  std::memcpy(&scale, checked.scalars[0].element.data(), 4);
  CHECK(scale == 0.5f);
}

TEST_CASE("names of tensors") {
  Case c;
  SECTION("missing, loaded") {
    c.given.tensors.erase("A");
    CHECK(c.refusal() == "tensor 'A' is missing: program 'test' loads it, f16 with 2 dimensions; give it in Arguments::tensors");
  }
  SECTION("missing, stored") {
    c.given.tensors.erase("Z");
    CHECK(c.refusal() == "tensor 'Z' is missing: program 'test' stores it, f32 with 1 dimensions; give it in Arguments::tensors");
  }
  SECTION("unknown, near") {
    c.given.tensors["a"] = c["A"];
    CHECK(c.refusal() == "program 'test' has no tensor 'a'; did you mean 'A'?; it has A, B, Y, Z");
  }
  SECTION("unknown, far") {
    c.given.tensors["mask"] = c["A"];
    CHECK(c.refusal() == "program 'test' has no tensor 'mask'; it has A, B, Y, Z");
  }
}

TEST_CASE("type, rank and strides of a tensor") {
  Case c;
  SECTION("type") {
    c["A"].type = Type::bf16;
    CHECK(c.refusal() == "tensor 'A' is bf16, expected f16; convert it, or build the program for bf16");
  }
  SECTION("rank") {
    c["A"].shape = {1, 5, 10};
    CHECK(c.refusal() == "tensor 'A' has 3 dimensions, [1, 5, 10], expected 2");
  }
  SECTION("number of strides") {
    c["A"].strides = {10};
    CHECK(c.refusal() == "tensor 'A' has 1 strides, [10], for 2 dimensions; give one for each dimension, in elements, or none for row-major");
  }
  SECTION("negative length") {
    c["A"].shape = {5, -1};
    CHECK(c.refusal() == "tensor 'A' is -1 long along dimension 1; lengths count from 0");
  }
  SECTION("a dimension beyond 32 bits") {
    c["B"].shape = {std::int64_t(1) << 31};
    CHECK(c.refusal() == "tensor 'B' is 2147483648 long along dimension 0; a dimension may be at most 2147483647 long");
  }
}

TEST_CASE("addresses") {
  Case c;
  SECTION("null") {
    c["B"].data = nullptr;
    CHECK(c.refusal() == "tensor 'B' of shape [5] has no memory: its address is null");
  }
  SECTION("misaligned") {
    c["A"].data = reinterpret_cast<void *>(0x1001);
    CHECK(c.refusal() == "tensor 'A' lies at address 0x1001, which is no multiple of 2, the size of a f16; move it to one that is");
  }
  SECTION("null is fine where there is no element") {
    c["A"] = {nullptr, Type::f16, {0, 10}};
    c["Y"] = {nullptr, Type::f32, {0, 4}};
    c["Z"] = {nullptr, Type::f32, {0}};
    CHECK(c.refusal() == "accepted");
    CHECK_FALSE(check(c.artifact, c.inner, c.given).hasItems);
  }
  SECTION("offsets beyond 63 bits") {
    c["A"].strides = {std::int64_t(1) << 61, 1};
    CHECK(c.refusal() == "tensor 'A' of shape [5, 10] with strides [2305843009213693952, 1] reaches beyond 64-bit addresses; give it the strides that it has in memory, in elements");
  }
  SECTION("offsets below address 0") {
    c["A"].strides = {-(std::int64_t(1) << 58), 1};
    CHECK(c.refusal() == "tensor 'A' of shape [5, 10] with strides [-288230376151711744, 1] reaches beyond 64-bit addresses; give it the strides that it has in memory, in elements");
  }
  SECTION("large strides of a tensor that is only described (rows 51, 54)") {
    c["A"] = {c.at(0), Type::f16, {5, 10}, {(std::int64_t(1) << 31) + 64, 1}};
    CHECK(c.refusal() == "accepted");
  }
}

TEST_CASE("lengths") {
  Case c;
  SECTION("two tensors disagree") {
    c["Y"].shape = {6, 4};
    CHECK(c.refusal() == "axis 'q' is 5 long along dimension 0 of 'A' and 6 along dimension 0 of 'Y'; they must agree");
  }
  SECTION("an inner axis is not as built") {
    c["Y"].shape = {5, 3};
    CHECK(c.refusal() == "axis 'd' is 3 long along dimension 1 of 'Y', but kernel 'test' was built for 4; build it with extents {{\"d\", 3}}");
  }
  SECTION("too long an axis") {
    c["A"] = {c.at(0), Type::f16, {5, (std::int64_t(1) << 30) + 1}, {0, 0}};
    CHECK(c.refusal() == "axis 'k' is 1073741825 long along dimension 1 of 'A'; an axis of kernel 'test' may be at most 1073741824 long");
  }
}

TEST_CASE("scalars") {
  Case c;
  SECTION("missing") {
    c.given.scalars.erase("scale");
    CHECK(c.refusal() == "scalar 'scale' is missing: program 'test' takes it, a positive f32; give it in Arguments::scalars");
  }
  SECTION("unknown") {
    c.given.scalars["scael"] = 1;
    CHECK(c.refusal() == "program 'test' has no scalar 'scael'; did you mean 'scale'?; it has scale, n");
  }
  SECTION("not positive") {
    c.given.scalars["scale"] = -0.5;
    CHECK(c.refusal() == "scalar 'scale' is -0.5, but the program was promised a positive one");
  }
  SECTION("positive, but 0 in the program's type") {
    c.given.scalars["scale"] = 1e-60;
    CHECK(c.refusal() == "scalar 'scale' is 1e-60, which f32 rounds to 0, but the program was promised a positive one");
  }
  SECTION("not finite") {
    c.given.scalars["scale"] = std::nan("");
    CHECK(c.refusal() == "scalar 'scale' is nan, expected a finite number");
  }
  SECTION("too large for its type") {
    c.given.scalars["scale"] = 1e60;
    CHECK(c.refusal() == "scalar 'scale' is 1e+60, more than the largest f32");
  }
  SECTION("too large for comparisons with positions") {
    c.artifact.limit = 1000;
    c.given.scalars["n"] = -1001;
    CHECK(c.refusal() == "scalar 'n' is -1001, expected a whole number from -1000 to 1000: positions are compared with it in i32");
  }
  SECTION("not whole") {
    c.given.scalars["n"] = 2.5;
    CHECK(c.refusal() == "scalar 'n' is 2.5, expected a whole number that fits i32");
  }
}

TEST_CASE("requirements and reads") {
  Case c;
  SECTION("a requirement that does not hold shows its values") {
    c["A"].shape = {5, 4};
    CHECK(c.refusal() == "program 'test': there must be at least as many k as q (here extent(q) = 5, extent(k) = 4)");
  }
  SECTION("a capture shorter than its index range") {
    c["B"].shape = {4};
    CHECK(c.refusal() == "tensor 'B' is 4 long along dimension 0 and is read there at k / 2, which goes from 0 to 4; give it at least 5 or shorten what it is indexed by");
  }
  SECTION("a negative index") {
    c.artifact.indices[0] = {"B", 0, apply("sub", {leaf("index", "k"), {"constant", 6}}), "k - 6"};
    CHECK(c.refusal() == "tensor 'B' is 5 long along dimension 0 and is read there at k - 6, which goes from -6 to 3; keep the index from 0 on");
  }
  SECTION("nothing is read along an empty axis") {
    c.artifact.requirements.clear();
    c["A"].shape = {5, 0};
    c["B"].shape = {0};
    CHECK(c.refusal() == "accepted");
  }
  SECTION("an index that depends on data is the kernel's own business") {
    c.artifact.indices[0] = {"B", 0, leaf("load", "T"), "T[k]"};
    CHECK(c.refusal() == "accepted");
  }
}

TEST_CASE("memory that is written") {
  Case c;
  SECTION("a stored tensor with stride 0") {
    c["Y"].strides = {0, 1};
    CHECK(c.refusal() == "tensor 'Y' is stored, but its elements overlap: dimension 0 of shape [5, 4] has stride 0, expected at least 1; store into memory of its own");
  }
  SECTION("rows that overlap") {
    c["Y"].strides = {3, 1};
    CHECK(c.refusal() == "tensor 'Y' is stored, but its elements overlap: dimension 0 of shape [5, 4] has stride 3, expected at least 4; store into memory of its own");
  }
  SECTION("a loaded tensor may have stride 0, a stored one along length 1") {
    c["A"].strides = {0, 1};
    c["A"].shape = {1, 10};
    c["Y"] = {c.at(2048), Type::f32, {1, 4}, {0, 1}};
    c["Z"].shape = {1};
    CHECK(c.refusal() == "accepted");
  }
  SECTION("in place") {
    c["B"].data = c["Y"].data;
    CHECK(c.refusal() == "tensor 'Y' is stored and overlaps tensor 'B' in memory; store into memory of its own");
  }
  SECTION("one element in common") {
    c["B"].data = c.at(2048 + 19 * 4);
    CHECK(c.refusal() == "tensor 'Y' is stored and overlaps tensor 'B' in memory; store into memory of its own");
    c["B"].data = c.at(2048 + 20 * 4);
    CHECK(c.refusal() == "accepted");
  }
  SECTION("two stored tensors") {
    c["Z"].data = c["Y"].data;
    CHECK(c.refusal() == "tensor 'Y' is stored and overlaps tensor 'Z' in memory; store into memory of its own");
  }
  SECTION("parts of one packed buffer are told apart (row 42)") {
    c["Y"].strides = {16, 1};                                    // [5, 16]: four parts of 4
    c["Z"] = {c.at(2048 + 4 * 4), Type::f32, {5}, {16}};
    c["B"] = {c.at(2048 + 8 * 4), Type::f32, {5}, {16}};
    CHECK(c.refusal() == "accepted");
    c["B"].data = c.at(2048 + 3 * 4);
    CHECK(c.refusal() == "tensor 'Y' is stored and overlaps tensor 'B' in memory; store into memory of its own");
  }
  SECTION("negative strides") {
    c["Y"] = {c.at(2048 + 16 * 4), Type::f32, {5, 4}, {-4, 1}};  // the same rows, upside down
    CHECK(c.refusal() == "accepted");
    c["B"].data = c.at(2048);
    CHECK(c.refusal() == "tensor 'Y' is stored and overlaps tensor 'B' in memory; store into memory of its own");
  }
}

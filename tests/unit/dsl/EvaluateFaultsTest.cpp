// Inputs that do not fit, and reads outside of tensors.
#include "Refused.h"

using namespace tw;

namespace {

const Axis q("q"), k("k");
const Tensor X("X", Type::f64, 1), Table("Table", Type::f64, 1), M("M", Type::f64, 2), O("O", Type::f64, 1);
const Tile x = X(q), i = cast(x, Type::i32), n = Table.dimension(0);

Program storing(Tile value) { return {"p", {store(O, {q}, value)}}; }
std::vector<double> run(const Tile &value, std::vector<double> xs, std::vector<double> table = {10, 20, 30}) {
  const std::int64_t length = std::int64_t(xs.size()), entries = std::int64_t(table.size());
  return evaluate(storing(value), {{{"X", {{length}, xs}}, {"Table", {{entries}, table}}}, {}, {{"q", length}}}).at("O").data;
}
using Data = std::vector<double>;

} // namespace

TEST_CASE("a read outside of a tensor names tensor, dimension and index") {
  REFUSED("read outside of tensor 'Table': index 3 of dimension 0, which is 3 long; give a longer tensor, or guard the read: where(i < Table.dimension(0), …, 0)", run(Table(i), {0, 3}));
  REFUSED("read outside of tensor 'Table': index -1 of dimension 0, which is 3 long; give a longer tensor, or guard the read: where(i < Table.dimension(0), …, 0)", run(Table(i), {-1}));
  const Tile read = Table(i); const unsigned line = __LINE__;
  CHECK(tests::refusal([&] { return run(read, {7}); })->where.line == line);
}

TEST_CASE("a read outside of a tensor that where() discards is none") {
  CHECK(run(where(i < n, Table(i), 0.0), {0, 3, 2, 99}) == Data{10, 0, 30, 0});
  CHECK(run(where(i >= n, 0.0, 2 * Table(i) + 1), {0, 3}) == Data{21, 0});
  CHECK(run(where((i < n) & (Table(i) > 15), 1.0, 0.0), {0, 1, 3}) == Data{0, 1, 0});
  CHECK(run(where((i >= n) | (Table(i) > 15), 1.0, 0.0), {0, 1, 3}) == Data{0, 1, 1});
  REFUSED("read outside of tensor 'Table': index 3 of dimension 0, which is 3 long; give a longer tensor, or guard the read: where(i < Table.dimension(0), …, 0)", run(where(Table(i) > 15, 1.0, 0.0), {3}));
}

TEST_CASE("the index of a discarded read may itself be one") {
  const Tile outer = Table(cast(Table(i), Type::i32));
  CHECK(run(where(i < n, outer, 0.0), {0, 5}, {1, 2, 0}) == Data{2, 0});
}

TEST_CASE("a masked 0 forgets the faults of its partner in a dot") {
  const Tile weights = where(k < 2, 1.0, 0.0), reads = Table(k);
  const Tile value = dot(where(M(q, k) > 0, M(q, k), 0.0), reads, over(k));
  const Evaluation good{{{"M", {{1, 3}, {1, 1, 0}}}, {"Table", {{3}, {10, 20, 30}}}}, {}};
  CHECK(evaluate(storing(value), good).at("O").data == Data{30});
  // Beyond the table: an indirect index, so that the table's length does not bind k.
  const Tile beyond = dot(where(M(q, k) > 0, M(q, k), 0.0), Table(k + 1), over(k));
  CHECK(evaluate(storing(beyond), good).at("O").data == Data{50});
  const Evaluation bad{{{"M", {{1, 3}, {1, 1, 1}}}, {"Table", {{3}, {10, 20, 30}}}}, {}};
  REFUSED("read outside of tensor 'Table': index 3 of dimension 0, which is 3 long; give a longer tensor, or guard the read: where(i < Table.dimension(0), …, 0)", evaluate(storing(beyond), bad));
}

TEST_CASE("faults inside reductions and folds") {
  auto [total] = fold(k, std::tuple{full(0, {q}, Type::f64)}, [](Tile so) { return std::tuple{so + sum(where(k > 0, Table(k - 1), 0.0) + 0 * M(q, k), over(k))}; });
  CHECK(evaluate(storing(total), {{{"M", {{1, 3}, {1, 1, 1}}}, {"Table", {{3}, {10, 20, 30}}}}, {}}).at("O").data == Data{30});
  auto [all] = fold(k, std::tuple{full(0, {q}, Type::f64)}, [](Tile so) { return std::tuple{so + sum(Table(k - 1) + 0 * M(q, k), over(k))}; });
  REFUSED("read outside of tensor 'Table': index -1 of dimension 0, which is 3 long; give a longer tensor, or guard the read: where(i < Table.dimension(0), …, 0)", evaluate(storing(all), {{{"M", {{1, 3}, {1, 1, 1}}}, {"Table", {{3}, {10, 20, 30}}}}, {}}));
}

TEST_CASE("an integer division by zero") {
  REFUSED("floor_div by zero; guard it: where(n != 0, x / max(n, 1), 0)", run(cast(7 / i, Type::f64), {1, 0}));
  REFUSED("mod by zero; guard it: where(n != 0, x / max(n, 1), 0)", run(cast(7 % i, Type::f64), {0}));
  CHECK(run(cast(where(i != 0, 7 / i, 0), Type::f64), {2, 0}) == Data{3, 0});
}

TEST_CASE("inputs that do not fit") {
  auto with = [](Evaluation in) { return evaluate(storing(x + scalar("s", Type::f64, Sign::positive)), in); };
  REFUSED("scalar 's' is missing; give it in Evaluation::scalars", with({{{"X", {{1}, {1}}}}, {}}));
  REFUSED("scalar 's' is -1 but was declared positive; give a number above 0, or declare it Sign::any", with({{{"X", {{1}, {1}}}}, {{"s", -1}}}));
  REFUSED("tensor 'X' is missing; give it in Evaluation::tensors", with({{}, {{"s", 1}}}));
  REFUSED("tensor 'X' is given with 2 dimensions, declared with 1", with({{{"X", {{1, 1}, {1}}}}, {{"s", 1}}}));
  REFUSED("tensor 'X' is given with 1 elements, its shape needs 2", with({{{"X", {{2}, {1}}}}, {{"s", 1}}}));
  REFUSED("tensor 'X' is given with length -2; lengths are 0 or more", with({{{"X", {{-2}, {1}}}}, {{"s", 1}}}));
  REFUSED("foldTile is -1; give a width from 1, or 0 for the whole axis", with({{{"X", {{1}, {1}}}}, {{"s", 1}}, {}, -1}));
  REFUSED("scalar 'c' is 1.5 but was declared i32; give a whole number of 32 bits", evaluate(storing(cast(scalar("c", Type::i32), Type::f64)), {{}, {{"c", 1.5}}, {{"q", 1}}}));
  REFUSED("scalar 'c' is 2147483648 but was declared i32; give a whole number of 32 bits", evaluate(storing(cast(scalar("c", Type::i32), Type::f64)), {{}, {{"c", 0x1p31}}, {{"q", 1}}}));
  REFUSED("scalar 'c' is inf but was declared i64; give a whole number of 64 bits", evaluate(storing(cast(scalar("c", Type::i64), Type::f64)), {{}, {{"c", std::numeric_limits<double>::infinity()}}, {{"q", 1}}}));
  auto table = [](Type type, double value) { return evaluate(storing(where(cast(Tensor("T", type, 2)(q, 1), Type::f64) > 0.0, 1.0, 0.0)), {{{"T", {{1, 2}, {0, value}}}}, {}}); };
  REFUSED("tensor 'T' is given 0.5 at [0, 1] but was declared i32; give a whole number of 32 bits", table(Type::i32, 0.5));
  REFUSED("tensor 'T' is given -2147483649 at [0, 1] but was declared i32; give a whole number of 32 bits", table(Type::i32, -0x1p31 - 1));
  REFUSED("tensor 'T' is given nan at [0, 1] but was declared i64; give a whole number of 64 bits", table(Type::i64, std::nan("")));
  CHECK(table(Type::i64, -0x1p63).at("O").data == Data{0});
}

TEST_CASE("lengths that do not agree") {
  REFUSED("axis 'q' is 3 long by dimension 0 of 'M' and 2 long by dimension 0 of 'X'; make the two equal", evaluate(storing(x + sum(M(q, k), over(k))), {{{"X", {{2}, {1, 2}}}, {"M", {{3, 1}, {1, 2, 3}}}}, {}}));
  REFUSED("no tensor tells the length of axis 'q'; give it in Evaluation::extents", evaluate(storing(cast(index(q), Type::f64)), {{}, {}}));
  REFUSED("the extent of axis 'q' is given as -1; lengths are 0 or more", evaluate(storing(cast(index(q), Type::f64)), {{}, {}, {{"q", -1}}}));
  REFUSED("the extent of axis 'q' is given as 3 and is 2 long by dimension 0 of 'X'; leave the extent out", evaluate(storing(x), {{{"X", {{2}, {1, 2}}}}, {}, {{"q", 3}}}));
  CHECK(evaluate(storing(cast(index(q), Type::f64)), {{{"O", {{3}, {}}}}, {}}).at("O").data == Data{0, 1, 2});
}

TEST_CASE("requirements are checked first, and tell the numbers") {
  Program p = storing(x);
  p.requirements = {require((extent(q) % 2 == 0) & (scalar("s") > 0), "q must be even; pad X")};
  auto refusal = tests::refusal([&] { return evaluate(p, {{{"X", {{3}, {1, 2, 3}}}}, {{"s", 0.5}}}); });
  REQUIRE(refusal);
  CHECK(refusal->message == "q must be even; pad X");
  REQUIRE(refusal->notes.size() == 1);
  CHECK(refusal->notes[0].text == "here extent(q) = 3, s = 0.5");
  CHECK_NOTHROW(evaluate(p, {{{"X", {{2}, {1, 2}}}}, {{"s", 0.5}}}));
}

TEST_CASE("head counts and head dimensions out of range") {
  auto shaped = [](std::int64_t H, std::int64_t Hkv, std::int64_t HkvOfV, std::int64_t D, std::int64_t Dv) {
    auto array = [](std::int64_t heads, std::int64_t dim) { return Array{{1, heads, 1, dim}, std::vector<double>(std::size_t(heads * dim))}; };
    return evaluate(makeVariant("plain"), {{{"Q", array(H, D)}, {"K", array(Hkv, D)}, {"V", array(HkvOfV, Dv)}}, {}});
  };
  const std::string heads = "the heads of 'Q' (dimension 1) must be a multiple of the heads of 'K', which has at least one; repeat heads of 'K' or drop some of 'Q'";
  REFUSED(heads, shaped(3, 2, 2, 8, 8));
  REFUSED(heads, shaped(3, 0, 0, 8, 8));
  REFUSED("'V' must have as many heads (dimension 1) as 'K'; give each key head its values", shaped(4, 2, 4, 8, 8));
  const std::string dim = "the head dimension of 'Q' and 'K' (dimension 3) must be a multiple of 8 from 8 to 1024; any other length is padded in both with zeros, and the scale stated";
  REFUSED(dim, shaped(2, 2, 2, 12, 8));
  REFUSED(dim, shaped(2, 2, 2, 0, 8));
  REFUSED(dim, shaped(2, 2, 2, 1032, 8));
  REFUSED("the head dimension of 'V' (dimension 3) must be a multiple of 8 from 8 to 1024; any other length is padded with zeros", shaped(2, 2, 2, 8, 9));
  CHECK_NOTHROW(shaped(0, 1, 1, 8, 256));
  auto refusal = tests::refusal([&] { return shaped(3, 2, 2, 8, 8); });
  CHECK(refusal->notes[0].text == "here K.dimension(1) = 2, extent(h) = 3");
}

// Masks that are no conjunctions of half planes, each with its tables and with the condition as C++ has it.
#pragma once
#include "support/Arrays.h"
#include "tilewright/dsl/Dsl.h"
#include <array>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace programs {
using namespace tw;

/// Lengths of one problem with heads of 8 elements.
struct MaskedSizes {
  std::int64_t b = 2, h = 2, sq = 150, skv = 210, d = 8;
};

struct MaskedProgram {
  std::string name;
  Program program;
  std::map<std::string, Array> tables;
  std::function<bool(std::int64_t b, std::int64_t q, std::int64_t k)> keeps;
  bool skipsAll = true;      // no empty tile is visited
  bool dropsAll = true;      // in no full tile the mask is looked at
};

/// The masks, on attention of that type. `block`: elements of a block of the block masks, 16.
inline std::vector<MaskedProgram> masks(Type type, const MaskedSizes &n) {
  std::vector<MaskedProgram> all;
  const std::int64_t longest = std::max(n.sq, n.skv) + 1, shift = n.skv - n.sq;
  auto add = [&](const char *name, MaskFunction mask, std::map<std::string, Array> tables, std::function<bool(std::int64_t, std::int64_t, std::int64_t)> keeps, bool skipsAll = true,
                 bool dropsAll = true) {
    Attention attention(name, Tensor("Q", type, 4), Tensor("K", type, 4), Tensor("V", type, 4), Tensor("O", type, 4));
    attention.mask(std::move(mask)).lse(Tensor("lse", Type::f32, 3));
    all.push_back({name, attention.program(), std::move(tables), std::move(keeps), skipsAll, dropsAll});
  };
  auto table = [](std::vector<std::int64_t> shape, auto value) {
    Array array{shape, {}};
    std::int64_t rows = shape.size() == 1 ? 1 : shape[0], columns = shape.back();
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        array.data.push_back(double(value(i, j)));
    return array;
  };

  Tensor rowDoc("row_doc", Type::i32, 2), doc("doc", Type::i32, 2), prefix("prefix", Type::i32, 1), blocks("blocks", Type::boolean, 2), rowWhen("row_when", Type::f32, 1),
      when("when", Type::f32, 1), near("near", Type::i64, 1), kind("kind", Type::i32, 1), words("words", Type::i32, 2);
  auto docOf = [](std::int64_t b, std::int64_t i) { return i / (b ? 61 : 37); };
  const std::map<std::string, Array> docs{{"row_doc", table({n.b, n.sq}, docOf)}, {"doc", table({n.b, n.skv}, docOf)}};
  add("documents", [=](const At &at) { return rowDoc(at.batch, at.query) == doc(at.batch, at.key); }, docs,
      [=](auto b, auto q, auto k) { return docOf(b, q) == docOf(b, k); });
  add("documents_causal", [=](const At &at) { return (rowDoc(at.batch, at.query) == doc(at.batch, at.key)) & (at.key <= at.query); }, docs,
      [=](auto b, auto q, auto k) { return docOf(b, q) == docOf(b, k) && k <= q; }, false);
  auto prefixOf = [](std::int64_t b) { return b ? 5 : 77; };
  add("prefix", [=](const At &at) { return (at.key < prefix(at.batch)) | (at.key <= at.query + (at.keys - at.queries)); }, {{"prefix", table({n.b}, [&](auto, auto b) { return prefixOf(b); })}},
      [=](auto b, auto q, auto k) { return k < prefixOf(b) || k <= q + shift; });
  add("sink_window", [](const At &at) { return (at.key <= at.query) & ((at.key < 4) | (at.query - at.key < 40)); }, {},
      [](auto, auto q, auto k) { return k <= q && (k < 4 || q - k < 40); });
  add("not_window", [](const At &at) { return !(abs(at.query - at.key) < 40); }, {}, [](auto, auto q, auto k) { return std::abs(q - k) >= 40; });
  add("two_bands", [](const At &at) {
        Tile distance = at.query - at.key;
        return ((distance >= 0) & (distance <= 9)) | ((distance >= 64) & (distance < 100));
      }, {}, [](auto, auto q, auto k) { return (q - k >= 0 && q - k <= 9) || (q - k >= 64 && q - k < 100); });
  add("dilated_blocks", [](const At &at) { return mod(floorDiv(at.query, 16) - floorDiv(at.key, 16), 3) == 0; }, {},
      [](auto, auto q, auto k) { return (q / 16 - k / 16) % 3 == 0; });
  add("dilated", [](const At &at) { return (mod(at.query - at.key, 3) == 0) & (at.query - at.key < 100) & (at.query >= at.key); }, {},
      [](auto, auto q, auto k) { return (q - k) % 3 == 0 && q - k < 100 && q >= k; }, false, false);
  auto blockOf = [](std::int64_t i, std::int64_t j) { return i == j || (i * 7 + j * 3) % 5 == 0; };
  add("blocks", [=](const At &at) { return blocks(floorDiv(at.query, 16), floorDiv(at.key, 16)); }, {{"blocks", table({longest / 16 + 1, longest / 16 + 1}, blockOf)}},
      [=](auto, auto q, auto k) { return blockOf(q / 16, k / 16); });
  auto wordOf = [=](std::int64_t i, std::int64_t word) {
    std::uint32_t bits = 0;
    for (std::int64_t j = 0; j < 32; ++j)
      bits |= std::uint32_t(blockOf(i, 32 * word + j)) << j;
    return std::int32_t(bits);
  };
  add("block_bits", [=](const At &at) { return testBit(words(floorDiv(at.query, 16), floorDiv(at.key, 512)), mod(floorDiv(at.key, 16), 32)); }, {{"words", table({longest / 16 + 1, longest / 512 + 1}, wordOf)}},
      [=](auto, auto q, auto k) { return blockOf(q / 16, k / 16); }, false, false);
  // The same blocks as lists, in an order of their own, some twice, with other numbers behind what counts.
  Tensor lists("lists", Type::i32, 2), counts("counts", Type::i32, 1), farLists("far_lists", Type::i64, 2);
  const std::int64_t blockRows = longest / 16 + 1;
  auto listOf = [=](std::int64_t i) {
    std::vector<std::int64_t> list;
    for (std::int64_t j = blockRows - 1; j >= 0; --j)
      if (blockOf(i, j))
        list.insert(j % 2 ? list.begin() : list.end(), j % 3 ? 1 : 2, j);
    return list;
  };
  Array listTable{{blockRows, 2 * blockRows}, {}}, countTable{{blockRows}, {}}, padded{{blockRows, 2 * blockRows}, {}};
  for (std::int64_t i = 0; i < blockRows; ++i) {
    const auto list = listOf(i);
    countTable.data.push_back(double(list.size()));
    for (std::size_t j = 0; j < std::size_t(2 * blockRows); ++j) {
      listTable.data.push_back(double(j < list.size() ? list[j] : std::int64_t(j) % blockRows));
      padded.data.push_back(j < list.size() ? double(list[j]) : -1);
    }
  }
  add("block_lists", [=](const At &at) { return contains(lists, {floorDiv(at.query, 16)}, floorDiv(at.key, 16), counts(floorDiv(at.query, 16))); }, {{"lists", listTable}, {"counts", countTable}},
      [=](auto, auto q, auto k) { return blockOf(q / 16, k / 16); }, false, false);   // lists of different lengths in one tile: what the shorter does not count may be met
  add("padded_lists", [=](const At &at) { return !contains(farLists, {floorDiv(at.query, 16)}, floorDiv(at.key, 16)); }, {{"far_lists", padded}},
      [=](auto, auto q, auto k) { return !blockOf(q / 16, k / 16); });
  Tensor chosen("chosen", Type::i32, 1);
  add("chosen_keys", [=](const At &at) { return contains(chosen, {}, at.key) | (at.key == at.query); }, {{"chosen", table({3}, [](auto, auto j) { return 40 * j + 1; })}},
      [=](auto, auto q, auto k) { return k == 1 || k == 41 || k == 81 || k == q; }, true, false);
  // All elements of a tile have one answer.
  Tensor whole("whole", Type::i64, 1);
  add("chosen_batches", [=](const At &at) { return contains(whole, {}, at.batch) | (at.key <= at.query); }, {{"whole", table({2}, [](auto, auto j) { return 5 - 4 * j; })}},
      [](auto b, auto q, auto k) { return b == 1 || k <= q; });
  auto whenOf = [](std::int64_t i) { return double(i * i) / 64; };
  add("events", [=](const At &at) { return when(at.key) + 1.5 <= rowWhen(at.query); },
      {{"row_when", table({n.sq}, [&](auto, auto i) { return whenOf(i); })}, {"when", table({n.skv}, [&](auto, auto i) { return whenOf(i); })}},
      [=](auto, auto q, auto k) { return whenOf(k) + 1.5 <= whenOf(q); });
  auto nearOf = [=](std::int64_t distance) { return distance > -20 && distance < 90 && distance != 3; };
  add("relative", [=](const At &at) { return near(at.query - at.key + (longest - 1)) > 0; }, {{"near", table({2 * longest}, [&](auto, auto i) { return nearOf(i - (longest - 1)); })}},
      [=](auto, auto q, auto k) { return nearOf(q - k); });
  auto kindOf = [](std::int64_t i) { return i / 32 % 2; };
  add("rows_by_kind", [=](const At &at) { return where(kind(at.query) == 1, cast(at.key, Type::f32), 64.0) < 64.0; }, {{"kind", table({n.sq}, [&](auto, auto i) { return kindOf(i); })}},
      [=](auto, auto q, auto k) { return kindOf(q) == 1 && k < 64; }, false);
  Tensor keyKind("key_kind", Type::i32, 1);
  add("kinds_from_64_on", [=](const At &at) { return where(at.key >= 64, keyKind(at.key) == 1, true); }, {{"key_kind", table({n.skv}, [&](auto, auto i) { return kindOf(i); })}},
      [=](auto, auto, auto k) { return k < 64 || kindOf(k) == 1; }, true, false);   // what the table holds before 64 is taken to count
  // Bounds by row, of all that a table may hold.
  Tensor least("least", Type::i32, 1), most("most", Type::i32, 1), single("single", Type::i32, 1);
  constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min(), highest = std::numeric_limits<std::int32_t>::max();
  auto leastOf = [=](std::int64_t q) { return std::array{lowest, highest, q - 20, std::int64_t(-1), std::int64_t(0)}[std::size_t(q % 5)]; };
  auto mostOf = [=](std::int64_t q) { return std::array{highest, q + 10, lowest}[std::size_t(q % 3)]; };
  auto singleOf = [=](std::int64_t q) { return std::array{q * 7 % 300, lowest, std::int64_t(-1), highest}[std::size_t(q % 4)]; };
  add("row_bounds",
      [=](const At &at) {
        const Tile one = single(at.query), below = at.key < most(at.query);
        return ((least(at.query) <= at.key) & below & (at.key != one)) | ((at.key > one) & (at.query - at.key <= 7) & (at.key - at.query < -2)) | (at.key == one);
      },
      {{"least", table({n.sq}, [&](auto, auto q) { return leastOf(q); })}, {"most", table({n.sq}, [&](auto, auto q) { return mostOf(q); })}, {"single", table({n.sq}, [&](auto, auto q) { return singleOf(q); })}},
      [=](auto, auto q, auto k) { return (leastOf(q) <= k && k < mostOf(q) && k != singleOf(q)) || (k > singleOf(q) && q - k <= 7 && k - q < -2) || k == singleOf(q); }, false, false);
  // Sequences one after the other, each query's by a table: what tables hold at places that tables tell.
  Tensor sequences("sequences", Type::i32, 1), queryOffsets("query_offsets", Type::i32, 1), keyOffsets("key_offsets", Type::i32, 1);
  const std::int64_t last = n.sq / 43 + 1;
  auto firstQuery = [=](std::int64_t s) { return std::min(43 * s, n.sq); };
  auto firstKey = [=](std::int64_t s) { return std::min(50 * s + 9 * (s % 3), n.skv); };
  const std::map<std::string, Array> packing{{"sequences", table({n.sq}, [](auto, auto q) { return q / 43; })},
                                             {"query_offsets", table({last + 1}, [&](auto, auto s) { return firstQuery(s); })},
                                             {"key_offsets", table({last + 1}, [&](auto, auto s) { return firstKey(s); })}};
  auto inSequence = [=](std::int64_t q, std::int64_t k) { return firstKey(q / 43) <= k && k < firstKey(q / 43 + 1); };
  auto inPack = [=](const At &at) {
    const Tile s = sequences(at.query);
    return (keyOffsets(s) <= at.key) & (at.key < keyOffsets(s + 1));
  };
  auto packedTables = packing;
  packedTables.erase("query_offsets");
  add("packed", inPack, packedTables, [=](auto, auto q, auto k) { return inSequence(q, k); });
  add("packed_causal",
      [=](const At &at) {
        const Tile next = sequences(at.query) + 1;
        return inPack(at) & (at.key <= at.query + (keyOffsets(next) - queryOffsets(next)));
      },
      packing, [=](auto, auto q, auto k) { return inSequence(q, k) && k <= q + firstKey(q / 43 + 1) - firstQuery(q / 43 + 1); }, false, false);
  return all;
}

} // namespace programs

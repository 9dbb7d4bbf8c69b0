// Masks that read tables, and masks of periodic shape. The simple ones are in Modifiers.cpp.
#include "Fail.h"
#include "Steps.h"
#include <algorithm>
#include <limits>

namespace tw {
namespace {

using detail::fail;
using detail::maskStep;
using detail::position;

/// Refuses counts below 1.
void needsCounts(const char *step, std::initializer_list<int> counts, Location where) {
  std::string given;
  bool isWrong = false;
  for (int count : counts) {
    given += (given.empty() ? "" : ", ") + std::to_string(count);
    isWrong |= count < 1;
  }
  if (isWrong)
    fail(where, std::string(step) + "(" + given + "): each number is 1 or more");
}

} // namespace

Modifier documents(Tensor ofQueries, Tensor ofKeys, Location where) {
  return maskStep("documents", [=](const At &at) { return ofQueries(at.batch, at.query) == ofKeys(at.batch, at.key); }, where);
}

Modifier prefixLM(Tensor prefixes, Location where) {
  return maskStep("prefixLM", [=](const At &at) { return (at.key <= position(at)) | (at.key < prefixes(at.batch)); }, where);
}

Modifier documentsWithPrefix(Tensor ofQueries, Tensor ofKeys, Tensor ends, Location where) {
  return maskStep("documentsWithPrefix", [=](const At &at) {
    const Tile document = ofQueries(at.batch, at.query);
    return (document == ofKeys(at.batch, at.key)) & ((at.key <= position(at)) | (at.key < ends(at.batch, document)));
  }, where);
}

Modifier padded(Tensor lengths, Location where) {
  return maskStep("padded", [=](const At &at) { return at.key < lengths(at.batch); }, where);
}

Modifier cached(Tensor positions, Location where) {
  return maskStep("cached", [=](const At &at) { return at.key <= positions(at.batch) + at.query; }, where);
}

Modifier packed(Tensor sequences, Tensor queryOffsets, Tensor keyOffsets, bool isCausal, Location where) {
  return maskStep("packed", [=](const At &at) {
    const Tile sequence = sequences(at.query), first = keyOffsets(sequence), end = keyOffsets(sequence + 1);
    const Tile inside = (first <= at.key) & (at.key < end);
    return isCausal ? inside & (at.key <= at.query + (end - queryOffsets(sequence + 1))) : inside;   // bottom-right in each sequence
  }, where);
}

Modifier dilated(int left, int rate, Location where) {
  needsCounts("dilated", {left, rate}, where);
  const int farthest = int(std::min<std::int64_t>(std::int64_t(left) * rate, std::numeric_limits<int>::max()));   // no distance is beyond
  return maskStep("dilated", [=](const At &at) {
    const Tile distance = position(at) - at.key;
    return (distance >= 0) & (distance <= farthest) & (distance % rate == 0);
  }, where);
}

Modifier strided(int stride, Location where) {
  needsCounts("strided", {stride}, where);
  return maskStep("strided", [=](const At &at) {
    const Tile distance = position(at) - at.key;
    return (distance >= 0) & ((distance < stride) | (distance % stride == 0));
  }, where);
}

Modifier sinkWindow(int sinks, int left, Location where) {
  needsCounts("sinkWindow", {sinks, left}, where);
  return maskStep("sinkWindow", [=](const At &at) {
    const Tile distance = position(at) - at.key;
    return (distance >= 0) & ((distance <= left) | (at.key < sinks));
  }, where);
}

Modifier chunked(int chunk, Location where) {
  needsCounts("chunked", {chunk}, where);
  return maskStep("chunked", [=](const At &at) { return (at.key <= position(at)) & (at.key / chunk == position(at) / chunk); }, where);
}

Modifier blockCausal(int block, Location where) {
  needsCounts("blockCausal", {block}, where);
  return maskStep("blockCausal", [=](const At &at) { return at.key / block <= position(at) / block; }, where);
}

Modifier globalTokens(Tensor ofQueries, Tensor ofKeys, int left, int right, Location where) {
  return maskStep("globalTokens", [=](const At &at) {
    const Tile distance = position(at) - at.key;
    return ((distance <= left) & (distance >= -right)) | ofQueries(at.query) | ofKeys(at.key);
  }, where);
}

namespace {

/// The place of a block of queries in a table of that many dimensions, with the head before it, and the batch before that.
std::vector<Operand> blockPlace(const At &at, int queryBlock, unsigned dimensions) {
  std::vector<Operand> place{at.query / queryBlock};
  if (dimensions > 1)
    place.insert(place.begin(), at.head);
  if (dimensions > 2)
    place.insert(place.begin(), at.batch);
  return place;
}

} // namespace

Modifier blockSparse(Tensor table, int queryBlock, int keyBlock, Location where) {
  needsCounts("blockSparse", {queryBlock, keyBlock}, where);
  if (table.rank() < 2 || table.rank() > 4)
    fail(where, "blockSparse(): '" + table.name() + "' has " + std::to_string(table.rank()) + " dimensions, expected [blocks of queries, blocks of keys], with heads before it, with the batch before those",
         {{table.info->where, "the tensor is declared here"}});
  return maskStep("blockSparse", [=](const At &at) {
    std::vector<Operand> indices = blockPlace(at, queryBlock, table.rank() - 1);
    indices.push_back(at.key / keyBlock);
    const Tile entry = table.at(std::move(indices));
    return entry.type() == Type::boolean ? entry : entry != 0;
  }, where);
}

Modifier blockLists(Tensor lists, Tensor counts, int queryBlock, int keyBlock, Location where) {
  needsCounts("blockLists", {queryBlock, keyBlock}, where);
  if (lists.rank() < 2 || lists.rank() > 4 || counts.rank() + 1 != lists.rank())
    fail(where, "blockLists(): '" + lists.name() + "' has " + std::to_string(lists.rank()) + " dimensions and '" + counts.name() + "' " + std::to_string(counts.rank()) +
                    ", expected [blocks of queries, longest] and [blocks of queries], with heads before both, with the batch before those",
         {{lists.info->where, "the lists are declared here"}, {counts.info->where, "the counts are declared here"}});
  return maskStep("blockLists", [=](const At &at) {
    const std::vector<Operand> place = blockPlace(at, queryBlock, counts.rank());
    return contains(lists, place, at.key / keyBlock, counts.at(place));
  }, where);
}

namespace {

/// Whether `other` is one of the `window` places nearest to `place` on a line of `length`: the window is moved inwards at the ends.
Tile isNear(const Tile &place, const Tile &other, const Tile &length, int window) {
  const Tile first = max(min(place - window / 2, length - window), 0);
  return (other >= first) & (other < first + window);
}

} // namespace

Modifier neighborhood(int window, Location where) {
  needsCounts("neighborhood", {window}, where);
  return maskStep("neighborhood", [=](const At &at) { return isNear(at.query, at.key, at.keys, window); }, where);
}

Modifier neighborhood2d(int width, int windowRows, int windowColumns, Location where) {
  needsCounts("neighborhood2d", {width, windowRows, windowColumns}, where);
  return maskStep("neighborhood2d", [=](const At &at) {
    const Tile rows = (at.keys + (width - 1)) / width;
    return isNear(at.query / width, at.key / width, rows, windowRows) & isNear(at.query % width, at.key % width, constant(width, Type::i32), windowColumns);
  }, where);
}

Modifier graph(Tensor neighbours, Location where) {
  return maskStep("graph", [=](const At &at) { return testBit(neighbours(at.query, at.key / 32), at.key % 32); }, where);
}

} // namespace tw

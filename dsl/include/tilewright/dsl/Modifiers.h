// Steps of a score and masks, as ordinary functions on values.
#pragma once
#include "tilewright/dsl/Tensor.h"
#include <functional>
#include <string_view>

namespace tw {

/// Where a score sits: coordinates and lengths, each an ordinary value, so modifiers are ordinary arithmetic.
struct At {
  Tile batch, head, query, key;     // coordinates
  Tile queries, keys;               // Sq, Skv
};
/// Where an element of the output sits.
struct AtOutput {
  Tile batch, head, query, channel;   // channel: along Dv
  Tile queries, keys;
};
using OutputFunction = std::function<Tile(Tile output, const AtOutput &at)>;
/// A value for each row: of batch, head, query and lengths.
using RowFunction = std::function<Tile(const AtOutput &at)>;
using ScoreFunction = std::function<Tile(Tile score, const At &at)>;
using MaskFunction = std::function<Tile(const At &at)>;

/// A step of the score, remembered with the line on which the user asked for it.
struct Modifier {
  std::string label;
  ScoreFunction apply;
  Location where;
  bool setsScale = false;     // replaces the default 1/√D
};

/// A step of the output.
struct OutputModifier {
  std::string label;
  OutputFunction apply;
  Location where;
};

/// score · factor, in place of the default 1/√D.
[[nodiscard]] Modifier scaled(double factor, Location where = Location::current());
[[nodiscard]] Modifier scaled(Tile factor, Location where = Location::current());
/// cap · tanh(score / cap)
[[nodiscard]] Modifier softcap(double cap, Location where = Location::current());
[[nodiscard]] Modifier softcap(Tile cap, Location where = Location::current());
/// The same with tanhApproximate: a score is off by up to 2^-11 of its size, so that a weight
/// of a score near the cap c is off by a factor of up to e^(c / 2048).
[[nodiscard]] Modifier softcapApproximate(double cap, Location where = Location::current());
/// score + slopes[head] · (key − query − (Skv − Sq)); slopes [H].
[[nodiscard]] Modifier alibi(Tensor slopes, Location where = Location::current());
/// Keeps key ≤ query + Skv − Sq (bottom-right aligned).
[[nodiscard]] Modifier causal(Location where = Location::current());
/// Keeps key ≤ query (top-left aligned).
[[nodiscard]] Modifier causalTopLeft(Location where = Location::current());
/// Keeps −right ≤ query + Skv − Sq − key ≤ left; −1 is unbounded on that side; less than −1 is refused.
[[nodiscard]] Modifier slidingWindow(int left, int right, Location where = Location::current());
/// Your own mask: scores where `keep` does not hold become −infinity.
[[nodiscard]] Modifier masked(std::string label, MaskFunction keep, Location where = Location::current());

// ---- more scales and biases. "Where the query stands" is query + Skv − Sq, bottom-right aligned.
/// score / temperatures[head]; temperatures [H].
[[nodiscard]] Modifier temperature(Tensor temperatures, Location where = Location::current());
/// score · scales[head], in place of the default 1/√D; scales [H].
[[nodiscard]] Modifier headScale(Tensor scales, Location where = Location::current());
/// score + table[bucket of the distance][head]; table [buckets, H]. Half of the buckets have one distance each, the others
/// distances by their logarithm up to `farthest`; if bidirectional, half of all are for keys after the query.
[[nodiscard]] Modifier t5Bias(Tensor table, int buckets, int farthest, bool isBidirectional, Location where = Location::current());
/// score + table[head][key − query, held within ±radius]; table [H, 2·radius + 1].
[[nodiscard]] Modifier relativeBias(Tensor table, int radius, Location where = Location::current());
/// score + bias[…]; `axes` has one of b, h, q, k for each dimension of the bias: "bhqk", "hqk", "bk".
[[nodiscard]] Modifier denseBias(Tensor bias, std::string_view axes = "bhqk", Location where = Location::current());
/// score − strengths[head] · log(1 + rates[head] · |distance|); both [H], positive.
[[nodiscard]] Modifier kerple(Tensor strengths, Tensor rates, Location where = Location::current());
/// score + (ofQueries[b,h,q] − ofKeys[b,h,k]): sums of the logarithms of forget gates up to there, [B,H,Sq] and [B,H,Skv].
[[nodiscard]] Modifier forgetting(Tensor ofQueries, Tensor ofKeys, Location where = Location::current());
/// Keeps keys up to where the query stands; their scores are multiplied by decays[head]^distance; decays [H], positive.
[[nodiscard]] Modifier retention(Tensor decays, Location where = Location::current());

// ---- masks by tables
/// Keeps keys of the query's document; numbers of documents [B,Sq] and [B,Skv].
[[nodiscard]] Modifier documents(Tensor ofQueries, Tensor ofKeys, Location where = Location::current());
/// Causal, and the first prefixes[b] keys for every query; prefixes [B].
[[nodiscard]] Modifier prefixLM(Tensor prefixes, Location where = Location::current());
/// Keeps keys of the query's document that are causal or lie before ends[b][document]; ends [B, documents].
[[nodiscard]] Modifier documentsWithPrefix(Tensor ofQueries, Tensor ofKeys, Tensor ends, Location where = Location::current());
/// Keeps the first lengths[b] keys; lengths [B].
[[nodiscard]] Modifier padded(Tensor lengths, Location where = Location::current());
/// Queries that stand at positions[b], positions[b] + 1, … of a cache of keys: keeps keys up to there; positions [B].
[[nodiscard]] Modifier cached(Tensor positions, Location where = Location::current());
/// Sequences one after the other in a batch of one: sequences [Sq] says whose a query is; the keys of sequence s are
/// keyOffsets[s] … keyOffsets[s+1] − 1, its queries likewise; offsets [sequences + 1].
[[nodiscard]] Modifier packed(Tensor sequences, Tensor queryOffsets, Tensor keyOffsets, bool isCausal, Location where = Location::current());
/// Keeps −right ≤ distance ≤ left, and whatever is a global query or a global key; both bool, [Sq] and [Skv].
[[nodiscard]] Modifier globalTokens(Tensor ofQueries, Tensor ofKeys, int left, int right, Location where = Location::current());
/// Keeps blocks of queryBlock × keyBlock scores whose entry of the table is not 0; table [blocks of queries, blocks of keys], or
/// with heads before it, or with batch and heads.
[[nodiscard]] Modifier blockSparse(Tensor table, int queryBlock, int keyBlock, Location where = Location::current());
/// The same by lists: keeps the blocks of keys whose numbers are the first counts[…] of lists[…, ·], in any order; lists [blocks of queries, longest], counts
/// [blocks of queries], both with heads before, or with batch and heads.
[[nodiscard]] Modifier blockLists(Tensor lists, Tensor counts, int queryBlock, int keyBlock, Location where = Location::current());
/// Keeps keys whose bit is set in the query's row: bit key % 32 of neighbours[query][key / 32]; i32 [Sq, ⌈Skv / 32⌉].
[[nodiscard]] Modifier graph(Tensor neighbours, Location where = Location::current());

// ---- masks of a shape of their own; distance = where the query stands − key
/// Keeps 0, rate, 2·rate, … up to left·rate.
[[nodiscard]] Modifier dilated(int left, int rate, Location where = Location::current());
/// Keeps distances from 0 that are below the stride or multiples of it.
[[nodiscard]] Modifier strided(int stride, Location where = Location::current());
/// Keeps distances 0 to left, and the first keys, `sinks` of them.
[[nodiscard]] Modifier sinkWindow(int sinks, int left, Location where = Location::current());
/// Causal inside of chunks: no query sees a key of another chunk.
[[nodiscard]] Modifier chunked(int chunk, Location where = Location::current());
/// Causal by blocks: a query sees its whole block.
[[nodiscard]] Modifier blockCausal(int block, Location where = Location::current());
/// Keeps the `window` keys nearest to the query, moved inwards at the ends; of queries and keys that are the same tokens.
[[nodiscard]] Modifier neighborhood(int window, Location where = Location::current());
/// The same on a grid of `width` columns, row by row.
[[nodiscard]] Modifier neighborhood2d(int width, int windowRows, int windowColumns, Location where = Location::current());

// ---- steps of weights and of the output
/// Sets weights to 0 with this probability, and multiplies the others by 1 / (1 − probability); the same ones for a seed, an integer.
[[nodiscard]] Modifier dropout(Tile seed, double probability, Location where = Location::current());
/// output · sigmoid(gates[b,h,q,e])
[[nodiscard]] OutputModifier gated(Tensor gates, Location where = Location::current());
/// output · tanh(gates[head]); gates [H].
[[nodiscard]] OutputModifier tanhGated(Tensor gates, Location where = Location::current());

} // namespace tw

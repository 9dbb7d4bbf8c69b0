// Variants of the gallery that mask by tables.
#include "Captures.h"
#include "GalleryEntries.h"

namespace tw::detail {
namespace {

/// Sequences that share S tokens, one of them without any: the last token of all belongs to the last sequence.
constexpr std::int64_t sequences = 5;
std::int64_t sequenceStart(std::int64_t sequence, std::int64_t tokens) {
  constexpr std::int64_t parts[sequences + 1] = {0, 3, 3, 8, 9, 16};   // of 16
  return tokens * parts[sequence] / 16;
}

Capture offsets(const char *name, const char *of, std::int64_t VariantShape::*tokens) {
  return {name, Type::i32, {std::to_string(sequences + 1)}, std::string("where the ") + of + " of each sequence begin, and where the last ones end",
          [=](const VariantShape &s, Random &) {
            Array array{{sequences + 1}, {}};
            for (std::int64_t i = 0; i <= sequences; ++i)
              array.data.push_back(double(sequenceStart(i, s.*tokens)));
            return array;
          }};
}

Capture sequenceOfQueries() {
  return {"sequences", Type::i32, {"Sq"}, "the sequence of each query", [](const VariantShape &s, Random &) {
            Array array{{s.sq}, {}};
            std::int64_t sequence = 0;
            for (std::int64_t q = 0; q < s.sq; ++q) {
              while (q >= sequenceStart(sequence + 1, s.sq))
                ++sequence;
              array.data.push_back(double(sequence));
            }
            return array;
          }};
}

std::vector<Capture> documentTables() {
  auto document = [](std::int64_t batch, std::int64_t place) { return double(documentAt(batch, place)); };
  return {byPlace("query_documents", Type::i32, {"B", "Sq"}, "the document of each query", document),
          byPlace("key_documents", Type::i32, {"B", "Skv"}, "the document of each key", document)};
}

/// Ends of the prefixes of documents: a third of each document, or nothing of it.
Capture prefixEnds() {
  return {"prefix_ends", Type::i32, {"B", "documents"}, "where the prefix of each document ends", [](const VariantShape &s, Random &random) {
            const std::int64_t count = s.skv / 40 + 2;
            Array array{{s.b, count}, {}};
            for (std::int64_t b = 0; b < s.b; ++b)
              for (std::int64_t n = 0; n < count; ++n)
                array.data.push_back(double(documentStart(b, n) + whole(random, 0, 20)));
            return array;
          }};
}

/// Big Bird's: blocks around the diagonal, the first block of keys and of queries, and some at random.
Capture blocks(std::int64_t side) {
  const std::string by = " / " + std::to_string(side);
  return {"blocks", Type::i32, {"Sq" + by, "Skv" + by}, "1 for each block of scores that is kept", [=](const VariantShape &s, Random &random) {
            Array array{lengthsOf({"Sq" + by, "Skv" + by}, s), {}};
            for (std::int64_t q = 0; q < array.shape[0]; ++q)
              for (std::int64_t k = 0; k < array.shape[1]; ++k) {
                const std::int64_t distance = q + array.shape[1] - array.shape[0] - k;
                array.data.push_back((distance >= -1 && distance <= 1) || q == 0 || k == 0 || whole(random, 0, 9) == 0);
              }
            return array;
          }};
}

/// Lists of blocks of keys, in any order and some twice, with numbers of others behind what counts.
constexpr std::int64_t longestList = 6;
std::vector<Capture> blockListTables(std::int64_t side) {
  const std::string by = " / " + std::to_string(side);
  const std::vector<std::string> rows{"H", "Sq" + by};
  return {{"lists", Type::i32, {"H", "Sq" + by, std::to_string(longestList)}, "the blocks of keys that are kept in a row of blocks, in any order",
           [=](const VariantShape &s, Random &random) {
             Array array{lengthsOf({"H", "Sq" + by, std::to_string(longestList)}, s), {}};
             const std::int64_t blocks = lengthsOf({"Skv" + by}, s)[0];
             for (std::int64_t row = 0; row < array.shape[0] * array.shape[1]; ++row)
               for (std::int64_t i = 0; i < longestList; ++i)
                 array.data.push_back(double(i == 0 ? row % array.shape[1] : whole(random, 0, blocks)));
             return array;
           }},
          each("counts", Type::i32, rows, "how many of the row's list count", [](Random &random) { return double(whole(random, 0, longestList)); })};
}

/// Bits of a graph in which each node has some eighth of the others for neighbours; some have none.
double neighbourBits(Random &random) {
  const auto bits = static_cast<std::uint32_t>(random() & random() & random());
  return double(static_cast<std::int32_t>(bits));
}

} // namespace

std::vector<Entry> tableEntries() {
  auto everyHundredth = [](std::int64_t, std::int64_t place) { return double(place % 97 == 5); };
  return {
      {.variant = {"documents", "documents one after the other that do not see each other", "keep document[b][q] = document[b][k]",
                   "Efficient Sequence Packing without Cross-contamination, 2021"},
       .apply = [](Making &m, const Numbers &) { m.attention.mask(documents(m.capture("query_documents", Type::i32, 2), m.capture("key_documents", Type::i32, 2))); },
       .captures = [](const Numbers &, Types) { return documentTables(); }},
      {.variant = {"prefix", "causal, and every query sees the first keys, as many as the batch says", "keep k ≤ q′ or k < prefix[b]",
                   "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer, 2019"},
       .apply = [](Making &m, const Numbers &) { m.attention.mask(prefixLM(m.capture("prefixes", Type::i32, 1))); },
       .captures = [](const Numbers &, Types) {
         return std::vector{Capture{"prefixes", Type::i32, {"B"}, "how many keys every query sees", [](const VariantShape &s, Random &random) {
           Array array{{s.b}, {}};
           for (std::int64_t b = 0; b < s.b; ++b)
             array.data.push_back(double(whole(random, s.skv / 8, s.skv / 2)));
           return array;
         }}};
       }},
      {.variant = {"docprefix", "documents, each causal with a prefix that it sees whole", "keep document[b][q] = document[b][k] and (k ≤ q′ or k < end[b][document[b][q]])",
                   "PaliGemma: A versatile 3B VLM for transfer, 2024"},
       .apply =
           [](Making &m, const Numbers &) {
             m.attention.mask(documentsWithPrefix(m.capture("query_documents", Type::i32, 2), m.capture("key_documents", Type::i32, 2), m.capture("prefix_ends", Type::i32, 2)));
           },
       .captures = [](const Numbers &, Types) {
         std::vector<Capture> list = documentTables();
         list.push_back(prefixEnds());
         return list;
       }},
      {.variant = {"padded", "as many keys as the batch says", "keep k < length[b]", "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding, 2018"},
       .apply = [](Making &m, const Numbers &) { m.attention.mask(padded(m.capture("lengths", Type::i32, 1))); },
       .captures = [](const Numbers &, Types) {
         return std::vector{Capture{"lengths", Type::i32, {"B"}, "how many keys there are; of the first batch all, of the second none", [](const VariantShape &s, Random &random) {
           Array array{{s.b}, {}};
           for (std::int64_t b = 0; b < s.b; ++b)
             array.data.push_back(double(b == 0 ? s.skv : b == 1 ? 0 : whole(random, 0, s.skv)));
           return array;
         }}};
       }},
      {.variant = {"kvcache", "queries that continue a cache of keys, which may have room left", "keep k ≤ position[b] + q", "Fast Transformer Decoding: One Write-Head is All You Need, 2019"},
       .apply = [](Making &m, const Numbers &) { m.attention.mask(cached(m.capture("positions", Type::i32, 1))); },
       .captures = [](const Numbers &, Types) {
         return std::vector{Capture{"positions", Type::i32, {"B"}, "where the first query stands", [](const VariantShape &s, Random &random) {
           Array array{{s.b}, {}};
           for (std::int64_t b = 0; b < s.b; ++b)
             array.data.push_back(double(whole(random, 0, std::max<std::int64_t>(s.skv - s.sq, 0))));
           return array;
         }}};
       }},
      {.variant = {"jagged", "sequences of different lengths one after the other, causal in each", "keep first[s] ≤ k < first[s + 1] and k ≤ q + first[s + 1] − firstquery[s + 1], s = sequence[q]",
                   "ByteTransformer: A High-Performance Transformer Boosted for Variable-Length Inputs, 2022"},
       .apply =
           [](Making &m, const Numbers &) {
             m.attention.mask(packed(m.capture("sequences", Type::i32, 1), m.capture("query_offsets", Type::i32, 1), m.capture("key_offsets", Type::i32, 1), true));
           },
       .captures = [](const Numbers &, Types) {
         return std::vector{sequenceOfQueries(), offsets("query_offsets", "queries", &VariantShape::sq), offsets("key_offsets", "keys", &VariantShape::skv)};
       }},
      {.variant = {"longformer", "64 keys either way, and some tokens that see all and are seen by all", "keep −64 ≤ q′ − k ≤ 64, or q is global, or k is",
                   "Longformer: The Long-Document Transformer, 2020"},
       .apply = [](Making &m, const Numbers &) { m.attention.mask(globalTokens(m.capture("global_queries", Type::boolean, 1), m.capture("global_keys", Type::boolean, 1), 64, 64)); },
       .captures = [=](const Numbers &, Types) {
         return std::vector{byPlace("global_queries", Type::boolean, {"Sq"}, "whether a query is global", everyHundredth),
                            byPlace("global_keys", Type::boolean, {"Skv"}, "whether a key is global", everyHundredth)};
       }},
      {.variant = {"bigbird", "blocks of 64 × 64 scores by a table; bigbird(side) for others", "keep blocks[⌊q / 64⌋][⌊k / 64⌋] ≠ 0", "Big Bird: Transformers for Longer Sequences, 2020"},
       .defaults = {64}, .refuse = [](const Numbers &n) { return needsCounts("(side)", n); },
       .apply = [](Making &m, const Numbers &n) { m.attention.mask(blockSparse(m.capture("blocks", Type::i32, 2), int(n[0]), int(n[0]))); },
       .captures = [](const Numbers &n, Types) { return std::vector{blocks(std::int64_t(n[0]))}; }},
      {.variant = {"blocklists", "blocks of 64 × 64 scores by lists, for each head; blocklists(side) for others", "keep ⌊k / 64⌋ among the first counts[h][⌊q / 64⌋] of lists[h][⌊q / 64⌋]",
                   "FlexAttention: A Programming Model for Generating Optimized Attention Kernels, 2024"},
       .defaults = {64}, .refuse = [](const Numbers &n) { return needsCounts("(side)", n); },
       .apply = [](Making &m, const Numbers &n) { m.attention.mask(blockLists(m.capture("lists", Type::i32, 3), m.capture("counts", Type::i32, 2), int(n[0]), int(n[0]))); },
       .captures = [](const Numbers &n, Types) { return blockListTables(std::int64_t(n[0])); }},
      {.variant = {"graph", "the neighbours of a node, a bit for each", "keep bit k mod 32 of neighbours[q][⌊k / 32⌋]", "A Generalization of Transformer Networks to Graphs, 2020"},
       .apply = [](Making &m, const Numbers &) { m.attention.mask(graph(m.capture("neighbours", Type::i32, 2))); },
       .captures = [](const Numbers &, Types) {
         return std::vector{each("neighbours", Type::i32, {"Sq", "Skv / 32"}, "a bit for each neighbour of a node", neighbourBits)};
       }}};
}

} // namespace tw::detail

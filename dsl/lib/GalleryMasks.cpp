// Variants of the gallery that mask by a rule.
#include "GalleryEntries.h"

namespace tw::detail {
namespace {

/// "(a,b) counts keys; …" for numbers under these names.
std::function<std::string(const Numbers &)> counts(const char *names) {
  return [=](const Numbers &n) { return needsCounts(names, n); };
}

} // namespace

std::vector<Entry> maskEntries() {
  const std::string natten = "Neighborhood Attention Transformer, 2022", sparse = "Generating Long Sequences with Sparse Transformers, 2019";
  return {
      {.variant = {"streaming", "a causal window and the first keys of all; streaming(sinks,left) for others than (4,127)", "keep 0 ≤ q′ − k, and q′ − k ≤ left or k < sinks; q′ = q + Skv − Sq",
                   "Efficient Streaming Language Models with Attention Sinks, 2023"},
       .defaults = {4, 127}, .refuse = counts("(sinks,left)"),
       .apply = [](Making &m, const Numbers &n) { m.attention.mask(sinkWindow(int(n[0]), int(n[1]))); }},
      {.variant = {"dilated", "every 4th key back to 64 of them; dilated(left,rate) for others than (64,4)", "keep 0 ≤ q′ − k ≤ left · rate, q′ − k a multiple of rate",
                   "Dilated Neighborhood Attention Transformer, 2022"},
       .defaults = {64, 4}, .refuse = counts("(left,rate)"),
       .apply = [](Making &m, const Numbers &n) { m.attention.mask(dilated(int(n[0]), int(n[1]))); }},
      {.variant = {"strided", "the last 32 keys, and every 32nd before them; strided(stride) for others", "keep 0 ≤ q′ − k, and q′ − k < stride or a multiple of it", sparse},
       .defaults = {32}, .refuse = counts("(stride)"),
       .apply = [](Making &m, const Numbers &n) { m.attention.mask(strided(int(n[0]))); }},
      {.variant = {"chunked", "causal in chunks of 128 that do not see each other; chunked(length) for others", "keep k ≤ q′ and ⌊k / 128⌋ = ⌊q′ / 128⌋",
                   "Mega: Moving Average Equipped Gated Attention, 2022"},
       .defaults = {128}, .refuse = counts("(length)"),
       .apply = [](Making &m, const Numbers &n) { m.attention.mask(chunked(int(n[0]))); }},
      {.variant = {"blockcausal", "causal by blocks of 16; blockcausal(length) for others", "keep ⌊k / 16⌋ ≤ ⌊q′ / 16⌋",
                   "Block Diffusion: Interpolating Between Autoregressive and Diffusion Language Models, 2025"},
       .defaults = {16}, .refuse = counts("(length)"),
       .apply = [](Making &m, const Numbers &n) { m.attention.mask(blockCausal(int(n[0]))); }},
      {.variant = {"natten1d", "the 33 nearest keys, moved inwards at the ends; natten1d(window) for others", "keep a ≤ k < a + 33, a = max(min(q − 16, Skv − 33), 0)", natten},
       .defaults = {33}, .refuse = counts("(window)"),
       .apply = [](Making &m, const Numbers &n) { m.attention.mask(neighborhood(int(n[0]))); }},
      {.variant = {"natten2d", "the 7 × 7 nearest on a grid of 16 columns; natten2d(width,rows,columns) for others", "keep keys near by row and near by column, as natten1d has it", natten},
       .defaults = {16, 7, 7}, .refuse = counts("(width,rows,columns)"),
       .apply = [](Making &m, const Numbers &n) { m.attention.mask(neighborhood2d(int(n[0]), int(n[1]), int(n[2]))); }}};
}

} // namespace tw::detail

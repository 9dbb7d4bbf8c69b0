// The first variants, and the whole list.
#include "GalleryEntries.h"
#include "Captures.h"
#include <cmath>
#include <limits>
#include <stdexcept>

namespace tw::detail {

Tensor Making::capture(const std::string &name, Type type, unsigned rank) {
  return captures.emplace(name, Tensor(name, type, rank)).first->second;
}

void Making::claimNormalizer(const std::string &part) {
  if (!normalisedBy.empty())
    throw std::invalid_argument(normalisedBy + " and " + part + " both say how scores become weights; leave one out");
  normalisedBy = part;
}

void Making::claimSeed() {
  if (isDropped)
    throw std::invalid_argument("dropout is there twice, and both would draw the same numbers; name it once, with the part that both drop together");
  isDropped = true;
}

std::string needsCounts(const std::string &names, const Numbers &numbers) {
  for (double n : numbers)
    if (!(n >= 1 && n <= 2147483647.0 && n == std::floor(n)))
      return names + " counts keys; each is a whole number from 1 to 2147483647";
  return "";
}

std::vector<Entry> plainEntries() {
  const std::string transformer = "Attention Is All You Need, 2017", gemma = "Gemma 2: Improving Open Language Models at a Practical Size, 2024";
  auto keys = [](const Numbers &numbers) {
    for (double n : numbers)
      if (!(n >= -1 && n <= 2147483647.0 && n == std::floor(n)))
        return "(left,right) counts keys; each is a whole number from 0 to 2147483647, or -1 for unbounded";
    return "";
  };
  auto cap = [](const Numbers &n) { return n[0] > 0 && n[0] <= std::numeric_limits<double>::max() ? "" : "(c) needs a positive finite cap"; };
  return {
      {.variant = {"plain", "every query sees every key", "s = q·k / √D", transformer}, .apply = [](Making &, const Numbers &) {}},
      {.variant = {"causal", "a query sees no key after itself (bottom-right aligned)", "keep k ≤ q + Skv − Sq", transformer},
       .apply = [](Making &m, const Numbers &) { m.attention.mask(causal()); }},
      {.variant = {"window", "a causal window: a key and the 127 before it; window(left,right) for others", "keep −right ≤ q + Skv − Sq − k ≤ left", "Mistral 7B, 2023"},
       .defaults = {127, 0}, .refuse = keys,
       .apply = [](Making &m, const Numbers &n) { m.attention.mask(slidingWindow(int(n[0]), int(n[1]))); }},
      {.variant = {"softcap", "scores bent to stay within ±50; softcap(c) for another cap", "s = c · tanh(s / c)", gemma},
       .defaults = {50}, .refuse = cap,
       .apply = [](Making &m, const Numbers &n) { m.attention.score(softcap(n[0])); }},
      {.variant = {"softcapfast", "softcap by an approximate tanh, off by up to 2⁻¹¹ of its size; softcapfast(c) for another cap than 50", "s = c · tanh≈(s / c)", gemma},
       .defaults = {50}, .refuse = cap,
       .apply = [](Making &m, const Numbers &n) { m.attention.score(softcapApproximate(n[0])); }},
      {.variant = {"alibi", "a slope for each head, in the tensor slopes [H]", "s = s + slope[h] · (k − q − (Skv − Sq))",
                   "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation, 2021"},
       .apply = [](Making &m, const Numbers &) { m.attention.score(alibi(m.capture("slopes", m.exact, 1))); },
       .captures = [](const Numbers &, Types of) { return std::vector{slopes(of.exact)}; },
       .scoreBound = [](const VariantShape &s, const VariantFacts::Tensors &t) { return VariantFacts::ScoreBound{1, largest(t.at("slopes")) * double(s.sq + s.skv)}; }},
      {.variant = {"gemma2", "Gemma 2's local layers: softcap(50), then the window(4095,0)", "s = 50 · tanh(s / 50), keep 0 ≤ q + Skv − Sq − k ≤ 4095", gemma},
       .apply = [](Making &m, const Numbers &) { m.attention.score(softcap(50)).mask(slidingWindow(4095, 0)); }}};
}

const std::vector<Entry> &galleryEntries() {
  static const std::vector<Entry> list = [] {
    std::vector<Entry> all = plainEntries();
    for (auto part : {scoreEntries, maskEntries, tableEntries, weightEntries})
      for (Entry &entry : part())
        all.push_back(std::move(entry));
    return all;
  }();
  return list;
}

} // namespace tw::detail

#include "tilewright/dsl/Gallery.h"
#include "Names.h"
#include <charconv>
#include <functional>
#include <stdexcept>

namespace tw {
namespace {

/// A part of a variant's name: `window(256,0)` is {"window", {256, 0}}.
struct Part {
  std::string name;
  std::vector<double> numbers;
};

struct Entry {
  Variant variant;
  std::vector<double> defaults;   // of the numbers in parentheses
  std::function<void(Attention &, const Tensor &slopes, const std::vector<double> &)> apply;
};

const std::vector<Entry> &entries() {
  using Numbers = std::vector<double>;
  static const std::vector<Entry> list{
      {{"plain", "every query sees every key", "s = q·k / √D"}, {}, [](Attention &, const Tensor &, const Numbers &) {}},
      {{"causal", "a query sees no key after itself (bottom-right aligned)", "keep k ≤ q + Skv − Sq"}, {},
       [](Attention &a, const Tensor &, const Numbers &) { a.mask(causal()); }},
      {{"window", "a causal window: a key and the 127 before it; window(left,right) for others", "keep −right ≤ q + Skv − Sq − k ≤ left"}, {127, 0},
       [](Attention &a, const Tensor &, const Numbers &n) { a.mask(slidingWindow(int(n[0]), int(n[1]))); }},
      {{"softcap", "scores bent to stay within ±50; softcap(c) for another cap", "s = c · tanh(s / c)"}, {50},
       [](Attention &a, const Tensor &, const Numbers &n) { a.score(softcap(n[0])); }},
      {{"alibi", "a slope for each head, in the tensor slopes [H]", "s = s + slope[h] · (k − q − (Skv − Sq))"}, {},
       [](Attention &a, const Tensor &slopes, const Numbers &) { a.score(alibi(slopes)); }},
      {{"gemma2", "Gemma 2's local layers: softcap(50), then the window(4095,0)", "s = 50 · tanh(s / 50), keep 0 ≤ q + Skv − Sq − k ≤ 4095"}, {},
       [](Attention &a, const Tensor &, const Numbers &) { a.score(softcap(50)).mask(slidingWindow(4095, 0)); }}};
  return list;
}

[[noreturn]] void unknown(std::string_view variant, const std::string &part) {
  std::vector<std::string> names;
  std::string known;
  for (const Entry &entry : entries()) {
    names.push_back(entry.variant.name);
    known += (known.empty() ? "" : ", ") + entry.variant.name;
  }
  std::string close = detail::nearest(part, names);
  throw std::invalid_argument("variant '" + std::string(variant) + "': '" + part + "' is unknown" + (close.empty() ? "" : "; did you mean '" + close + "'?") +
                              "; known are " + known + ", and combinations by +");
}

/// Cuts `causal+window(256,0)` at the + outside of parentheses.
std::vector<std::string> split(std::string_view name) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (char c : name) {
    depth += (c == '(') - (c == ')');
    if (c == '+' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

Part parsePart(std::string_view variant, const std::string &text) {
  auto open = text.find('(');
  Part part{text.substr(0, open), {}};
  if (open == std::string::npos)
    return part;
  const char *at = text.data() + open + 1, *end = text.data() + text.size();
  while (at < end) {
    double number = 0;
    auto [stop, error] = std::from_chars(at, end, number);
    if (error == std::errc::result_out_of_range)
      throw std::invalid_argument("variant '" + std::string(variant) + "': " + std::string(at, stop) + " is out of f64's range; write a number that it holds");
    if (error != std::errc() || stop == end || (*stop != ',' && *stop != ')') || (*stop == ')' && stop + 1 != end))
      break;
    part.numbers.push_back(number);
    if (*stop == ')')
      return part;
    at = stop + 1;
  }
  throw std::invalid_argument("variant '" + std::string(variant) + "': cannot read '" + text + "'; write numbers in parentheses: window(256,0)");
}

void checkNumbers(std::string_view variant, const Entry &entry, const Part &part) {
  auto refuse = [&](const std::string &why) {
    throw std::invalid_argument("variant '" + std::string(variant) + "': " + part.name + why);
  };
  if (part.numbers.size() != entry.defaults.size())
    refuse(" takes " + std::to_string(entry.defaults.size()) + (entry.defaults.size() == 1 ? " number, got " : " numbers, got ") + std::to_string(part.numbers.size()) + (entry.defaults.empty() ? "; leave the parentheses out" : ""));
  if (part.name == "window")
    for (double n : part.numbers)
      if (!(n >= -1 && n <= 2147483647.0 && n == double(int(n))))
        refuse("(left,right) counts keys; each is a whole number from 0 to 2147483647, or -1 for unbounded");
  if (part.name == "softcap" && !(part.numbers[0] > 0 && part.numbers[0] <= std::numeric_limits<double>::max()))
    refuse("(c) needs a positive finite cap");
}

} // namespace

const std::vector<Variant> &gallery() {
  static const std::vector<Variant> variants = [] {
    std::vector<Variant> list;
    for (const Entry &entry : entries())
      list.push_back(entry.variant);
    return list;
  }();
  return variants;
}

Program makeVariant(std::string_view name, const VariantOptions &options) {
  if (!isFloat(options.type))
    throw std::invalid_argument("variant '" + std::string(name) + "': type " + tw::name(options.type) + " is no float; choose f16, bf16, f32 or f64");
  const Type type = options.type, exact = type == Type::f64 ? Type::f64 : Type::f32;
  const Tensor slopes("slopes", exact, 1);   // one, however often it is asked for
  Attention attention(std::string(name), Tensor("Q", type, 4), Tensor("K", type, 4), Tensor("V", type, 4), Tensor("O", type, 4));
  for (const std::string &text : split(name)) {
    Part part = parsePart(name, text);
    const Entry *found = nullptr;
    for (const Entry &entry : entries())
      if (entry.variant.name == part.name)
        found = &entry;
    if (!found)
      unknown(name, part.name);
    if (text.find('(') == std::string::npos)
      part.numbers = found->defaults;
    checkNumbers(name, *found, part);
    found->apply(attention, slopes, part.numbers);
  }
  if (options.lse)
    attention.lse(Tensor("lse", exact, 3));
  return attention.program();
}

} // namespace tw

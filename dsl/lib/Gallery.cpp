// Variants by name: parts and their numbers.
#include "GalleryEntries.h"
#include "Names.h"
#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace tw {
namespace {

using detail::Entry;
using detail::galleryEntries;
using detail::Numbers;

/// A part of a variant's name: `window(256,0)` is {"window", {256, 0}}.
struct Part {
  std::string name;
  std::vector<double> numbers;
};

[[noreturn]] void unknown(std::string_view variant, const std::string &part) {
  std::vector<std::string> names;
  for (const Entry &entry : galleryEntries())
    names.push_back(entry.variant.name);
  const std::string close = part.empty() ? "" : detail::nearest(part, names);
  const std::string what = part.empty() ? "a name is missing" : "'" + part + "' is unknown";
  throw std::invalid_argument("variant '" + std::string(variant) + "': " + what + (close.empty() ? "" : "; did you mean '" + close + "'?") +
                              "; `tilewright list` shows the " + std::to_string(names.size()) + " that are known, which combine by +");
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
  if (entry.refuse)
    if (const std::string why = entry.refuse(part.numbers); !why.empty())
      refuse(why);
}

/// A part and what the gallery knows of it.
struct Found {
  const Entry *entry;
  Numbers numbers;
};

std::vector<Found> partsOf(std::string_view name) {
  std::vector<Found> parts;
  for (const std::string &text : split(name)) {
    Part part = parsePart(name, text);
    auto found = std::find_if(galleryEntries().begin(), galleryEntries().end(), [&](const Entry &entry) { return entry.variant.name == part.name; });
    if (found == galleryEntries().end())
      unknown(name, part.name);
    if (text.find('(') == std::string::npos)
      part.numbers = found->defaults;
    checkNumbers(name, *found, part);
    parts.push_back({&*found, std::move(part.numbers)});
  }
  return parts;
}

void needsFloat(std::string_view name, Type type) {
  if (!isFloat(type))
    throw std::invalid_argument("variant '" + std::string(name) + "': type " + tw::name(type) + " is no float; choose f16, bf16, f32 or f64");
}

} // namespace

const std::vector<Variant> &gallery() {
  static const std::vector<Variant> variants = [] {
    std::vector<Variant> list;
    for (const Entry &entry : galleryEntries()) {
      list.push_back(entry.variant);
      if (entry.captures)
        list.back().captures = entry.captures(entry.defaults, detail::Types(Type::bf16));
    }
    return list;
  }();
  return variants;
}

Program makeVariant(std::string_view name, const VariantOptions &options) {
  needsFloat(name, options.type);
  const Type type = options.type;
  detail::Making making(Attention(std::string(name), Tensor("Q", type, 4), Tensor("K", type, 4), Tensor("V", type, 4), Tensor("O", type, 4)), type);
  bool hasLse = options.lse;
  for (const Found &part : partsOf(name)) {
    try {
      part.entry->apply(making, part.numbers);
    } catch (const std::invalid_argument &error) {
      throw std::invalid_argument("variant '" + std::string(name) + "': " + error.what());
    }
    hasLse &= part.entry->hasLse;
  }
  if (options.magnitudes) {
    making.attention.weights([](Tile weight, const At &) { return abs(weight); });
    making.attention.output([](Tile output, const AtOutput &) { return abs(output); });
  }
  if (hasLse)
    making.attention.lse(Tensor("lse", making.exact, 3));
  return making.attention.program();
}

VariantFacts factsOf(std::string_view name, Type type) {
  needsFloat(name, type);
  const std::vector<Found> parts = partsOf(name);
  VariantFacts facts;
  for (const Found &part : parts) {
    facts.isMean &= part.entry->isMean;
    facts.isSoftmax &= part.entry->isSoftmax;
    facts.hasLse &= part.entry->hasLse;
    if (part.entry->captures)
      for (Capture &capture : part.entry->captures(part.numbers, detail::Types(type)))
        if (std::none_of(facts.captures.begin(), facts.captures.end(), [&](const Capture &known) { return known.name == capture.name; }))
          facts.captures.push_back(std::move(capture));
  }
  facts.scoreBound = [parts](const VariantShape &shape, const VariantFacts::Tensors &captures) {
    VariantFacts::ScoreBound whole;
    for (const Found &part : parts)
      if (part.entry->scoreBound) {
        const auto [factor, bias] = part.entry->scoreBound(shape, captures);
        whole = {factor * whole.factor, factor * whole.bias + bias};
      }
    return whole;
  };
  facts.scale = [parts](const VariantFacts::Tensors &captures) {
    double scale = 1;
    for (const Found &part : parts)
      if (part.entry->scale)
        scale *= part.entry->scale(part.numbers, captures);
    return scale;
  };
  facts.slope = [parts](const VariantShape &shape, const VariantFacts::Tensors &captures, double size) {
    double slope = 0;
    for (const Found &part : parts)
      if (part.entry->slope)
        slope = std::max(slope, part.entry->slope(captures, shape, size));
    return slope;
  };
  return facts;
}

} // namespace tw

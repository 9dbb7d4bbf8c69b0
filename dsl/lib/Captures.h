// Numbers for the tensors that variants read, as tests and the command line try them.
#pragma once
#include "tilewright/dsl/Gallery.h"

namespace tw::detail {

using Random = std::mt19937_64;
using Maker = std::function<Array(const VariantShape &, Random &)>;

/// The lengths that the texts of a shape name: "H", "2R+1" as a number "9"; others come from `more`.
[[nodiscard]] std::vector<std::int64_t> lengthsOf(const std::vector<std::string> &shape, const VariantShape &of);

[[nodiscard]] double uniform(Random &random, double from, double to);
[[nodiscard]] std::int64_t whole(Random &random, std::int64_t from, std::int64_t to);   // both included
[[nodiscard]] double normal(Random &random);
// Of the finite magnitudes, 0 of none: an infinite number, as a bias of -inf that masks, has no rounding.
[[nodiscard]] double largest(const Array &array);
[[nodiscard]] double smallest(const Array &array);

/// A capture whose every element is made alone.
[[nodiscard]] Capture each(std::string name, Type type, std::vector<std::string> shape, std::string meaning, std::function<double(Random &)> make);
/// A capture over rows of `axis`, a place on the line of keys each: queries stand where the last one meets the last key.
[[nodiscard]] Capture byPlace(std::string name, Type type, std::vector<std::string> shape, std::string meaning, std::function<double(std::int64_t row, std::int64_t place)> make);
/// 2^(−8(h+1)/H)
[[nodiscard]] Capture slopes(Type type);
/// Documents of some ten to a hundred tokens, which differ from batch to batch.
[[nodiscard]] std::int64_t documentAt(std::int64_t batch, std::int64_t place);
[[nodiscard]] std::int64_t documentStart(std::int64_t batch, std::int64_t document);

} // namespace tw::detail

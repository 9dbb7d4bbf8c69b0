#include "FileTensor.h"
#include "CompareElements.h"
#include "tilewright/kernel/Elements.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <stdexcept>

namespace tw::cli {
namespace {

constexpr std::int64_t mostExact = std::int64_t(1) << 53;   // numbers are f64 on their way

template <class... T> [[noreturn]] void refuse(fmt::format_string<T...> format, T &&...values) {
  throw std::invalid_argument(fmt::format(format, std::forward<T>(values)...));
}

const char *kindOf(Type type) { return type == Type::boolean ? "truths" : isFloat(type) ? "floats" : "whole numbers"; }

/// NumPy's name of the type.
const char *npyName(Type type) {
  switch (type) {
  case Type::boolean:
    return "b1";
  case Type::i32:
    return "i4";
  case Type::i64:
    return "i8";
  case Type::f16:
    return "f2";
  case Type::f64:
    return "f8";
  case Type::bf16:
  case Type::f32:
    return "f4";   // NumPy has no bf16
  }
  return "";
}

/// `[1, 2]`: where element `at` is.
std::string placeOf(std::size_t at, const std::vector<std::int64_t> &shape) { return fmt::format("[{}]", fmt::join(place(shape, at), ", ")); }

/// What the cure of a wrong kind is, in NumPy.
std::string cure(Type from, Type to) {
  if (to == Type::boolean)
    return "save x != 0";
  if (from == Type::boolean && isFloat(to))
    return "a mask that is added is 0 and -inf: save numpy.where(x, 0, -numpy.inf), or x.astype('<f4') for 0 and 1";
  return fmt::format("save x.astype('<{}')", npyName(to));
}

}   // namespace

std::optional<Type> naturalType(const std::string &npy) {
  static const std::map<std::string, Type> types{{"f2", Type::f16}, {"f4", Type::f32}, {"f8", Type::f64},
                                                 {"i4", Type::i32}, {"i8", Type::i64}, {"b1", Type::boolean}};
  auto found = types.find(npy);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

Array tensorIn(const NpyArray &file, const TensorInfo &tensor, const std::string &path, Conversion conversion) {
  if (file.shape.size() != tensor.rank)
    refuse("{} has {} dimensions, [{}]; tensor '{}' has {}", path, file.shape.size(), fmt::join(file.shape, ", "), tensor.name, tensor.rank);
  const Type to = tensor.type, from = naturalType(file.type).value_or(Type::bf16);
  if (!naturalType(file.type) && to != Type::bf16) {
    if (conversion == Conversion::asked)
      refuse("{} holds {}, which is read as bf16 only: say --dtype bf16", path, file.type);
    refuse("{} holds {}, which is read as bf16 only, and tensor '{}' is {}; save {}", path, file.type, tensor.name, name(to), npyName(to));
  }
  if (kindOf(from) != kindOf(to) && !(isInteger(from) && isFloat(to)))
    refuse("{} holds {}, {}, and tensor '{}' is {}, {}; {}", path, file.type, kindOf(from), tensor.name, name(to), kindOf(to), cure(from, to));

  std::size_t count = 1;
  for (std::int64_t length : file.shape)
    count *= static_cast<std::size_t>(length);
  Array array{file.shape, getElements(from, file.data.data(), count)};
  std::size_t changed = 0, firstChanged = 0;
  std::string firstWas;
  for (std::size_t i = 0; i < count; ++i) {
    double &value = array.data[i];
    std::string was;   // written out only where it is told
    bool isExact = true;
    if (from == Type::i64) {
      std::int64_t whole = 0;
      std::memcpy(&whole, file.data.data() + i * sizeof whole, sizeof whole);
      isExact = whole >= -mostExact && whole <= mostExact;
      if (!isExact) {
        was = std::to_string(whole);
        if (to == Type::i64)
          refuse("{} holds {} at {}, and whole numbers of files pass through f64, which holds those from -2^53 to 2^53; take one of these for tensor "
                 "'{}'",
                 path, was, placeOf(i, file.shape), tensor.name);
      }
    }
    const double became = rounded(value, to);
    if (isInteger(to) && became != value)
      refuse("{} holds {} at {}, and tensor '{}' is {}, which goes from {} to {}; take smaller numbers, or a tensor of i64", path,
             std::int64_t(value), placeOf(i, file.shape), tensor.name, name(to), std::numeric_limits<std::int32_t>::min(),
             std::numeric_limits<std::int32_t>::max());
    if (std::isinf(became) && std::isfinite(value))
      refuse("{} holds {} at {}, more than the largest {}, the type of tensor '{}'; scale it, or take a wider type", path, value,
             placeOf(i, file.shape), name(to), tensor.name);
    isExact &= became == value || std::isnan(value);
    if (!isExact && changed++ == 0) {
      firstChanged = i;
      firstWas = was.empty() ? fmt::format("{}", value) : was;
    }
    value = became;
  }
  if (changed && conversion == Conversion::unasked)
    std::fputs(fmt::format("tilewright: warning: {} holds {}, and tensor '{}' is {}: {} of {} numbers are rounded, the first at {} from {} to {}\n",
                           path, file.type, tensor.name, name(to), changed, count, placeOf(firstChanged, file.shape), firstWas,
                           array.data[firstChanged])
                   .c_str(),
               stderr);
  return array;
}

}   // namespace tw::cli

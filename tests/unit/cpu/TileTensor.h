// Tensors of tests: elements of any type the kernels take, read and written as double.
#pragma once
#include "tilewright/cpu/MemoryDescriptor.h"
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

/// A tensor with strides of its own choice inside a block of bytes.
class TileTensor {
public:
  /// Row-major over `sizes`, or with the given strides in elements.
  TileTensor(std::string type, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides = {})
      : type(std::move(type)), sizes(std::move(sizes)), strides(std::move(strides)) {
    if (this->strides.empty()) {
      this->strides.resize(this->sizes.size());
      std::int64_t step = 1;
      for (size_t i = this->sizes.size(); i-- > 0; step *= this->sizes[i])
        this->strides[i] = step;
    }
    std::int64_t low = 0, high = 0;
    for (size_t i = 0; i < this->sizes.size(); ++i) {
      std::int64_t reach = std::max<std::int64_t>(0, this->sizes[i] - 1) * this->strides[i];
      (reach < 0 ? low : high) += reach;
    }
    first = -low;
    bytes.resize((high - low + 1) * width());
    descriptor = tw::MemoryDescriptor(bytes.data() + first * width(), this->sizes, this->strides);
  }
  TileTensor(const TileTensor &) = delete;

  std::int64_t width() const { return type == "f64" ? 8 : type == "f32" || type == "i32" ? 4 : type == "i8" ? 1 : 2; }
  double get(std::initializer_list<std::int64_t> at) const { return load(bytes.data() + place(at) * width()); }
  void set(std::initializer_list<std::int64_t> at, double value) { store(bytes.data() + place(at) * width(), value); }
  void fill(std::mt19937 &random, double scale = 1) {
    std::normal_distribution<double> normal(0, scale);
    for (size_t i = 0; i < bytes.size(); i += width())
      store(bytes.data() + i, normal(random));
  }
  void *argument() { return descriptor.argument(); }

  std::string type;
  std::vector<std::int64_t> sizes, strides;

private:
  std::int64_t place(std::initializer_list<std::int64_t> at) const {
    std::int64_t result = first, i = 0;
    for (std::int64_t x : at)
      result += x * strides[i++];
    return result;
  }
  double load(const unsigned char *from) const {
    auto as = [&](auto value) { std::memcpy(&value, from, sizeof value); return value; };
    if (type == "f64") return as(0.0);
    if (type == "f32") return as(0.0f);
    if (type == "i32") return as(std::int32_t());
    if (type == "i8") return as(std::int8_t());
    if (type == "f16") return as(_Float16());
    return std::bit_cast<float>(std::uint32_t(as(std::uint16_t())) << 16);
  }
  void store(unsigned char *to, double value) const {
    auto as = [&](auto x) { std::memcpy(to, &x, sizeof x); };
    if (type == "f64") return as(value);
    if (type == "f32") return as(float(value));
    if (type == "i32") return as(std::int32_t(value));
    if (type == "i8") return as(std::int8_t(value));
    if (type == "f16") return as(_Float16(value));
    std::uint32_t bits = std::bit_cast<std::uint32_t>(float(value));
    as(std::uint16_t(std::isnan(value) ? 0x7fc0 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16));
  }
  std::vector<unsigned char> bytes;
  std::int64_t first = 0;
  tw::MemoryDescriptor descriptor;
};

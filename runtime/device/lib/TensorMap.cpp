// From a field of the parameter block and a tensor to what the map says.
#include "tilewright/device/TensorMap.h"
#include "tilewright/artifact/RuntimeError.h"
#include <algorithm>
#include <string>

namespace tw::device {

Element elementNamed(std::string_view name) {
  static constexpr std::pair<std::string_view, Element> names[] = {{"bool", Element::boolean}, {"i32", Element::i32},   {"i64", Element::i64}, {"f16", Element::f16},
                                                                   {"bf16", Element::bf16},    {"f32", Element::f32}, {"f64", Element::f64}};
  for (const auto &[known, element] : names)
    if (known == name)
      return element;
  throw RuntimeError("a kernel's facts name the element type '" + std::string(name) + "', which is none; clear the cache");
}

int bytes(Element element) {
  switch (element) {
  case Element::boolean: return 1;
  case Element::f16:
  case Element::bf16: return 2;
  case Element::i32:
  case Element::f32: return 4;
  case Element::i64:
  case Element::f64: return 8;
  }
  return 0;
}

TensorMap tensorMap(const ParameterField &field, Element element, std::uint64_t address, std::span<const std::int64_t> shape,
                    std::span<const std::int64_t> strides, std::uint64_t elsewhere, bool strided) {
  const auto elementBytes = static_cast<std::uint64_t>(bytes(element));
  const bool isEmpty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  TensorMap map;
  map.address = isEmpty ? elsewhere / 16 * 16 : address;
  map.rank = static_cast<std::uint32_t>(field.dimensions.size());
  map.element = element;
  map.swizzle = field.swizzle;
  for (std::size_t d = 0; d < field.dimensions.size(); ++d) {
    const MapDimension &dimension = field.dimensions[d];
    const auto from = static_cast<std::size_t>(dimension.dimension);
    const std::int64_t step = dimension.chunk ? dimension.chunk : 1, length = (shape[from] + step - 1) / step;
    map.sizes[d] = static_cast<std::uint64_t>(std::max<std::int64_t>(1, dimension.size ? dimension.size : length));
    map.strides[d] = static_cast<std::uint64_t>(step * strides[from]) * elementBytes;
    map.box[d] = static_cast<std::uint32_t>(dimension.box);
    // Nobody steps along such a dimension, so its stride need not be one that a map can have.
    if (d > 0 && (map.sizes[d] == 1 || isEmpty))
      map.strides[d] = 16;
  }
  if (!strided)
    map.strides[0] = elementBytes;
  return map;
}

} // namespace tw::device

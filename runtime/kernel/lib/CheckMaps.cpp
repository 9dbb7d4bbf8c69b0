// What copies by tensor map, and stores of 16 bytes, need of the tensors of a GPU's kernel.
#include "Checked.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw {
namespace {

constexpr std::int64_t copiedBytes = 16, mostStrideBytes = std::int64_t(1) << 40;

bool isContiguous(const CheckedTensor &tensor) {
  std::int64_t next = 1;
  for (std::size_t d = tensor.shape.size(); d-- > 0; next *= tensor.shape[d])
    if (tensor.shape[d] != 1 && tensor.strides[d] != next)
      return false;
  return true;
}

/// `dimensions`: along which tiles are taken, the innermost first.
std::string unfit(const std::vector<std::size_t> &dimensions, const CheckedTensor &tensor) {
  const std::string &name = tensor.parameter->name;
  const bool isStored = tensor.parameter->stored;
  const char *copies = isStored ? "stores" : "copies";
  const int elementBytes = bytes(typeNamed(tensor.parameter->type).value());
  const std::int64_t pieceBytes = isStored && elementBytes > 2 ? 2 * elementBytes : copiedBytes;   // a thread holds two wide elements side by side
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % std::uintptr_t(pieceBytes))
    return fmt::format("tensor '{}' lies at address {}, which is no multiple of {}: a GPU {} it in pieces of that many bytes; move it to one that is",
                       name, fmt::ptr(tensor.data), pieceBytes, copies);
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::size_t d = dimensions[i];
    const std::int64_t stride = tensor.strides[d];
    if (tensor.shape[d] == 1)
      continue;   // nobody steps along it
    if (i == 0 && stride != 1)
      return fmt::format("tensor '{}' of shape {} has stride {} along dimension {}; a GPU {} runs of elements that lie side by side, so it must be "
                         "1: make the tensor contiguous along that dimension",
                         name, shapeText(tensor.shape), stride, d, copies);
    if (i > 0 && ((stride < 0 && !isStored) || stride * elementBytes % pieceBytes))
      return fmt::format("tensor '{}' of shape {} has stride {} along dimension {}, {} bytes; a GPU {} it in pieces of {} bytes, so it must be a "
                         "multiple of {} elements{}: {}",
                         name, shapeText(tensor.shape), stride, d, stride * elementBytes, copies, pieceBytes, pieceBytes / elementBytes,
                         isStored ? "" : " from 0 on", isContiguous(tensor) ? "pad its rows" : "make the tensor contiguous, or pad its rows");
    if (i > 0 && !isStored && stride * elementBytes >= mostStrideBytes)
      return fmt::format("tensor '{}' of shape {} has stride {} along dimension {}; a GPU copies with strides below 2^40 bytes", name,
                         shapeText(tensor.shape), stride, d);
  }
  return "";
}

}   // namespace

std::string unfitFor(const Artifact &artifact, const std::vector<CheckedTensor> &tensors) {
  if (artifact.launch.strided)
    return "";
  auto check = [&](const std::string &name, const std::vector<std::size_t> &dimensions) -> std::string {
    auto tensor = std::find_if(tensors.begin(), tensors.end(), [&](const CheckedTensor &each) { return each.parameter->name == name; });
    return tensor == tensors.end() || tensor->isEmpty() ? "" : unfit(dimensions, *tensor);
  };
  for (const ParameterField &field : artifact.launch.fields) {
    if (field.kind != ParameterField::Kind::map)
      continue;
    std::vector<std::size_t> dimensions;
    for (const MapDimension &dimension : field.dimensions)
      if (!dimension.chunk)   // else it is the innermost one again
        dimensions.push_back(static_cast<std::size_t>(dimension.dimension));
    if (std::string why = check(field.tensor, dimensions); !why.empty())
      return why;
  }
  for (const std::string &name : artifact.launch.storedPieces) {
    std::vector<std::size_t> dimensions;
    const auto stored = std::find_if(artifact.parameters.begin(), artifact.parameters.end(),
                                     [&](const Parameter &p) { return p.kind == Parameter::Kind::tensor && p.name == name; });
    for (int d = stored == artifact.parameters.end() ? 0 : stored->rank; d-- > 0;)
      dimensions.push_back(static_cast<std::size_t>(d));
    if (std::string why = check(name, dimensions); !why.empty())
      return why;
  }
  return "";
}

}   // namespace tw

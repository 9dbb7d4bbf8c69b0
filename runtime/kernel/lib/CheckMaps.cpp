// What a GPU's copies by tensor map need of the tensors that they read, and its stores of those that they write.
#include "Checked.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw {
namespace {

constexpr std::int64_t pieceBytes = 16, mostStrideBytes = std::int64_t(1) << 40;

template <class... T> [[noreturn]] void refuse(fmt::format_string<T...> format, T &&...values) {
  throw ArgumentError(fmt::format(format, std::forward<T>(values)...));
}

void checkMap(const ParameterField &field, const CheckedTensor &tensor) {
  const std::string &name = tensor.parameter->name;
  const int elementBytes = bytes(typeNamed(tensor.parameter->type).value());
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % pieceBytes)
    refuse("tensor '{}' lies at address {}, which is no multiple of {}: a GPU copies it in pieces of that many bytes; move it to one that is", name,
           fmt::ptr(tensor.data), pieceBytes);
  for (std::size_t i = 0; i < field.dimensions.size(); ++i) {
    const auto d = static_cast<std::size_t>(field.dimensions[i].dimension);
    const std::int64_t stride = tensor.strides[d];
    if (tensor.shape[d] == 1 || field.dimensions[i].chunk)
      continue;   // nobody steps along it, or it is the innermost one again
    if (i == 0 && stride != 1)
      refuse("tensor '{}' of shape {} has stride {} along dimension {}; a GPU copies runs of elements that lie side by side, so it must be 1: make "
             "the tensor contiguous along that dimension",
             name, shapeText(tensor.shape), stride, d);
    if (i > 0 && (stride < 0 || stride * elementBytes % pieceBytes))
      refuse("tensor '{}' of shape {} has stride {} along dimension {}, {} bytes; a GPU copies it in pieces of {} bytes, so it must be a multiple of "
             "{} elements from 0 on: make the tensor contiguous, or "
             "pad its rows",
             name, shapeText(tensor.shape), stride, d, stride * elementBytes, pieceBytes, pieceBytes / elementBytes);
    if (i > 0 && stride * elementBytes >= mostStrideBytes)
      refuse("tensor '{}' of shape {} has stride {} along dimension {}; a GPU copies with strides below 2^40 bytes", name, shapeText(tensor.shape),
             stride, d);
  }
}

/// Tiles are stored in runs along the dimension whose stride the kernel does not ask for: 16 bytes at once, two elements of f32.
void checkStore(const std::vector<ParameterField> &fields, const CheckedTensor &tensor) {
  const std::string &name = tensor.parameter->name;
  const int elementBytes = bytes(typeNamed(tensor.parameter->type).value()), pieces = elementBytes == 2 ? pieceBytes : 2 * elementBytes;
  auto isAsked = [&](std::size_t d) {
    return std::any_of(fields.begin(), fields.end(), [&](const ParameterField &field) {
      return field.kind == ParameterField::Kind::stride && field.tensor == name && field.dimension == int(d);
    });
  };
  bool hasRuns = false;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    if (isAsked(d) || tensor.shape[d] == 1)
      continue;
    hasRuns = true;
    if (tensor.strides[d] != 1)
      refuse("tensor '{}' of shape {} has stride {} along dimension {}; a GPU stores runs of elements that lie side by side, so it must be 1: store "
             "to a tensor that is contiguous along that dimension, and "
             "copy",
             name, shapeText(tensor.shape), tensor.strides[d], d);
  }
  if (!hasRuns)
    return;
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % std::size_t(pieces))
    refuse("tensor '{}' lies at address {}, which is no multiple of {}: a GPU stores pieces of that many bytes; move it to one that is", name,
           fmt::ptr(tensor.data), pieces);
  for (std::size_t d = 0; d < tensor.shape.size(); ++d)
    if (isAsked(d) && tensor.shape[d] != 1 && tensor.strides[d] * elementBytes % pieces)
      refuse("tensor '{}' of shape {} has stride {} along dimension {}, {} bytes; a GPU stores pieces of {} bytes, so it must be a multiple of {} "
             "elements: make the tensor contiguous, or pad its rows",
             name, shapeText(tensor.shape), tensor.strides[d], d, tensor.strides[d] * elementBytes, pieces, pieces / elementBytes);
}

}   // namespace

void checkMaps(const Artifact &artifact, const std::vector<CheckedTensor> &tensors) {
  for (const ParameterField &field : artifact.launch.fields) {
    if (field.kind != ParameterField::Kind::map && field.kind != ParameterField::Kind::pointer)
      continue;
    auto tensor = std::find_if(tensors.begin(), tensors.end(), [&](const CheckedTensor &each) { return each.parameter->name == field.tensor; });
    if (tensor == tensors.end() || tensor->isEmpty())
      continue;
    if (field.kind == ParameterField::Kind::map)
      checkMap(field, *tensor);
    else if (tensor->parameter->stored)
      checkStore(artifact.launch.fields, *tensor);
  }
}

}   // namespace tw

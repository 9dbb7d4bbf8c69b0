#include "Listed.h"

namespace tw {
namespace {

thread_local std::vector<GivenTensor> tensors;
thread_local std::vector<GivenScalar> scalars;

} // namespace

Listed::Listed(const Arguments &arguments) {
  tensors.clear();
  scalars.clear();
  for (const auto &[name, view] : arguments.tensors)
    tensors.push_back({name, view.data, view.type, view.shape, view.strides});
  for (const auto &[name, value] : arguments.scalars)
    scalars.push_back({name, value});
}

Listed::operator Given() const { return {tensors, scalars}; }

} // namespace tw

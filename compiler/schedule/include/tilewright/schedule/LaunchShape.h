// The sizes of one launch, and the classes of sizes that share a schedule.
#pragma once
#include "tilewright/dsl/Gradient.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tw {

/// What is known of a launch before its data: enough to count work and bytes.
struct LaunchShape {
  std::map<std::string, std::vector<std::int64_t>> tensors;   // by name; stored ones may be left out
  std::map<std::string, double> scalars = {};                 // those given; a mask that reads another one is taken to keep everything
  std::map<std::string, std::int64_t> extents = {};           // by axis, of those that no tensor's shape tells
};

/// The length of every axis, by name. Throws std::invalid_argument for an axis that nothing tells, and for two lengths of one.
[[nodiscard]] std::map<std::string, std::int64_t> axisLengths(const Program &program, const LaunchShape &shape);

/// The lengths of the inner axes alone: what a kernel is built for.
[[nodiscard]] std::map<std::string, std::int64_t> innerExtents(const Program &program, const LaunchShape &shape);

/// The same with shapes of what the backward programs read and write besides: derivatives, gradients and what lies between.
[[nodiscard]] LaunchShape backwardShape(const Gradient &gradient, LaunchShape forward);

/// Launches that are to share a schedule have equal texts: `free=64 q=4096 k=4096 d=128 e=128 K/4 V/4`, each length but those of inner axes
/// rounded to the nearest power of two (of √2 below 2048, where waves count), the free axes as their product. Last, of tensors that are read at
/// computed places: how many of the free axes' points share what they read.
[[nodiscard]] std::string shapeClass(const Program &program, const LaunchShape &shape);

} // namespace tw

// Launch facts by hand, and the C structs that kernels would declare for them.
#pragma once
#include "tilewright/device/Named.h"
#include <cstring>

namespace tw::device::tests {

using Kind = ParameterField::Kind;

/// Y[b, h, q, e] from K[b, h, k, d] in a ring; q by tiles of 128.
inline LaunchFacts foldFacts() {
  LaunchFacts facts;
  ParameterField map{Kind::map, "tm_K", {}, "K", "bf16"};
  map.dimensions = {{3, 0, 64, 64}, {2, 0, 0, 96}, {3, 64, 0, 2}, {1, 0, 0, 1}, {0, 0, 0, 1}};
  facts.fields = {map,
                  {Kind::scalar, "p_on", "on", {}, "bool"},
                  {Kind::pointer, "Y", {}, "Y", "f32"},
                  {Kind::stride, "Y_s2", {}, "Y", {}, 2},
                  {Kind::length, "Y_l3", {}, "Y", {}, 3},
                  {Kind::extent, "len_k", "k"},
                  {Kind::scalar, "p_bias", "bias", {}, "f64"},
                  {Kind::scalar, "p_scale", "scale", {}, "f32"},
                  {Kind::scalar, "p_half", "half", {}, "f16"},
                  {Kind::blocks, "blocks"},
                  {Kind::frees, "frees"},
                  {Kind::group, "group"},
                  {Kind::items, "items"},
                  {Kind::counters, "counters"}};
  facts.blockAxis = "q";
  facts.blockWidth = 128;
  facts.freeAxes = {"b", "h"};
  facts.threads = 384;
  facts.blocksPerSM = 1;
  facts.counters = 2;
  facts.grouped = true;
  facts.ringTensors = {"K"};
  return facts;
}

/// As NVRTC lays the fields of foldFacts() out.
struct FoldParameters {
  struct alignas(128) Map {
    unsigned char raw[128];
  } tm_K;
  bool on;
  float *Y;
  long long Y_s2;
  int Y_l3;
  int k;
  double bias;
  float scale;
  unsigned short half;
  int blocks, frees, group, items;
  int *counters;
};

inline NamedProblem foldProblem(std::int64_t b, std::int64_t h, std::int64_t q, std::int64_t k) {
  NamedProblem problem;
  problem.tensors["K"] = {0x10000, {b, h, k, 128}};
  problem.tensors["Y"] = {0x20000, {b, h, q, 64}};
  problem.lengths = {{"b", b}, {"h", h}, {"q", q}, {"k", k}};
  problem.scalars = {{"on", ScalarArgument::of(true)}, {"bias", ScalarArgument::of(0.25)}, {"scale", ScalarArgument::of(0.5f)},
                     {"half", ScalarArgument::of(std::uint16_t(0x3c00))}};
  problem.workspace = 0x30000;
  return problem;
}

/// Instead of the bytes of a driver: the address, and a mark.
inline void encodeAddress(const TensorMap &map, void *out) {
  std::memset(out, 0x5a, tensorMapBytes);
  std::memcpy(out, &map.address, 8);
}

} // namespace tw::device::tests

// What the $NAMES in kernels/ stand for.
#pragma once
#include <map>
#include <string>

/// A tile of Q rows and K columns of elements `type`; D is contracted, E and N are widths of results.
inline std::map<std::string, std::string> names(const std::string &type, int Q, int K, int D, int E, bool causal = false) {
  bool wide = type == "f64";
  std::string compute = wide ? "f64" : "f32", narrow;
  if (type == compute)
    narrow = "%stored = arith.addf %o, %none : !sum";
  else
    narrow = "%stored = arith.truncf %o : !sum to !out";
  return {{"T", type}, {"A", compute}, {"Q", std::to_string(Q)}, {"K", std::to_string(K)}, {"D", std::to_string(D)}, {"E", std::to_string(E)},
          {"N", std::to_string(E)}, {"CAUSAL", causal ? "true" : "false"}, {"NARROW", narrow},
          {"LOWEST", wide ? "0xFFF0000000000000" : "0xFF800000"}};
}

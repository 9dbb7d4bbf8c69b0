#include "Mutations.h"
#include <regex>

namespace tw::tests {

const std::vector<Mutation> &mutations() {
  static const std::vector<Mutation> list{
      // Where operands lie
      {"64-byte swizzle for the left operand", R"((const u64 \w+_left = .*);)", "$1 ^ 3ull << 62;"},
      {"64-byte swizzle for the right operand", R"((const u64 \w+_right = .*);)", "$1 ^ 3ull << 62;"},
      {"no swizzle for the transposed operand", R"((const u64 \w+_rows = .*);)", "$1 & ~(3ull << 62);"},
      {"half the stride between eights of rows", R"((const u64 \w+_right = desc_sw128\(.*), 1024\);)", "$1, 512);"},
      {"half the distance of column chunks", R"((const u64 \w+_rows = desc_sw128\(.*), 16384, )", "$1, 8192, "},
      {"the other warpgroup's rows", R"((const u64 \w+_left = desc_sw128\(.*) \+ cw \* 64 \* 128)", "$1 + (1 - cw) * 64 * 128"},
      {"one step of k too far", R"(2 \* \(kk & 3\))", "3 * (kk & 3)"},
      {"shared memory not aligned to the swizzle", R"(\(smem_u32\(dyn_smem\(\)\) \+ 1023\) & ~1023u)", "smem_u32(dyn_smem())"},
      {"every copy into the first slot", R"((tma_load_\dd\(sb \+ \w+_AT) \+ \w+_slot \* \w+_BYTES)", "$1"},
      {"copies from the next tile", R"((tma_load_5d\(.*, 0), n2,)", "$1, n2 + 128,"},
      {"copies from the next chunk of columns", R"((tma_load_5d\(.*_(?:FULL)[^,]*), 0,)", "$1, 64,"},
      // Phases and counts
      {"the consumer's first phase", R"(int Q_phase = 0;)", "int Q_phase = 1;"},
      {"the consumer's first phase of a ring", R"(int K_slot = 0, K_phase = 0;)", "int K_slot = 0, K_phase = 1;"},
      {"the producer's first phase of a ring", R"(int K_slot = 0, K_phase = 1;)", "int K_slot = 0, K_phase = 0;"},
      {"a phase of the producer that never turns", R"((if \(\+\+K_slot == 2\) \{ K_slot = 0;) K_phase \^= 1; \})", "$1 }"},
      {"a phase of the consumer that never turns", R"((if \(\+\+K_slot == 2\) \{ K_slot = 0;) K_phase \^= 1; \})", "$1 }", 1},
      {"a phase that turns at every tile",
       R"(if \(\+\+V_slot == 2\) \{ V_slot = 0; V_phase \^= 1; \})", "if (++V_slot == 2) V_slot = 0; V_phase ^= 1;", 1},
      {"a ring of three slots for two", R"(\+\+V_slot == 2)", "++V_slot == 3"},
      {"too few bytes expected", R"(mbar_expect_tx\((.*), (\d+)\);)", "mbar_expect_tx($1, $2 / 2);"},
      {"too many bytes expected", R"(mbar_expect_tx\((.*), (\d+)\);)", "mbar_expect_tx($1, $2 + 16);", 1},
      {"one release too few to turn a phase", R"(mbar_init\((.*_EMPTY.*), (\d+)\);)", "mbar_init($1, $2 - 1);", 1},
      {"one release too many to turn a phase", R"(mbar_init\((.*_EMPTY.*), (\d+)\);)", "mbar_init($1, $2 + 1);", 1},
      {"released by every lane", R"(if \(lane == 0\) mbar_arrive)", "mbar_arrive"},
      {"released on the wrong ring", R"(mbar_arrive\(sb \+ K_EMPTY)", "mbar_arrive(sb + V_EMPTY"},
      // Products in flight
      {"waits for all groups but the last", R"(wgmma_wait<0>\(\);)", "wgmma_wait<1>();"},
      {"the second product's wait leaves one group", R"(wgmma_wait<0>\(\);)", "wgmma_wait<1>();", 1},
      {"released before the product has read it", R"((wgmma_wait<0>\(\); [^\n]*)\n(\s*if \(lane == 0\) mbar_arrive[^\n]*))", "$2\n$1"},
      {"released before the second product has read it", R"((wgmma_wait<0>\(\); [^\n]*)\n(\s*if \(lane == 0\) mbar_arrive[^\n]*))", "$2\n$1", 1},
      {"operand registers written in flight", R"((dot1\(acc[^\n]*)\n)", "$1 s_16[5] = 0;\n"},
      {"accumulators written in flight", R"((dot1\(acc[^\n]*)\n)", "$1 acc[5] = 0;\n"},
      {"a product that starts from what was there", R"(, kk != 0\))", ", 1)"},
      {"a product that forgets what was there", R"((b \+ \(kk \* 128\)), 1\))", "$1, kk != 0)"},
      {"operand registers in the wrong order", R"(a\[4 \* kk \+ 1\], a\[4 \* kk \+ 2\])", "a[4 * kk + 2], a[4 * kk + 1]"},
      {"operand words with their halves exchanged", R"(s_16\[j\] = pack_bf16\((s\[2 \* j\]), (s\[2 \* j \+ 1\])\))", "s_16[j] = pack_bf16($2, $1)"},
      // Masks, rows, columns, items
      {"the mask one column short", R"(c <= hi\[r\])", "c < hi[r]"},
      {"the mask one column far", R"(c <= hi\[r\])", "c <= hi[r] + 1"},
      {"columns of a fragment", R"(col = 2 \* \(lane & 3\))", "col = (lane & 3)"},
      {"rows of a fragment", R"(\(warp & 3\) \* 16 \+ \(lane >> 2\))", "(warp & 3) * 16 + (lane >> 3)"},
      {"the second row of a fragment", R"(8 \* r \+ product \+ row - )", "4 * r + product + row - "},
      {"a store below the last row", R"((O_in\[r\] = \w+) < p\.len_q)", "$1 <= p.len_q + 8"},
      {"the last row not stored", R"((O_in\[r\] = \w+) < p\.len_q)", "$1 < p.len_q - 1"},
      {"half a row's sum", R"(total\[r\] = total\[r\] \+ __shfl_xor_sync\(~0u, total\[r\], 2\);)", ""},
      {"a shuffle with half of the lanes",
       R"(total\[r\] = total\[r\] \+ (__shfl_xor_sync\(~0u, total\[r\], 2\));)", "if (lane < 16) total[r] += $1;"},
      {"no first fold tile", R"(int n2 = 0; n2 < p\.len_k)", "int n2 = 128; n2 < p.len_k", everyOccurrence},
      {"a consumer that stops a tile early", R"(n2 < p\.len_k; n2 \+= 128)", "n2 + 128 < p.len_k; n2 += 128", 1},
      {"consumers at the next item", R"(n = \(int\)blockIdx\.x;)", "n = (int)blockIdx.x + 1;", 1},
      {"an output without its rescaling", R"(acc\[i\] = acc\[i\] \* shrink\[r\];)", ""},
      // The register file
      {"more registers than there are", R"(reg_inc<240>)", "reg_inc<248>"},
  };
  return list;
}

/// Turns make a kernel fast, not right; and a fence right after another, with no registers to pin before it, orders nothing more.
static bool isSpare(const std::smatch &call) {
  const std::string before = call.prefix().str(), line = before.substr(before.rfind('\n') + 1);
  return call.str().find("TURN") != std::string::npos || (call.str() == "wgmma_fence();" && line.find("pin(") == std::string::npos);
}

std::vector<Mutation> deletions(const std::string &text) {
  // A call with up to two levels of parentheses inside.
  static const std::string call = R"(\b(?:mbar_init_fence|mbar_init|mbar_wait|mbar_arrive|mbar_expect_tx|tma_load_\dd|wgmma_fence|wgmma_commit|wgmma_wait<\d>|)"
                                  R"(__syncthreads|fence_async_proxy|bar_sync)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\);)";
  static const std::regex pattern(call);
  std::vector<Mutation> list;
  int occurrence = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match, ++occurrence)
    if (!isSpare(*match))
      list.push_back({"without " + match->str(), call, "(void)0;", occurrence});
  return list;
}

std::optional<std::string> plant(const Mutation &mutation, const std::string &text) {
  const std::regex pattern(mutation.pattern);
  std::string planted;
  int found = 0;
  auto at = text.cbegin();
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match, ++found) {
    if (mutation.occurrence != everyOccurrence && found != mutation.occurrence)
      continue;
    planted.append(at, match->prefix().second);
    planted += match->format(mutation.replacement);
    at = match->suffix().first;
  }
  planted.append(at, text.cend());
  return planted == text ? std::nullopt : std::optional(planted);
}

} // namespace tw::tests

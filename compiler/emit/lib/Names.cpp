// Identifiers: scopes, words that are taken, names in locations.
#include "Names.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace tw::emit {
namespace {

// C++'s words, and macros of compilers and of the templates.
constexpr StringLiteral reserved =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await co_return "
    "co_yield compl concept const consteval constexpr constinit const_cast continue decltype default delete do double dynamic_cast else "
    "enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public register reinterpret_cast requires return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void "
    "volatile wchar_t while xor xor_eq main linux unix NULL INT_MAX INT_MIN DEV "
    "threadIdx blockIdx blockDim gridDim";

// What the text itself uses without declaring it through Names.
constexpr StringLiteral used =
    "u32 u64 i64 TMap BF16 F16 Params TURN "
    "p sb warp lane wg cw row col r i e c g j x "
    "abs acosf acoshf add_apart asinf asinhf atan2f atanf atanhf atomicAdd bar_arrive bar_sync cbrtf ceil_div ceilf copysignf cosf coshf desc_sw128 dyn_smem erff ex2 expm1f fabsf fence_async_proxy "
    "floor_div floorf fmaf forget_extremes fmaxf fminf fmodf is_among isfinite isinf isnan isolate known_row_extremes KnownExtremes ld_global_v4 ld_shared_u16 ld_shared_u32 ld_shared_v4 ld_shared_v2 ldmatrix_x2 ldmatrix_x4 lg2 log1pf max "
    "max_nan mbar_arrive mbar_expect_tx mbar_init mbar_init_fence mbar_wait min min_nan mma_bf16_16816 mma_f16_16816 neg_inf pack_bf16 "
    "pack_f16 opaque pin powf quad_transpose rcp range_among reg_dec reg_inc rintf roundf rsqrtf scan sinf sinhf smem_name smem_u32 sqrtf st_global_u32 st_global_v2 "
    "st_global_v4 st_shared_u32 st_shared_v2 st_shared_v4 stmatrix_x4_trans tanf tanh_accurate tanh_fast tma_load_1d tma_load_2d tma_load_3d tma_load_4d tma_load_5d tma_prefetch_desc tma_reduce_add_1d tma_reduce_add_2d tma_reduce_add_3d tma_reduce_add_4d "
    "tma_reduce_add_5d tma_store_commit tma_store_wait_read truncf unpack_bf16_hi "
    "unpack_bf16_lo unpack_f16_hi unpack_f16_lo wgmma_commit wgmma_fence wgmma_rs wgmma_ss wgmma_wait zero_times";

} // namespace

std::string identifier(StringRef hint) {
  std::string name;
  for (char c : hint)
    name += llvm::isAlnum(c) ? c : '_';
  // A leading underscore may make a word of the compiler's.
  if (name.empty() || llvm::isDigit(name.front()) || name.front() == '_')
    name = "v" + name;
  return name;
}

std::string hintFor(Value value, StringRef stem) {
  std::string hint = stem.str();
  value.getLoc()->walk([&](Location location) {
    auto named = dyn_cast<NameLoc>(location);
    if (!named)
      return WalkResult::advance();
    hint = named.getName().str();
    return WalkResult::interrupt();
  });
  return hint;
}

Names::Names(For purpose) {
  enter();
  SmallVector<StringRef> words;
  reserved.split(words, ' ');
  if (purpose == For::variables)
    used.split(words, ' ');
  for (StringRef word : words)
    scopes.back().insert(word);
}

bool Names::isTaken(StringRef name) const {
  return llvm::any_of(scopes, [&](auto &scope) { return scope.contains(name); });
}

std::string Names::unique(StringRef hint) { return uniqueStem(hint, {""}); }

std::string Names::uniqueStem(StringRef hint, ArrayRef<StringRef> suffixes) {
  const std::string base = identifier(hint);
  std::string stem = base;
  auto free = [&](StringRef suffix) { return !isTaken(stem + suffix.str()); };
  // A name that ends with a digit gets its number behind a letter, so that s1 and s do not meet.
  for (int number = 2; !llvm::all_of(suffixes, free); ++number)
    stem = base + (llvm::isDigit(base.back()) ? "_" : "") + std::to_string(number);
  for (StringRef suffix : suffixes)
    scopes.back().insert(stem + suffix.str());
  return stem;
}

} // namespace tw::emit

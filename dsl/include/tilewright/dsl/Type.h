// Element types of tensors and tiles.
#pragma once
#include <optional>
#include <string_view>

namespace tw {

enum class Type { boolean, i32, i64, f16, bf16, f32, f64 };

/// `f16`, `bf16`, `f32`, `f64`, `i32`, `i64`, `bool`.
[[nodiscard]] const char *name(Type type);
[[nodiscard]] std::optional<Type> typeNamed(std::string_view name);
/// Bytes of one element in memory; a bool takes one.
[[nodiscard]] int bytes(Type type);
[[nodiscard]] constexpr bool isFloat(Type type) { return type >= Type::f16; }
[[nodiscard]] constexpr bool isInteger(Type type) { return type == Type::i32 || type == Type::i64; }

/// The type in which arithmetic on `a` and `b` is done: integers widen to the wider one; a float beside
/// an integer wins; 16-bit floats compute in f32; f64 wins over all.
[[nodiscard]] Type arithmeticType(Type a, Type b);

} // namespace tw

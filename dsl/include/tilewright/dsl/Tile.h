// Values over named axes, and the graph they form.
#pragma once
#include "tilewright/dsl/Axis.h"
#include "tilewright/dsl/Type.h"
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tw {

enum class Op {
  // leaves
  constant,    // literal, over `axes` (a scalar where there are none)
  index,       // the coordinate along consumed[0], i32
  extent,      // the length of consumed[0], i32
  dimension,   // the length of dimension `slot` of `tensor`, i32
  scalar,      // a run-time scalar `label`; positive if `positive`
  load,        // tensor[operands...]
  contains,    // whether the operand before the last is among the first operands.back() elements of the tensor's last dimension, at the operands before those
  // elementwise
  neg, abs, exp, exp2, expm1, log, log2, log1p, tanh, tanhApproximate, sigmoid, sqrt, rsqrt, sin, cos, erf, floor, ceil, round, trunc, logicalNot, cast,
  add, sub, mul, div, floorDiv, mod, pow, min, max, bitAnd, bitOr, bitXor, shiftLeft, shiftRight,
  lt, le, gt, ge, eq, ne, logicalAnd, logicalOr,
  random,      // operands: seed (i64), then coordinates (i32, i64); f32 in [0, 1)
  select,      // operands: condition, then, otherwise
  // along an axis
  reduceMax, reduceMin, reduceSum,
  dot,         // contraction of operands 0 and 1 over consumed[0]; accumulates in f32, in f64 if an operand is f64
  // folds and marks
  foldArgument,  // carried value `slot` at the start of a step; `fold` is not set (the Fold owns its arguments)
  foldResult,    // carried value `slot` after the last step of `fold`
  named,         // operands.back() is the value, under the name `label`; the operands before it are the inputs of a library step
  stabiliser     // operand 0, with the promise that results do not depend on its exactness while nothing overflows
};
[[nodiscard]] const char *name(Op op);   // `reduce_max`, `fold_result`, …: the text form's spelling

struct Node;
struct Fold;
struct TensorInfo;

/// An immutable value: one element for each point of its axes. Copying copies a handle.
/// It is no truth value and does not turn into a bool: choose with where(condition, a, b).
class Tile {
public:
  explicit Tile(std::shared_ptr<const Node> node) : n(std::move(node)) {}
  [[nodiscard]] const Node &node() const { return *n; }
  [[nodiscard]] Type type() const;
  [[nodiscard]] const Axes &axes() const;
  [[nodiscard]] Location where() const;

private:
  std::shared_ptr<const Node> n;
};

/// One operation of a program. Programs are graphs of these: walk them with a memo.
struct Node {
  Op op;
  Type type;
  Axes axes;
  Location where;
  std::vector<Tile> operands = {};
  double literal = 0;                                  // constant (exact for integers up to 2^53)
  std::shared_ptr<const TensorInfo> tensor = nullptr;  // load, dimension
  Axes consumed = {};                                  // index, extent, reductions, dot
  std::shared_ptr<const Fold> fold = nullptr;          // foldResult
  unsigned slot = 0;                                   // dimension, foldArgument, foldResult
  std::string label = {};                              // scalar, named
  bool positive = false;                               // scalar
  bool weak = false;                                   // a constant written as a bare number takes the other operand's type
  unsigned depth = 0;                                  // set by makeTile: the longest chain of operations below
  std::uint64_t age = 0;                               // set by makeTile: later nodes have larger ones; never printed nor compared
};

inline Type Tile::type() const { return n->type; }
inline const Axes &Tile::axes() const { return n->axes; }
inline Location Tile::where() const { return n->where; }

/// How many operands, from the first on, say where a load or a search reads its tensor; 0 of what reads none.
[[nodiscard]] inline std::size_t placesRead(const Node &node) {
  return node.op == Op::load ? node.operands.size() : node.op == Op::contains ? node.operands.size() - 2 : 0;
}

[[nodiscard]] Tile makeTile(Node node);
/// `f32[b, h, q]`
[[nodiscard]] std::string text(const Tile &tile);

/// What an operator accepts: a value, an axis (its coordinate) or a number. Made by an implicit
/// conversion at the call, it carries the line on which the user wrote the operator.
struct Operand {
  Tile tile;
  Location where;
  Operand(Tile tile, Location where = Location::current()) : tile(std::move(tile)), where(where) {}
  Operand(const Axis &axis, Location where = Location::current());
  Operand(int value, Location where = Location::current());
  Operand(long value, Location where = Location::current());       // beyond i32: an i64 constant; beyond ±2^53: ProgramError
  Operand(long long value, Location where = Location::current());
  Operand(unsigned value, Location where = Location::current());
  Operand(unsigned long value, Location where = Location::current());
  Operand(float value, Location where = Location::current());
  Operand(double value, Location where = Location::current());
  template <std::same_as<bool> Bool>   // a template, so that a pointer does not turn into a bool
  Operand(Bool value, Location where = Location::current()) : Operand(truth(value, where), where) {}

private:
  static Tile truth(bool value, Location where);
};

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// ---- leaves
[[nodiscard]] Tile constant(double value, Type type = Type::f32, Location where = Location::current());
/// A constant over some axes: the usual start of a fold.
[[nodiscard]] Tile full(double value, Axes axes, Type type = Type::f32, Location where = Location::current());
/// The coordinate along an axis, from 0, i32.
[[nodiscard]] Tile index(const Axis &axis, Location where = Location::current());
/// The length of an axis, i32, known at launch.
[[nodiscard]] Tile extent(const Axis &axis, Location where = Location::current());
enum class Sign { any, positive };
/// A number given at launch; a new one needs no compile. A positive one is checked at launch and lets
/// scales move through maxima and exponents.
[[nodiscard]] Tile scalar(std::string name, Type type = Type::f32, Sign sign = Sign::any, Location where = Location::current());

// ---- arithmetic. Integers: `/` is floor division and `%` its remainder (the sign of the divisor).
[[nodiscard]] Tile operator+(Operand a, Operand b);
[[nodiscard]] Tile operator-(Operand a, Operand b);
[[nodiscard]] Tile operator*(Operand a, Operand b);
[[nodiscard]] Tile operator/(Operand a, Operand b);
[[nodiscard]] Tile operator%(Operand a, Operand b);
[[nodiscard]] Tile operator-(Operand a);
[[nodiscard]] Tile floorDiv(Operand a, Operand b);
[[nodiscard]] Tile mod(Operand a, Operand b);
[[nodiscard]] Tile min(Operand a, Operand b);
[[nodiscard]] Tile max(Operand a, Operand b);
/// min(max(a, low), high)
[[nodiscard]] Tile clamp(Operand a, Operand low, Operand high);
/// Small whole powers are products, others as std::pow.
[[nodiscard]] Tile pow(Operand a, Operand exponent);
// ---- bits of integers. `&`, `|` and `^` of two integers work bit by bit; a shift is by 0 to 31 places, 63 for an i64,
// and `>>` keeps the sign.
[[nodiscard]] Tile operator~(Operand a);
[[nodiscard]] Tile operator<<(Operand a, Operand places);
[[nodiscard]] Tile operator>>(Operand a, Operand places);
/// Whether bit `bit`, counted from the lowest, is set.
[[nodiscard]] Tile testBit(Operand a, Operand bit);
// ---- comparisons and logic
[[nodiscard]] Tile operator<(Operand a, Operand b);
[[nodiscard]] Tile operator<=(Operand a, Operand b);
[[nodiscard]] Tile operator>(Operand a, Operand b);
[[nodiscard]] Tile operator>=(Operand a, Operand b);
[[nodiscard]] Tile operator==(Operand a, Operand b);
[[nodiscard]] Tile operator!=(Operand a, Operand b);
[[nodiscard]] Tile operator&(Operand a, Operand b);
[[nodiscard]] Tile operator|(Operand a, Operand b);
[[nodiscard]] Tile operator^(Operand a, Operand b);
[[nodiscard]] Tile operator!(Operand a);
// ---- functions
[[nodiscard]] Tile exp(Operand a);
[[nodiscard]] Tile exp2(Operand a);
[[nodiscard]] Tile expm1(Operand a);
[[nodiscard]] Tile log(Operand a);
[[nodiscard]] Tile log2(Operand a);
[[nodiscard]] Tile log1p(Operand a);
[[nodiscard]] Tile tanh(Operand a);
/// tanh within 2^-11 of its size: on GPUs one instruction in place of fifteen; elsewhere tanh itself.
[[nodiscard]] Tile tanhApproximate(Operand a);
[[nodiscard]] Tile sigmoid(Operand a);
[[nodiscard]] Tile sqrt(Operand a);
[[nodiscard]] Tile rsqrt(Operand a);
[[nodiscard]] Tile sin(Operand a);
[[nodiscard]] Tile cos(Operand a);
[[nodiscard]] Tile erf(Operand a);
/// a·Φ(a), by erf.
[[nodiscard]] Tile gelu(Operand a);
/// log(1 + e^a)
[[nodiscard]] Tile softplus(Operand a);
[[nodiscard]] Tile abs(Operand a);
/// -1, 0 or 1, in the type of a; of NaN NaN.
[[nodiscard]] Tile sign(Operand a);
// To whole numbers, as floats; an integer stays what it is. `round` takes halves away from zero, as std::round.
[[nodiscard]] Tile floor(Operand a);
[[nodiscard]] Tile ceil(Operand a);
[[nodiscard]] Tile round(Operand a);
[[nodiscard]] Tile trunc(Operand a);
[[nodiscard]] Tile isnan(Operand a);
[[nodiscard]] Tile isfinite(Operand a);
[[nodiscard]] Tile where(Operand condition, Operand then, Operand otherwise);
[[nodiscard]] Tile cast(Operand a, Type type);
// ---- random numbers
/// f32 in [0, 1), in steps of 2^-24: the first word of Philox 4x32-10 whose key is the seed and whose counter the coordinates
/// are, so that a number depends on them alone, whatever tiles it is computed in. All are integers; the coordinates fill four
/// words of 32 bits, an i32 one and an i64 two.
[[nodiscard]] Tile random(Operand seed, std::vector<Operand> coordinates);
[[nodiscard]] inline Tile random(Operand seed, Operand a) { return random(std::move(seed), std::vector{std::move(a)}); }
[[nodiscard]] inline Tile random(Operand seed, Operand a, Operand b) { return random(std::move(seed), std::vector{std::move(a), std::move(b)}); }
[[nodiscard]] inline Tile random(Operand seed, Operand a, Operand b, Operand c) {
  return random(std::move(seed), std::vector{std::move(a), std::move(b), std::move(c)});
}
[[nodiscard]] inline Tile random(Operand seed, Operand a, Operand b, Operand c, Operand d) {
  return random(std::move(seed), std::vector{std::move(a), std::move(b), std::move(c), std::move(d)});
}
// ---- along an axis
[[nodiscard]] Tile max(Operand a, Over axis);
[[nodiscard]] Tile min(Operand a, Over axis);
[[nodiscard]] Tile sum(Operand a, Over axis);
/// Contracts one axis of two values, accumulating in f32 (f64 if an operand is f64).
[[nodiscard]] Tile dot(Operand a, Operand b, Over axis);
// ---- marks
/// Gives a value a name that shows in IR and generated code.
[[nodiscard]] Tile named(std::string label, Operand value);
/// Marks a value as what a library function made of `inputs`, called by the user at `where`. Errors
/// between the inputs and the result are reported at the user's line too.
[[nodiscard]] Tile named(std::string label, Tile result, std::vector<Tile> inputs, Location where);
/// Promises that results do not depend on the exactness of this carried value while nothing overflows
/// (a running maximum): the compiler may hold it back.
[[nodiscard]] Tile stabiliser(Operand a);

} // namespace tw

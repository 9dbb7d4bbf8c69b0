#include "HostKernel.h"
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), notANumber = std::numeric_limits<float>::quiet_NaN();

/// out[i] = op(in[i]), eight at a time; `body` makes %y, of `to`, of %x, of `from`.
std::string elementwise(const std::string &from, const std::string &to, const std::string &body) {
  auto vector = [](const std::string &type) { return "vector<8x" + type + ">"; };
  return "func.func @f(%in: memref<?x" + from + ">, %out: memref<?x" + to + R"(>, %scratch: memref<?xi8>)
      attributes {llvm.emit_c_interface, host.scratch_bytes = 0 : i64} {
    %zero = arith.constant 0 : index
    %eight = arith.constant 8 : index
    %size = memref.dim %in, %zero : memref<?x)" + from + R"(>
    scf.for %i = %zero to %size step %eight {
      %x = vector.load %in[%i] : memref<?x)" + from + ">, " + vector(from) + "\n" + body +
         "\nvector.store %y, %out[%i] : memref<?x" + to + ">, " + vector(to) + R"(
    }
    return
  })";
}

template <class To, class From>
std::vector<To> run(const std::string &source, std::vector<From> in, const tw::HostCodegenOptions &options = {}) {
  tw::HostObject object = compileHost(source, options);
  auto code = tw::HostCode::load(object.bytes, object.entry);
  in.resize((in.size() + 7) / 8 * 8);
  std::vector<To> out(in.size());
  std::vector<std::byte> none;
  tw::MemoryDescriptor input = describe(in), output = describe(out), scratch = describe(none);
  void *arguments[] = {input.argument(), output.argument(), scratch.argument()};
  (*code)(arguments);
  return out;
}

std::vector<float> line(double from, double to, int count) {
  std::vector<float> values;
  for (int at = 0; at < count; ++at)
    values.push_back(static_cast<float>(from + (to - from) * at / (count - 1)));
  return values;
}

std::vector<float> compute(const std::string &op, const std::vector<float> &in, const tw::HostCodegenOptions &options = {}) {
  return run<float>(elementwise("f32", "f32", "%y = math." + op + " %x : vector<8xf32>"), in, options);
}

/// The largest relative error of `op`; values below 2^-125 may be any positive number of that size, but not 0.
double worstError(const std::string &op, const std::vector<float> &in, const std::function<double(double)> &right) {
  std::vector<float> out = compute(op, in);
  double worst = 0;
  for (std::size_t at = 0; at < in.size(); ++at) {
    double expected = right(in[at]);
    if (expected > 0 && expected < 0x1p-125 && out[at] > 0 && out[at] < 0x1.1p-125)
      continue;
    worst = std::max(worst, expected == 0 ? std::abs(out[at]) : std::abs(out[at] / expected - 1));
  }
  return worst;
}

bool same(float a, float b) { return std::isnan(a) ? std::isnan(b) : a == b; }

/// Bits of the 16-bit float of `mantissa` stored bits that is nearest to `value`, ties to even; by searching all of them.
std::uint16_t nearest(double value, int mantissa) {
  const int exponents = 15 - mantissa, bias = (1 << (exponents - 1)) - 1;
  auto real = [&](int bits) {
    int exponent = bits >> mantissa, fraction = bits & ((1 << mantissa) - 1);
    return exponent ? std::ldexp((1 << mantissa) + fraction, exponent - bias - mantissa) : std::ldexp(fraction, 1 - bias - mantissa);
  };
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  value = std::abs(value);
  int low = 0, high = ((1 << exponents) - 1) << mantissa;   // high: infinity, counted as the next power of two
  while (high - low > 1)
    (real((low + high) / 2) <= value ? low : high) = (low + high) / 2;
  double below = value - real(low), above = real(high) - value;
  if (std::isinf(value))
    return static_cast<std::uint16_t>(sign | ((1 << exponents) - 1) << mantissa);
  return static_cast<std::uint16_t>(sign | (below < above || (below == above && low % 2 == 0) ? low : high));
}

/// Values where rounding to 16 bits is hard: halfway points and their neighbours in f32 and f64.
std::vector<double> hardToRound() {
  std::vector<double> values = {0.0, -0.0, 1.0, -1.0, 65504.0, 65519.99, 65520.0, 3.3e38, 3.39e38, 3.4e38, 1e300, 1e-300, infinity, -infinity,
                                0x1p-24, 0x1p-25, 0x1.8p-25, 0x1.000002p-25, 0x1p-133, 0x1p-134, 0x1.8p-133};
  for (int mantissa : {7, 10})
    for (int exponent : {-130, -24, -20, -15, -14, -3, 0, 5, 14, 15, 100, 127})
      for (int at = 0; at < 6; ++at) {
        double tie = std::ldexp(1 + (at + 0.5) * std::ldexp(1, -mantissa), exponent);
        for (double value : {tie, std::nextafter(tie, 0.0), std::nextafter(tie, 2 * tie), double(std::nextafter(float(tie), 0.0f)), double(std::nextafter(float(tie), infinity))})
          values.insert(values.end(), {value, -value});
      }
  return values;
}

} // namespace

TEST_CASE("exp and exp2 are within 2 units in the last place") {
  CHECK(worstError("exp2", line(-130, 127.999, 40000), [](double x) { return std::exp2(x); }) < 1.2e-7);
  CHECK(worstError("exp2", line(-1, 1, 40000), [](double x) { return std::exp2(x); }) < 1.2e-7);
  CHECK(worstError("exp", line(-90, 88.72, 40000), [](double x) { return std::exp(x); }) < 1.5e-7);
  CHECK(worstError("exp", line(-1, 1, 40000), [](double x) { return std::exp(x); }) < 1.5e-7);
}

TEST_CASE("exp and exp2 are right at their ends") {
  const float payload = std::bit_cast<float>(0x7fc12345u);
  std::vector<float> in = {0, -0.0f, 1, -1, 127, 128, 1e30f, infinity, -infinity, -1e30f, -150, -126, notANumber, -notANumber, payload, 127.99999f};
  std::vector<float> out = compute("exp2", in);
  const std::vector<float> right = {1, 1, 2, 0.5, 0x1p127f, infinity, infinity, infinity, 0, 0x1p-125f, 0x1p-125f, 0x1p-125f, notANumber, notANumber, notANumber};
  for (std::size_t at = 0; at < right.size(); ++at)
    CHECK(same(out[at], right[at]));
  CHECK(std::isfinite(out[15]));
  out = compute("exp", in);
  for (std::size_t at : {0, 1})
    CHECK(out[at] == 1);
  for (std::size_t at : {4, 5, 6, 7, 15})
    CHECK(out[at] == infinity);
  CHECK(out[8] == 0);                              // only of -infinity
  for (std::size_t at : {9, 10, 11})
    CHECK((out[at] > 0 && out[at] < 0x1.1p-125));
  for (std::size_t at : {12, 13, 14})
    CHECK(std::isnan(out[at]));
}

TEST_CASE("tanh, log, log2 and log1p are right, and pass NaN on") {
  CHECK(worstError("tanh", line(-12, 12, 20001), [](double x) { return std::tanh(x); }) < 6e-7);
  CHECK(worstError("log", line(0.001, 1000, 20000), [](double x) { return std::log(x); }) < 4e-7);
  CHECK(worstError("log2", line(2, 1000, 20000), [](double x) { return std::log2(x); }) < 4e-7);
  CHECK(worstError("log1p", line(-0.9, 100, 20001), [](double x) { return std::log1p(x); }) < 4e-7);
  for (const char *op : {"tanh", "log", "log2", "log1p", "erf", "sin", "exp", "exp2", "sqrt", "absf"}) {
    INFO(op);
    CHECK(std::isnan(compute(op, {notANumber})[0]));
  }
  CHECK(compute("tanh", {infinity, -infinity}) == std::vector<float>{1, -1, 0, 0, 0, 0, 0, 0});
  std::vector<float> logs = compute("log", {0, infinity, -1, 1});
  CHECK(logs[0] == -infinity);
  CHECK(logs[1] == infinity);
  CHECK(std::isnan(logs[2]));
  CHECK(logs[3] == 0);
}

TEST_CASE("f64 mathematics is the C library's") {
  std::vector<double> in = {0, 1, -3.5, 700, -infinity, 0.1, 2, 5};
  std::vector<double> out = run<double>(elementwise("f64", "f64", "%e = math.exp %x : vector<8xf64>\n%y = math.tanh %e : vector<8xf64>"), in);
  for (std::size_t at = 0; at < in.size(); ++at)
    CHECK(out[at] == Approx(std::tanh(std::exp(in[at]))).epsilon(1e-15));
}

TEST_CASE("maxima and minima pass NaN on") {
  std::vector<float> in = {1, -1, notANumber, 3, infinity, -infinity, -notANumber, 0};
  for (const char *body : {"%c = arith.constant dense<2.0> : vector<8xf32>\n%y = arith.maximumf %x, %c : vector<8xf32>",
                           "%c = arith.constant dense<2.0> : vector<8xf32>\n%y = arith.maximumf %c, %x : vector<8xf32>"}) {
    std::vector<float> out = run<float>(elementwise("f32", "f32", body), in);
    for (std::size_t at = 0; at < in.size(); ++at)
      CHECK(same(out[at], std::isnan(in[at]) ? notANumber : std::max(in[at], 2.0f)));
  }
  auto reduced = run<float>(elementwise("f32", "f32", "%m = vector.reduction <maximumf>, %x : vector<8xf32> into f32\n%y = vector.broadcast %m : f32 to vector<8xf32>"), in);
  CHECK(std::isnan(reduced[0]));
}

TEST_CASE("16-bit floats are widened exactly") {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t at = 0; at < all.size(); ++at)
    all[at] = static_cast<std::uint16_t>(at);
  for (const char *cpu : {"", "x86-64"}) {
#ifndef __x86_64__
    if (*cpu)
      continue;
#endif
    for (const char *type : {"f16", "bf16"})
      for (const char *wide : {"f32", "f64"}) {
        std::string vector = std::string("vector<8x") + type + ">";
        std::string body = "%h = arith.bitcast %x : vector<8xi16> to " + vector + "\n%y = arith.extf %h : " + vector + " to vector<8x" + wide + ">";
        const tw::HostCodegenOptions options{.cpu = cpu};
        std::vector<double> out;
        if (std::string(wide) == "f64")
          out = run<double>(elementwise("i16", wide, body), all, options);
        else
          for (float value : run<float>(elementwise("i16", wide, body), all, options))
            out.push_back(value);
        const int mantissa = std::string(type) == "f16" ? 10 : 7, wrongAt = [&] {
          for (int at = 0; at < 65536; ++at) {
            bool isNan = (at & 0x7fff) > (0x7fff >> mantissa << mantissa);
            if (isNan ? !std::isnan(out[static_cast<std::size_t>(at)]) : nearest(out[static_cast<std::size_t>(at)], mantissa) != at)
              return at;
          }
          return -1;
        }();
        INFO(type << " to " << wide << " on " << cpu);
        CHECK(wrongAt == -1);
      }
  }
}

TEST_CASE("16-bit floats are rounded to nearest even, from f32 and f64") {
  const std::vector<double> wide = hardToRound();
  const std::vector<float> narrow(wide.begin(), wide.end());
  for (const char *cpu : {"", "x86-64"}) {
#ifndef __x86_64__
    if (*cpu)
      continue;
#endif
    for (const char *type : {"f16", "bf16"}) {
      const int mantissa = std::string(type) == "f16" ? 10 : 7;
      auto body = [&](const std::string &from) {
        std::string vector = std::string("vector<8x") + type + ">";
        return "%h = arith.truncf %x : vector<8x" + from + "> to " + vector + "\n%y = arith.bitcast %h : " + vector + " to vector<8xi16>";
      };
      const tw::HostCodegenOptions options{.cpu = cpu};
      auto from32 = run<std::uint16_t>(elementwise("f32", "i16", body("f32")), narrow, options);
      auto from64 = run<std::uint16_t>(elementwise("f64", "i16", body("f64")), wide, options);
      for (std::size_t at = 0; at < wide.size(); ++at) {
        INFO(type << " of " << wide[at] << " on " << cpu);
        CHECK(from32[at] == nearest(narrow[at], mantissa));
        CHECK(from64[at] == nearest(wide[at], mantissa));
      }
      auto nans = run<std::uint16_t>(elementwise("f32", "i16", body("f32")), std::vector<float>{notANumber, -notANumber, std::bit_cast<float>(0x7f800001u)}, options);
      for (std::size_t at = 0; at < 3; ++at)
        CHECK((nans[at] & 0x7fff) > (0x7fff >> mantissa << mantissa));
    }
  }
}

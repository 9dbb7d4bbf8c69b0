// Programs that must be refused: with which words, and at which line.
#pragma once
#include "tilewright/dsl/Dsl.h"
#include <catch2/catch.hpp>
#include <optional>

namespace tw::tests {

template <class F> std::optional<Diagnostic> refusal(F program) {
  try {
    program();
  } catch (const ProgramError &error) {
    return error.diagnostic;
  }
  return std::nullopt;
}

} // namespace tw::tests

/// The expression, written on this very line, is refused here with exactly this message.
#define REFUSED_HERE(text, ...)                                                  \
  do {                                                                           \
    auto refusal = tw::tests::refusal([&] { (void)(__VA_ARGS__); });             \
    REQUIRE(refusal);                                                            \
    CHECK(refusal->message == text);                                             \
    CHECK(tw::shortName(refusal->where) == tw::shortName(tw::Location::current())); \
  } while (false)
/// Refused with this message, wherever.
#define REFUSED(text, ...)                                           \
  do {                                                               \
    auto refusal = tw::tests::refusal([&] { (void)(__VA_ARGS__); }); \
    REQUIRE(refusal);                                                \
    CHECK(refusal->message == text);                                 \
  } while (false)

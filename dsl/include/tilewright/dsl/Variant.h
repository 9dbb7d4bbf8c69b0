// A variant in a file of its own, for the command line: `tilewright run my_variant.cpp --shape …`.
//
//   #include <tilewright/variant.h>
//   TILEWRIGHT_VARIANT(near_thirds, attention) {
//     attention.score([](tw::Tile s, const tw::At &at) { return s - 0.1 * log(1.0 + abs(at.query - at.key)); });
//     attention.mask([](const tw::At &at) { return at.key % 3 == 0; });
//   }
//
// The file is compiled into a plug-in, from which one function is called. It returns the program's text form; nothing else crosses.
#pragma once
#include "tilewright/dsl/Dsl.h"

namespace tw::detail {

/// What a plug-in answers: a line with the version of the library it was linked with, then the program's text with locations, or `error` and what is wrong,
/// at `where` if what was thrown says no line itself.
/// `type` is that of Q, K, V and O; lse is stored where that is asked for and the normaliser has one.
[[nodiscard]] std::string variantAnswer(const char *name, const char *type, bool lse, void (*describe)(Attention &), Location where);
[[nodiscard]] std::string programAnswer(const char *type, Program (*make)(Type), Location where);

} // namespace tw::detail

/// One variant a file. The body that follows says of `attention`, a tw::Attention on Q, K, V and O, what it is.
#define TILEWRIGHT_VARIANT(name, attention)                                                                                                                  \
  static void tilewright_variant_##name(tw::Attention &attention);                                                                                           \
  extern "C" const char *tilewright_variant(const char *type, int lse) {                                                                                     \
    static std::string answer;                                                                                                                               \
    answer = tw::detail::variantAnswer(#name, type, lse != 0, tilewright_variant_##name, tw::Location::current());                                           \
    return answer.c_str();                                                                                                                                   \
  }                                                                                                                                                          \
  static void tilewright_variant_##name(tw::Attention &attention)

/// The same for a program that is no tw::Attention: the body returns a tw::Program, for Q, K, V and O of the type `type`.
#define TILEWRIGHT_PROGRAM(type)                                                                                                                             \
  static tw::Program tilewright_program(tw::Type type);                                                                                                      \
  extern "C" const char *tilewright_variant(const char *asked, int) {                                                                                        \
    static std::string answer;                                                                                                                               \
    answer = tw::detail::programAnswer(asked, tilewright_program, tw::Location::current());                                                                  \
    return answer.c_str();                                                                                                                                   \
  }                                                                                                                                                          \
  static tw::Program tilewright_program(tw::Type type)

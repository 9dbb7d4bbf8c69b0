// One line of the text form, cut into tokens and read from left to right.
#pragma once
#include "tilewright/dsl/Tile.h"
#include <string_view>

namespace tw::detail {

struct Token {
  enum Kind { word, value, number, string, mark, end } kind;
  std::string text;                   // a string without its quotes, a value without its %
  std::optional<Type> type = {};      // of a number that says it: 7.0:f64
};

/// Reads the tokens of one line. What does not fit is refused at `line`, saying what was expected.
class Tokens {
public:
  /// `line` is where complaints go; `text` is one line without its end.
  Tokens(std::string_view text, Location line);
  [[nodiscard]] const Token &peek() const { return tokens[at]; }
  Token take() { return tokens[at + 1 < tokens.size() ? at++ : at]; }
  [[nodiscard]] bool is(std::string_view markOrWord) const;
  bool takeIf(std::string_view markOrWord);
  void expect(std::string_view mark);
  std::string word(const char *what);
  std::string string(const char *what);
  unsigned count(const char *what);
  Type type();
  /// Nothing but a location may follow.
  void finish();
  [[nodiscard]] bool atEnd() const { return peek().kind == Token::end; }
  /// The place the line says it comes from (`@"file":12`); otherwise the line itself.
  [[nodiscard]] Location where() const { return stated; }
  [[nodiscard]] Location line() const { return here; }
  [[noreturn]] void expected(const std::string &what) const;

private:
  void cut(std::string_view text);
  void readPlace();
  std::vector<Token> tokens;
  std::size_t at = 0;
  Location here, stated;
};

} // namespace tw::detail

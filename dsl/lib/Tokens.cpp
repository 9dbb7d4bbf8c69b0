#include "Tokens.h"
#include "Fail.h"
#include <charconv>

namespace tw::detail {
namespace {

bool isWordChar(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

} // namespace

Tokens::Tokens(std::string_view text, Location line) : here(line), stated(line) {
  cut(text);
  readPlace();
  tokens.push_back({Token::end, "the end of the line"});
}

void Tokens::cut(std::string_view s) {
  std::size_t i = 0;
  auto wordEnd = [&](std::size_t from) {
    while (from < s.size() && isWordChar(s[from]))
      ++from;
    return from;
  };
  while (i < s.size()) {
    const char c = s[i];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++i;
    } else if (s.substr(i, 2) == "//") {
      break;
    } else if (c == '"') {
      std::string text;
      for (++i; i < s.size() && s[i] != '"'; ++i)
        if (s[i] == '\\' && i + 1 < s.size())
          text += s[++i] == 'n' ? '\n' : s[i];
        else
          text += s[i];
      if (i == s.size())
        fail(here, "a string has no end; close it with \"");
      ++i;
      tokens.push_back({Token::string, text});
    } else if (c == '%') {
      std::size_t last = wordEnd(i + 1);
      if (last == i + 1)
        fail(here, "% names no value; write %0");
      tokens.push_back({Token::value, std::string(s.substr(i + 1, last - i - 1))});
      i = last;
    } else if (isDigit(c) || c == '-') {
      std::size_t last = i + 1;
      while (last < s.size() && (isWordChar(s[last]) || s[last] == '.' || ((s[last] == '+' || s[last] == '-') && s[last - 1] == 'e')))
        ++last;
      Token number{Token::number, std::string(s.substr(i, last - i))};
      if (last + 1 < s.size() && s[last] == ':' && isWordChar(s[last + 1])) {
        std::size_t typeEnd = wordEnd(last + 1);
        std::string type(s.substr(last + 1, typeEnd - last - 1));
        number.type = typeNamed(type);
        if (!number.type && !isDigit(type[0]))
          fail(here, "'" + type + "' is no type; write f16, bf16, f32, f64, i32, i64 or bool");
        if (number.type)
          last = typeEnd;
      }
      tokens.push_back(number);
      i = last;
    } else if (isWordChar(c)) {
      std::size_t last = wordEnd(i);
      Token word{Token::word, std::string(s.substr(i, last - i))};
      if (word.text == "inf" || word.text == "nan") {
        word.kind = Token::number;
        if (last + 1 < s.size() && s[last] == ':' && isWordChar(s[last + 1])) {
          std::size_t typeEnd = wordEnd(last + 1);
          word.type = typeNamed(s.substr(last + 1, typeEnd - last - 1));
          last = word.type ? typeEnd : last;
        }
      }
      tokens.push_back(word);
      i = last;
    } else {
      tokens.push_back({Token::mark, std::string(1, c)});
      ++i;
    }
  }
}

/// Takes `@"file":12` off the end of the line.
void Tokens::readPlace() {
  std::size_t n = tokens.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (tokens[i].kind != Token::mark || tokens[i].text != "@")
      continue;
    unsigned number = 0;
    if (n == i + 4 && tokens[i + 1].kind == Token::string && tokens[i + 2].text == ":") {
      const std::string &digits = tokens[i + 3].text;
      auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (error != std::errc() || last != digits.data() + digits.size())
        number = 0;
    }
    if (!number)
      fail(here, "a place reads @\"file\":line and ends the line; write it so or leave it out");
    stated = Location::of(tokens[i + 1].text, number);
    tokens.resize(i);
    return;
  }
}

bool Tokens::is(std::string_view markOrWord) const {
  return (peek().kind == Token::mark || peek().kind == Token::word) && peek().text == markOrWord;
}

bool Tokens::takeIf(std::string_view markOrWord) {
  if (!is(markOrWord))
    return false;
  take();
  return true;
}

void Tokens::expect(std::string_view mark) {
  if (!takeIf(mark))
    expected("'" + std::string(mark) + "'");
}

std::string Tokens::word(const char *what) {
  if (peek().kind != Token::word)
    expected(what);
  return take().text;
}

std::string Tokens::string(const char *what) {
  if (peek().kind != Token::string)
    expected(what);
  return take().text;
}

unsigned Tokens::count(const char *what) {
  unsigned value = 0;
  const std::string &digits = peek().text;
  auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (peek().kind != Token::number || error != std::errc() || last != digits.data() + digits.size())
    expected(what);
  take();
  return value;
}

Type Tokens::type() {
  std::optional<Type> type;
  if (peek().kind == Token::word)
    type = typeNamed(peek().text);
  if (!type)
    expected("a type (f16, bf16, f32, f64, i32, i64 or bool)");
  take();
  return *type;
}

void Tokens::finish() {
  if (!atEnd())
    expected("the end of the line");
}

void Tokens::expected(const std::string &what) const {
  const Token &found = peek();
  std::string text = found.kind == Token::end ? found.text : found.kind == Token::string ? "\"" + found.text + "\"" : found.kind == Token::value ? "'%" + found.text + "'" : "'" + found.text + "'";
  fail(here, "expected " + what + ", found " + text);
}

} // namespace tw::detail

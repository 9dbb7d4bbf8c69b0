// Lines of C++, indented.
#pragma once
#include "llvm/ADT/Twine.h"
#include <string>

namespace tw::emit {

class Text {
public:
  /// One line; an empty one has no indentation. A preprocessor line in a body is indented too.
  void line(const llvm::Twine &content = "") {
    const std::string text = content.str();
    lines += text.empty() ? "\n" : std::string(indentation, ' ') + text + "\n";
  }
  /// A line, and what follows is indented until close().
  void open(const llvm::Twine &content) {
    line(content);
    indentation += 2;
  }
  void close(const llvm::Twine &content = "}") {
    indentation -= 2;
    line(content);
  }
  /// What follows is indented until close().
  void indent() { indentation += 2; }
  /// The lines that `print` writes, kept out of the text. Their indentation is that of the place.
  template <typename Print> std::string aside(Print print) {
    std::string before = std::move(lines);
    lines.clear();
    print();
    std::swap(lines, before);
    return before;
  }
  /// Appends whole lines.
  void append(const std::string &text) { lines += text; }
  const std::string &str() const { return lines; }

private:
  std::string lines;
  std::size_t indentation = 0;
};

} // namespace tw::emit

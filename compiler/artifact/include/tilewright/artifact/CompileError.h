// What the compiler refuses.
#pragma once
#include <stdexcept>

namespace tw {

/// The kernel cannot be made for this target; the message says what, where, why, and the cure.
class CompileError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The assembler's code would be slow: it spills too much, or its products wait for each other. Another schedule may do better.
class SlowCodeError : public CompileError {
public:
  using CompileError::CompileError;
};

} // namespace tw

// What the compiler refuses.
#pragma once
#include <stdexcept>

namespace tw {

/// The kernel cannot be made for this target; the message says what, where, why, and the cure.
class CompileError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace tw

// What the machine refuses: the loader, a driver, memory.
#pragma once
#include <stdexcept>
#include <string>

namespace tw {

/// Raised where a correct program meets a machine that cannot run it; the message names what was refused and the cure.
class RuntimeError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace tw

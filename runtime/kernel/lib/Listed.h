// The arguments of C++ as a list.
#pragma once
#include "Given.h"

namespace tw {

/// Arguments, listed; one at a time in a thread, so that a launch allocates nothing.
class Listed {
public:
  explicit Listed(const Arguments &arguments);
  operator Given() const;
};

} // namespace tw

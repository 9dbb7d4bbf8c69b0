// What an exception says.
#pragma once
#include <string>

namespace tw::tests {

/// The message of the E that `work` throws, or that it throws none.
template <class E, class F> std::string messageOf(F work) {
  try {
    work();
  } catch (const E &error) {
    return error.what();
  }
  return "nothing thrown";
}

} // namespace tw::tests

// The words of an error, for tests that compare them.
#pragma once

#include <exception>
#include <string>

namespace lw::test {

/// The message of the E that `run()` throws; something else, in brackets, when it does not.
template <class E, class F>
std::string message_of(F&& run) {
  try {
    run();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("[another kind of error: ") + error.what() + "]";
  }
  return "[nothing was thrown]";
}

}  // namespace lw::test

// The words of an error, for tests that compare them.
#pragma once

#include <exception>
#include <string>
#include <type_traits>

#include "lanewise/base/error.h"

namespace lw::test {

/// The message of the E that `run()` throws, without the source that is shown below it; something
/// else, in brackets, when it does not.
template <class E, class F>
std::string message_of(F&& run) {
  try {
    run();
  } catch (const E& error) {
    const std::string message = error.what();
    return std::is_same_v<E, ElementError> ? message.substr(0, message.find('\n')) : message;
  } catch (const std::exception& error) {
    return std::string("[another kind of error: ") + error.what() + "]";
  }
  return "[nothing was thrown]";
}

}  // namespace lw::test

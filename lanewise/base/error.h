// The kinds of error a caller can meet. Every message has one form:
//   "call: problem; got values, expected rule. Hint."
// and, inside a traced function, the user's file and line in front.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace lw {

/// The root of everything lanewise throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The call was wrong: sizes, types, options, text that does not parse.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Not enough memory within the budget, or from the system.
class ResourceError : public Error {
 public:
  using Error::Error;
};

/// The map was cancelled before it ended.
class Cancelled : public Error {
 public:
  using Error::Error;
};

/// The map did not end within its time.
class Timeout : public Error {
 public:
  using Error::Error;
};

/// A fault of lanewise itself; please report it.
class InternalError : public Error {
 public:
  using Error::Error;
};

/// A failure inside an element: `element` is its number in the mapped array.
class ElementError : public Error {
 public:
  ElementError(const std::string& message, std::int64_t element)
      : Error(message), element_(element) {}
  std::int64_t element() const { return element_; }

 private:
  std::int64_t element_;
};

}  // namespace lw

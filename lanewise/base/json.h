// Writes JSON: values one after the other, with the commas and quotes that they need.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace lw::base {

class Json {
 public:
  Json& begin_object() { return open('{'); }
  Json& end_object() { return close('}'); }
  Json& begin_array() { return open('['); }
  Json& end_array() { return close(']'); }
  /// The name of the member whose value comes next.
  Json& key(std::string_view name);

  Json& value(std::string_view text);
  Json& value(const char* text) { return value(std::string_view(text)); }
  Json& value(bool truth);
  Json& value(double value);  // null where it is not finite: JSON has no such numbers
  Json& value(std::int64_t value);
  template <std::integral T>
  Json& value(T integer) {
    return value(static_cast<std::int64_t>(integer));
  }
  /// A number whose digits are given.
  Json& number(std::string_view digits);
  /// A member and its value.
  template <class T>
  Json& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  const std::string& text() const { return text_; }

 private:
  Json& open(char bracket);
  Json& close(char bracket);
  void separate();

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace lw::base

#include "lanewise/base/json.h"

#include <fmt/core.h>

#include <cmath>
#include <iterator>

namespace lw::base {

void Json::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

Json& Json::open(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
  return *this;
}

Json& Json::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

Json& Json::key(std::string_view name) {
  value(name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

Json& Json::value(std::string_view text) {
  separate();
  text_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(text_), "\\u{:04x}", static_cast<int>(c));
    } else {
      text_ += c;
    }
  }
  text_ += '"';
  return *this;
}

Json& Json::number(std::string_view digits) {
  separate();
  text_ += digits;
  return *this;
}

Json& Json::value(bool truth) { return number(truth ? "true" : "false"); }

Json& Json::value(double value) {
  return number(std::isfinite(value) ? fmt::format("{}", value) : "null");
}

Json& Json::value(std::int64_t value) { return number(fmt::format("{}", value)); }

}  // namespace lw::base

#include "lanewise/base/source.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace lw::base {
namespace {

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
}

/// Compilers point at a call's name or at its bracket; this is where the name begins.
std::size_t begin_of_call(std::string_view code, std::size_t at) {
  if (code[at] != '(') return at;
  while (at > 0 && is_of_name(code[at - 1])) --at;
  return at;
}

}  // namespace

std::string line_of_file(const std::string& name, int line) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(name, unknown)) return "";
  std::ifstream file(name);
  std::string text;
  for (int i = 0; i < line; ++i) {
    if (!std::getline(file, text)) return "";
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  return text;
}

std::string show(Location location) {
  if (!location || location.column <= 0) return "";
  const std::string text = line_of_file(location.file, location.line);
  const std::size_t start = std::min(text.find_first_not_of(" \t"), text.size());
  const auto column = static_cast<std::size_t>(location.column - 1);
  if (column < start || column >= text.size()) return "";
  const std::string_view code = std::string_view(text).substr(start);
  std::string below;
  for (const char c : code.substr(0, begin_of_call(code, column - start))) {
    const bool goes_on = (static_cast<unsigned char>(c) & 0xc0) == 0x80;  // a character of UTF-8
    if (!goes_on) below += c == '\t' ? '\t' : ' ';
  }
  return "\n  " + std::string(code) + "\n  " + below + "^";
}

}  // namespace lw::base

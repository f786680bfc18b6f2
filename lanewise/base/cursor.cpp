#include "lanewise/base/cursor.h"

#include <fmt/core.h>

#include <charconv>

#include "lanewise/base/error.h"

namespace lw::base {

void Cursor::skip_spaces() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
}

void Cursor::skip_blank_lines() {
  for (;;) {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    }
    if (at_ >= text_.size() || text_[at_] != '\n') return;
    ++at_;
    ++line_;
  }
}

bool Cursor::accept(std::string_view token) {
  skip_spaces();
  if (text_.substr(at_, token.size()) != token) return false;
  at_ += token.size();
  return true;
}

bool Cursor::is_at(std::string_view token) {
  skip_spaces();
  return text_.substr(at_, token.size()) == token;
}

void Cursor::expect(std::string_view token) {
  if (!accept(token)) fail(fmt::format("expected '{}'", token));
}

std::string_view Cursor::word() {
  skip_spaces();
  const std::size_t begin = at_;
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '+' || c == '-';
  };
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::uint32_t Cursor::number() {
  const std::string_view digits = word();
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
    fail("expected a whole number");
  }
  return value;
}

std::uint32_t Cursor::bracketed() {
  if (!accept("[")) return 0;
  const std::uint32_t size = number();
  if (size == 0) fail("expected a size");
  expect("]");
  return size;
}

std::string_view Cursor::end_line() {
  skip_spaces();
  std::string_view comment;
  if (at_ < text_.size() && text_[at_] == '#') {
    const std::size_t begin = at_ + 1;
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    comment = text_.substr(begin, at_ - begin);
  }
  if (at_ < text_.size() && text_[at_] != '\n') fail("expected the end of the line");
  skip_blank_lines();
  return comment;
}

bool Cursor::is_at_end() {
  skip_blank_lines();
  return at_ >= text_.size();
}

void Cursor::fail(std::string_view problem) const {
  std::size_t end = at_;
  while (end < text_.size() && text_[end] != '\n') ++end;
  throw UsageError(fmt::format("{}: line {}: {}; got '{}'.", what_, line_, problem,
                               text_.substr(at_, std::min<std::size_t>(end - at_, 40))));
}

}  // namespace lw::base

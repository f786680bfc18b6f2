// A reader of program text: words, numbers and punctuation, with the line for errors.
#pragma once

#include <string>
#include <string_view>

namespace lw::base {

class Cursor {
 public:
  /// `what` names the text in errors, as "parse" or "lane form".
  Cursor(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  /// Consumes `token` if it comes next (after spaces).
  bool accept(std::string_view token);
  void expect(std::string_view token);
  /// True when `token` comes next (after spaces).
  bool is_at(std::string_view token);
  /// A run of letters, digits, '_', '.', '+', '-'; empty if none comes next.
  std::string_view word();
  std::uint32_t number();
  /// A number in brackets; 0: none comes next.
  std::uint32_t bracketed();
  /// Ends the line; a "# ..." comment before it is returned.
  std::string_view end_line();
  bool is_at_end();
  [[noreturn]] void fail(std::string_view problem) const;
  int line() const { return line_; }

 private:
  void skip_spaces();
  void skip_blank_lines();

  std::string_view text_;
  std::string_view what_;
  std::size_t at_ = 0;
  int line_ = 1;

 public:
  /// Moves to the next line with something on it, past lines that hold only a comment.
  void next_line() { skip_blank_lines(); }
};

}  // namespace lw::base

#include "lanewise/base/cursor.h"

#include <gtest/gtest.h>

#include "lanewise/base/error.h"
#include "tests/support/message_of.h"

namespace lw::base {
namespace {

using test::message_of;

TEST(BaseCursor, ReadsWordsNumbersAndPunctuationPastSpaces) {
  Cursor in("  add f32\t%12, -0.5", "text");
  EXPECT_EQ(in.word(), "add");
  EXPECT_EQ(in.word(), "f32");
  EXPECT_FALSE(in.accept("("));
  EXPECT_TRUE(in.accept("%"));
  EXPECT_EQ(in.number(), 12u);
  in.expect(",");
  EXPECT_EQ(in.word(), "-0.5");
  EXPECT_TRUE(in.is_at_end());
}

TEST(BaseCursor, SkipsBlankAndCommentLinesAndCountsThem) {
  Cursor in("\n# nothing here\n\n  one  # two \n\n three", "text");
  in.next_line();
  EXPECT_EQ(in.line(), 4);
  EXPECT_EQ(in.word(), "one");
  EXPECT_EQ(in.end_line(), " two ");
  EXPECT_EQ(in.line(), 6);
  EXPECT_EQ(in.word(), "three");
}

TEST(BaseCursor, ErrorsNameTextLineProblemAndWhatIsThere) {
  Cursor in("one\ntwo three", "lane form");
  in.word();
  in.end_line();
  EXPECT_EQ(message_of<UsageError>([&] { in.expect("four"); }),
            "lane form: line 2: expected 'four'; got 'two three'.");
  EXPECT_EQ(message_of<UsageError>([&] { in.end_line(); }),
            "lane form: line 2: expected the end of the line; got 'two three'.");
}

TEST(BaseCursor, NumbersThatAreNoneAreRefused) {
  for (const char* text : {"", "x", "-1", "1.5", "4294967296"}) {
    Cursor in(text, "text");
    EXPECT_EQ(message_of<UsageError>([&] { in.number(); }),
              "text: line 1: expected a whole number; got ''.")
        << text;
  }
}

TEST(BaseCursor, ErrorsShowAtMostFortyCharacters) {
  const Cursor in(std::string_view("0123456789012345678901234567890123456789tail"), "text");
  EXPECT_EQ(message_of<UsageError>([&] { in.fail("problem"); }),
            "text: line 1: problem; got '0123456789012345678901234567890123456789'.");
}

}  // namespace
}  // namespace lw::base

// Lines of the source as errors show them.
#include "lanewise/base/source.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace lw::base {
namespace {

class BaseSource : public testing::Test {
 protected:
  std::string shown(const std::string& line, int column) {
    const std::string path = directory_.path() + "/source.cpp";
    std::ofstream(path) << "first\n" << line << "\nlast";
    return show({intern(path), 2, column});
  }

  test::TemporaryDirectory directory_;
};

TEST_F(BaseSource, ACaretStandsUnderTheColumn) {
  EXPECT_EQ(shown("  y = a / b;", 9), "\n  y = a / b;\n        ^");
  EXPECT_EQ(shown("f(x);", 1), "\n  f(x);\n  ^");
}

TEST_F(BaseSource, ACallIsShownByItsName) {
  EXPECT_EQ(shown("  lw::Check(x > 0);", 12), "\n  lw::Check(x > 0);\n  ^");
  EXPECT_EQ(shown("  y = t.read(i);", 13), "\n  y = t.read(i);\n        ^");
  EXPECT_EQ(shown("  y = (a + b);", 7), "\n  y = (a + b);\n      ^");
}

TEST_F(BaseSource, TabsAndCharactersOfSeveralBytesKeepTheirWidth) {
  EXPECT_EQ(shown("\ty =\ta;", 6), "\n  y =\ta;\n     \t^");
  EXPECT_EQ(shown("\u00e9 = a;", 6), "\n  \u00e9 = a;\n      ^");
}

TEST_F(BaseSource, WhatIsNotThereIsNotShown) {
  EXPECT_EQ(shown("short", 40), "");
  EXPECT_EQ(shown("    indented", 2), "");
  EXPECT_EQ(shown("no column", 0), "");
  EXPECT_EQ(shown("", 1), "");
  EXPECT_EQ(show({intern(directory_.path() + "/source.cpp"), 9, 1}), "");
  EXPECT_EQ(show({intern("/nowhere/source.cpp"), 1, 1}), "");
  EXPECT_EQ(show({intern(directory_.path()), 1, 1}), "") << "a directory";
  EXPECT_EQ(show({}), "");
}

TEST_F(BaseSource, ALineIsReadWithItsIndentation) {
  shown("\t two \r", 1);
  const std::string path = directory_.path() + "/source.cpp";
  EXPECT_EQ(line_of_file(path, 2), "\t two");
  EXPECT_EQ(line_of_file(path, 3), "last");
  EXPECT_EQ(line_of_file(path, 4), "");
}

}  // namespace
}  // namespace lw::base

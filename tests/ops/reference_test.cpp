#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "lanewise/ops/op.h"
#include "tools/reference/page.h"

namespace lw::reference {
namespace {

std::string read(const std::string& file) {
  std::ifstream in(LW_TEST_DOCS "/" + file);
  EXPECT_TRUE(in) << file;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(OpsReference, TheCommittedPageIsTheGeneratedOne) {
  EXPECT_EQ(read("reference/functions.md"), functions_page(read("accuracy.md")))
      << "run: lanewise_reference > docs/reference/functions.md";
}

TEST(OpsReference, EveryElementwiseRowIsOnThePage) {
  const std::string page = functions_page("");
  for (const ops::Row& row : ops::rows()) {
    const bool is_there = page.find("\n| `" + std::string(row.name) + "`") != std::string::npos ||
                          page.find("\n| `" + std::string(row.name) + "(") != std::string::npos;
    EXPECT_EQ(is_there, ops::is_elementwise(row.op)) << row.name;
  }
}

TEST(OpsReference, ErrorsComeFromTheTableOfAccuracies) {
  const std::string page =
      functions_page("\n| sin | f32 | 1.25 | 0 | all 2^32 | |\n| sin | f64 | 0.75 | 0 | 9 | |\n");
  EXPECT_NE(page.find("| `sin(a)` | floats | the same | Sine. | `cos(a)` | 1.25, 0.75 |\n"),
            std::string::npos)
      << page;
}

}  // namespace
}  // namespace lw::reference

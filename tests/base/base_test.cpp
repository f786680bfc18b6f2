// Small things of the base layer: source locations, hashes, internal checks, errors.
#include <gtest/gtest.h>

#include "lanewise/base/check.h"
#include "lanewise/base/hash.h"
#include "lanewise/base/location.h"
#include "tests/support/message_of.h"

namespace lw::base {
namespace {

TEST(BaseLocation, EqualNamesAreInternedOnce) {
  const std::string name = "some/file.cpp";
  EXPECT_EQ(intern(name), intern("some/file.cpp"));
  EXPECT_NE(intern(name), intern("some/other.cpp"));
}

TEST(BaseLocation, PrintsFileAndLineOrNothing) {
  EXPECT_EQ(to_string(Location{intern("a.cpp"), 12}), "a.cpp:12");
  EXPECT_EQ(to_string(Location{}), "");
}

TEST(BaseHash, DependsOnEveryByteAndIsTheSameInEveryProcess) {
  EXPECT_EQ(hash("lanewise"), hash("lanewise"));
  EXPECT_NE(hash("lanewise"), hash("lanewisf"));
  EXPECT_EQ(hash(""), 0x2d06800538d394c2u);
}

TEST(BaseCheck, AFailedCheckNamesConditionAndPlaceAndAsksForAReport) {
  const std::string words = test::message_of<InternalError>([] { LW_CHECK(1 + 1 == 3); });
  EXPECT_EQ(words, fmt::format("internal check failed: 1 + 1 == 3 ({}:{}). Please report it.",
                               __FILE__, __LINE__ - 2));
}

TEST(BaseError, AnElementErrorCarriesItsElement) {
  try {
    throw ElementError("words", 7);
  } catch (const Error& error) {
    const auto* element = dynamic_cast<const ElementError*>(&error);
    ASSERT_NE(element, nullptr);
    EXPECT_EQ(element->element(), 7);
    EXPECT_STREQ(element->what(), "words");
  }
}

}  // namespace
}  // namespace lw::base

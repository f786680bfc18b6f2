// The tests' main: nobody's real cache is touched. Tests of the disk cache switch it on in a
// directory of their own; some of them start this program again with a job of their own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "tests/support/cached_job.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == lw::test::kCachedJob) {
    return lw::test::do_cached_job();
  }
  setenv("LANEWISE_DISK_CACHE", "0", 1);
  setenv("LANEWISE_CACHE_DIR", "/nonexistent/lanewise", 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

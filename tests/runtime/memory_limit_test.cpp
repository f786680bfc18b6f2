#include "lanewise/runtime/memory_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <limits>

#include "tests/support/fork.h"
#include "tests/support/temporary_directory.h"

namespace lw::runtime {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

class RuntimeMemoryLimit : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const auto file = std::filesystem::path(directory_.path() + path);
    std::filesystem::create_directories(file.parent_path());
    test::write_file(file.string(), text);
  }
  std::size_t limit() const { return cgroup_memory_limit(directory_.path()); }

  test::TemporaryDirectory directory_;
};

TEST_F(RuntimeMemoryLimit, NoGroupIsNoLimit) {
  EXPECT_EQ(limit(), kNone);
  write("/proc/self/cgroup", "0::/\n");
  EXPECT_EQ(limit(), kNone);
  write("/sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(limit(), kNone);
}

TEST_F(RuntimeMemoryLimit, TheLeastOfAGroupAndThoseAboveItCounts) {
  write("/proc/self/cgroup", "0::/user/job\n");
  write("/sys/fs/cgroup/user/job/memory.max", "max\n");
  write("/sys/fs/cgroup/user/memory.max", "5000000\n");
  EXPECT_EQ(limit(), 5'000'000u);
  write("/sys/fs/cgroup/user/job/memory.max", "3000000\n");
  EXPECT_EQ(limit(), 3'000'000u);
}

TEST_F(RuntimeMemoryLimit, InAContainerTheGroupIsTheRoot) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", "7000000\n");
  EXPECT_EQ(limit(), 7'000'000u);
}

TEST_F(RuntimeMemoryLimit, GroupsOfTheFirstVersionCountToo) {
  write("/proc/self/cgroup", "12:cpu,cpuacct:/x\n4:memory:/docker/abc\nnonsense\n0::/x\n");
  write("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9000000\n");
  EXPECT_EQ(limit(), 9'000'000u);
}

TEST_F(RuntimeMemoryLimit, TheMachineAlwaysHasOne) {
  EXPECT_GT(memory_limit(), std::size_t{16} << 20);
  EXPECT_LT(memory_limit(), kNone);
}

}  // namespace
}  // namespace lw::runtime

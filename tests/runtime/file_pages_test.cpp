#include "lanewise/runtime/file_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "lanewise/lanewise.h"

namespace lw::runtime {
namespace {

constexpr std::int64_t kCount = 8 << 20;
constexpr std::size_t kBytes = kCount * sizeof(float);

/// A file of no name, mapped.
class Mapped {
 public:
  explicit Mapped(int sharing) : file_(std::tmpfile()) {
    if (ftruncate(fileno(file_), kBytes) != 0) throw std::runtime_error("no room for a file");
    data_ = static_cast<float*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, sharing, fileno(file_), 0));
  }
  ~Mapped() {
    munmap(data_, kBytes);
    std::fclose(file_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  std::span<float> values() const { return {data_, kCount}; }

 private:
  std::FILE* file_;
  float* data_;
};

std::int64_t resident_file_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kilobytes = 0;
    if (word == "RssFile:" && status >> kilobytes) return kilobytes << 10;
  }
  return -1;
}

TEST(RuntimeFilePages, FilesLargerThanTheBudgetDoNotStayInMemory) {
  const Mapped input(MAP_SHARED);
  const Mapped output(MAP_SHARED);
  for (std::int64_t i = 0; i < kCount; ++i)
    input.values()[static_cast<std::size_t>(i)] = static_cast<float>(i % 1000);
  madvise(input.values().data(), kBytes, MADV_DONTNEED);
  auto f = vectorize([](f32 x) { return x * 2 + 1; });
  for (const int threads : {1, 2}) {
    const std::int64_t before = resident_file_bytes();
    f.into(output.values(), {.threads = threads, .memory = 4 << 20, .compile = Compile::Now},
           std::span<const float>(input.values()));
    EXPECT_LT(resident_file_bytes() - before, 6 << 20);
    for (std::size_t i = 0; i < kCount; i += 4099) {
      ASSERT_EQ(output.values()[i], static_cast<float>(i % 1000) * 2 + 1);
    }
    madvise(output.values().data(), kBytes, MADV_DONTNEED);
    madvise(input.values().data(), kBytes, MADV_DONTNEED);
  }
}

TEST(RuntimeFilePages, PagesThatAreTheOnlyCopyStay) {
  const Mapped own(MAP_PRIVATE);
  std::fill(own.values().begin(), own.values().end(), 3.0f);
  auto f = vectorize([](f32 x) { return x + 1; });
  const std::vector<float> x(own.values().begin(), own.values().end());
  f.into(own.values(), {.memory = 1 << 20, .compile = Compile::Now}, x);
  EXPECT_EQ(own.values()[0], 4.0f);
  EXPECT_EQ(own.values()[kCount - 1], 4.0f);
  f.into(own.values(), {.memory = 1 << 20, .compile = Compile::Now}, x);
  EXPECT_EQ(own.values()[kCount / 2], 4.0f);
}

}  // namespace
}  // namespace lw::runtime

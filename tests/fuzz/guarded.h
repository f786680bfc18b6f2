// Memory between two pages that nobody may touch: code that reads or writes past the last element
// crashes at once instead of being lucky.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace lw::fuzz {

class Guarded {
 public:
  explicit Guarded(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    inside_ = (bytes + page - 1) / page * page + page;
    total_ = inside_ + 2 * page;
    void* memory = mmap(nullptr, total_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(memory);
    begin_ = base_ + page;
    allow_writing(true);
  }
  ~Guarded() { munmap(base_, total_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  void allow_writing(bool allowed) {
    mprotect(begin_, inside_, allowed ? PROT_READ | PROT_WRITE : PROT_READ);
  }
  std::byte* first() const { return begin_; }
  /// The last `bytes` before the forbidden page.
  std::byte* last(std::size_t bytes) const { return begin_ + inside_ - bytes; }

 private:
  std::byte* base_ = nullptr;
  std::byte* begin_ = nullptr;
  std::size_t inside_ = 0;
  std::size_t total_ = 0;
};

}  // namespace lw::fuzz

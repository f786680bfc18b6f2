#include "lanewise/runtime/file_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

namespace lw::runtime {
namespace {

struct Mapping {
  std::uintptr_t begin;
  std::uintptr_t end;
};

/// Those of files that this process shares with others, so that no page is the only copy.
std::vector<Mapping> shared_mappings() {
  std::vector<Mapping> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long inode = 0;
    char access[5] = "";
    const int fields =
        std::sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %lu", &begin, &end, access, &inode);
    if (fields == 4 && access[3] == 's' && inode != 0) found.push_back({begin, end});
  }
  return found;
}

bool is_covered(const std::vector<Mapping>& mappings, std::uintptr_t begin, std::uintptr_t end) {
  std::uintptr_t covered = 0;
  for (const Mapping& mapping : mappings) {
    const std::uintptr_t first = std::max(begin, mapping.begin);
    const std::uintptr_t last = std::min(end, mapping.end);
    if (first < last) covered += last - first;
  }
  return covered == end - begin;
}

}  // namespace

FilePages::FilePages(const Buffers& buffers, const kernel::Kernel& kernel, std::int64_t budget) {
  if (buffers.rank() > 1) return;
  const std::size_t inputs = buffers.inputs.size();
  const std::size_t count = inputs + buffers.outputs.size();
  const auto array = [&](std::size_t i) {
    const void* data = i < inputs ? buffers.inputs[i] : buffers.outputs[i - inputs];
    const std::int64_t size = (i < inputs ? kernel.inputs[i] : kernel.outputs[i - inputs]).bytes();
    const std::int64_t stride = buffers.strides.empty() ? size : buffers.strides_of(i)[0];
    const std::int64_t bytes = stride * (buffers.count - 1) + size;
    return Array{reinterpret_cast<std::uintptr_t>(data), stride, stride < size ? 0 : bytes};
  };
  std::int64_t all = 0;
  for (std::size_t i = 0; i < count; ++i) all += array(i).bytes;
  if (all <= budget) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (array(i).bytes > 0) arrays_.push_back(array(i));
  }
  const std::vector<Mapping> mappings = shared_mappings();
  std::erase_if(arrays_, [&](const Array& one) {
    const auto end = one.begin + static_cast<std::uintptr_t>(one.bytes);
    return !is_covered(mappings, one.begin, end);
  });
}

std::int64_t FilePages::element_bytes() const {
  std::int64_t bytes = 0;
  for (const Array& array : arrays_) bytes += array.stride;
  return bytes;
}

void FilePages::drop(std::int64_t first, std::int64_t count) const {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const Array& array : arrays_) {
    const std::int64_t last = std::min(array.stride * (first + count), array.bytes);
    const std::uintptr_t begin = array.begin + static_cast<std::uintptr_t>(array.stride * first);
    const std::uintptr_t end = array.begin + static_cast<std::uintptr_t>(last);
    const std::uintptr_t from = begin / page * page;
    // A wish: where it is not granted, pages stay.
    madvise(reinterpret_cast<void*>(from), end - from, MADV_DONTNEED);
  }
}

}  // namespace lw::runtime

// Arrays that are files mapped into memory: their pages are given back when the elements on them
// are done, so that a map over files larger than memory stays within its budget. The files keep
// what was written.
#pragma once

#include <vector>

#include "lanewise/kernel/lane.h"
#include "lanewise/runtime/buffers.h"

namespace lw::runtime {

class FilePages {
 public:
  FilePages() = default;
  /// Finds such arrays, if all arrays together are larger than `budget`: those of mappings that are
  /// shared, whose elements follow one another.
  FilePages(const Buffers& buffers, const kernel::Kernel& kernel, std::int64_t budget);

  bool empty() const { return arrays_.empty(); }
  /// Bytes of one element in all of them.
  std::int64_t element_bytes() const;
  /// Gives the pages of some elements back; whoever reads or writes one gets it again.
  void drop(std::int64_t first, std::int64_t count) const;

 private:
  struct Array {
    std::uintptr_t begin;
    std::int64_t stride;
    std::int64_t bytes;  // of all elements; 0 where they do not follow one another
  };

  std::vector<Array> arrays_;
};

}  // namespace lw::runtime

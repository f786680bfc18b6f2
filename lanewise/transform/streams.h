// What one `each` keeps row by row, and others read only at their own row and some around it, need
// not be there as a whole: they go through the rows together, and the last few rows are kept in a
// ring. So blurs of an image stay in the nearest caches.
#pragma once

#include <map>
#include <vector>

#include "lanewise/ir/function.h"

namespace lw::transform {

/// The last rows of a result: row r is the (r mod depth)-th.
struct Ring {
  std::uint32_t row;     // places
  std::uint32_t stride;  // places from one to the next
  std::uint32_t depth;   // rows, a power of two
};

/// Several `each` of one block that go through their rows together.
struct Stream {
  struct Member {
    ir::ValueId each;
    std::uint32_t delay;  // the step at which it begins
  };
  std::vector<Member> members;  // in their order
  std::uint32_t steps;
};

struct Streams {
  std::vector<Stream> streams;
  std::map<ir::ValueId, Ring> rings;  // by result
};

/// Of arrays of at least so many bytes.
Streams find_streams(const ir::Function& function, std::size_t large);

/// Makes an `each` over all places of an array go through its rows, where that may give a stream.
ir::Function in_rows(const ir::Function& function, std::size_t large);

}  // namespace lw::transform

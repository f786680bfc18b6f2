// Rows of different lengths for tests, and the ways to run functions of them.
#pragma once

#include "lanewise/api/ragged.h"
#include "tests/support/every_way.h"

namespace lw::test {

template <class T>
struct RaggedRows {
  Ragged<T> view() const { return {values, offsets}; }
  /// What was added to the values since the last one is a row.
  void end_row() { offsets.push_back(static_cast<std::int32_t>(values.size())); }

  std::vector<T> values;
  std::vector<std::int32_t> offsets = {0};
};

/// Every way, and machine code for lanes that hold rows or, of functions that have some, positions.
inline std::vector<Way> every_row_way(bool has_positions = true) {
  std::vector<Way> all = every_way(false);
  for (const bool inner : {false, true}) {
    if (inner && !has_positions) continue;
    plan::Wish wish;
    wish.inner = inner;
    all.push_back({inner ? "inner" : "lanes", wish, {.compile = Compile::Now}});
  }
  return all;
}

}  // namespace lw::test

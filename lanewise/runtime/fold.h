// Results that are not stored but folded: the partials of accumulators. The program gives one of
// each for every element, which begins with the neutral value and takes the element's updates in
// program order. Partials are then combined in an order that depends on the numbers of the elements
// alone:
//
//   element number e belongs to block e / 1024, and there to stripe e mod 64;
//   stripes combine their elements in sequence, and then s with s + 32, s + 16 and so on to s + 1;
//   blocks are the leaves of a binary tree over all numbers, 2k and 2k + 1 first; numbers below 0
//   are combined with the others last.
//
// What is missing is skipped. Keyed values are added for each key in the order of the elements.
#pragma once

#include <cstdint>
#include <functional>

#include "lanewise/types/dtype.h"

namespace lw::runtime {

/// How many elements a block has, and into how many stripes they go.
inline constexpr std::int64_t kFoldBlock = 1024;
inline constexpr std::int64_t kFoldStripes = 64;

/// Combines `count` groups of values with those behind them: arrays of the first ones, one for each
/// value, and of the others, to arrays of results. Any thread may call it.
using CombineMany =
    std::function<void(const void* const* inputs, void* const* results, std::int64_t count)>;

/// What is made of some neighbouring results, and where it goes.
struct Fold {
  enum class Kind : std::uint8_t {
    Sum,        // of one result, a number or a row
    Min,        // `a < b or isnan(a) ? a : b`
    Max,        // likewise
    ArgMin,     // of a value and a bool, whether it is there: the first element with the least one,
    ArgMax,     // or with a NaN
    Histogram,  // of keys, i32, of which those outside of 0 .. size - 1 are none: how many of each
    KeyedSum,   // of a key and a value, and a key and a value, and so on: the sum for each key
    Combine,    // of a bool, whether there is something, and numbers or rows: by a function of the
                // user's
  };
  Kind kind = Kind::Sum;
  DType type = DType::F64;    // of the values: an integer, f32 or f64; i64 of a histogram
  std::uint32_t columns = 1;  // results that it takes
  std::int64_t size = 0;      // how many keys; values of a row, or all of Combine; 0: a number
  /// Of Sum, Min and Max: one value, or a row. Of ArgMin and ArgMax: the value, and 8 bytes behind
  /// its beginning the number of the element as an i64, -1 if there is none. Of the keyed ones:
  /// `size` values. Of Combine: whether there is something, as an i64, and the values 8 bytes
  /// apart. Set by a call that ends well; after another one it is anything.
  void* total = nullptr;
  const CombineMany* combine = nullptr;  // of Combine

  bool is_keyed() const { return kind == Kind::Histogram || kind == Kind::KeyedSum; }
  bool gives_place() const { return kind == Kind::ArgMin || kind == Kind::ArgMax; }
};

}  // namespace lw::runtime

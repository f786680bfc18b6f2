// Going through the positions of views: dimensions that join, `each`, and loops.
//
// An operation is one `each` for every dimension that is left when those are joined that follow one
// another in all operands. Dimensions along which all operands are constant are not gone through.
#pragma once

#include <functional>
#include <vector>

#include "lanewise/trace/view.h"

namespace lw::trace {

using Sizes = std::vector<std::uint32_t>;
using Steps = std::vector<std::int64_t>;  // strides, 0 where the value does not change
using Positions = std::span<const ir::ValueId>;

Steps steps_of(const View& view);

/// Sizes and steps, of several views, without dimensions of size 1 and with those joined that
/// follow one another in all views.
struct Joined {
  Sizes sizes;
  std::vector<Steps> steps;
};
Joined join(std::span<const std::uint32_t> sizes, const std::vector<Steps>& steps);

ir::ValueId index_literal(std::int64_t value);
/// Where a position is in the base of a view.
ir::ValueId place_of(const View& view, Positions positions, std::span<const std::int64_t> steps);
/// Reads there.
ir::ValueId read_at(const View& view, Positions positions, std::span<const std::int64_t> steps);

/// An `each` for every size, one in another, that keep what the body gives; without sizes what it
/// gives once.
ir::ValueId keep_all(std::span<const std::uint32_t> sizes,
                     const std::function<ir::ValueId(Positions)>& body);
/// What was kept of the positions of `sizes` as a view of a shape: the same along dimensions in
/// which the size is 1.
View kept_view(ir::ValueId kept, const Shape& shape, const Shape& sizes);

/// Loops, one in another, whose steps see what those before have done; few steps are recorded one
/// by one.
inline constexpr std::int64_t kMostStraight = 16;
void loop_over(std::span<const std::uint32_t> sizes, const std::function<void(Positions)>& body,
               std::int64_t most_straight = kMostStraight);
void count_to(std::uint32_t size, const std::function<void(ir::ValueId)>& body);
/// A loop up to a number that elements have, an i32.
void count_up_to(ir::ValueId end, const std::function<void(ir::ValueId)>& body);

/// Both, one behind the other.
Steps together(std::span<const std::int64_t> a, std::span<const std::int64_t> b);
std::vector<ir::ValueId> together(Positions a, Positions b);

/// Writes all values of a view to places of an array of the same shape.
void write_all(const View& array, const View& values);

}  // namespace lw::trace

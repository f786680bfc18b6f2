// Windows that move over views: convolutions and pools.
#pragma once

#include "lanewise/trace/view.h"

namespace lw::trace {

/// A view with the places of windows in the last axes, and what is in them behind.
View windows(std::string_view call, const View& view, std::span<const std::int64_t> sizes,
             std::span<const std::int64_t> strides);

/// How far the shorter of two rows goes beyond the ends of the other: nowhere, so that the result
/// is as long as the longer one, or wherever they meet.
enum class Reach : std::uint8_t { Valid, Same, Full };

/// The sums of products of a row with the parts of another; `turned`: with the other turned round,
/// which is a convolution.
View correlate(const View& a, const View& b, Reach reach, bool turned);

/// (height, width) and (rows, columns), or (channels, height, width) and (outputs, channels, rows,
/// columns); `before` and `after` have rows and columns of zeros around the image.
View conv2d(const View& image, const View& kernel, std::span<const std::int64_t, 2> strides,
            std::span<const std::int64_t, 2> before, std::span<const std::int64_t, 2> after);

/// The windows of the last two axes, each in one axis.
View pooled(std::string_view call, const View& image, std::span<const std::int64_t, 2> sizes,
            std::span<const std::int64_t, 2> strides);

}  // namespace lw::trace

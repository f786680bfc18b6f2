#include "lanewise/trace/windows.h"

#include <fmt/core.h>

#include <algorithm>

#include "lanewise/trace/arrange.h"
#include "lanewise/trace/product.h"
#include "lanewise/trace/space.h"

namespace lw::trace {
namespace {

ir::ValueId zero_of(const View& view) {
  return Trace::current().builder().constant(types::scalar_of(type_of(view), 0));
}

View padded(const View& view, std::int64_t before, std::int64_t after, int axis) {
  if (before == 0 && after == 0) return view;
  return pad(view, before, after, axis, zero_of(view));
}

}  // namespace

View windows(std::string_view call, const View& view, std::span<const std::int64_t> sizes,
             std::span<const std::int64_t> strides) {
  require_here(view);
  const int front = view.rank() - static_cast<int>(sizes.size());
  View moved = view;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const int d = front + static_cast<int>(i);
    const std::int64_t size = view.shape[d];
    if (sizes[i] < 1 || strides[i] < 1 || sizes[i] > size) {
      refuse(fmt::format(
          "{}: the window does not fit; got {} places in steps of {} along an axis of {}, expected "
          "1 to {}, and steps of at least 1.",
          call, sizes[i], strides[i], size, size));
    }
    moved.shape[d] = static_cast<std::uint32_t>((size - sizes[i]) / strides[i] + 1);
    moved.strides[static_cast<std::size_t>(d)] *= strides[i];
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    moved.strides[static_cast<std::size_t>(moved.rank())] =
        view.strides[static_cast<std::size_t>(front) + i];
    moved.shape.push_back(static_cast<std::uint32_t>(sizes[i]));
  }
  return moved;
}

View correlate(const View& a, const View& b, Reach reach, bool turned) {
  const bool is_exchanged = b.shape[0] > a.shape[0];
  const View& longer = is_exchanged ? b : a;
  const View shorter = turned ? flip(is_exchanged ? a : b, 0) : is_exchanged ? a : b;
  const std::int64_t n = shorter.shape[0];
  const std::int64_t before = reach == Reach::Full ? n - 1 : reach == Reach::Same ? n / 2 : 0;
  const std::int64_t after = reach == Reach::Full ? n - 1 : reach == Reach::Same ? (n - 1) / 2 : 0;
  const std::int64_t step = 1;
  const std::string_view call = turned ? "convolve" : "correlate";
  const View parts = windows(call, padded(longer, before, after, 0), {&n, 1}, {&step, 1});
  const View result = contract(call, parts, "xk", shorter, "k", "x");
  return is_exchanged && !turned ? flip(result, 0) : result;
}

View conv2d(const View& image, const View& kernel, std::span<const std::int64_t, 2> strides,
            std::span<const std::int64_t, 2> before, std::span<const std::int64_t, 2> after) {
  const int rank = image.rank();
  if (rank == 3 && image.shape[0] != kernel.shape[1]) {
    refuse(fmt::format(
        "conv2d: shapes do not fit; got {} and {}, expected (channels, height, width) and "
        "(outputs, channels, rows, columns).",
        types::to_string(image.shape), types::to_string(kernel.shape)));
  }
  View wide = padded(image, before[0], after[0], rank - 2);
  wide = padded(wide, before[1], after[1], rank - 1);
  const std::int64_t sizes[] = {kernel.shape[kernel.rank() - 2], kernel.shape[kernel.rank() - 1]};
  const View parts = windows("conv2d", wide, sizes, strides);
  return rank == 2 ? contract("conv2d", parts, "xyij", kernel, "ij", "xy")
                   : contract("conv2d", parts, "cxyij", kernel, "ocij", "oxy");
}

View pooled(std::string_view call, const View& image, std::span<const std::int64_t, 2> sizes,
            std::span<const std::int64_t, 2> strides) {
  const View parts = windows(call, image, sizes, strides);
  std::vector<std::int64_t> shape(parts.shape.begin(), parts.shape.end() - 2);
  shape.push_back(-1);
  return reshape(parts, shape);
}

}  // namespace lw::trace

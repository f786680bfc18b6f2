// Windows that move over grids (trace/grid.h): convolutions and pools.
#pragma once

#include "lanewise/trace/grid_functions.h"
#include "lanewise/trace/windows.h"

namespace lw {

using trace::Reach;
/// Rows and columns.
using Pair = std::array<std::int64_t, 2>;

/// The convolution of two rows: sums of products of one with the parts of the other turned round.
template <class T>
Row<T> convolve(const Row<T>& a, const Row<T>& b, Reach reach = Reach::Full,
                std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Row<T>(trace::correlate(a.view(), b.view(), reach, true));
}
/// The same with the other as it is.
template <class T>
Row<T> correlate(const Row<T>& a, const Row<T>& b, Reach reach = Reach::Valid,
                 std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Row<T>(trace::correlate(a.view(), b.view(), reach, false));
}

struct ConvOptions {
  Pair stride = {1, 1};   // from one window to the next
  Pair padding = {0, 0};  // zeros on each side
  bool same = false;      // as many zeros as keep the shape, at strides of 1
};
/// Kernels that move over an image, and the sums of products: (height, width) and (rows, columns),
/// or (channels, height, width) and (outputs, channels, rows, columns).
template <class T, int rank, int kernel_rank>
  requires(rank == 2 || rank == 3) && (kernel_rank == 2 * rank - 2)
Grid<T, rank> conv2d(const Grid<T, rank>& image, const Grid<T, kernel_rank>& kernel,
                     const ConvOptions& options = {},
                     std::source_location here = std::source_location::current()) {
  trace::locate(here);
  Pair before = options.padding;
  Pair after = options.padding;
  for (std::size_t i = 0; options.same && i < 2; ++i) {
    const std::int64_t n = kernel.shape()[kernel_rank - 2 + static_cast<int>(i)];
    before[i] = (n - 1) / 2;
    after[i] = n / 2;
  }
  return Grid<T, rank>(trace::conv2d(image.view(), kernel.view(), options.stride, before, after));
}

namespace trace {

template <class T, int rank>
Grid<T, rank + 1> pooled(std::string_view call, const Grid<T, rank>& image, const Pair& size,
                         const Pair& stride, std::source_location here) {
  static_assert(rank >= 2 && rank <= 4, "an image has two dimensions, and up to two before them");
  locate(here);
  return Grid<T, rank + 1>(pooled(call, image.view(), size, stride));
}

}  // namespace trace

/// The largest value of each window of the last two axes; without a stride they stand side by side.
template <class T, int rank>
Grid<T, rank> max_pool(const Grid<T, rank>& image, const Pair& size, const Pair& stride,
                       std::source_location here = std::source_location::current()) {
  return max(trace::pooled("max_pool", image, size, stride, here), Axis(-1, here));
}
template <class T, int rank>
Grid<T, rank> max_pool(const Grid<T, rank>& image, const Pair& size = {2, 2},
                       std::source_location here = std::source_location::current()) {
  return max_pool(image, size, size, here);
}
/// The mean of each.
template <class T, int rank>
auto mean_pool(const Grid<T, rank>& image, const Pair& size, const Pair& stride,
               std::source_location here = std::source_location::current()) {
  return mean(trace::pooled("mean_pool", image, size, stride, here), Axis(-1, here));
}
template <class T, int rank>
auto mean_pool(const Grid<T, rank>& image, const Pair& size = {2, 2},
               std::source_location here = std::source_location::current()) {
  return mean_pool(image, size, size, here);
}

}  // namespace lw

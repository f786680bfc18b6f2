// Small images and matrices: convolutions, pools, orders, equations and random numbers of each.
#include <lanewise/lanewise.h>

#include <cstdio>
#include <vector>

namespace {

// One layer of a small network over an image: a kernel that keeps the shape, and the strongest of
// each four.
lw::Matrix<float> edges(lw::Matrix<float> image, lw::Matrix<float> kernel) {
  return lw::max_pool(lw::abs(lw::conv2d(image, kernel, {.same = true})));
}

// The line through points that has the least squares: 2 by 2 equations.
std::tuple<lw::f64, lw::f64> line(lw::Row<double> x, lw::Row<double> y) {
  const lw::Matrix<double> powers = lw::stack({lw::row<double>({double(x.size()), lw::sum(x)}),
                                               lw::row<double>({lw::sum(x), lw::dot(x, x)})});
  const lw::Row<double> fit = lw::solve(powers, lw::row<double>({lw::sum(y), lw::dot(x, y)}));
  return {fit[0], fit[1]};
}

// The middle one of five values.
lw::f32 median(lw::Row<float> x) { return lw::sort(x)[x.size() / 2]; }

// x' A x, as indices say it.
lw::f64 form(lw::Matrix<double> a, lw::Row<double> x) {
  return lw::einsum<"i,i->">(lw::einsum<"ij,j->i">(a, x), x);
}

// The mean of so many dice.
lw::f32 dice(lw::i32 n) {
  const lw::Row<int> thrown = lw::each(4, [&](lw::i32) { return lw::random::integer(1, n + 1); });
  return lw::cast<float>(lw::mean(thrown));
}

void print(const char* what, const lw::Tensor& tensor) {
  std::printf("%s:", what);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    std::printf(" %g", tensor.type() == lw::DType::F32 ? static_cast<double>(tensor.at<float>(i))
                                                       : tensor.at<double>(i));
  }
  std::printf("\n");
}

}  // namespace

int main() {
  const std::vector<float> images = {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1};
  const std::vector<float> kernel = {-1, 0, 1, -1, 0, 1, -1, 0, 1};
  print("edges", lw::map(edges, lw::Input(images).in_shape({4, 4}), lw::shared(kernel, {3, 3})));

  const std::vector<double> x = {0, 1, 2, 3};
  const std::vector<double> y = {1, 3, 5, 7, 2, 1, 0, -1};
  const auto [at_0, slope] = lw::map(line, lw::shared(x), lw::Input(y).in_rows(4));
  print("at 0", at_0);
  print("slope", slope);

  const std::vector<float> samples = {3, 9, 1, 4, 5, 2, 2, 8, 0, 7};
  print("median", lw::map(median, lw::Input(samples).in_rows(5)));

  const std::vector<double> a = {2, 1, 1, 3};
  const std::vector<double> vectors = {1, 0, 1, 1};
  print("form", lw::map(form, lw::shared(a, {2, 2}), lw::Input(vectors).in_rows(2)));

  const std::vector<int> sides = {1, 6, 6};
  const lw::Tensor means = lw::map(dice, sides, lw::MapOptions{.seed = 1});
  std::printf("dice of one side: %g, others from 1 to 6: %s\n", means.at<float>(0),
              means.at<float>(1) >= 1 && means.at<float>(2) <= 6 ? "yes" : "no");

  try {
    const std::vector<double> singular = {1, 2, 2, 4};
    lw::map([](lw::Matrix<double> m) { return lw::inverse(m); },
            lw::Input(singular).in_shape({2, 2}));
  } catch (const lw::ElementError& error) {
    std::printf("element %d has no inverse\n", static_cast<int>(error.element()));
  }
}

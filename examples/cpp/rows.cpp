// Elements that are rows and images: a function for one of them, mapped over many.
#include <lanewise/lanewise.h>

#include <cstdio>
#include <vector>

namespace {

// Powers of a row over their sum.
lw::Row<float> softmax(lw::Row<float> x) {
  const lw::Row<float> powers = lw::exp(x - lw::max(x));
  return powers / lw::sum(powers);
}

// One sample through one layer; weights and bias are the same for all samples.
lw::Row<float> layer(lw::Row<float> x, lw::Matrix<float> weights, lw::Row<float> bias) {
  return lw::max(lw::matmul(weights, x) + bias, 0);
}

// How much brighter every pixel is than its row, and where the brightest one is.
std::tuple<lw::Matrix<float>, lw::i32> contrast(lw::Matrix<std::uint8_t> image) {
  const lw::Matrix<float> light = lw::cast<float>(image);
  return {light - lw::mean(light, lw::Kept(1)), lw::argmax(light)};
}

// Each value with its neighbours, position by position.
lw::Row<float> smooth(lw::Row<float> x) {
  const int last = x.size() - 1;
  return lw::each(x.size(), [&](lw::i32 i) {
    return (x[lw::max(i - 1, 0)] + 2 * x[i] + x[lw::min(i + 1, last)]) / 4;
  });
}

void print(const char* what, const lw::Tensor& rows) {
  std::printf("%s\n", what);
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    const bool is_last = (i + 1) % rows.shape()[rows.shape().rank() - 1] == 0;
    std::printf("%8.4f%s", rows.at<float>(i), is_last ? "\n" : "");
  }
}

}  // namespace

int main() {
  const std::vector<float> samples = {1, 2, 3, 4, 0, 0, 0, 1000};
  const lw::Input rows = lw::Input(samples).in_rows(4);
  print("softmax", lw::map(softmax, rows));
  print("smooth", lw::map(smooth, rows));

  const std::vector<float> weights = {1, 0, 0, 0, 0.5f, 0.5f, -0.5f, -0.5f};
  const std::vector<float> bias = {0.5f, 1};
  print("layer", lw::map(layer, rows, lw::shared(weights, {2, 4}), lw::shared(bias)));

  const std::vector<std::uint8_t> pixels = {10, 20, 30, 40, 50, 60, 9, 8, 7, 6, 5, 4};
  const auto [above, where] = lw::map(contrast, lw::Input(pixels).in_shape({2, 3}));
  print("contrast", above);
  std::printf("brightest at %d and %d\n", where.at<int>(0), where.at<int>(1));

  try {
    const auto add = [](lw::Row<float> x, lw::Row<float> y) { return x + y; };
    lw::map(add, rows, lw::shared(bias));
  } catch (const lw::UsageError& error) {
    const std::string message = error.what();
    std::printf("%s\n", message.substr(message.rfind('/') + 1).c_str());
  }
}

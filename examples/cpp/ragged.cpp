// Rows of different lengths: a function for one of them, mapped over all, without padding.
#include <lanewise/lanewise.h>

#include <cstdio>
#include <vector>

namespace {

// Powers of a row over their sum; a row comes back as long as it was.
lw::RaggedRow<float> softmax(lw::RaggedRow<float> x) { return lw::exp(x - lw::logsumexp(x)); }

// What a basket costs, and its dearest item: two rows that belong together, and a number.
std::tuple<lw::f64, lw::i32> bill(lw::RaggedRow<double> prices, lw::RaggedRow<int> counts,
                                  lw::f64 discount) {
  const lw::RaggedRow<double> costs = prices * lw::cast<double>(counts);
  lw::i32 dearest = -1;
  lw::If(prices.size() > 0, [&] { dearest = lw::argmax(costs); });
  return {lw::sum(costs) * (1 - discount), dearest};
}

// One value after the other: the longest rise.
lw::i32 longest_rise(lw::RaggedRow<float> x) {
  lw::i32 now = 0;
  lw::i32 longest = 0;
  lw::f32 before = 0;
  lw::For(x, [&](lw::f32 value) {
    now = lw::select(value > before, now + 1, lw::i32(0));
    longest = lw::max(longest, now);
    before = value;
  });
  return longest;
}

// What is left of a row without its ends of zeros, and of no other length.
lw::RaggedRow<float> trimmed(lw::RaggedRow<float> x) {
  lw::i32 first = 0;
  lw::While([&] { return first < x.size(); },
            [&] {
              lw::BreakIf(x[first] != 0);
              first += 1;
            });
  lw::i32 behind = x.size();
  lw::While([&] { return behind > first; },
            [&] {
              lw::BreakIf(x[behind - 1] != 0);
              behind -= 1;
            });
  return x.slice(first, behind - first);
}

// The mean length of the rows of a row.
lw::f64 mean_length(lw::RaggedRow<lw::RaggedRow<float>> rows) {
  lw::f64 total = 0;
  lw::For(rows, [&](lw::RaggedRow<float> row) { total += lw::cast<double>(row.size()); });
  return total / lw::cast<double>(rows.size());
}

}  // namespace

int main() {
  const std::vector<float> values = {1, 2, 3, 1, 1, 5, 4, 6, 7};
  const std::vector<int> offsets = {0, 3, 3, 5, 9};
  const lw::Ragged<float> rows(values, offsets);

  const lw::Tensor parts = lw::map(softmax, rows);  // of all rows, one behind the other
  const lw::Ragged<float> result(parts);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    std::printf("row %d:", static_cast<int>(i));
    for (const float part : result[i]) std::printf(" %.3f", part);
    std::printf("\n");
  }

  const lw::Tensor rises = lw::map(longest_rise, rows);
  for (std::int64_t i = 0; i < rises.size(); ++i) std::printf("rises %d\n", rises.at<int>(i));

  const std::vector<float> signal = {0, 1, 0, 2, 0, 0, 0, 3, 4};
  const lw::Tensor some = lw::map(trimmed, lw::Ragged<float>(signal, offsets));
  const lw::Ragged<float> left(some);
  for (std::int64_t i = 0; i < left.size(); ++i) {
    std::printf("left of row %d:", static_cast<int>(i));
    for (const float value : left[i]) std::printf(" %g", value);
    std::printf("\n");
  }

  const std::vector<int> pairs = {0, 2, 4};
  const lw::Tensor means = lw::map(mean_length, lw::Ragged<lw::Ragged<float>>(rows, pairs));
  std::printf("mean lengths %g and %g\n", means.at<double>(0), means.at<double>(1));

  const std::vector<double> prices = {2.5, 10, 3, 4};
  const std::vector<int> counts = {4, 2, 1, 1};
  const std::vector<int> baskets = {0, 2, 2, 4};
  const std::vector<double> discounts = {0, 0.5, 0.25};
  const auto [totals, dearest] = lw::map(bill, lw::Ragged<double>(prices, baskets),
                                         lw::Ragged<int>(counts, baskets), discounts);
  for (std::int64_t i = 0; i < totals.size(); ++i) {
    std::printf("basket %d: %.2f, item %d\n", static_cast<int>(i), totals.at<double>(i),
                dearest.at<int>(i));
  }

  try {
    lw::Ragged<float>(values, std::vector<int>{0, 5, 4, 9});
  } catch (const lw::UsageError& error) {
    std::printf("%s\n", error.what());
  }
}

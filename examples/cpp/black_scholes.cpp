// Prices of European call options: a formula with several inputs, shared numbers, two results.
#include <lanewise/lanewise.h>

#include <cstdio>

namespace {

lw::f64 normal_cdf(lw::f64 x) { return 0.5 * (1 + erf(x / 1.4142135623730951)); }

std::tuple<lw::f64, lw::f64> call_option(lw::f64 spot, lw::f64 strike, lw::f64 years, lw::f64 rate,
                                         lw::f64 volatility) {
  lw::f64 deviation = volatility * sqrt(years);
  lw::f64 d1 = (log(spot / strike) + (rate + volatility * volatility / 2) * years) / deviation;
  lw::f64 price =
      spot * normal_cdf(d1) - strike * exp(-(rate * years)) * normal_cdf(d1 - deviation);
  return {price, normal_cdf(d1)};  // and its derivative by the spot price
}

}  // namespace

int main() {
  std::vector<double> spot, strike, years;
  for (int i = 0; i < 100000; ++i) {
    spot.push_back(80 + 0.0004 * i);
    strike.push_back(100);
    years.push_back(0.25 + 0.25 * (i % 4));
  }
  // The last two are plain numbers: shared by all elements, another value needs no new code.
  auto f = lw::vectorize(&call_option, {.name = "call_option"});
  const auto [price, delta] = f(spot, strike, years, 0.03, 0.2);
  std::printf("  spot   years   price   delta\n");
  for (const int i : {0, 25001, 50002, 75003, 99999}) {
    const auto at = static_cast<std::size_t>(i);
    std::printf("%7.3f  %4.2f  %7.3f   %5.3f\n", spot[at], years[at], price.at<double>(i),
                delta.at<double>(i));
  }
}

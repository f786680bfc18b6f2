// Inverse hyperbolic functions: odd series near zero, else logarithms of a sum in two parts, of
// which nothing is lost. The coefficients are those of tools/coefficients/log.sollya.
#include <limits>

#include "lanewise/transform/expand_parts.h"

namespace lw::transform {
namespace {

/// log(high + low), twice that where `doubled`.
Expr log_of_pair(Expr high, Expr low, Expr doubled) {
  Split split = split_pair(high, low);
  split.k = select(doubled, split.k + 1 / k_unit(high), split.k);
  return with_log_specials(high, log_of(split));
}

}  // namespace

// log(x + sqrt(x^2 + 1)), and log(2 x) where x^2 + 1 is x^2.
Expr expand_asinh(Expr x) {
  const bool single = is_single(x);
  const Expr small =
      single ? odd_series(
                   x, {-0x1.555554p-3, 0x1.33325ep-4, -0x1.6d921ep-5, 0x1.eef79ep-6, -0x1.5fa012p-6,
                       0x1.d8f504p-7, -0x1.030e3ap-7, 0x1.7b085ep-9, -0x1.073afcp-11})
             : odd_series(x, {-0x1.5555555555555p-3, 0x1.3333333333124p-4, -0x1.6db6db6d8d2ap-5,
                              0x1.f1c71c5c540c1p-6, -0x1.6e8b9fff0d6dbp-6, 0x1.1c4e87d131efcp-6,
                              -0x1.c99310eb36893p-7, 0x1.7a4a4e2b0cfb2p-7, -0x1.3e49b62b1a706p-7,
                              0x1.0b7125524e0b5p-7, -0x1.abe3e02070098p-8, 0x1.274491ead7b09p-8,
                              -0x1.283d06fb9d7f2p-9, 0x1.337ca6297b28ap-11});
  const Expr a = abs(x);
  const Expr huge = a > (single ? 0x1p13 : 0x1p28);
  const Expr root = sqrt(fma(a, a, 1.0));
  const Expr sum = root + a;
  const Expr lost = a - (sum - root);
  const Expr large = log_of_pair(select(huge, a, sum), select(huge, x.literal(0), lost), huge);
  return select(a < (single ? 1 : 0.625), small, select(x < 0.0, -large, large));
}

// log(x + sqrt(x^2 - 1)), and log(2 x) where x^2 - 1 is x^2.
Expr expand_acosh(Expr x) {
  const Expr huge = x > (is_single(x) ? 0x1p13 : 0x1p28);
  const Expr square = fma(x, x, -1.0);
  const Expr root = sqrt(square);
  // Near 1 the result is hardly more than the root, whose rounding counts then.
  const Expr root_low = fma(-root, root, square) / at_least(root + root, 0x1p-60);
  const Expr sum = x + root;
  const Expr lost = (root - (sum - x)) + root_low;
  const Expr high = select(huge, x, sum);
  const Expr outside = x.literal(std::numeric_limits<double>::quiet_NaN());
  return log_of_pair(select(x < 1.0, outside, high), select(huge, x.literal(0), lost), huge);
}

// log1p(2 x / (1 - x)) / 2
Expr expand_atanh(Expr x) {
  const Expr small =
      is_single(x)
          ? odd_series(x, {0x1.555554p-2, 0x1.999c5cp-3, 0x1.2417d8p-3, 0x1.d68962p-4,
                           0x1.06a8e2p-4, 0x1.453c8p-3})
          : odd_series(x, {0x1.5555555555555p-2, 0x1.9999999999bbcp-3, 0x1.2492492475cdp-3,
                           0x1.c71c71dbab6f3p-4, 0x1.745d13449bdfbp-4, 0x1.3b142aa1c7e59p-4,
                           0x1.1107b20c4e08cp-4, 0x1.e2dd921778d28p-5, 0x1.a5fbb69837df8p-5,
                           0x1.c1f89fa7b616ep-5, 0x1.56cde521fe054p-7, 0x1.1e67d02da6c41p-3,
                           -0x1.33d97829c3d8bp-3, 0x1.b747e37cab592p-3});
  const Expr a = abs(x);
  const Expr ratio = (a + a) / (1.0 - a);
  const Expr sum = ratio + 1.0;
  const Expr lost = ratio - (sum - 1.0);
  const Expr large = 0.5 * with_log_specials(sum, log_of(split_pair(sum, lost)));
  return select(a < 0.5, small, select(x < 0.0, -large, large));
}

}  // namespace lw::transform

// The error function and its complement.
// The coefficients are those of tools/coefficients/erf_f32.sollya, erf_f64.sollya and
// erfc_f64.sollya.
#include "lanewise/transform/expand_parts.h"

namespace lw::transform {
namespace {

/// exp(-x^2) * w * H(1 - 8 * w) with w = 1 / (|x| + 4), in f64; with `few` terms exact enough for a
/// result in f32.
Expr erfc_in_double(Expr x, bool few) {
  const Expr one = x.literal(1);
  const Expr a = at_most(abs(x), few ? 11 : 28);  // where the result is 0
  const Expr square = a * a;
  const Expr square_rest = fma(a, a, -square);
  // exp(-x^2) = 2^k * (1 + r + e)
  const Expr magic = x.literal(0x1.8p52);
  const Expr shifted = fma(square, -0x1.71547652b82fep0, magic);
  const Expr k = shifted - magic;
  const Expr near = fma(k, x.literal(-0x1.62e42fefa38p-1), -square);  // exact
  const Expr correction = fma(k, x.literal(0x1.ef35793c7673p-45), square_rest);
  const Expr r = near - correction;
  const Expr r_rest = (near - r) - correction;
  const Expr series =
      few ? polynomial(r, {0x1.000000440423ap-1, 0x1.5555559918d21p-3, 0x1.55547e0493dadp-5,
                           0x1.11107b5143bbap-7, 0x1.6d989ae97387fp-10, 0x1.a1ba469fa44b4p-13})
          : polynomial(r, {0x1.0000000000001p-1, 0x1.555555555555cp-3, 0x1.5555555554f58p-5,
                           0x1.111111110e9bdp-7, 0x1.6c16c16da6022p-10, 0x1.a01a01b46ab88p-13,
                           0x1.a019fbbf1350fp-16, 0x1.71ddedfc810c4p-19, 0x1.27ef3b3966ae4p-22,
                           0x1.af6f6b7f37549p-26, 0x1.11ad96075a29dp-29});
  const Expr e = fma(r * r, series, r_rest);
  const Expr y = a + 4.0;
  const Expr w = one / y;
  const Expr t = fma(w, x.literal(-8), one);
  const Expr h0 = x.literal(few ? 0x1.18932bf2bc148p0 : 0x1.18932bf08e154p0);
  const Expr h1 = x.literal(few ? -0x1.f3fe31caee7ep-1 : -0x1.f3fe31ecb49bep-1);
  const Expr tail =
      few ? polynomial(t, {0x1.8be200ab34b4bp-1, -0x1.14eacf7faf2a2p-1, 0x1.52cb17205adf8p-2,
                           -0x1.645f1f9e7b48dp-3, 0x1.38d2616b5af08p-4, -0x1.b029eb585382ap-6,
                           0x1.92787e59380ccp-8, -0x1.1156d3aff5511p-12, -0x1.06239043fe0e8p-11,
                           0x1.336da371a0d87p-13, 0x1.ad7cd29725591p-16})
          : polynomial(t, {0x1.8be202d26c742p-1,   -0x1.14eacb1ad03c5p-1,  0x1.52cac2370f1bep-2,
                           -0x1.645fd8a4b7736p-3,  0x1.38dbd2c91a3b8p-4,   -0x1.b00c052e84cf5p-6,
                           0x1.908f470aebb4ap-8,   -0x1.269b4d07ba20bp-12, -0x1.dd283f7c1c3f5p-12,
                           0x1.72cd7109cd8c3p-13,  -0x1.e7ec4bf91b6b1p-19, -0x1.3c6908e1b6acap-16,
                           0x1.3b031fafe2088p-18,  0x1.7d862299e61f9p-20,  -0x1.c543a84c0d06dp-21,
                           -0x1.33f96caae40dep-24, 0x1.0324d6e5f1869p-23,  -0x1.10496949f2f8ap-29,
                           -0x1.ad7e186e33258p-27, 0x1.2373f973c3c4dp-30});
  const Expr slope = fma(t, tail, h1);
  const Expr h = fma(t, slope, h0);
  const Expr g = w * h;
  Expr more = e * g;
  if (!few) {
    // What the last steps lost. A relative error of w counts 1 + 55 * w^2 times in w * H, nearly,
    // and one of t -55 * w / 8 times in H.
    const Expr y_rest = a - (y - 4.0);
    const Expr w_error = fma(-y_rest, w, fma(-y, w, one));
    const Expr t_error = fma(w, x.literal(-8), one - t);
    const Expr slope_error = fma(t, tail, h1 - slope);
    const Expr h_error = fma(t, slope_error, fma(t, slope, h0 - h));
    const Expr relative = fma(fma(w * w, 55, one), w_error, w * (-55.0 / 8) * t_error);
    const Expr lost = fma(g, relative, fma(w, h_error, fma(w, h, -g)));
    more = fma(g, e, fma(lost, r, lost));
  }
  const Expr value = g + fma(g, r, more);
  // 2^k in two factors, as it may be below all normal numbers.
  const Expr exponent = shifted.bitcast(DType::I64) - magic.bitcast(DType::I64);
  const Expr half = exponent >> 1.0;
  const auto power = [&](Expr n) { return ((n + 1023.0) << 52.0).bitcast(DType::F64); };
  const Expr scaled = value * power(exponent - half) * power(half);
  const Expr result = select(x < 0.0, 2.0 - scaled, scaled);
  if (few) return result;
  const Expr small =
      polynomial(square, {0x1.20dd750429b6dp0, -0x1.812746b0379b3p-2, 0x1.ce2f21a03ff4ep-4,
                          -0x1.b82ce3116ec11p-6, 0x1.565bccd10bc3p-8, -0x1.c02da3e8079p-11,
                          0x1.f9a07f8e9f264p-14, -0x1.f48b42a190123p-17, 0x1.b54bd40fa3b29p-20,
                          -0x1.33bce472ea5dp-23, 0x1.e857383bfb5f8p-29});
  return select(a < 0.625, fma(-x, small, one), result);
}

}  // namespace

/// A polynomial near zero; above, 1 - Q(|x|)^4 or 1 - Q(|x|)^8: roots of erfc are nearly
/// polynomials, where its own decay would need many terms.
Expr expand_erf(Expr x) {
  const Expr ax = abs(x);
  const Expr z = x * x;
  const Expr one = x.literal(1);
  if (is_single(x)) {
    const Expr e = polynomial(z, {0x1.06eba8p-3, -0x1.812732p-2, 0x1.ce2a5ep-4, -0x1.b7ca48p-6,
                                  0x1.529718p-8, -0x1.99ca86p-11, 0x1.2e90b4p-14});
    const Expr u = at_most(ax, 3.95) - 2.5;
    const Expr q = polynomial(
        u, {0x1.22e198p-3, -0x1.853fdp-3, 0x1.7f996p-4, -0x1.91a328p-7, -0x1.a880e2p-8,
            0x1.5a6c88p-9, -0x1.70a8bep-16, -0x1.965a56p-13, 0x1.055ecp-15, 0x1.7e9caap-17});
    const Expr square = q * q;
    return select(ax < 1.1, fma(x, e, x), copysign(fma(-square, square, one), x));
  }
  const Expr e =
      split_polynomial(z, {0x1.06eba8214db68p-3, -0x1.812746b0379cbp-2, 0x1.ce2f21a04206fp-4,
                           -0x1.b82ce31267846p-6, 0x1.565bcd0b1f38bp-8, -0x1.c02db399096a7p-11,
                           0x1.f9a31e99d87eep-14, -0x1.f4d1e3a26a0afp-17, 0x1.b9e1f327f3121p-20,
                           -0x1.5f502edf4facfp-23, 0x1.fb3f6286d3726p-27, -0x1.4bdc1a7870555p-30,
                           0x1.7cf8c0165f41bp-34, -0x1.5738b004482f4p-38, 0x1.613e2d9c295e1p-43});
  const Expr u = at_most(ax, 5.95) - 3.5;
  const Expr q =
      split_polynomial(u, {0x1.5eec0fe198709p-3, -0x1.3ebab8bf8c8a3p-3, 0x1.995a331d194bap-5,
                           -0x1.6239f7e5a0f9bp-9, -0x1.2edd216bd452cp-9, 0x1.0d80cadd531cdp-11,
                           0x1.7cc25dc7acf44p-16, -0x1.6662df018419fp-16, 0x1.cb5d69924908dp-20,
                           0x1.b5cb600779c8ep-22, -0x1.4b2533b26974cp-24, -0x1.acbf7ab119368p-29,
                           0x1.0c6e07c83a634p-29, 0x1.6462e97148482p-35, 0x1.55c26faf42814p-39,
                           0x1.38b712fe924ep-37, 0x1.e5f63a43da0efp-41});
  const Expr square = q * q;
  const Expr fourth = square * square;
  return select(ax < 1.375, fma(x, e, x), copysign(fma(-fourth, fourth, one), x));
}

Expr expand_erfc(Expr x) {
  if (!is_single(x)) return erfc_in_double(x, false);
  return erfc_in_double(x.convert(DType::F64), true).convert(DType::F32);
}

}  // namespace lw::transform

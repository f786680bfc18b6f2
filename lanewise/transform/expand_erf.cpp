// The error function and its complement.
// The coefficients are those of tools/coefficients/erf_f32.sollya and erf_f64.sollya.
#include "lanewise/transform/expand.h"

namespace lw::transform {

/// A polynomial near zero; above, 1 - Q(|x|)^4 or 1 - Q(|x|)^8: roots of erfc are nearly
/// polynomials, where its own decay would need many terms.
Expr expand_erf(Expr x) {
  const bool narrow = x.type() == DType::F32;
  const Expr ax = abs(x);
  const Expr z = x * x;
  const Expr one = x.literal(1);
  if (narrow) {
    const Expr e = polynomial(z, {0x1.06eba8p-3, -0x1.81273ep-2, 0x1.ce2cf2p-4, -0x1.b7f88cp-6,
                                  0x1.540172p-8, -0x1.a3d812p-11, 0x1.4917a4p-14});
    const Expr u = select(ax > 3.95, x.literal(3.95), ax) - 2.5;
    const Expr q = polynomial(
        u, {0x1.22e198p-3, -0x1.853fdp-3, 0x1.7f996p-4, -0x1.91a328p-7, -0x1.a880e2p-8,
            0x1.5a6c88p-9, -0x1.70a8bep-16, -0x1.965a56p-13, 0x1.055ecp-15, 0x1.7e9caap-17});
    const Expr square = q * q;
    return select(ax < one, fma(x, e, x), copysign(fma(-square, square, one), x));
  }
  const Expr e =
      polynomial(z, {0x1.06eba8214db69p-3, -0x1.812746b0379f4p-2, 0x1.ce2f21a042f25p-4,
                     -0x1.b82ce3128d0bcp-6, 0x1.565bcd0e591f1p-8, -0x1.c02db3ed2190dp-11,
                     0x1.f9a323d7c1474p-14, -0x1.f4d214b81b1fbp-17, 0x1.b9e2b4b0e400ep-20,
                     -0x1.5f4bd3aba11d8p-23, 0x1.faa032a315f81p-27, -0x1.47da05dd28989p-30,
                     0x1.60b207586c72dp-34, -0x1.d5fe0e22ddff3p-39});
  const Expr u = select(ax > 5.95, x.literal(5.95), ax) - 3.5;
  const Expr q =
      polynomial(u, {0x1.5eec0fe198709p-3, -0x1.3ebab8bf8c8a3p-3, 0x1.995a331d194bap-5,
                     -0x1.6239f7e5a0f9bp-9, -0x1.2edd216bd452cp-9, 0x1.0d80cadd531cdp-11,
                     0x1.7cc25dc7acf44p-16, -0x1.6662df018419fp-16, 0x1.cb5d69924908dp-20,
                     0x1.b5cb600779c8ep-22, -0x1.4b2533b26974cp-24, -0x1.acbf7ab119368p-29,
                     0x1.0c6e07c83a634p-29, 0x1.6462e97148482p-35, 0x1.55c26faf42814p-39,
                     0x1.38b712fe924ep-37, 0x1.e5f63a43da0efp-41});
  const Expr square = q * q;
  const Expr fourth = square * square;
  return select(ax < 1.25, fma(x, e, x), copysign(fma(-fourth, fourth, one), x));
}

Expr erf_slope(Expr x) { return x; }

}  // namespace lw::transform

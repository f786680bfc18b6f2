// Groups of registers and their functions, written once for every register type, and the loop over
// them. Include it only where an instruction set's operations are defined as types `S` in an
// unnamed namespace (registers_v3.h, registers_v4.h).
//
// kFree leaves our rules: fewer terms, no look at extreme arguments. Without it functions are good
// to 1.5 ULP (the sine 1.54) and lanes with extreme arguments are done again by libm.
// The coefficients are those of coefficients.sollya; erf after N. Juffa.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../formulas.h"
#include "lanes.h"
#include "loops.h"

namespace lw::hand {

namespace {

#ifdef LW_HAND_FREE
constexpr bool kFree = true;
#else
constexpr bool kFree = false;
#endif

/// U registers in flight; every operation is done for all of them before the next.
template <class S, int U>
struct Group {
  using F = typename S::F;
  using T = typename S::T;
  static constexpr int kWidth = S::kWidth * U;
  F r[U];

  Group() = default;
  LW_HAND_INLINE explicit Group(double v) {
    each<U>([&](auto u) LW_HAND_INLINE { r[u] = S::set1(static_cast<T>(v)); });
  }
  template <class Op, class... G>
  LW_HAND_INLINE static Group of(Op op, const G&... g) {
    Group result;
    each<U>([&](auto u) LW_HAND_INLINE { result.r[u] = op(g.r[u]...); });
    return result;
  }
  LW_HAND_INLINE static Group load(const T* p) {
    Group g;
    each<U>([&](auto u) LW_HAND_INLINE { g.r[u] = S::load(p + u * S::kWidth); });
    return g;
  }
  LW_HAND_INLINE void store(T* p) const {
    each<U>([&](auto u) LW_HAND_INLINE { S::store(p + u * S::kWidth, r[u]); });
  }
  LW_HAND_INLINE void stream(T* p) const {
    each<U>([&](auto u) LW_HAND_INLINE { S::stream(p + u * S::kWidth, r[u]); });
  }

  LW_HAND_INLINE friend Group operator+(Group a, Group b) {
    return of([](F p, F q) LW_HAND_INLINE { return p + q; }, a, b);
  }
  LW_HAND_INLINE friend Group operator-(Group a, Group b) {
    return of([](F p, F q) LW_HAND_INLINE { return p - q; }, a, b);
  }
  LW_HAND_INLINE friend Group operator*(Group a, Group b) {
    return of([](F p, F q) LW_HAND_INLINE { return p * q; }, a, b);
  }
  LW_HAND_INLINE friend Group operator/(Group a, Group b) {
    return of([](F p, F q) LW_HAND_INLINE { return p / q; }, a, b);
  }
  LW_HAND_INLINE friend Group fma(Group a, Group b, Group c) {
    return of([](F p, F q, F s) LW_HAND_INLINE { return S::fma(p, q, s); }, a, b, c);
  }
  LW_HAND_INLINE friend Group fnma(Group a, Group b, Group c) {
    return of([](F p, F q, F s) LW_HAND_INLINE { return S::fnma(p, q, s); }, a, b, c);
  }
  LW_HAND_INLINE friend Group sqrt(Group a) {
    return of([](F p) LW_HAND_INLINE { return S::sqrt(p); }, a);
  }
  LW_HAND_INLINE friend Group abs(Group a) {
    return of([](F p) LW_HAND_INLINE { return S::abs(p); }, a);
  }
  /// c + z * (c1 + z * (c2 + ...)), highest coefficient last
  template <class... C>
  LW_HAND_INLINE friend Group polynomial(Group z, double c, C... higher) {
    if constexpr (sizeof...(C) == 0) {
      return Group(c);
    } else {
      return fma(polynomial(z, higher...), z, Group(c));
    }
  }
  /// Whether a lane of |x| is outside [least, most); NaN is.
  LW_HAND_INLINE friend bool has_extremes(Group x, double least, double most) {
    typename S::M sum = S::outside(S::abs(x.r[0]), T(least), T(most));
    each<U>([&](auto u) LW_HAND_INLINE {
      if constexpr (u > 0) sum = S::or_(sum, S::outside(S::abs(x.r[u]), T(least), T(most)));
    });
    return S::any(sum);
  }
};

/// Each lane by libm.
template <class G, class Function>
[[gnu::noinline, gnu::cold]] G by_libm(const G& x, Function function) {
  typename G::T lanes[G::kWidth];
  x.store(lanes);
  for (auto& lane : lanes) lane = function(lane);
  return G::load(lanes);
}

template <class S, int U>
struct SinCos {
  Group<S, U> sin;
  Group<S, U> cos;
};

template <class S>
constexpr bool kSingle = std::is_same_v<typename S::T, float>;

/// Cody and Waite: x = k * pi + r with |r| <= pi/2, one polynomial, and k's low bit is the sign.
template <class S, int U>
LW_HAND_INLINE inline Group<S, U> sin(Group<S, U> x) {
  using G = Group<S, U>;
  using T = typename S::T;
  G result;
  if constexpr (kSingle<S>) {
    const G shifted = fma(x, G(0x1.45f306p-2), G(0x1.8p23));
    const G k = shifted - G(0x1.8p23);
    G r = fnma(k, G(-0x1.777a5cp-24), fnma(k, G(0x1.921fb6p1), x));
    if constexpr (!kFree) r = fnma(k, G(-0x1.ee59dap-49), r);
    const G z = r * r;
    G p;
    if constexpr (kFree) {
      p = polynomial(z, -0x1.55554cp-3, 0x1.110edap-7, -0x1.9f70ep-13, 0x1.5dc71p-19);
    } else {
      p = polynomial(z, -0x1.555556p-3, 0x1.11113p-7, -0x1.a0212ap-13, 0x1.7270cp-19,
                     -0x1.adecbp-26);
    }
    p = fma(r * z, p, r);
    result = G::of([](auto v, auto s) LW_HAND_INLINE { return S::flip(v, s); }, p, shifted);
  } else {
    const G shifted = fma(x, G(0x1.45f306dc9c883p-2), G(0x1.8p52));
    const G k = shifted - G(0x1.8p52);
    G r = fnma(k, G(0x1.1a62633145c07p-53), fnma(k, G(0x1.921fb54442d18p1), x));
    if constexpr (!kFree) r = fnma(k, G(-0x1.f1976b7ed8fbcp-109), r);
    const G z = r * r;
    G p = polynomial(z, -0x1.5555555555555p-3, 0x1.11111111110ddp-7, -0x1.a01a01a017078p-13,
                     0x1.71de3a5408de5p-19, -0x1.ae6455c151012p-26, 0x1.6124249478c6cp-33,
                     -0x1.ae6855fe053c9p-41, 0x1.906d21ad5c6a7p-49, -0x1.84a085393841dp-58);
    p = fma(r * z, p, r);
    result = G::of([](auto v, auto s) LW_HAND_INLINE { return S::flip(v, s); }, p, shifted);
  }
  if constexpr (!kFree) {
    if (has_extremes(x, 0, 0x1p15)) [[unlikely]] {
      return by_libm(x, [](T v) { return std::sin(v); });
    }
  }
  return result;
}

/// x = k * pi/2 + r with |r| <= pi/4, two polynomials that k's low bits choose from.
template <class S, int U>
LW_HAND_INLINE inline SinCos<S, U> sin_cos(Group<S, U> x) {
  using G = Group<S, U>;
  using T = typename S::T;
  G shifted, s, c;
  if constexpr (kSingle<S>) {
    shifted = fma(x, G(0x1.45f306p-1), G(0x1.8p23));
    const G k = shifted - G(0x1.8p23);
    G r = fnma(k, G(-0x1.777a5cp-25), fnma(k, G(0x1.921fb6p0), x));
    if constexpr (!kFree) r = fnma(k, G(-0x1.ee59dap-50), r);
    const G z = r * r;
    s = polynomial(z, -0x1.555544p-3, 0x1.1106ep-7, -0x1.9929acp-13);
    c = polynomial(z, 0x1.55554ap-5, -0x1.6c0c2ap-10, 0x1.99e8cap-16);
    s = fma(r * z, s, r);
    c = fma(z, fma(z, c, G(-0.5)), G(1));
  } else {
    shifted = fma(x, G(0x1.45f306dc9c883p-1), G(0x1.8p52));
    const G k = shifted - G(0x1.8p52);
    G r = fnma(k, G(0x1.1a62633145c07p-54), fnma(k, G(0x1.921fb54442d18p0), x));
    if constexpr (!kFree) r = fnma(k, G(-0x1.f1976b7ed8fbcp-110), r);
    const G z = r * r;
    s = polynomial(z, -0x1.5555555555549p-3, 0x1.111111110f8a6p-7, -0x1.a01a019c161d5p-13,
                   0x1.71de357b1fe7dp-19, -0x1.ae5e68a2b9cebp-26, 0x1.5d93a5acfd57cp-33);
    c = polynomial(z, 0x1.555555555554cp-5, -0x1.6c16c16c15177p-10, 0x1.a01a019cb159p-16,
                   -0x1.27e4f809c52adp-22, 0x1.1ee9ebdb4b1c4p-29, -0x1.8fae9be8838d4p-37);
    s = fma(r * z, s, r);
    c = fma(z, fma(z, c, G(-0.5)), G(1));
  }
  SinCos<S, U> result;
  each<U>([&](auto u) LW_HAND_INLINE {
    S::turn(shifted.r[u], s.r[u], c.r[u], result.sin.r[u], result.cos.r[u]);
  });
  if constexpr (!kFree) {
    if (has_extremes(x, 0, 0x1p15)) [[unlikely]] {
      result.sin = by_libm(x, [](T v) { return std::sin(v); });
      result.cos = by_libm(x, [](T v) { return std::cos(v); });
    }
  }
  return result;
}

/// So that formulas find it; wave takes sin_cos.
template <class S, int U>
LW_HAND_INLINE inline Group<S, U> cos(Group<S, U> x) {
  return sin_cos(x).cos;
}

/// x = k * log(2) + r.
template <class S, int U>
LW_HAND_INLINE inline Group<S, U> exp(Group<S, U> x) {
  using G = Group<S, U>;
  const auto scaled = [](G p, G k) LW_HAND_INLINE {
    return G::of([](auto v, auto e) LW_HAND_INLINE { return S::template scale<kFree>(v, e); }, p,
                 k);
  };
  if constexpr (kSingle<S>) {
    if constexpr (!kFree) {  // beyond these bounds the result is infinite, or zero
      x = G::of([](auto v) LW_HAND_INLINE { return S::clamp(v, -104.0F, 89.0F); }, x);
    }
    const G k = fma(x, G(0x1.715476p0), G(0x1.8p23)) - G(0x1.8p23);
    const G r = fnma(k, G(-0x1.05c61p-29), fnma(k, G(0x1.62e43p-1), x));
    G p;
    if constexpr (kFree) {
      p = polynomial(r, 0x1.fffdf2p-2, 0x1.5557cp-3, 0x1.572edep-5, 0x1.105e36p-7);
    } else {
      p = polynomial(r, 0x1.fffffcp-2, 0x1.55548cp-3, 0x1.555898p-5, 0x1.123dbap-7, 0x1.6a6d9ap-10);
    }
    return scaled(fma(r * r, p, r) + G(1), k);
  } else {
    if constexpr (!kFree) {
      x = G::of([](auto v) LW_HAND_INLINE { return S::clamp(v, -746.0, 710.0); }, x);
    }
    const G k = fma(x, G(0x1.71547652b82fep0), G(0x1.8p52)) - G(0x1.8p52);
    const G r = fnma(k, G(0x1.abc9e3b39803fp-56), fnma(k, G(0x1.62e42fefa39efp-1), x));
    const G p = polynomial(r, 0x1.000000000000ap-1, 0x1.55555555554fep-3, 0x1.55555555506cp-5,
                           0x1.1111111126b38p-7, 0x1.6c16c18475a3ep-10, 0x1.a01a012febae3p-13,
                           0x1.a0199963bc125p-16, 0x1.71df18fd0c532p-19, 0x1.28adf7b4c048cp-22,
                           0x1.ad92c5db98d61p-26);
    return scaled(fma(r * r, p, r) + G(1), k);
  }
}

/// x = m * 2^e with m from 3/4 to 3/2, or from sqrt(1/2) to sqrt(2): what the registers do best.
template <class S, int U>
  requires kSingle<S>
LW_HAND_INLINE inline Group<S, U> log(Group<S, U> x) {
  using G = Group<S, U>;
  G m, e;
  each<U>([&](auto u) LW_HAND_INLINE { S::split(x.r[u], m.r[u], e.r[u]); });
  const G f = m - G(1);
  const G z = f * f;
  G p;
  if constexpr (S::kSplitsAt1p5) {
    p = polynomial(f, 0x1.5555a4p-2, -0x1.000042p-2, 0x1.996966p-3, -0x1.54ef16p-3, 0x1.2886b8p-3,
                   -0x1.0d93f4p-3, 0x1.aca08ep-4, -0x1.713e36p-5);
  } else {
    p = polynomial(f, 0x1.55552ep-2, -0x1.000216p-2, 0x1.99b034p-3, -0x1.548186p-3, 0x1.21cd2cp-3,
                   -0x1.0c0eb4p-3, 0x1.0ae6ep-3, -0x1.4c628cp-4);
  }
  p = fma(f * z, p, e * G(-0x1.05c61p-29));
  const G result = fma(e, G(0x1.62e43p-1), f + fnma(G(0.5), z, p));
  if constexpr (!kFree) {
    if (has_extremes(x, 0x1p-126, HUGE_VALF) || S::any_negative(x.r)) [[unlikely]] {
      return by_libm(x, [](float v) { return std::log(v); });
    }
  }
  return result;
}

/// A polynomial near zero, 1 - exp(polynomial) elsewhere.
template <class S, int U>
  requires kSingle<S>
LW_HAND_INLINE inline Group<S, U> erf(Group<S, U> x) {
  using G = Group<S, U>;
  const G t = abs(x);
  const G s = x * x;
  const G tt = G::of([](auto v) LW_HAND_INLINE { return S::clamp(v, 0.0F, 4.0F); }, t);
  G far = fma(G(-0x1.22p-16), tt, G(0x1.91cfb2p-12));
  far = fma(far, tt * tt, fma(G(-0x1.fd1438p-9), tt, G(0x1.8d6342p-6)));
  far = fma(far, tt, G(-0x1.b55cb8p-4));
  far = fma(far, tt, G(-0x1.450aa0p-1));
  far = fma(far, tt, G(-0x1.079d0cp-3));
  far = fma(far, tt, G(0) - tt);
  far = G(1) - exp(far);
  G near = polynomial(s, 0x1.06eba8p-3, -0x1.812700p-2, 0x1.ce1c44p-4, -0x1.b691b2p-6,
                      0x1.471a58p-8, -0x1.38e000p-11);
  near = fma(near, x, x);
  return G::of(
      [](auto size, auto a, auto n, auto f)
          LW_HAND_INLINE { return S::where_above(size, 0.927734375F, S::copysign(f, a), n); },
      t, x, near, far);
}

/// Formulas that do so little that memory is what they wait for.
template <class Formula>
constexpr bool kStreams =
    std::is_same_v<Formula, formulas::Square> || std::is_same_v<Formula, formulas::Saxpy>;

template <class Formula, class S, int U>
void group_loop(const void* const* inputs, void* output, int64_t begin, int64_t end) {
  using G = Group<S, U>;
  using T = typename S::T;
  constexpr int64_t W = G::kWidth;
  const T* in[3] = {};
  for (int k = 0; k < Formula::kInputs; ++k) in[k] = static_cast<const T*>(inputs[k]);
  T* out = static_cast<T*>(output);
  const auto whole = [&](int64_t i) LW_HAND_INLINE {
    return formulas::apply(Formula{}, [&](int k) LW_HAND_INLINE { return G::load(in[k] + i); });
  };
  const auto part = [&](int64_t i, int64_t count) {
    T lanes[3][W];
    for (int k = 0; k < Formula::kInputs; ++k) {
      for (auto& lane : lanes[k]) lane = T(1);
      std::memcpy(lanes[k], in[k] + i, sizeof(T) * static_cast<size_t>(count));
    }
    T results[W];
    formulas::apply(Formula{}, [&](int k) { return G::load(lanes[k]); }).store(results);
    std::memcpy(out + i, results, sizeof(T) * static_cast<size_t>(count));
  };
  int64_t i = begin;
  if constexpr (kFree && kStreams<Formula>) {
    constexpr int64_t kLong = int64_t{1} << 23;
    if (end - begin > kLong) {
      const auto past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out + i) % 64 / sizeof(T));
      const int64_t first = past == 0 ? 0 : static_cast<int64_t>(64 / sizeof(T)) - past;
      part(i, first);
      for (i += first; i + W <= end; i += W) whole(i).stream(out + i);
      __builtin_ia32_sfence();
    }
  }
  for (; i + W <= end; i += W) whole(i).store(out + i);
  if (i < end) part(i, end - i);
}

/// Registers in flight. The processor overlaps neighbouring groups by itself, unless a group takes
/// longer than it looks ahead: a chain of sines with 2 / 4 / 6 / 8 registers takes 43 / 25 / 18 /
/// 20 ns an element (AVX-512, f32), while a wave takes 0.48 with any number.
template <class Formula, class S>
constexpr int registers() {
  if (std::is_same_v<Formula, formulas::SineChain>) return kSingle<S> ? 6 : 8;
  if (std::is_same_v<Formula, formulas::BlackScholes>) return 6;
  return S::kRegisters;
}

template <class Formula, class S>
Loop* group_loop_or_null() {
  constexpr int U = registers<Formula, S>();
  if constexpr (formulas::kAvailable<Formula, Group<S, U>>) {
    return &group_loop<Formula, S, U>;
  } else {
    return nullptr;
  }
}

template <class Single, class Double>
Loop* find_group_loop(std::string_view formula, Real real) {
  Loop* found = nullptr;
  formulas::with_formula(formula, [&]<class Formula>(Formula) {
    found = real == Real::f32 ? group_loop_or_null<Formula, Single>()
                              : group_loop_or_null<Formula, Double>();
  });
  return found;
}

}  // namespace
}  // namespace lw::hand

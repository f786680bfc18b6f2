// The mandelbrot loops, written once for every register type. Include it only where an instruction
// set's operations are defined as a type `S` in an unnamed namespace: the functions here are
// templates over that type, so that no code leaks from one set of compiler flags to another. For
// the same reason nothing of the standard library is called.
#pragma once

#include <cstdint>

#include "lanes.h"

namespace lw::hand {

// How a step is written; hand.h says what each form costs and promises.
enum class Form { strict, exact, free, lean };

// What U registers of lanes carry. Dead lanes keep their count; x and y run on and mean nothing.
template <class S, int U>
struct Lanes {
  typename S::F x[U], y[U], a[U], b[U];
  typename S::I n[U];
  typename S::M alive[U];
};

// One step of register u. The condition is tested on the old x and y, as the loop does; a lane that
// has once failed it stays dead, therefore any number of steps may run before somebody looks.
// What the next step waits for comes first, the mask and the count last.
template <class S, Form form, int U>
LW_HAND_INLINE inline void step(Lanes<S, U>& s, int u) {
  using F = typename S::F;
  const F x = s.x[u];
  const F y = s.y[u];
  F size;
  if constexpr (form == Form::strict || form == Form::exact) {
    const F xx = S::mul(x, x);
    const F yy = S::mul(y, y);
    // With sixteen registers y must come first, to free the old x and y; with more, x may, whose
    // chain is the longer one.
    if constexpr (!S::kFewRegisters) s.x[u] = S::add(S::sub(xx, yy), s.a[u]);
    if constexpr (form == Form::strict) {
      s.y[u] = S::add(S::mul(S::add(x, x), y), s.b[u]);
    } else {
      s.y[u] = S::fma(S::set1(2), S::mul(x, y), s.b[u]);
    }
    if constexpr (S::kFewRegisters) s.x[u] = S::add(S::sub(xx, yy), s.a[u]);
    size = S::add(xx, yy);
  } else if constexpr (form == Form::free) {
    const F yy = S::mul(y, y);
    size = S::fma(x, x, yy);
    s.y[u] = S::fma(S::add(x, x), y, s.b[u]);
    s.x[u] = S::add(S::fms(x, x, yy), s.a[u]);
  } else {  // x, y, a, b hold twice their values: 2y' = 2x*2y + 2b, 2x' = (4xx - 4yy)/2 + 2a
    const F yy = S::mul(y, y);
    size = S::fma(x, x, yy);
    s.y[u] = S::fma(x, y, s.b[u]);
    s.x[u] = S::fma(S::set1(0.5F), S::fms(x, x, yy), s.a[u]);
  }
  s.alive[u] = S::still(s.alive[u], size, S::set1(form == Form::lean ? 16 : 4));
  s.n[u] = S::count(s.n[u], s.alive[u]);
}

// K steps, the registers inside: their chains of dependent instructions overlap.
template <class S, Form form, int U, int K>
LW_HAND_INLINE inline void steps(Lanes<S, U>& s) {
  each<K>([&](auto)
              LW_HAND_INLINE { each<U>([&](auto u) LW_HAND_INLINE { step<S, form>(s, u); }); });
}

// An input as the form wants to carry it.
template <class S, Form form>
LW_HAND_INLINE inline typename S::F carried(typename S::F v) {
  return form == Form::lean ? S::add(v, v) : v;
}

// One group of U registers; without kWhole only the first `left` lanes exist.
template <class S, Form form, int U, int K, bool kWhole>
LW_HAND_INLINE inline void packet(const float* a, const float* b, int32_t* n, int64_t left,
                                  int32_t limit) {
  constexpr int W = S::kWidth;
  Lanes<S, U> s;
  each<U>([&](auto u) LW_HAND_INLINE {
    s.alive[u] = kWhole ? S::all() : S::first(left - u * W);
    s.a[u] = carried<S, form>(kWhole ? S::load(a + u * W) : S::load(a + u * W, s.alive[u]));
    s.b[u] = carried<S, form>(kWhole ? S::load(b + u * W) : S::load(b + u * W, s.alive[u]));
    s.x[u] = s.y[u] = S::set1(0);
    s.n[u] = S::zero();
  });
  int32_t k = 0;
  do {
    steps<S, form, U, K>(s);
    k += K;
  } while (S::any(s.alive) && k < limit);
  each<U>([&](auto u) LW_HAND_INLINE {
    // The last K steps may have passed the limit, and only the count shows it.
    const auto v = S::min(s.n[u], S::set1i(limit));
    if constexpr (kWhole) {
      S::store(n + u * W, v);
    } else {
      S::store(n + u * W, v, S::first(left - u * W));
    }
  });
}

// Groups of U registers, K steps between looks at the mask.
template <class S, Form form, int U, int K>
void packets(const float* a, const float* b, int32_t* n, int64_t count, int32_t limit) {
  constexpr int64_t N = int64_t{U} * S::kWidth;
  if (limit <= 0) {
    for (int64_t i = 0; i < count; ++i) n[i] = 0;
    return;
  }
  int64_t i = 0;
  for (; i + N <= count; i += N) packet<S, form, U, K, true>(a + i, b + i, n + i, N, limit);
  if (i < count) packet<S, form, U, K, false>(a + i, b + i, n + i, count - i, limit);
}

// U registers whose finished lanes get the next elements, as soon as T lanes of all have finished.
// Of the K steps between refills' branches, A come before the look and the others after it: a
// refill decided on a slightly old mask is as right as any other, and the branch, which is hard to
// predict, is resolved by the time it is reached.
template <class S, Form form, int U, int K, int T, int A>
void refill(const float* a, const float* b, int32_t* n, int64_t count, int32_t limit) {
  constexpr int W = S::kWidth;
  constexpr int32_t N = U * W;
  constexpr int64_t kChunk = int64_t{1} << 30;  // the lanes carry element numbers as int32_t
  if (limit <= 0 || count < N) {
    packets<S, form, U, K>(a, b, n, count, limit);
    return;
  }
  for (; count > 2 * kChunk - N; count -= kChunk, a += kChunk, b += kChunk, n += kChunk) {
    refill<S, form, U, K, T, A>(a, b, n, kChunk, limit);
  }
  const auto limits = S::set1i(limit);
  const auto end = static_cast<int32_t>(count);

  Lanes<S, U> s;
  typename S::I id[U];
  each<U>([&](auto u) LW_HAND_INLINE {
    s.a[u] = carried<S, form>(S::load(a + u * W));
    s.b[u] = carried<S, form>(S::load(b + u * W));
    s.x[u] = s.y[u] = S::set1(0);
    s.n[u] = S::zero();
    id[u] = S::addi(S::iota(), S::set1i(u * W));
  });
  int32_t next = N;

  while (next <= end - N) {
    // Masks begin as constants here and nowhere else: otherwise Clang carries them in general
    // registers through the inner loop.
    each<U>([&](auto u) LW_HAND_INLINE { s.alive[u] = S::all(); });
    int living;
    do {
      steps<S, form, U, A>(s);
      // Looks happen at counts K*i + A, so that a lane may pass the limit by less than K steps;
      // `min` at the store makes up for it, for any limit.
      each<U>([&](auto u) LW_HAND_INLINE { s.alive[u] = S::below(s.alive[u], s.n[u], limits); });
      living = S::count_alive(s.alive);
      steps<S, form, U, K - A>(s);
    } while (living > N - T);
    each<U>([&](auto u) LW_HAND_INLINE {
      S::retire(n, id[u], S::min(s.n[u], limits), s.alive[u]);
      const auto dead = S::not_(s.alive[u]);
      const auto rank = S::ranks(dead);
      s.a[u] = S::pick(dead, rank, carried<S, form>(S::load(a + next)), s.a[u]);
      s.b[u] = S::pick(dead, rank, carried<S, form>(S::load(b + next)), s.b[u]);
      s.x[u] = S::keep(s.alive[u], s.x[u]);
      s.y[u] = S::keep(s.alive[u], s.y[u]);
      s.n[u] = S::keepi(s.alive[u], s.n[u]);
      id[u] = S::number(dead, rank, next, id[u]);
      next += S::size(dead);
    });
  }

  // Fewer elements are left than lanes: the same without care for speed, until no lane lives.
  each<U>([&](auto u) LW_HAND_INLINE { s.alive[u] = S::all(); });
  for (;;) {
    steps<S, form, U, K>(s);
    each<U>([&](auto u) LW_HAND_INLINE {
      s.alive[u] = S::below(s.alive[u], s.n[u], limits);
      S::retire(n, id[u], S::min(s.n[u], limits), s.alive[u]);
      const auto dead = S::not_(s.alive[u]);
      const auto rank = S::ranks(dead);
      const auto some = S::below(dead, rank, S::set1i(end - next));
      const auto old = S::not_(some);
      const auto in = S::first(end - next);
      s.a[u] = S::pick(some, rank, carried<S, form>(S::load(a + next, in)), s.a[u]);
      s.b[u] = S::pick(some, rank, carried<S, form>(S::load(b + next, in)), s.b[u]);
      s.x[u] = S::keep(old, s.x[u]);
      s.y[u] = S::keep(old, s.y[u]);
      s.n[u] = S::keepi(old, s.n[u]);
      id[u] = S::number(some, rank, next, id[u]);
      s.alive[u] = S::or_(s.alive[u], some);
      next += S::size(some);
    });
    if (!S::any(s.alive)) return;
  }
}

}  // namespace lw::hand

// The element functions of the comparison, written once for every kind of number: float and double
// (scalar and libmvec loops), groups of registers (hand/functions.h) and lw::f32 and lw::f64.
// bench/compare/formulas.py has the same for Python. A formula can be called on the numbers that
// have the functions it needs; std::is_invocable tells.
#pragma once

#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

namespace lw::formulas {
// Every file has its own: they are compiled for different instruction sets, and the linker must not
// take one file's function for another's.
namespace {

using std::cos;
using std::erf;
using std::exp;
using std::log;
using std::pow;
using std::sin;
using std::sqrt;
using std::tanh;

struct Wave {
  static constexpr int kInputs = 1;
  template <class V>
    requires requires(V x) { sin(x) + cos(x) * exp(x); }
  [[gnu::always_inline]] V operator()(V x) const {
    // Groups of registers reduce the argument once.
    if constexpr (requires { sin_cos(x); }) {
      const auto [s, c] = sin_cos(x);
      return s + c * exp(x);
    } else {
      return sin(x) + cos(x) * exp(x);
    }
  }
};

struct Square {
  static constexpr int kInputs = 1;
  template <class V>
  [[gnu::always_inline]] V operator()(V x) const {
    return x * x;
  }
};

/// Horner's rule with the coefficients 1, 1/2, ... 1/17.
struct Poly {
  static constexpr int kInputs = 1;
  template <class V>
  [[gnu::always_inline]] V operator()(V x) const {
    V p = V(1.0 / 17);
    for (int k = 16; k >= 1; --k) p = p * x + V(1.0 / k);
    return p;
  }
};

/// A European call: spot, strike and time per element; interest and volatility are fixed.
struct BlackScholes {
  static constexpr int kInputs = 3;
  template <class V>
    requires requires(V x) { log(x) + sqrt(x) + exp(x) + erf(x); }
  [[gnu::always_inline]] V operator()(V spot, V strike, V time) const {
    constexpr double kInterest = 0.02;
    constexpr double kVolatility = 0.3;
    constexpr double kDrift = kInterest + kVolatility * kVolatility / 2;
    const auto normal = [](V d) __attribute__((always_inline)) {
      return V(0.5) * (V(1) + erf(d * V(0.7071067811865476)));
    };
    const V spread = V(kVolatility) * sqrt(time);
    const V d1 = (log(spot / strike) + V(kDrift) * time) / spread;
    const V d2 = d1 - spread;
    return spot * normal(d1) - strike * exp(V(-kInterest) * time) * normal(d2);
  }
};

struct SineChain {
  static constexpr int kInputs = 1;
  static constexpr int kLength = 100;
  template <class V>
    requires requires(V x) { sin(x); }
  [[gnu::always_inline]] V operator()(V x) const {
    for (int i = 0; i < kLength; ++i) x = sin(x);
    return x;
  }
};

struct Saxpy {
  static constexpr int kInputs = 2;
  template <class V>
  [[gnu::always_inline]] V operator()(V x, V y) const {
    return V(2.5) * x + y;
  }
};

#define LW_FUNCTION_ALONE(Name, function)            \
  struct Name {                                      \
    static constexpr int kInputs = 1;                \
    template <class V>                               \
      requires requires(V x) { function(x); }        \
    [[gnu::always_inline]] V operator()(V x) const { \
      return function(x);                            \
    }                                                \
  };
LW_FUNCTION_ALONE(Exp, exp)
LW_FUNCTION_ALONE(Log, log)
LW_FUNCTION_ALONE(Sin, sin)
LW_FUNCTION_ALONE(Tanh, tanh)
#undef LW_FUNCTION_ALONE

struct Pow {
  static constexpr int kInputs = 2;
  template <class V>
    requires requires(V x) { pow(x, x); }
  [[gnu::always_inline]] V operator()(V x, V y) const {
    return pow(x, y);
  }
};

/// Calls visit(formula) for the formula of this name; false if there is none.
template <class Visit>
bool with_formula(std::string_view name, Visit visit) {
  const auto is = [&](std::string_view wanted, auto formula) {
    if (name == wanted) visit(formula);
    return name == wanted;
  };
  return is("wave", Wave{}) || is("square", Square{}) || is("poly", Poly{}) ||
         is("black_scholes", BlackScholes{}) || is("sine_chain", SineChain{}) ||
         is("saxpy", Saxpy{}) || is("exp", Exp{}) || is("log", Log{}) || is("sin", Sin{}) ||
         is("pow", Pow{}) || is("tanh", Tanh{});
}

template <class Formula, class V, std::size_t... i>
constexpr bool is_available(std::index_sequence<i...>) {
  return std::is_invocable_v<Formula, std::conditional_t<i == i, V, V>...>;
}
/// Whether V has the functions the formula needs.
template <class Formula, class V>
constexpr bool kAvailable = is_available<Formula, V>(std::make_index_sequence<Formula::kInputs>{});

/// formula(input(0), input(1), ...)
template <class Formula, class Input>
__attribute__((always_inline)) inline auto apply(Formula formula, Input input) {
  if constexpr (Formula::kInputs == 1) {
    return formula(input(0));
  } else if constexpr (Formula::kInputs == 2) {
    return formula(input(0), input(1));
  } else {
    return formula(input(0), input(1), input(2));
  }
}

}  // namespace
}  // namespace lw::formulas

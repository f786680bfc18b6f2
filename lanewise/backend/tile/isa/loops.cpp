// Compiled three times, with LW_ISA = v2, v3, v4 and the matching -march. Each loop is one row's
// meaning over an array; the compiler vectorises it.
#include "lanewise/backend/tile/loops.h"

#include <cstring>
#include <utility>

#include "lanewise/ops/meaning.h"

// Lanes do not depend on one another, which the compiler cannot know.
#ifdef __clang__
#define LW_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define LW_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace lw::backend::tile {
inline namespace LW_ISA {
namespace {

using ops::Op;

template <Op op, int arity, class R, class T>
void loop(void* dst, const void* a, const void* b, const void* c, int n) {
  // No restrict: an op may write over its own operand, element by element.
  R* const out = static_cast<R*>(dst);
  if constexpr (op == Op::Select) {
    // On bits, and both sides are read: or GCC makes branches of it.
    using Bits = types::BitsOf<T>;
    const auto* mask = static_cast<const std::uint8_t*>(a);
    const auto* x = static_cast<const Bits*>(b);
    const auto* y = static_cast<const Bits*>(c);
    auto* const bits = static_cast<Bits*>(dst);
    LW_INDEPENDENT
    for (int i = 0; i < n; ++i) {
      const Bits chosen = static_cast<Bits>(-static_cast<Bits>(mask[i]));
      bits[i] = static_cast<Bits>((x[i] & chosen) | (y[i] & ~chosen));
    }
  } else if constexpr (op == Op::AngleRest || op == Op::AngleLost || op == Op::AngleQuadrant) {
    // Rare, and nothing to vectorise.
    const T* x = static_cast<const T*>(a);
    for (int i = 0; i < n; ++i) out[i] = ops::meaning::apply<op, R, T, T>(x[i], T(), T());
  } else {
    const T* x = static_cast<const T*>(a);
    const T* y = arity > 1 ? static_cast<const T*>(b) : x;
    const T* z = arity > 2 ? static_cast<const T*>(c) : x;
    LW_INDEPENDENT
    for (int i = 0; i < n; ++i) {
      out[i] =
          ops::meaning::apply<op, R, T, T>(x[i], arity > 1 ? y[i] : T(), arity > 2 ? z[i] : T());
    }
  }
}

// What is left of the half types by transform/widen_halves.
template <class R, class T>
constexpr bool is_native_conversion() {
  if constexpr (types::is_half_type<R> || types::is_half_type<T>) {
    return (std::is_same_v<R, Half> && std::is_same_v<T, float>) ||
           (std::is_same_v<R, float> && std::is_same_v<T, Half>);
  }
  return true;
}

template <Op op, int arity, ops::Accepts accepts, ops::Gives gives, ops::Kind kind>
LaneLoop find_row(DType type, DType result) {
  if constexpr (kind != ops::Kind::Native) {
    return nullptr;
  } else {
    return types::with_type(type, [&]<class T>() -> LaneLoop {
      if constexpr (!ops::meaning::compiles<T>(accepts) ||
                    (types::is_half_type<T> && !ops::is_of_halves(op))) {
        return nullptr;
      } else if constexpr (gives == ops::Gives::Same) {
        return loop<op, arity, T, T>;
      } else if constexpr (gives == ops::Gives::Bool) {
        return loop<op, arity, bool, T>;
      } else {
        return types::with_type(result, [&]<class R>() -> LaneLoop {
          if constexpr (op == Op::Convert ? is_native_conversion<R, T>() : sizeof(R) == sizeof(T)) {
            return loop<op, arity, R, T>;
          } else {
            return nullptr;
          }
        });
      }
    });
  }
}

LaneLoop find(Op op, DType type, DType result) {
  switch (op) {
#define LW_OP(id, name, form, arity, accepts, gives, kind, meaning, partials, domain, doc)     \
  case Op::id:                                                                                 \
    return find_row<Op::id, arity, ops::Accepts::accepts, ops::Gives::gives, ops::Kind::kind>( \
        type, result);
#include "lanewise/ops/ops.def"
#undef LW_OP
  }
  return nullptr;
}

template <class T, int count>
void add_terms(void* dst, const void* first, bool is_one, const void* x, const std::byte* base,
               const std::uint32_t* terms, int n) {
  T term[count];
  for (int k = 0; k < count; ++k) std::memcpy(&term[k], base + terms[k], sizeof(T));
  T* const out = static_cast<T*>(dst);
  const T* const z = static_cast<const T*>(x);
  const T* const from = static_cast<const T*>(first);
  const auto value = [&](T sum, T at) {
    for (int k = 0; k < count; ++k) sum = std::fma(sum, at, term[k]);
    return sum;
  };
  if (is_one) {
    const T one = *from;
    LW_INDEPENDENT
    for (int i = 0; i < n; ++i) out[i] = value(one, z[i]);
  } else {
    LW_INDEPENDENT
    for (int i = 0; i < n; ++i) out[i] = value(from[i], z[i]);
  }
}

template <class T, int... count>
TermsLoop find_terms(int wanted, std::integer_sequence<int, count...>) {
  constexpr TermsLoop kLoops[] = {add_terms<T, count + 1>...};
  return kLoops[wanted - 1];
}

TermsLoop terms(int count, DType type) {
  constexpr std::make_integer_sequence<int, kMostTerms> kCounts;
  return type == DType::F32 ? find_terms<float>(count, kCounts)
                            : find_terms<double>(count, kCounts);
}

int count(const void* mask, int n) {
  const auto* bytes = static_cast<const unsigned char*>(mask);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += bytes[i];
  return sum;
}

constexpr LoopTable kTable{find, terms, count};

}  // namespace
}  // namespace LW_ISA

#define LW_CONCAT_(a, b) a##b
#define LW_CONCAT(a, b) LW_CONCAT_(a, b)
const LoopTable& LW_CONCAT(loops_, LW_ISA)() { return kTable; }

}  // namespace lw::backend::tile

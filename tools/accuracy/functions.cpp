#include "tools/accuracy/functions.h"

#include <cmath>
#include <memory>

#include "lanewise/api/vectorize.h"
#include "tools/accuracy/references.h"

namespace lw::accuracy {
namespace {

template <class T, int arity, class F>
auto compiled(F function, Accuracy accuracy) {
  auto shared = std::make_shared<Vectorized<F>>(function, VectorizeOptions());
  return [shared, accuracy](std::span<T> out, std::span<const T> a,
                            [[maybe_unused]] std::span<const T> b) {
    MapOptions options;
    options.threads = 1;  // the measurement has its own
    options.compile = Compile::Now;
    options.accuracy = accuracy;
    if constexpr (arity == 1) {
      shared->into(out, options, a);
    } else {
      shared->into(out, options, a, b);
    }
  };
}

#define LW_CALL_1(name) [](Variable<T> a) { return name(a); }
#define LW_CALL_2(name) [](Variable<T> a, Variable<T> b) { return name(a, b); }

}  // namespace

template <class T>
std::vector<Function<T>> functions(Accuracy accuracy) {
  std::vector<Function<T>> list;
#define LW_ACCURACY(name, arity, low, high, least, expression)                              \
  list.push_back(                                                                           \
      {#name, arity, low, high, least, compiled<T, arity>(LW_CALL_##arity(name), accuracy), \
       [](long double x, [[maybe_unused]] long double y) { return expression; }, accuracy});
#include "tools/accuracy/functions.def"
#undef LW_ACCURACY
  return list;
}

template std::vector<Function<float>> functions<float>(Accuracy);
template std::vector<Function<double>> functions<double>(Accuracy);

}  // namespace lw::accuracy

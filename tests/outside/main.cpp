#include <lanewise/lanewise.h>

#include <iostream>

int main() {
  const std::vector<float> xs = {1, 4, 9};
  auto root = lw::vectorize([](lw::f32 x) { return sqrt(x); }, {.name = "root"});
  const lw::Tensor y = root.with({.compile = lw::Compile::Now}, xs);
  for (const float value : y.span<float>()) std::cout << value << ' ';
  std::cout << root.explain(xs).last_run->tier1_elements << " by machine code\n";
  try {
    root(std::vector<double>{1});
  } catch (const lw::UsageError& error) {
    std::cout << error.what() << '\n';
  }
}

// Arguments for random programs: NaNs of several payloads and signs, both zeros, subnormals,
// infinities, extremes, powers of two and their neighbours, small numbers, and ordinary ones.
#pragma once

#include <string>
#include <string_view>

#include "lanewise/ir/function.h"
#include "tests/fuzz/random.h"

namespace lw::fuzz {

struct Inputs {
  std::int64_t count = 0;
  std::vector<std::vector<Scalar>> values;  // by parameter: one per element, or the shared one

  /// What element `i` gets.
  std::vector<Scalar> arguments(const ir::Function& function, std::int64_t i) const;
};

/// A value where things go wrong, more often than not.
Scalar random_scalar(Random& random, DType type);

Inputs make_inputs(const ir::Function& function, std::uint64_t seed, std::int64_t count);

/// The elements with these numbers.
Inputs subset(const ir::Function& function, const Inputs& inputs,
              std::span<const std::int64_t> elements);

/// Lines that the program parser takes for comments; the bits in hexadecimal.
std::string print_inputs(const ir::Function& function, const Inputs& inputs);

/// What `print_inputs` wrote into a text, if it is there and fits the program.
std::optional<Inputs> parse_inputs(const ir::Function& function, std::string_view text);

}  // namespace lw::fuzz

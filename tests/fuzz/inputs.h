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
  std::int64_t first_element = 0;  // the number of the first one
  /// By parameter: one per element or a row of them, the shared one, or those of a table.
  std::vector<std::vector<Scalar>> values;

  /// What element `i` gets besides tables and rows.
  std::vector<Scalar> arguments(const ir::Function& function, std::int64_t i) const;
  /// Of random draws; 0 where there are none.
  std::uint64_t seed(const ir::Function& function) const;
};

/// True when results depend on the numbers of elements: those cannot change places then.
bool reads_numbers(const ir::Function& function);

/// A value where things go wrong, more often than not.
Scalar random_scalar(Random& random, DType type);

constexpr int kMostRagged = 24;  // values of a row whose length is its own

/// Parameters with names of the generator's get values that fit: tables `values<k>_<i>` hold the
/// rows from `start<k>` to before `stop<k>`, and `bits` is linear more often than not.
Inputs make_inputs(const ir::Function& function, std::uint64_t seed, std::int64_t count);

/// The elements at these places. Those that stand one behind the other keep their numbers.
Inputs subset(const ir::Function& function, const Inputs& inputs,
              std::span<const std::int64_t> elements);

/// Lines that the program parser takes for comments; the bits in hexadecimal.
std::string print_inputs(const ir::Function& function, const Inputs& inputs);

/// What `print_inputs` wrote into a text, if it is there and fits the program.
std::optional<Inputs> parse_inputs(const ir::Function& function, std::string_view text);

}  // namespace lw::fuzz

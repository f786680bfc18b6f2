// The tables and rows of a program in memory of their own, at one of its ends: reading past them
// crashes.
#pragma once

#include <deque>

#include "lanewise/ir/evaluate.h"
#include "lanewise/types/table.h"
#include "tests/fuzz/guarded.h"
#include "tests/fuzz/inputs.h"

namespace lw::fuzz {

class Tables {
 public:
  enum class At { Begin, End };  // of the memory that may be read

  Tables(const ir::Function& function, const Inputs& inputs, At at = At::End);
  /// Those that all elements read.
  std::span<const types::Table> list() const { return list_; }
  /// With the rows of an element, in the order of the parameters.
  std::vector<types::Table> of_element(std::int64_t i) const;
  /// Gives targets the values that they had at first.
  void reset_targets() const;
  /// What differs, in the targets, from their first values with those written by such elements, or
  /// nothing.
  std::string mismatch(std::span<const ir::Evaluation> truth) const;

 private:
  struct Target {
    std::uint32_t parameter;
    DType type;
    std::byte* data;
    std::vector<Scalar> first;
  };
  std::deque<Guarded> memory_;
  std::vector<Target> targets_;
  std::vector<types::Table> list_;
  std::vector<types::Table> all_;      // of rows: that of element 0
  std::vector<std::int64_t> strides_;  // bytes to the next element's; 0: a table
};

/// Lets what an evaluation of the function has written go by the numbers of parameters.
void by_parameter(const ir::Function& function, ir::Evaluation& evaluation);

/// The bytes of an array with these values.
std::vector<std::byte> pack(DType type, std::span<const Scalar> values);

}  // namespace lw::fuzz

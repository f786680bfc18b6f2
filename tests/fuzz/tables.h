// The tables of a program in memory of their own, at one of its ends: reading past them crashes.
#pragma once

#include <deque>

#include "lanewise/types/table.h"
#include "tests/fuzz/guarded.h"
#include "tests/fuzz/inputs.h"

namespace lw::fuzz {

class Tables {
 public:
  enum class At { Begin, End };  // of the memory that may be read

  Tables(const ir::Function& function, const Inputs& inputs, At at = At::End);
  std::span<const types::Table> list() const { return list_; }

 private:
  std::deque<Guarded> memory_;
  std::vector<types::Table> list_;
};

/// The bytes of an array with these values.
std::vector<std::byte> pack(DType type, std::span<const Scalar> values);

}  // namespace lw::fuzz

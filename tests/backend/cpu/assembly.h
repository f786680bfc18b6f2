// A reader of assembly text that knows as much as counting the instructions of a loop needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lw::backend::cpu::test {

struct Instruction {
  std::string name;
  std::string operands;
};

/// The innermost loop with the most vector instructions.
std::vector<Instruction> hot_loop(std::string_view assembly);

/// All instructions.
std::vector<Instruction> instructions(std::string_view assembly);

/// Computes on vector registers; moves, broadcasts and mask registers are not counted.
bool is_vector_arithmetic(const Instruction& instruction);

/// Reads or writes the stack with a vector register.
bool is_vector_spill(const Instruction& instruction);
/// Reads or writes the stack with a mask register.
bool is_mask_spill(const Instruction& instruction);

template <class Predicate>
int count(const std::vector<Instruction>& list, Predicate predicate) {
  int found = 0;
  for (const Instruction& in : list) found += predicate(in);
  return found;
}

}  // namespace lw::backend::cpu::test

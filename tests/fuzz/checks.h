// Internal to the comparison: the three kinds of trial.
#pragma once

#include "tests/fuzz/compare.h"

namespace lw::fuzz {

inline std::uint64_t combine(std::uint64_t digest, std::uint64_t more) {
  return Random(digest ^ (more * 0x9e3779b97f4a7c15)).next();
}

Verdict check_text(const ir::Function& function);
Verdict check_passes(const Trial& trial, const ir::Function& function, const Inputs& inputs,
                     std::span<const ir::Evaluation> truth);
/// `truth` is that of the program with the trial's step limit.
Verdict check_run(const Trial& trial, const ir::Function& function, const Inputs& inputs,
                  std::span<const ir::Evaluation> truth);

}  // namespace lw::fuzz

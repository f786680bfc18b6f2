// The options of lanewise_fuzz; main.cpp says what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lw::fuzz {

struct Arguments {
  std::int64_t programs = 1000;
  std::uint64_t seed = 1;
  int jobs = 1;
  std::int64_t failures = 0;  // 0: as many as suit the kind of run
  double minutes = 0;
  double reduce_seconds = 120;
  bool digest = false;
  bool isolate = false;
  bool crashed = false;
  std::optional<std::string> pass;
  std::string file;
  std::string state;
};

Arguments parse_arguments(int count, char** words);

}  // namespace lw::fuzz

// One program through all its trials. One that goes wrong is made smaller and written to
// fuzz-failure-<name>.txt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lw::fuzz {

struct CheckOptions {
  bool isolate = false;  // each check in a process of its own
  double reduce_seconds = 120;
  std::optional<std::string> pass = {};  // nothing runs; passes whose names begin so are compared
};

struct Outcome {
  bool agrees = true;
  std::uint64_t digest = 0;  // of all results
};

Outcome check_seed(std::uint64_t seed, const CheckOptions& options);

/// A program as text, in every shape there is; with inputs for `seed` where it has none.
Outcome check_file(const std::string& path, std::uint64_t seed, const CheckOptions& options);

}  // namespace lw::fuzz

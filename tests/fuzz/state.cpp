#include "tests/fuzz/state.h"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "lanewise/base/error.h"

namespace lw::fuzz {
namespace {

constexpr const char* kFirstLine = "lanewise_fuzz 1";

}  // namespace

State load_state(const std::string& path, std::uint64_t seed) {
  State state{.next = seed};
  std::ifstream in(path);
  if (!in) return state;
  std::string first, name;
  std::getline(in, first);
  Tally& tally = state.tally;
  in >> name >> state.next >> name >> tally.programs >> name >> tally.failures >> name >>
      tally.digest >> name;
  if (first != kFirstLine || !in || !tally.coverage.load(in)) {
    throw UsageError(
        fmt::format("--long: '{}' does not say where a run of this build stands. Give another "
                    "file, or remove it.",
                    path));
  }
  return state;
}

void save_state(const std::string& path, const State& state) {
  const std::string fresh = path + ".new";
  {
    std::ofstream out(fresh);
    const Tally& tally = state.tally;
    out << fmt::format("{}\nnext {}\nprograms {}\nfailures {}\ndigest {}\ncounters", kFirstLine,
                       state.next, tally.programs, tally.failures, tally.digest);
    tally.coverage.save(out);
    if (!out.flush()) throw ResourceError(fmt::format("--long: cannot write '{}'.", fresh));
  }
  std::filesystem::rename(fresh, path);
}

}  // namespace lw::fuzz

#include "lanewise/runtime/budget.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "lanewise/base/error.h"
#include "lanewise/runtime/memory_limit.h"
#include "lanewise/runtime/staging.h"

namespace lw::runtime {
namespace {

constexpr std::int64_t kEnoughBlock = 1 << 10;  // below it workers go first
constexpr std::int64_t kDefaultPart = 64;       // of what the process may use

std::int64_t default_budget() {
  static const auto bytes = static_cast<std::int64_t>(memory_limit() / kDefaultPart);
  return bytes;
}

struct Need {
  std::string what;
  std::int64_t bytes;
};

/// What one worker cannot do without.
std::vector<Need> least_needs(const Program& program, const Buffers& buffers,
                              const ExecuteOptions& options) {
  std::vector<Need> needs;
  if (const std::int64_t bytes = register_bytes(program, options); bytes > 0) {
    needs.push_back({"registers of the tile machine", bytes});
  }
  const std::int64_t block = std::min(Staging::kLeastBlock, buffers.count);
  std::size_t array = 0;
  const auto add = [&](const char* kind, std::size_t number, types::Item item) {
    const std::int64_t bytes = Staging::block_bytes(buffers, array++, item, block);
    if (bytes > 0) {
      needs.push_back({fmt::format("{} elements of {} {}", block, kind, number), bytes});
    }
  };
  if (buffers.is_staged()) {
    const std::vector<ir::Param>& params = program.function().params;
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (params[i].is_mapped()) add("argument", i, params[i].item());
    }
    const std::vector<types::Item>& outputs = program.kernel().outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) add("output", i, outputs[i]);
  }
  std::sort(needs.begin(), needs.end(), [](const Need& a, const Need& b) {
    return std::tie(b.bytes, a.what) < std::tie(a.bytes, b.what);
  });
  return needs;
}

[[noreturn]] void refuse(const Program& program, const Buffers& buffers,
                         const ExecuteOptions& options, std::int64_t budget, std::int64_t least) {
  constexpr std::size_t kNamed = 3;
  const std::vector<Need> needs = least_needs(program, buffers, options);
  std::string list;
  for (std::size_t i = 0; i < std::min(needs.size(), kNamed); ++i) {
    list += fmt::format("{}{} for {}", i == 0 ? "" : ", ", needs[i].bytes, needs[i].what);
  }
  if (needs.size() > kNamed) list += fmt::format(" and {} more", needs.size() - kNamed);
  const bool code_would_fit = options.compile != CompileMode::Now && !program.has_loops();
  throw ResourceError(fmt::format(
      "map: the memory budget is too small; got {} bytes, expected at least {} for one worker: {}. "
      "Raise memory{}.",
      budget, least, list,
      code_would_fit ? ", or compile first: machine code has no such registers" : ""));
}

}  // namespace

Room find_room(const Program& program, const Buffers& buffers, const ExecuteOptions& options,
               int workers) {
  if (options.memory < 0) {
    throw UsageError(fmt::format(
        "map: memory is negative; got {}, expected 0 for the default or a number of bytes.",
        options.memory));
  }
  const std::int64_t budget = options.memory > 0 ? options.memory : default_budget();
  const std::int64_t registers = register_bytes(program, options);
  std::int64_t most = Staging::kBlock;
  if (!program.has_loops()) {
    const std::int64_t bytes = Staging::bytes(buffers, program.kernel(), 1);
    most =
        std::max(Staging::kNearBytes / std::max<std::int64_t>(bytes, 1) / 64, std::int64_t{4}) * 64;
  }
  Room room{.workers = workers, .block = std::min(most, buffers.count)};
  const auto bytes_of_worker = [&] {
    return registers + Staging::bytes(buffers, program.kernel(), room.block);
  };
  const auto shrink = [&](std::int64_t least) {
    while (bytes_of_worker() * room.workers > budget && room.block > least) {
      room.block = std::max(room.block / 2, least);
    }
  };
  shrink(kEnoughBlock);
  if (const std::int64_t bytes = bytes_of_worker(); bytes * room.workers > budget) {
    room.workers = static_cast<int>(std::max<std::int64_t>(budget / bytes, 1));
    shrink(Staging::kLeastBlock);
  }
  room.bytes = bytes_of_worker() * room.workers;
  if (room.bytes > budget) refuse(program, buffers, options, budget, room.bytes);
  return room;
}

}  // namespace lw::runtime

#include "lanewise/runtime/budget.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "lanewise/base/error.h"
#include "lanewise/runtime/folding.h"
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
  if (const std::int64_t bytes = register_bytes(program, options, 1); bytes > 0) {
    needs.push_back({"registers of the tile machine", bytes});
  }
  if (const std::int64_t bytes = code_bytes(program, options); bytes > 0) {
    needs.push_back({"the arrays of an element", bytes});
  }
  const std::int64_t block =
      std::min(Staging::least_block(buffers, program.kernel()), buffers.count);
  const std::string elements = block == 1 ? "an element" : fmt::format("{} elements", block);
  std::size_t array = 0;
  const auto add = [&](const char* kind, std::size_t number, types::Item item) {
    const std::int64_t bytes = Staging::block_bytes(buffers, array++, item, block);
    if (bytes > 0) {
      needs.push_back({fmt::format("{} of {} {}", elements, kind, number), bytes});
    }
  };
  if (buffers.is_staged()) {
    const std::vector<ir::Param>& params = program.function().params;
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (params[i].is_mapped()) add("argument", i, params[i].item());
    }
    const std::vector<types::Item>& outputs = program.kernel().outputs;
    for (std::size_t i = 0; i < buffers.outputs.size(); ++i) add("output", i, outputs[i]);
  }
  if (!buffers.folds.empty()) {
    const std::int64_t partials = std::min(kFoldBlock, buffers.count);
    needs.push_back({fmt::format("what {} elements add to accumulators", partials),
                     Folding::bytes(buffers, program.kernel(), partials) +
                         Folding::work_bytes(buffers, program.kernel(), partials)});
    if (const std::int64_t bytes = Folding::table_bytes(buffers); bytes > 0) {
      needs.push_back({"the keys of accumulators", bytes});
    }
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

/// Elements of a block at first.
std::int64_t most_block(const Program& program, const Buffers& buffers, std::int64_t least) {
  const std::int64_t bytes =
      std::max<std::int64_t>(Staging::bytes(buffers, program.kernel(), 1), 1);
  std::int64_t fitting = std::max(Staging::kMostBytes / bytes, least);
  if (fitting > 64) fitting = fitting / 64 * 64;
  if (program.has_loops()) return std::min(Staging::kBlock, fitting);
  return std::min(std::max(Staging::kNearBytes / bytes / 64, std::int64_t{4}) * 64, fitting);
}

/// Elements whose partials a worker holds: all, of a small map.
std::int64_t most_partials(const Program& program, const Buffers& buffers) {
  if (buffers.folds.empty()) return 0;
  if (buffers.count <= Folding::kMost) return buffers.count;
  if (program.has_loops() || Folding::prefers_many(buffers)) return Folding::kMost;
  const std::int64_t block = Folding::bytes(buffers, program.kernel(), kFoldBlock);
  return std::max<std::int64_t>(Folding::kNearBytes / block, 1) * kFoldBlock;
}

}  // namespace

std::int64_t budget_of(const ExecuteOptions& options) {
  return options.memory > 0 ? options.memory : default_budget();
}

Room find_room(const Program& program, const Buffers& buffers, const ExecuteOptions& options,
               int workers) {
  if (options.memory < 0) {
    throw UsageError(fmt::format(
        "map: memory is negative; got {}, expected 0 for the default or a number of bytes.",
        options.memory));
  }
  const std::int64_t budget = budget_of(options);
  const std::int64_t least = Staging::least_block(buffers, program.kernel());
  Room room{.workers = workers,
            .block = std::min(most_block(program, buffers, least), buffers.count),
            .partials = most_partials(program, buffers)};
  const std::int64_t fixed = code_bytes(program, options) + Folding::table_bytes(buffers);
  const auto bytes = [&] {
    const std::int64_t worker = fixed + Staging::bytes(buffers, program.kernel(), room.block) +
                                Folding::bytes(buffers, program.kernel(), room.partials) +
                                Folding::work_bytes(buffers, program.kernel(), room.partials);
    return worker * room.workers + register_bytes(program, options, room.workers);
  };
  const auto shrink = [&](std::int64_t smallest) {
    while (bytes() > budget && (room.block > smallest || room.partials > kFoldBlock)) {
      room.block = std::min(room.block, std::max(room.block / 2, smallest));
      room.partials = std::min(room.partials, std::max(room.partials / 2, kFoldBlock));
    }
  };
  shrink(kEnoughBlock);
  if (bytes() > budget) {
    while (bytes() > budget && room.workers > 1) --room.workers;
    shrink(least);
  }
  room.bytes = bytes();
  if (room.bytes > budget) refuse(program, buffers, options, budget, room.bytes);
  return room;
}

}  // namespace lw::runtime

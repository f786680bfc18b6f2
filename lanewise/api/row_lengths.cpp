#include "lanewise/api/row_lengths.h"

#include <algorithm>

namespace lw::api {

std::size_t own_lengths(std::span<const WrittenRows> rows) {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [](const WrittenRows& one) { return !one.offsets.has_value(); }));
}

ir::Function row_lengths(ir::Function function, std::size_t first, std::size_t count) {
  const auto writes_rows = [&](ir::ValueId id) {
    return function[id].op == ir::Op::Each && ir::collects_of(function, id).size() == 1 &&
           ir::collect_of(function, id, 0).operands.size() > 1 &&
           ir::is_target(function, ir::collect_of(function, id, 0).operands[1]);
  };
  for (ir::Block& block : function.blocks) std::erase_if(block.body, writes_rows);
  const auto keep = [&](auto& results) {
    const auto begin = results.begin() + static_cast<std::ptrdiff_t>(first);
    results = std::remove_reference_t<decltype(results)>(
        begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  keep(function.results);
  keep(function[function.body().body.back()].operands);
  return function;
}

}  // namespace lw::api

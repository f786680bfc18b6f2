// libFuzzer target: any text is refused with a UsageError, or is a program. One that is accepted
// prints to text that gives the same program again, and the evaluator can run it.
#include <fmt/core.h>

#include <cstdlib>

#include "lanewise/base/error.h"
#include "lanewise/ir/evaluate.h"
#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"

namespace lw::ir {
namespace {

constexpr std::uint32_t kMostValues = 64;  // of a row, an array or an each that is run

void require(bool condition, std::string_view what, const std::string& text) {
  if (condition) return;
  fmt::print(stderr, "{}:\n{}", what, text);
  std::abort();
}

/// False for what passes make or take away before the evaluator sees a program, and for what would
/// take long.
bool can_be_evaluated(const Function& f, ValueId id) {
  const Instruction& in = f[id];
  switch (in.op) {
    case Op::Slot:
    case Op::SlotRead:
    case Op::SlotWrite:
      return false;
    case Op::Param:
      return !is_target(f, id) && f.params[in.index].size <= kMostValues;
    case Op::Array:
    case Op::Each:
      return in.index <= kMostValues;
    case Op::Collect:  // into an array: its place is not checked
      return in.operands.size() == 1 && !types::is_half(in.type);
    default:
      break;
  }
  if (!ops::is_elementwise(in.op)) return true;
  const bool has_half = types::is_half(in.type) || types::is_half(f[in.operands[0]].type);
  return ops::row(in.op).kind == ops::Kind::Native && (!has_half || ops::is_of_halves(in.op));
}

void run(const Function& f) {
  bool is_evaluated = true;
  for_each(f, [&](ValueId id, int) { is_evaluated = is_evaluated && can_be_evaluated(f, id); });
  if (!is_evaluated) return;
  static const std::uint64_t zeros[kMostValues] = {};
  std::vector<Scalar> arguments;
  std::vector<types::Table> tables;
  for (const Param& p : f.params) {
    if (p.is_indexed()) {
      tables.push_back({.data = zeros, .size = p.is_row() ? p.size : 3});
    } else {
      arguments.push_back(types::scalar_of(p.type, 1));
    }
  }
  evaluate(f, arguments, {.tables = tables, .most_instructions = 2000});
}

void check(std::string_view text) {
  constexpr PrintOptions kAll = {.locations = true};
  Function f;
  try {
    f = parse(text);
  } catch (const UsageError&) {
    return;
  }
  const std::string printed = print(f, kAll);
  const Function again = parse(printed);  // nothing catches what this throws
  require(print(again, kAll) == printed, "it prints otherwise", printed);
  require(fingerprint(again, kAll) == fingerprint(f, kAll), "another program", printed);
  run(f);
}

}  // namespace
}  // namespace lw::ir

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lw::ir::check({reinterpret_cast<const char*>(data), size});
  return 0;
}

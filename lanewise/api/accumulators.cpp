#include "lanewise/api/accumulators.h"

#include <fmt/core.h>

#include "lanewise/base/error.h"

namespace lw {
namespace api {

std::int64_t checked_keys(std::int64_t keys) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (keys >= 1 && keys <= kMost) return keys;
  throw UsageError(
      fmt::format("accumulator: wrong number of keys; got {}, expected 1 to {}: keys are the "
                  "numbers below it.",
                  keys, kMost));
}

ir::ValueId checked_key(const trace::Index& key, std::int64_t size) {
  ir::Builder& build = trace::Trace::current().builder();
  build.check_index(key.value, size);
  return build.convert(key.value, DType::I32);
}

void add_site(std::vector<ir::ValueId>& slots, ir::ValueId key, ir::ValueId value) {
  trace::Trace& trace = trace::Trace::current();
  ir::Builder& build = trace.builder();
  const ir::ValueId slot = trace.first_slot(Scalar(std::int32_t{-1}));
  if (trace.is_in_loop()) {
    const ir::ValueId none = build.constant(Scalar(std::int32_t{0}));
    build.fail_if(build.op(ops::Op::Ge, {trace.read(slot), none}), ir::FailKind::Check);
  }
  slots.push_back(slot);
  trace.write(slot, key);
  if (value == ir::kNone) return;
  slots.push_back(trace.first_slot(types::scalar_of(build.type(value), 0)));
  trace.write(slots.back(), value);
}

}  // namespace api

void Histogram::add(const trace::Index& key) {
  constexpr std::size_t kMostInLoop = 256;
  const ir::ValueId number = api::checked_key(key, std::ssize(value_));
  if (!trace::Trace::current().is_in_loop()) return api::add_site(partials(), number);
  if (value_.size() > kMostInLoop) {
    throw UsageError(
        fmt::format("Histogram: inside of a loop with many bins; got {}, expected at most {}, "
                    "which an element has all for itself. Add after the loop, or return the keys.",
                    value_.size(), kMostInLoop));
  }
  own_.add(number);
}

void Histogram::Own::add(ir::ValueId key) {
  trace::Trace& trace = trace::Trace::current();
  ir::Builder& build = trace.builder();
  std::vector<ir::ValueId>& arrays = partials();
  if (arrays.empty()) {
    arrays.push_back(
        trace.first_array(Scalar(std::int64_t{0}), static_cast<std::uint32_t>(total_.size())));
  }
  const ir::ValueId count = build.read(arrays[0], key, ir::IndexMode::Unchecked);
  const ir::ValueId one = build.constant(Scalar(std::int64_t{1}));
  build.array_write(arrays[0], key, build.op(ops::Op::Add, {count, one}), ir::IndexMode::Unchecked);
}

}  // namespace lw

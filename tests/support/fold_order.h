// The order in which accumulators combine (runtime/fold.h), written down element by element.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace lw::test {

/// What `combine(earlier, later)` makes of the values of elements 0 to below `count`, of those that
/// `value(element)`, a std::optional, gives; `first` is the number of element 0.
template <class ValueOf, class Combine>
auto folded_in_order(std::int64_t count, std::int64_t first, const ValueOf& value,
                     const Combine& combine) {
  using Value = decltype(value(std::int64_t{0}));
  const auto take = [&](Value& earlier, const Value& later) {
    if (later) earlier = earlier ? Value(combine(*earlier, *later)) : later;
  };
  std::map<std::int64_t, std::vector<Value>> blocks;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<Value>& stripes = blocks[(first + i) >> 10];
    stripes.resize(64);
    take(stripes[static_cast<std::size_t>((first + i) & 63)], value(i));
  }
  std::map<std::int64_t, Value> nodes;
  for (auto& [number, stripes] : blocks) {
    for (std::size_t half = 32; half > 0; half /= 2) {
      for (std::size_t s = 0; s < half; ++s) take(stripes[s], stripes[s + half]);
    }
    nodes[number] = stripes[0];
  }
  while (nodes.size() > 1) {
    if (nodes.size() == 2 && nodes.contains(-1) && nodes.contains(0)) {
      take(nodes[-1], nodes[0]);
      return nodes[-1];
    }
    std::map<std::int64_t, Value> parents;
    for (const auto& [number, node] : nodes) take(parents[number >> 1], node);
    nodes = std::move(parents);
  }
  return nodes.empty() ? Value() : nodes.begin()->second;
}

}  // namespace lw::test

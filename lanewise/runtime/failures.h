// Failures of elements as a caller gets them who does not want to stop at the first one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/ir/evaluate.h"

namespace lw::runtime {

/// What becomes of a map in which elements fail. Raise: the lowest one is thrown as ElementError.
/// Fill: all others end, and the results of those that fail are filled. Collect: they are told too.
enum class OnError : std::uint8_t { Raise, Collect, Fill };

struct ElementFailure {
  std::int64_t element = 0;  // its number in the map
  ir::Failure why;
  std::string message;

  bool operator==(const ElementFailure&) const = default;
};

struct Failures {
  std::int64_t count = 0;             // of all
  std::vector<ElementFailure> first;  // the lowest ones, in order

  bool operator==(const Failures&) const = default;
};

/// As a column of a table has it: "index", "check".
std::string_view name_of(ir::FailKind kind);

}  // namespace lw::runtime

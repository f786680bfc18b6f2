// The evaluator: runs an element program on one element, slowly and obviously. It defines the
// meaning; every faster path is compared with it bit for bit. It shares no code with lowering.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "lanewise/ir/function.h"
#include "lanewise/types/table.h"

namespace lw::ir {

struct Failure {
  FailKind kind = FailKind::Check;
  base::Location location;
  /// The operands of the failing op; of an index, itself and the size; of a check that tells
  /// nothing, the sides of its comparison.
  std::vector<Scalar> values;

  bool operator==(const Failure&) const = default;
};

struct Evaluation {
  std::vector<Scalar> results;     // when the element did not fail; arrays value by value
  std::optional<Failure> failure;  // when it did
  std::int64_t steps = 0;          // loop back edges taken
  std::int64_t instructions = 0;   // that were evaluated
  /// Set when it was given up, in a loop that stands here perhaps: there is nothing else then.
  std::optional<base::Location> given_up;
  std::map<ValueId, std::map<std::int64_t, Scalar>> written;  // by target and place
};

struct EvaluateOptions {
  std::int64_t max_steps = 0;                 // back edges allowed in all; 0: no limit
  const std::atomic<int>* cancel = nullptr;   // throws Cancelled once not zero
  std::span<const types::Table> tables = {};  // of the parameters that are tables or rows, in order
  std::int64_t element = 0;                   // its number
  /// More instructions are given up; and so are others when this, asked now and then, is true.
  std::int64_t most_instructions = std::numeric_limits<std::int64_t>::max();
  const std::function<bool()>* gives_up = nullptr;
  /// A failure NotFinite says the line in which the value, or what it came from, was finite last.
  bool finds_origins = false;
};

/// One argument for each parameter that is a number. Expand ops must have been expanded
/// (transform/expand.h) before.
Evaluation evaluate(const Function& function, std::span<const Scalar> arguments,
                    EvaluateOptions options = {});

/// The meaning of one elementwise native op; a zero divisor must not reach it.
Scalar evaluate_op(Op op, DType result, std::span<const Scalar> operands);

}  // namespace lw::ir

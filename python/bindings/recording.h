// Recording a Python function: a handle on the builder that outlives it safely.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/base/error.h"
#include "lanewise/ir/builder.h"

namespace lw::python {

/// A value of the program under construction.
struct Value {
  ir::ValueId id;
  DType type;
};

/// Python holds this object and may keep it: `builder` is there only while the function is
/// recorded.
class Recording {
 public:
  explicit Recording(std::string name) { builder_.emplace(std::move(name)); }
  Recording(const Recording&) = delete;  // the builder points into itself
  Recording& operator=(const Recording&) = delete;

  ir::Builder& builder() {
    if (!builder_) throw InternalError("record: the recording has ended.");
    return *builder_;
  }
  Value value(ir::ValueId id) { return {id, builder().type(id)}; }
  /// Ends the function; the recording records nothing after it.
  ir::Function finish(const std::vector<Value>& results);

 private:
  std::optional<ir::Builder> builder_;
};

std::vector<ir::ValueId> ids_of(const std::vector<Value>& values);

}  // namespace lw::python

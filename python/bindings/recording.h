// Recording a Python function: a handle on the trace that outlives it safely.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/base/error.h"
#include "lanewise/trace/trace.h"
#include "source.h"

namespace lw::python {

/// A value of the program under construction.
struct Value {
  ir::ValueId id;
  DType type;
};

/// Python holds this object and may keep it: the trace is there only while the function is
/// recorded.
class Recording {
 public:
  explicit Recording(std::string name) { trace_.emplace(std::move(name)); }

  trace::Trace& trace() {
    if (!trace_) throw InternalError("record: the recording has ended.");
    return *trace_;
  }
  ir::Builder& builder() { return trace().builder(); }
  /// Lets what is recorded next name the user's present line.
  void locate() {
    if (is_pinned_) return;
    UserLine line = UserLine::present();
    if (!line.code.is_valid() || line == line_) return;
    builder().set_location({base::intern(line.file()), line.line});
    line_ = std::move(line);
  }
  /// Lets it name this line instead, until `unpin`.
  void pin(const std::string& file, int line) {
    builder().set_location({base::intern(file), line});
    is_pinned_ = true;
  }
  void unpin() {
    is_pinned_ = false;
    line_ = {};
  }
  Value value(ir::ValueId id) { return {id, builder().type(id)}; }
  /// Gives up: nothing is recorded any more.
  void close() {
    trace_.reset();
    line_ = {};
  }
  /// Ends the function; the recording records nothing after it.
  ir::Function finish(const std::vector<Value>& results);

 private:
  std::optional<trace::Trace> trace_;
  UserLine line_;
  bool is_pinned_ = false;
};

std::vector<ir::ValueId> ids_of(const std::vector<Value>& values);

}  // namespace lw::python

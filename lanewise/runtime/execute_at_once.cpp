#include "lanewise/base/float_state.h"
#include "lanewise/runtime/execute.h"
#include "lanewise/runtime/timeline.h"

namespace lw::runtime {

bool execute_at_once(Program& program, const Buffers& buffers, std::int64_t first_element,
                     double nanoseconds) {
  const bool is_short = static_cast<double>(buffers.count) * program.element_ns() < nanoseconds &&
                        !program.has_loops() && !buffers.is_staged() && buffers.folds.empty() &&
                        program.code_scratch() == 0 &&
                        program.kernel().shared.size() == buffers.shared.size();
  if (!is_short || Timeline::is_on()) return false;  // a profile wants to see it
  const Program::Use use(program);
  const Run code = program.code();
  if (code == nullptr) return false;
  struct Failing : Context {
    bool has_failed = false;
  } context;
  context.inputs = buffers.inputs.data();
  context.outputs = buffers.outputs.data();
  context.shared = buffers.shared.data();
  context.tables = buffers.tables.data();
  context.first_element = first_element;
  context.poll = [](Context*) { return std::int32_t{0}; };
  context.fail = [](Context* c, std::uint32_t, std::uint64_t, const std::int32_t*, std::int64_t) {
    static_cast<Failing*>(c)->has_failed = true;
  };
  const base::FloatState state;
  code(&context, 0, buffers.count);
  return !context.has_failed;
}

}  // namespace lw::runtime

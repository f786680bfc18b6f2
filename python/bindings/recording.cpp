#include "recording.h"

#include <fmt/core.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "lanewise/trace/control.h"
#include "lanewise/trace/random.h"

namespace lw::python {

namespace nb = nanobind;
using nb::literals::operator""_a;

std::vector<ir::ValueId> ids_of(const std::vector<Value>& values) {
  std::vector<ir::ValueId> ids;
  ids.reserve(values.size());
  for (const Value& value : values) ids.push_back(value.id);
  return ids;
}

ir::Function Recording::finish(const std::vector<Value>& results) {
  ir::Function function = trace().finish(ids_of(results));
  trace_.reset();
  return function;
}

namespace {

Scalar scalar(DType type, nb::handle value) {
  return types::with_type(type, [&]<class T>() {
    if constexpr (types::is_half_type<T>) {
      return types::scalar_of(type, nb::cast<double>(value));
    } else {
      return Scalar(nb::cast<T>(value));
    }
  });
}

Value record(Recording& r, const std::string& name, const std::vector<Value>& operands) {
  const auto op = ops::op_named(name);
  if (!op) throw InternalError(fmt::format("record: no op is named {}.", name));
  r.locate();
  return r.value(r.builder().op(*op, ids_of(operands)));
}

Value slot_before(Recording& r, std::size_t scope, DType type, nb::handle initial) {
  trace::Trace& trace = r.trace();
  if (initial.is_none()) return r.value(trace.slot_before(scope, type));
  if (nb::isinstance<Value>(initial)) {
    return r.value(trace.slot_before(scope, type, nb::cast<Value>(initial).id));
  }
  return r.value(trace.slot_before(scope, scalar(type, initial)));
}

/// True when a value was computed from another.
bool depends(Recording& r, Value value, Value on) {
  const ir::Function& f = r.builder().function();
  std::vector<bool> seen(f.values.size());
  std::vector<ir::ValueId> open = {value.id};
  while (!open.empty()) {
    const ir::ValueId id = open.back();
    open.pop_back();
    if (id == on.id) return true;
    if (id < on.id || seen[id]) continue;
    seen[id] = true;
    for (const ir::ValueId operand : f[id].operands) open.push_back(operand);
  }
  return false;
}

/// True when a value was computed from these and literals alone.
bool comes_only_from(Recording& r, Value value, const std::vector<Value>& sources) {
  const ir::Function& f = r.builder().function();
  std::vector<bool> seen(f.values.size());
  for (const Value& source : sources) seen[source.id] = true;
  std::vector<ir::ValueId> open = {value.id};
  while (!open.empty()) {
    const ir::ValueId id = open.back();
    open.pop_back();
    if (seen[id] || f[id].op == ir::Op::Constant) continue;
    if (!ops::is_elementwise(f[id].op)) return false;
    seen[id] = true;
    for (const ir::ValueId operand : f[id].operands) open.push_back(operand);
  }
  return true;
}

Value draw(Recording& r, const std::string& what, DType type) {
  if (what == "uniform") return r.value(random::draw_uniform(type));
  if (what == "normal") return r.value(random::draw_normal(type));
  if (what == "exponential") return r.value(random::draw_exponential(type));
  if (what == "bits") return r.value(random::draw().word[0]);
  throw InternalError(fmt::format("record: no draw is named {}.", what));
}

/// The number of the element; as a type of 32 bits or less for maps of so many.
Value element(Recording& r, DType type) {
  return types::with_type(type, [&]<class T>() -> Value {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return r.value(lw::element<T>().read());
    } else {
      throw InternalError("record: the number of an element is an integer.");
    }
  });
}

/// Name, number of operands, accepted types and sentence of the ops that users call by name.
std::vector<std::tuple<std::string, int, std::string, std::string>> called_ops() {
  std::vector<std::tuple<std::string, int, std::string, std::string>> list;
#define LW_OP(id, name, form, arity, accepts, gives, kind, meaning, partials, domain, doc) \
  if (std::string_view(#form) == "Call") list.emplace_back(#name, arity, #accepts, doc);
#include "lanewise/ops/ops.def"
#undef LW_OP
  return list;
}

void bind_slots(nb::class_<Recording>& recording) {
  recording
      .def(
          "slot",
          [](Recording& r, Value initial) { return r.value(r.trace().new_slot(initial.id)); },
          "Make a variable with this value.")
      .def(
          "first_slot",
          [](Recording& r, DType type, nb::handle initial) {
            return r.value(r.trace().first_slot(scalar(type, initial)));
          },
          "Make a variable that is there when the function begins, with this value.")
      .def(
          "first_array",
          [](Recording& r, DType type, nb::handle initial, std::uint32_t size) {
            return r.value(r.trace().first_array(scalar(type, initial), size));
          },
          "Make an array that is there when the function begins, all of this value.")
      .def("slot_before", &slot_before, "scope"_a, "dtype"_a, "initial"_a.none(),
           "Make a variable that is there before an open branch, loop or block.")
      .def(
          "read", [](Recording& r, Value slot) { return r.value(r.trace().read(slot.id)); },
          "Read a variable.")
      .def(
          "write",
          [](Recording& r, Value slot, Value value) { r.trace().write(slot.id, value.id); },
          "Assign to a variable.");
}

/// A method of the trace without arguments, as one of the recording that gives its innermost scope.
template <auto begin, class... Arguments>
auto begins() {
  return [](Recording& r, Arguments... arguments) {
    (r.trace().*begin)(arguments...);
    return r.trace().scope();
  };
}
template <auto method, class... Arguments>
auto calls() {
  return [](Recording& r, Arguments... arguments) { return (r.trace().*method)(arguments...); };
}

void bind_control(nb::class_<Recording>& recording) {
  using trace::Trace;
  recording.def("begin_loop", begins<&Trace::begin_loop>(), "Open a loop; gives its number.")
      .def("begin_body", calls<&Trace::begin_body>(), "What follows can be left by continue.")
      .def("end_body", calls<&Trace::end_body>(), "End what can be left by continue.")
      .def("end_loop", calls<&Trace::end_loop>(), "End the innermost loop.")
      .def(
          "begin_branch",
          [](Recording& r, Value condition) {
            r.trace().begin_branch(condition.id);
            return r.trace().scope();
          },
          "Open a branch for elements whose condition holds; gives its number.")
      .def("end_branch", calls<&Trace::end_branch>(), "End the innermost branch.")
      .def(
          "begin_region",
          [](Recording& r, Value condition) { r.trace().begin_region(condition.id); },
          "Open a function that only elements run whose condition holds.")
      .def(
          "end_region",
          [](Recording& r, const std::vector<Value>& results) {
            std::vector<Value> values;
            for (const ir::ValueId id : r.trace().end_region(ids_of(results))) {
              values.push_back(r.value(id));
            }
            return values;
          },
          "End it; gives its results, which are 0 for the other elements.")
      .def("dissolve_branch", calls<&Trace::dissolve_branch>(),
           "End it as if it had not been one, if all elements may run it; false if not.")
      .def("begin_block", begins<&Trace::begin_block>(),
           "Open something that can be left; gives its number.")
      .def("end_block", calls<&Trace::end_block, std::size_t>(), "End a block.")
      .def(
          "break_if",
          [](Recording& r, Value condition) { r.trace().break_if(condition.id, "break"); },
          "Leave the innermost loop where the condition holds.")
      .def("break_scope", calls<&Trace::break_scope, std::size_t>(), "Leave a loop.")
      .def("leave_scope", calls<&Trace::leave_scope, std::size_t>(),
           "Leave a block, or the body of a loop.")
      .def("discard_scope", calls<&Trace::discard_scope, std::size_t>(),
           "Drop a branch or loop and what was recorded since it began.");
}

ir::IndexMode mode_of(bool is_inside) {
  return is_inside ? ir::IndexMode::Unchecked : ir::IndexMode::Check;
}

void bind_memory(nb::class_<Recording>& recording) {
  recording
      .def(
          "array",
          [](Recording& r, Value initial, std::uint32_t size) {
            return r.value(r.builder().array(initial.id, size));
          },
          "Make an array of the element's own, of this size, all of this value or a copy of that.")
      .def(
          "array_before",
          [](Recording& r, std::size_t scope, DType type, std::uint32_t size) {
            return r.value(r.trace().array_before(scope, type, size));
          },
          "Make an array of zeros that is there before an open branch, loop or block.")
      .def(
          "read_at",
          [](Recording& r, Value values, Value index, bool is_inside) {
            return r.value(r.builder().read(values.id, index.id, mode_of(is_inside)));
          },
          "values"_a, "index"_a, "is_inside"_a = false,
          "Read an array, row or table; outside of it the element fails.")
      .def(
          "write_at",
          [](Recording& r, Value array, Value index, Value value, bool is_inside) {
            r.builder().array_write(array.id, index.id, value.id, mode_of(is_inside));
          },
          "array"_a, "index"_a, "value"_a, "is_inside"_a = false,
          "Assign to a place of an array; outside of it the element fails.")
      .def(
          "check_index",
          [](Recording& r, Value index, std::int64_t size) {
            r.builder().check_index(index.id, size);
          },
          "The element fails unless an i32 or i64 is from 0 to below a size.")
      .def(
          "table_size",
          [](Recording& r, Value table) { return r.value(r.builder().table_size(table.id)); },
          "How many values a table has.");
}

ir::Collect collect_named(const std::string& name) {
  for (std::uint32_t i = 0; i <= static_cast<std::uint32_t>(ir::Collect::ArgMax); ++i) {
    if (ir::name_of(static_cast<ir::Collect>(i)) == name) return static_cast<ir::Collect>(i);
  }
  throw InternalError(fmt::format("record: nothing is collected by {}.", name));
}

void bind_each(nb::class_<Recording>& recording) {
  recording
      .def(
          "begin_each",
          [](Recording& r, std::uint32_t size, std::optional<Value> count) {
            const ir::ValueId each = r.builder().begin_each(size, count ? count->id : ir::kNone);
            return std::pair(r.value(each), r.value(r.builder().arguments(each)[0]));
          },
          nb::arg("size"), nb::arg("count").none() = nb::none(),
          "What follows runs for each position below a size, and below a count of the element; "
          "gives it, and the position.")
      .def(
          "collect",
          [](Recording& r, const std::string& how, Value value) {
            r.builder().collect(collect_named(how), value.id);
          },
          "Say what becomes of a value of every position.")
      .def(
          "keep",
          [](Recording& r, Value value, Value target, Value first) {
            r.builder().keep(value.id, target.id, first.id);
          },
          "Let the values of positions go to a target, from a place of it on.")
      .def(
          "end_each", [](Recording& r) { r.builder().close_loop(); }, "End it.")
      .def(
          "result",
          [](Recording& r, Value each, std::uint32_t index) {
            return r.value(r.builder().result(each.id, index));
          },
          "What has become of the values that were collected at this place.");
}

void bind_effects(nb::class_<Recording>& recording) {
  recording
      .def(
          "fail_if",
          [](Recording& r, Value condition) {
            r.builder().fail_if(condition.id, ir::FailKind::Check);
          },
          "The element fails where the condition holds.")
      .def(
          "fail_if_not_finite",
          [](Recording& r, Value value) {
            ir::Builder& build = r.builder();
            const ir::ValueId is_finite = build.op(ops::Op::Isfinite, {value.id});
            build.fail_if(build.op(ops::Op::Not, {is_finite}), ir::FailKind::NotFinite,
                          std::span(&value.id, 1));
          },
          "The element fails where the value is infinite or not a number.")
      .def("element", &element, "The number of the element.")
      .def("draw", &draw,
           "A random number: uniform, normal, exponential, or bits, which are a u32.")
      .def(
          "draw_integer",
          [](Recording& r, Value low, Value high) {
            return r.value(random::draw_integer(low.id, high.id));
          },
          "A random integer from low to below high.")
      .def("comes_only_from", &comes_only_from,
           "Whether a value was computed from others and literals alone.")
      .def("depends", &depends, "Whether a value was computed from another.");
}

}  // namespace

void bind_recording(nb::module_& module) {
  module.def("called_ops", &called_ops,
             "Name, number of operands, accepted types and sentence of the ops called by name.");
  nb::enum_<DType> dtype(module, "DType", "The types an element value can have.");
#define LW_DTYPE(id, name, cpp) dtype.value(#id, DType::id);
  LW_FOR_EACH_DTYPE(LW_DTYPE)
#undef LW_DTYPE

  nb::class_<Value>(module, "Value", "A value of the program under construction.")
      .def_ro("id", &Value::id)
      .def_ro("dtype", &Value::type);

  nb::class_<Recording> recording(module, "Recording", "A program under construction.");
  recording
      .def("locate", &Recording::locate, "Let what is recorded next name the user's present line.")
      .def("pin", &Recording::pin, "Let it name this line, until it is unpinned.")
      .def("unpin", &Recording::unpin, "Let it name the user's present line again.")
      .def(
          "constant",
          [](Recording& r, DType type, nb::handle value) {
            r.locate();
            return r.value(r.builder().constant(scalar(type, value)));
          },
          "Record a literal.")
      .def("op", &record, "Record an elementwise op, by its name in the table of ops.")
      .def(
          "convert",
          [](Recording& r, Value value, DType type) {
            r.locate();
            return r.value(r.builder().convert(value.id, type));
          },
          "Record a conversion.")
      .def_prop_ro(
          "size", [](Recording& r) { return r.builder().function().values.size(); },
          "How many values there are; those that are recorded next have higher numbers.")
      .def("close", &Recording::close, "Give up.");
  bind_slots(recording);
  bind_control(recording);
  bind_memory(recording);
  bind_each(recording);
  bind_effects(recording);
}

}  // namespace lw::python

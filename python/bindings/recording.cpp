#include "recording.h"

#include <fmt/core.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace lw::python {

namespace nb = nanobind;

std::vector<ir::ValueId> ids_of(const std::vector<Value>& values) {
  std::vector<ir::ValueId> ids;
  ids.reserve(values.size());
  for (const Value& value : values) ids.push_back(value.id);
  return ids;
}

ir::Function Recording::finish(const std::vector<Value>& results) {
  builder().ret(ids_of(results));
  ir::Function function = builder().take();
  builder_.reset();
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
  return r.value(r.builder().op(*op, ids_of(operands)));
}

std::vector<Value> arguments(Recording& r, Value loop) {
  std::vector<Value> values;
  for (const ir::ValueId id : r.builder().arguments(loop.id)) values.push_back(r.value(id));
  return values;
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

}  // namespace

void bind_recording(nb::module_& module) {
  module.def("called_ops", &called_ops,
             "Name, number of operands, accepted types and sentence of the ops called by name.");
  nb::enum_<DType> dtype(module, "DType", "The types an element value can have.");
#define LW_DTYPE(id, name, cpp) dtype.value(#id, DType::id);
  LW_FOR_EACH_DTYPE(LW_DTYPE)
#undef LW_DTYPE

  nb::class_<Value>(module, "Value", "A value of the program under construction.")
      .def_ro("dtype", &Value::type);

  nb::class_<Recording>(module, "Recording", "A program under construction.")
      .def(
          "set_location",
          [](Recording& r, const std::string& file, int line) {
            r.builder().set_location({base::intern(file), line});
          },
          "Give the source line of what is recorded next.")
      .def(
          "constant",
          [](Recording& r, DType type, nb::handle value) {
            return r.value(r.builder().constant(scalar(type, value)));
          },
          "Record a literal.")
      .def("op", &record, "Record an elementwise op, by its name in the table of ops.")
      .def(
          "convert",
          [](Recording& r, Value value, DType type) {
            return r.value(r.builder().convert(value.id, type));
          },
          "Record a conversion.")
      .def(
          "begin_loop",
          [](Recording& r, const std::vector<Value>& initial) {
            return r.value(r.builder().begin_loop(ids_of(initial)));
          },
          "Open a loop; what follows goes into its body.")
      .def("arguments", &arguments, "The values a loop carries, as its body sees them.")
      .def(
          "break_if",
          [](Recording& r, Value condition, const std::vector<Value>& values) {
            r.builder().break_if(condition.id, ids_of(values));
          },
          "Leave the innermost loop with these values where the condition holds.")
      .def(
          "end_loop",
          [](Recording& r, const std::vector<Value>& next) { r.builder().end_loop(ids_of(next)); },
          "End the body of the innermost loop with the values of its next step.")
      .def(
          "discard_loop", [](Recording& r, Value loop) { r.builder().discard_loop(loop.id); },
          "Drop the innermost loop, which is open, and all that was recorded in it.")
      .def(
          "result",
          [](Recording& r, Value loop, std::uint32_t index) {
            return r.value(r.builder().result(loop.id, index));
          },
          "The carried value of this index as the loop left it.");
}

}  // namespace lw::python

#include "lanewise/api/function.h"

#include <fmt/core.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "recording.h"

namespace lw::python {
namespace {

namespace nb = nanobind;

using InputArray = nb::ndarray<nb::numpy, nb::ro, nb::c_contig, nb::device::cpu>;
using OutputArray = nb::ndarray<nb::numpy, nb::c_contig, nb::device::cpu>;

template <class T>
nb::dlpack::dtype_code code_of() {
  using Code = nb::dlpack::dtype_code;
  if constexpr (std::is_same_v<T, bool>) return Code::Bool;
  if constexpr (std::is_same_v<T, BFloat16>) return Code::Bfloat;
  if constexpr (types::is_float_type<T>) return Code::Float;
  return std::is_signed_v<T> ? Code::Int : Code::UInt;
}

DType to_dtype(nb::dlpack::dtype type) {
#define LW_DTYPE(id, name, cpp)                                                                 \
  if (type.code == static_cast<std::uint8_t>(code_of<cpp>()) && type.bits == 8 * sizeof(cpp)) { \
    return DType::id;                                                                           \
  }
  LW_FOR_EACH_DTYPE(LW_DTYPE)
#undef LW_DTYPE
  throw InternalError("map: an array of an unsupported type came through.");
}

/// Arrays of rank 0 are shared by all elements, others are mapped.
std::vector<Input> to_inputs(const std::vector<InputArray>& arrays) {
  std::vector<Input> inputs;
  for (const InputArray& array : arrays) {
    const DType type = to_dtype(array.dtype());
    Input& input = inputs.emplace_back(type, array.data(), static_cast<std::int64_t>(array.size()));
    if (array.ndim() != 0) continue;
    input.kind = ir::ParamKind::Shared;
    input.value = Scalar::load(type, array.data());
  }
  return inputs;
}

std::vector<Output> to_outputs(const std::vector<OutputArray>& arrays) {
  std::vector<Output> outputs;
  for (const OutputArray& array : arrays) {
    outputs.emplace_back(to_dtype(array.dtype()), array.data(),
                         static_cast<std::int64_t>(array.size()));
  }
  return outputs;
}

/// An ElementFunction whose tracer is a Python callable (recording, parameters) -> results.
class Function {
 public:
  Function(nb::object callable, const std::string& name, std::optional<bool> refill)
      : tracer(std::move(callable)),
        name_(name),
        function_([this](std::span<const Input> inputs) { return trace(inputs); },
                  {.name = name, .schedule = {.refill = refill}}) {}

  void map_into(const std::vector<OutputArray>& outputs, const std::vector<InputArray>& inputs,
                const MapOptions& options) {
    const std::vector<Output> to = to_outputs(outputs);
    const std::vector<Input> from = to_inputs(inputs);
    std::optional<nb::python_error> pending;  // raised by a signal handler: KeyboardInterrupt
    MapOptions with_signals = options;
    with_signals.interrupt = [&] {
      const nb::gil_scoped_acquire held;
      if (!pending && PyErr_CheckSignals() != 0) pending.emplace();
      return pending.has_value();
    };
    try {
      const nb::gil_scoped_release released;
      function_.call_into(to, from, with_signals);
    } catch (const Cancelled&) {
      if (!pending) throw;
    }
    if (pending) throw nb::python_error(std::move(*pending));
  }

  std::vector<DType> result_types(const std::vector<InputArray>& inputs,
                                  const MapOptions& options) {
    const std::vector<Input> from = to_inputs(inputs);
    const nb::gil_scoped_release released;
    return function_.result_types(from, options);
  }

  Explanation explain(const std::vector<InputArray>& inputs, const MapOptions& options) {
    const std::vector<Input> from = to_inputs(inputs);
    const nb::gil_scoped_release released;
    return function_.explain(from, options);
  }

  std::string lower(const std::vector<InputArray>& inputs, const MapOptions& options) {
    const std::vector<Input> from = to_inputs(inputs);
    const nb::gil_scoped_release released;
    return function_.lower(from, options);
  }

  nb::object tracer;  // seen by the garbage collector

 private:
  ir::Function trace(std::span<const Input> inputs) {
    const nb::gil_scoped_acquire held;
    const nb::object handle = nb::cast(new Recording(name_), nb::rv_policy::take_ownership);
    Recording& recording = nb::cast<Recording&>(handle);
    std::vector<Value> parameters;
    for (const Input& input : inputs) {
      parameters.push_back(recording.value(recording.builder().param(
          fmt::format("arg{}", parameters.size()), input.type, input.kind)));
    }
    const auto results = nb::cast<std::vector<Value>>(tracer(handle, parameters));
    return recording.finish(results);
  }

  std::string name_;
  ElementFunction function_;
};

// The tracer usually reaches this object again (through the globals of the user's function), so the
// garbage collector must see the way.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<Function>(self)->tracer.ptr());
  return 0;
}

int clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Function>(self)->tracer.reset();
  return 0;
}

const PyType_Slot kCollectable[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                                    {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                                    {0, nullptr}};

void bind_explanation(nb::module_& module) {
  using E = Explanation;
  const auto times = [](const E& e) {
    return std::map<std::string, double>{{"read", e.times.read_ms},
                                         {"emit", e.times.emit_ms},
                                         {"passes", e.times.passes_ms},
                                         {"code", e.times.code_ms},
                                         {"link", e.times.link_ms}};
  };
  const auto last_run = [](const E& e) -> nb::object {
    if (!e.last_run) return nb::none();
    nb::dict run;
    run["workers"] = e.last_run->workers;
    run["chunk"] = e.last_run->chunk;
    run["tier0_elements"] = e.last_run->tier0_elements;
    run["tier1_elements"] = e.last_run->tier1_elements;
    run["code"] = runtime::name_of(e.last_run->code);
    run["scratch_bytes"] = e.last_run->scratch_bytes;
    run["load_ms"] = e.last_run->load_ms;
    return run;
  };
  nb::class_<E>(module, "Explanation", "What a function does with such arguments, and did.")
      .def_ro("name", &E::name)
      .def_prop_ro("math", [](const E& e) { return e.math == Math::Fast ? "fast" : "strict"; })
      .def_ro("program", &E::program)
      .def_ro("instructions", &E::instructions)
      .def_ro("bytes_in", &E::bytes_in)
      .def_ro("bytes_out", &E::bytes_out)
      .def_ro("scratch_bytes", &E::scratch_bytes)
      .def_ro("compiled", &E::compiled)
      .def_prop_ro("schedule", [](const E& e) { return plan::to_string(e.schedule); })
      .def_prop_ro("refill", [](const E& e) { return e.schedule.refill; })
      .def_prop_ro("lanes", [](const E& e) { return e.schedule.lanes; })
      .def_prop_ro("interleave", [](const E& e) { return e.schedule.interleave; })
      .def_ro("reason", &E::reason)
      .def_prop_ro("source", [](const E& e) { return runtime::name_of(e.source); })
      .def_prop_ro("times", times)
      .def_ro("code_bytes", &E::code_bytes)
      .def_ro("error", &E::error)
      .def_prop_ro("last_run", last_run)
      .def("__str__", &E::str)
      .def("__repr__", &E::str);
}

}  // namespace

void bind_function(nb::module_& module) {
  bind_explanation(module);
  nb::enum_<Compile>(module, "Compile", "When machine code is made.")
      .value("Auto", Compile::Auto)
      .value("Now", Compile::Now)
      .value("Never", Compile::Never);

  nb::enum_<Accuracy>(module, "Accuracy", "How near mathematical functions come to exact results.")
      .value("Default", Accuracy::Default)
      .value("High", Accuracy::High);

  nb::enum_<Math>(module, "Math", "What arithmetic has to keep to.")
      .value("Strict", Math::Strict)
      .value("Fast", Math::Fast);

  nb::class_<MapOptions>(module, "MapOptions", "Options of one call.")
      .def(nb::init<>())
      .def_rw("threads", &MapOptions::threads)
      .def_rw("max_steps", &MapOptions::max_steps)
      .def_rw("memory", &MapOptions::memory)
      .def_rw("compile", &MapOptions::compile)
      .def_rw("math", &MapOptions::math)
      .def_rw("accuracy", &MapOptions::accuracy);

  using nb::literals::operator""_a;
  nb::class_<Function>(module, "ElementFunction", nb::type_slots(kCollectable),
                       "A function for one element, ready to be called on arrays.")
      .def(nb::init<nb::object, const std::string&, std::optional<bool>>(), "tracer"_a, "name"_a,
           "refill"_a.none())
      .def("map_into", &Function::map_into, "outputs"_a.noconvert(), "inputs"_a.noconvert(),
           "options"_a, "Map over the inputs into the outputs.")
      .def("result_types", &Function::result_types, "inputs"_a.noconvert(), "options"_a,
           "The types of the results for such inputs.")
      .def("explain", &Function::explain, "inputs"_a.noconvert(), "options"_a,
           "What happens, or happened, with such inputs.")
      .def("lower", &Function::lower, "inputs"_a.noconvert(), "options"_a,
           "The element program as text.");
}

}  // namespace lw::python

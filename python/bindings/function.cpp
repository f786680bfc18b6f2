#include <fmt/core.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
#include "program.h"
#include "recording.h"

namespace lw::python {
namespace {

namespace nb = nanobind;

/// The items of a tuple, which outlives the list.
std::vector<PyObject*> items_of(const nb::tuple& tuple) {
  std::vector<PyObject*> items;
  for (const nb::handle item : tuple) items.push_back(item.ptr());
  return items;
}

nb::object call(Program& program, const nb::tuple& values, const MapOptions& options) {
  PyObject* const results = program.call(items_of(values), options, Returns::List);
  if (results == nullptr) {
    throw InternalError("map: arguments of other kinds than the program's came through.");
  }
  return nb::steal(results);
}

void call_into(Program& program, const nb::tuple& outputs, const nb::tuple& values,
               const MapOptions& options, nb::object progress, const nb::tuple& totals,
               nb::handle offsets, nb::object silence) {
  if (!program.call_into(items_of(outputs), items_of(values), options,
                         {std::move(progress), std::move(silence)}, items_of(totals),
                         offsets.is_none() ? nullptr : offsets.ptr())) {
    throw InternalError("map: arrays of other kinds than the program's came through.");
  }
}

/// What is made of the last results: kind, type of the values, number of results, size.
using FoldText = std::tuple<std::string, DType, std::uint32_t, std::int64_t>;

runtime::Fold to_fold(const FoldText& text) {
  using Kind = runtime::Fold::Kind;
  static const std::map<std::string, Kind> kinds = {{"sum", Kind::Sum},
                                                    {"min", Kind::Min},
                                                    {"max", Kind::Max},
                                                    {"argmin", Kind::ArgMin},
                                                    {"argmax", Kind::ArgMax},
                                                    {"histogram", Kind::Histogram},
                                                    {"keyed_sum", Kind::KeyedSum},
                                                    {"combine", Kind::Combine}};
  const auto& [kind, type, columns, size] = text;
  return {.kind = kinds.at(kind), .type = type, .columns = columns, .size = size};
}

/// Ends a recording.
Program* finish(Recording& recording, const std::vector<Value>& results, const std::string& name,
                std::optional<bool> refill, const std::vector<bool>& is_complex,
                const std::vector<Shape>& shapes, const std::vector<Shape>& result_shapes,
                const std::vector<FoldText>& folds) {
  Program::Values values{is_complex, shapes, result_shapes, {}};
  for (const FoldText& fold : folds) values.folds.push_back(to_fold(fold));
  return new Program(recording.finish(results), name, refill, values);
}

/// True for a place that is not checked.
bool is_unchecked(const ir::Instruction& in) {
  const bool has_mode =
      in.op == ops::Op::TableRead || in.op == ops::Op::ArrayRead || in.op == ops::Op::ArrayWrite;
  return has_mode && in.index == static_cast<std::uint32_t>(ir::IndexMode::Unchecked);
}

/// True for what an `each` keeps from a place on, which nobody checks.
bool keeps_at_place(const ir::Instruction& in) {
  return in.op == ops::Op::Collect && in.operands.size() > 1;
}

/// True when every index is checked, or has a meaning where it is out of range.
bool is_checked(const Program& program) {
  bool checked = true;
  const ir::Function& function = program.recorded();
  ir::for_each(function, [&](ir::ValueId id, int) {
    checked = checked && !is_unchecked(function[id]) && !keeps_at_place(function[id]);
  });
  return checked;
}

/// The program as it was recorded; with every index checked, for those who trust nobody's.
std::string text(const Program& program, bool checked) {
  ir::Function function = program.recorded();
  for (ir::Instruction& in : function.values) {
    if (checked && is_unchecked(in)) in.index = static_cast<std::uint32_t>(ir::IndexMode::Check);
  }
  return ir::print(function, {.locations = true});
}

Program* parse(const std::string& text, std::optional<bool> refill,
               const std::vector<bool>& is_complex, const std::vector<Shape>& shapes,
               const std::vector<Shape>& result_shapes) {
  ir::Function function = ir::parse(text);
  const std::string name = function.name;
  return new Program(std::move(function), name, refill, {is_complex, shapes, result_shapes, {}});
}

nb::tuple to_tuple(const Shape& shape) {
  nb::list list;
  for (const npy_intp n : shape) list.append(n);
  return nb::tuple(list);
}

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
    run["peak_bytes"] = e.last_run->peak_bytes;
    run["load_ms"] = e.last_run->load_ms;
    run["seconds"] = e.last_run->seconds;
    return run;
  };
  nb::class_<E>(module, "Explanation", "What a function does with such arguments, and did.")
      .def_ro("name", &E::name)
      .def_ro("answer", &E::answer)
      .def_prop_ro("math", [](const E& e) { return e.math == Math::Fast ? "fast" : "strict"; })
      .def_ro("program", &E::program)
      .def_ro("instructions", &E::instructions)
      .def_ro("bytes_in", &E::bytes_in)
      .def_ro("bytes_out", &E::bytes_out)
      .def_ro("scratch_bytes", &E::scratch_bytes)
      .def_ro("projected_bytes", &E::projected_bytes)
      .def_ro("refusal", &E::refusal)
      .def_ro("copied", &E::copied)
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
      .def("json", &E::json, "All of it as JSON.")
      .def(
          "to_dict",
          [](const E& e) { return nb::module_::import_("json").attr("loads")(e.json()); },
          "All of it as a dictionary.")
      .def("html", &E::html, "A page with pictures that needs no other file and no network.")
      .def(
          "save",
          [](const E& e, nb::object path) {
            const nb::str name(nb::module_::import_("os").attr("fspath")(path));
            const std::string text =
                std::string_view(name.c_str()).ends_with(".json") ? e.json() : e.html();
            nb::module_::import_("pathlib").attr("Path")(name).attr("write_text")(
                text, nb::arg("encoding") = "utf-8");
          },
          nb::arg("path"), "Write the page, or JSON where the name ends with .json.")
      .def("_repr_html_",
           [](const E& e) {  // a frame of its own keeps the page's style from the notebook's
             const nb::object page = nb::module_::import_("html").attr("escape")(e.html());
             return nb::str(R"(<iframe srcdoc="{}" width="100%" height="640" frameborder="0">)"
                            "</iframe>")
                 .attr("format")(page);
           })
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

  nb::class_<MapOptions> map_options(module, "MapOptions", "Options of one call.");
  bind_failures(module, map_options);
  bind_stopping(module, map_options);
  map_options.def(nb::init<>())
      .def(nb::init<const MapOptions&>())
      .def_rw("threads", &MapOptions::threads)
      .def_rw("max_steps", &MapOptions::max_steps)
      .def_rw("memory", &MapOptions::memory)
      .def_rw("compile", &MapOptions::compile)
      .def_rw("math", &MapOptions::math)
      .def_rw("accuracy", &MapOptions::accuracy)
      .def_rw("count", &MapOptions::count, nb::arg("count").none())
      .def_rw("seed", &MapOptions::seed)
      .def_rw("first_element", &MapOptions::first_element)
      .def_rw("timeout", &MapOptions::timeout)
      .def_rw("check_numerics", &MapOptions::check_numerics)
      .def_rw("mask", &MapOptions::mask);

  using nb::literals::operator""_a;
  nb::class_<Program>(module, "Program", "A recorded function that can be called on arrays.")
      .def("call", &call, "values"_a, "options"_a,
           "Map over the values of all parameters; gives a list of new arrays.")
      .def("call_into", &call_into, "outputs"_a, "values"_a, "options"_a, "progress"_a.none(),
           "totals"_a = nb::make_tuple(), "offsets"_a.none() = nb::none(),
           "silence"_a.none() = nb::none(),
           "Map into arrays; `progress` is told how many elements are done, and how many in a "
           "second; what is folded goes to `totals`; with `offsets`, rows run in the order of "
           "their lengths; `silence` is told of "
           "those that the watchdog finds.")
      .def("results", &Program::results, "options"_a, "The types of the results.")
      .def("add_peak", &Program::add_peak, "options"_a, "bytes"_a,
           "Add what Python held for the last call to its peak.")
      .def("is_inner", &Program::is_inner, "options"_a,
           "Whether machine code takes one element after the other.")
      .def(
          "explain",
          [](Program& program, const nb::tuple& values, const MapOptions& options,
             std::vector<std::string> copied, std::int64_t beside) {
            Explanation explanation = program.explain(items_of(values), options);
            explanation.copied = std::move(copied);
            if (explanation.refusal.empty()) explanation.projected_bytes += beside;
            return explanation;
          },
          "values"_a, "options"_a, "copied"_a, "beside"_a = 0,
          "What happens with such values, or happened; `copied` are arguments, `beside` bytes that "
          "the package holds meanwhile.")
      .def_prop_ro("name", [](const Program& program) { return program.recorded().name; })
      .def_prop_ro("parameters",
                   [](const Program& program) {
                     std::vector<std::pair<DType, ir::ParamKind>> list;
                     for (const ir::Param& p : program.params()) list.emplace_back(p.type, p.kind);
                     return list;
                   })
      .def_prop_ro("has_loops",
                   [](const Program& program) { return ir::has_loops(program.recorded()); })
      .def_prop_ro("is_checked", &is_checked)
      .def("lower", &Program::lower, "options"_a, "The element program as text.")
      .def_prop_ro("shapes",
                   [](const Program& program) {
                     std::vector<nb::tuple> list;
                     for (const Parameter& p : program.params()) list.push_back(to_tuple(p.shape));
                     return list;
                   })
      .def_prop_ro("result_shapes",
                   [](const Program& program) {
                     std::vector<nb::tuple> list;
                     for (const Shape& s : program.result_shapes()) list.push_back(to_tuple(s));
                     return list;
                   })
      .def("text", &text, "checked"_a = false,
           "The program as it was recorded, as `parse` reads it.");
  module.def("parse", &parse, "text"_a, "refill"_a.none(), "is_complex"_a,
             "shapes"_a = std::vector<Shape>(), "result_shapes"_a = std::vector<Shape>(),
             "Read and verify a program; of each result, whether two values make it.");

  nb::enum_<ir::ParamKind>(module, "ParamKind", "What a parameter is to the elements.")
      .value("Mapped", ir::ParamKind::Mapped)
      .value("Shared", ir::ParamKind::Shared)
      .value("Table", ir::ParamKind::Table)
      .value("Target", ir::ParamKind::Target);
  module.def(
      "begin", [](const std::string& name) { return new Recording(name); }, "name"_a,
      "Begin to record a program.");
  module.def(
      "parameter",
      [](Recording& r, const std::string& name, DType type, ir::ParamKind kind,
         std::uint32_t size) { return r.value(r.trace().late_param(name, type, kind, size)); },
      "recording"_a, "name"_a, "dtype"_a, "kind"_a, "size"_a = 0,
      "Add a parameter to the program under construction.");
  module.def("finish", &finish, "recording"_a, "results"_a, "name"_a, "refill"_a.none(),
             "is_complex"_a, "shapes"_a = std::vector<Shape>(),
             "result_shapes"_a = std::vector<Shape>(), "folds"_a = std::vector<FoldText>(),
             "End a recording; of each result, whether two values make it; `folds` are made of the "
             "others.");
}

}  // namespace lw::python

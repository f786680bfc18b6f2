// What becomes of elements that fail, and what is told of them.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bindings.h"
#include "lanewise/api/options.h"

namespace lw::python {
namespace {

namespace nb = nanobind;

nb::object to_number(const Scalar& value) {
  return types::with_type(value.type(), [&]<class T>() -> nb::object {
    if constexpr (types::is_float_type<T>) {
      return nb::float_(static_cast<double>(value.as<T>()));
    } else {
      return nb::cast(value.as<T>());
    }
  });
}

Scalar to_scalar(const nb::handle& number) {
  if (nb::isinstance<nb::bool_>(number)) return Scalar(nb::cast<bool>(number));
  if (nb::isinstance<nb::int_>(number)) return Scalar(nb::cast<std::int64_t>(number));
  return Scalar(nb::cast<double>(number));
}

nb::list rows(const Failures& failures) {
  nb::list rows;
  for (const ElementFailure& one : failures.first) {
    nb::list values;
    for (const Scalar& value : one.why.values) values.append(to_number(value));
    const base::Location place = one.why.location;
    rows.append(nb::make_tuple(one.element, runtime::name_of(one.why.kind), place ? place.file : "",
                               place.line, one.message, nb::tuple(values)));
  }
  return rows;
}

}  // namespace

void bind_failures(nb::module_& module, nb::class_<MapOptions>& options) {
  nb::enum_<OnError>(module, "OnError", "What becomes of a call in which elements fail.")
      .value("Raise", OnError::Raise)
      .value("Collect", OnError::Collect)
      .value("Fill", OnError::Fill);
  nb::class_<Failures>(module, "Failures", "What is told of elements that failed.")
      .def(nb::init<>())
      .def_ro("count", &Failures::count)
      .def("rows", &rows, "Of the first ones: element, kind, file, line, message and values.");
  options.def_rw("on_error", &MapOptions::on_error)
      .def_rw("max_failures", &MapOptions::most_failures)
      .def_prop_rw(
          "fill",
          [](const MapOptions& o) {
            nb::list fill;
            for (const Scalar& value : o.fill) fill.append(to_number(value));
            return fill;
          },
          [](MapOptions& o, const nb::list& fill) {
            o.fill.clear();
            for (const nb::handle value : fill) o.fill.push_back(to_scalar(value));
          })
      .def(
          "collect_into", [](MapOptions& o, Failures& failures) { o.failures = &failures; },
          "Tell these of elements that fail; they outlive the call.")
      .def(
          "flag_into",
          [](MapOptions& o, const nb::ndarray<bool, nb::ndim<1>, nb::c_contig>& flags) {
            o.failed = flags.data();
          },
          "Set these bools, one for each element, where one fails; they outlive the call.");
}

}  // namespace lw::python

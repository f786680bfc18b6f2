#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "lanewise/api/profile.h"

namespace lw::python {

namespace nb = nanobind;

void bind_profile(nb::module_& module) {
  nb::class_<ProfileRow>(module, "ProfileRow", "What was spent on a function.")
      .def_ro("name", &ProfileRow::name)
      .def_ro("calls", &ProfileRow::calls)
      .def_ro("elements", &ProfileRow::elements)
      .def_ro("seconds", &ProfileRow::seconds)
      .def_ro("share", &ProfileRow::share)
      .def_ro("machine_code", &ProfileRow::machine_code)
      .def_ro("ns_an_element", &ProfileRow::ns_an_element)
      .def_ro("workers", &ProfileRow::workers)
      .def_ro("compile_seconds", &ProfileRow::compile_seconds);
  nb::class_<ProfileSummary>(module, "ProfileSummary", "A table of where the time went.")
      .def_ro("seconds", &ProfileSummary::seconds)
      .def_ro("rows", &ProfileSummary::rows)
      .def_ro("dropped", &ProfileSummary::dropped)
      .def("__str__", &ProfileSummary::str)
      .def("__repr__", &ProfileSummary::str);
  // The package writes the file: Python's own errors say best what is wrong with a path.
  nb::class_<Profile>(module, "Profile", "All calls of the process while it is taken.")
      .def(nb::init<>())
      .def("stop", &Profile::stop)
      .def("summary", &Profile::summary)
      .def("json", &Profile::json, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace lw::python

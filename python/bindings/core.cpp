// The module itself; the package imports it as lanewise._core.
#include "bindings.h"

NB_MODULE(_core, module) {
  nanobind::set_leak_warnings(false);  // programs that live as long as the process are none
  module.attr("__version__") = LANEWISE_VERSION;
  lw::python::bind_errors(module);
  lw::python::bind_source(module);
  lw::python::bind_recording(module);
  lw::python::bind_arrays(module);
  lw::python::bind_function(module);
  lw::python::bind_caller(module);
  lw::python::bind_profile(module);
  lw::python::bind_settings(module);
}

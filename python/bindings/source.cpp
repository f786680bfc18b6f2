#include "source.h"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings.h"
#include "lanewise/base/location.h"

namespace lw::python {
namespace {

namespace nb = nanobind;

std::string package;  // its folder, with a slash
std::string samples;  // a file in it whose functions are as a user's

std::string_view file_of(PyObject* code) {
  Py_ssize_t size = 0;
  const char* text =
      PyUnicode_AsUTF8AndSize(reinterpret_cast<PyCodeObject*>(code)->co_filename, &size);
  if (text == nullptr) {
    PyErr_Clear();
    return {};
  }
  return {text, static_cast<std::size_t>(size)};
}

nb::object code_of(const nb::object& frame) {
  return nb::steal(
      reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame.ptr()))));
}

}  // namespace

nb::object user_frame() {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid()) {
    const std::string_view file = file_of(code_of(frame).ptr());
    if (!file.starts_with(package) || file == samples) return frame;
    frame = nb::steal(reinterpret_cast<PyObject*>(
        PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.ptr()))));
  }
  return nb::none();
}

UserLine UserLine::present() {
  const nb::object frame = user_frame();
  if (frame.is_none()) return {};
  return {code_of(frame), PyFrame_GetLineNumber(reinterpret_cast<PyFrameObject*>(frame.ptr()))};
}

std::string_view UserLine::file() const { return file_of(code.ptr()); }

void bind_source(nb::module_& module) {
  module.def(
      "set_message",
      [](const std::string& file, int line, std::string message) {
        base::set_message({base::intern(file), line}, std::move(message));
      },
      "What elements say that fail in a line.");
  module.def(
      "set_package",
      [](std::string folder, std::string file) {
        package = std::move(folder);
        samples = std::move(file);
      },
      "Give the folder of the package, and a file in it that counts as a user's.");
  module.def("user_frame", &user_frame, "The innermost frame that is not of the package, or None.");
}

}  // namespace lw::python

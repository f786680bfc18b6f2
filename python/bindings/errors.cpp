#include "lanewise/base/error.h"

#include "bindings.h"

namespace lw::python {
namespace {

namespace nb = nanobind;

/// Raises the class of this name in lanewise/errors.py.
template <class... Arguments>
void raise(const char* name, const Arguments&... arguments) {
  const nb::object type = nb::module_::import_("lanewise.errors").attr(name);
  const nb::object instance = type(arguments...);
  PyErr_SetObject(type.ptr(), instance.ptr());
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const UsageError& error) {
    raise("UsageError", error.what());
  } catch (const ElementError& error) {
    raise("ElementError", error.what(), error.element());
  } catch (const Cancelled& error) {
    raise("Cancelled", error.what());
  } catch (const Timeout& error) {
    raise("Timeout", error.what());
  } catch (const ResourceError& error) {
    raise("ResourceError", error.what());
  } catch (const InternalError& error) {
    raise("InternalError", error.what());
  }
}

}  // namespace

void raise_current() {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const Error&) {
    translate(std::current_exception(), nullptr);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace lw::python

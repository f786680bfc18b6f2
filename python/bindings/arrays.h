// NumPy arrays as the map sees them.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "lanewise/types/dtype.h"
#include "numpy_api.h"

namespace lw::python {

/// The type of elements with NumPy's type number; none for those that a map does not take.
std::optional<DType> dtype_of(int type_number);
/// NumPy's number of a type.
int type_number(DType type);

/// A new array with undefined values in C order, with memory from the pool if it is large; null
/// with an error set if there is no memory.
PyObject* new_array(int rank, const npy_intp* shape, int type_number);

}  // namespace lw::python

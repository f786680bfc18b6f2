// Arrays for results. Large ones take their memory from the pool of results through NumPy's memory
// handler (NEP 49), so that they own it, can be resized, and give it back when they go.
#define LW_IMPORT_NUMPY
#include "arrays.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "bindings.h"
#include "lanewise/api/by_length.h"
#include "lanewise/base/error.h"
#include "lanewise/runtime/output_pool.h"
#include "lanewise/runtime/ragged.h"

namespace lw::python {
namespace {

namespace nb = nanobind;

void* take(void*, std::size_t bytes) {
  return runtime::take_output(std::max<std::size_t>(bytes, 1));
}

void* take_zeros(void*, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  void* const memory = take(nullptr, bytes);
  if (memory != nullptr) std::memset(memory, 0, bytes);
  return memory;
}

void give_back(void*, void* memory, std::size_t) {
  if (memory != nullptr) runtime::return_output(memory);
}

void* resize(void*, void* memory, std::size_t bytes) {
  void* const larger = take(nullptr, bytes);
  if (memory == nullptr || larger == nullptr) return larger;
  std::memcpy(larger, memory, std::min(bytes, runtime::output_bytes(memory)));
  runtime::return_output(memory);
  return larger;
}

PyDataMem_Handler handler = {"lanewise", 1, {nullptr, take, take_zeros, resize, give_back}};

/// While it lives, arrays that this thread makes come from the pool.
class Pooled {
 public:
  Pooled() {
    static PyObject* const capsule = PyCapsule_New(&handler, "mem_handler", nullptr);
    before_ = nb::steal(PyDataMem_SetHandler(capsule));
    if (!before_) nb::raise_python_error();
  }
  ~Pooled() { Py_XDECREF(PyDataMem_SetHandler(before_.ptr())); }
  Pooled(const Pooled&) = delete;
  Pooled& operator=(const Pooled&) = delete;

 private:
  nb::object before_;
};

nb::object empty(const std::vector<npy_intp>& shape, nb::handle dtype) {
  PyObject* const array = new_array(static_cast<int>(shape.size()), shape.data(),
                                    reinterpret_cast<PyArray_Descr*>(dtype.ptr())->type_num);
  if (array == nullptr) nb::raise_python_error();
  return nb::steal(array);
}

/// An array of one dimension whose values stand together.
PyArrayObject* plain_array(nb::handle object) {
  auto* const array = reinterpret_cast<PyArrayObject*>(object.ptr());
  if (!PyArray_Check(object.ptr()) || PyArray_NDIM(array) != 1 || !PyArray_IS_C_CONTIGUOUS(array)) {
    throw InternalError("rows: not an array of one dimension.");
  }
  return array;
}

template <class T>
std::span<T> values_of(PyArrayObject* array) {
  return {static_cast<T*>(PyArray_DATA(array)), static_cast<std::size_t>(PyArray_SIZE(array))};
}

/// Only the size of the numbers matters.
void spread(nb::handle numbers, nb::handle offsets, std::int64_t low, nb::handle out) {
  PyArrayObject* const from = plain_array(numbers);
  PyArrayObject* const at = plain_array(offsets);
  PyArrayObject* const to = plain_array(out);
  const auto number = dtype_of(PyArray_TYPE(from));
  const auto offset = dtype_of(PyArray_TYPE(at));
  if (!number || number != dtype_of(PyArray_TYPE(to)) ||
      PyArray_SIZE(at) != PyArray_SIZE(from) + 1) {
    throw InternalError("spread: numbers, offsets and results do not fit.");
  }
  const auto with_offsets = [&]<class T>() {
    if (offset == DType::I32) {
      runtime::spread<T>(values_of<const T>(from), values_of<const std::int32_t>(at).data(), low,
                         values_of<T>(to));
    } else if (offset == DType::I64) {
      runtime::spread<T>(values_of<const T>(from), values_of<const std::int64_t>(at).data(), low,
                         values_of<T>(to));
    } else {
      throw InternalError("spread: offsets are no integers.");
    }
  };
  switch (types::size_of(*number)) {
    case 1:
      return with_offsets.operator()<std::uint8_t>();
    case 2:
      return with_offsets.operator()<std::uint16_t>();
    case 4:
      return with_offsets.operator()<std::uint32_t>();
    default:
      return with_offsets.operator()<std::uint64_t>();
  }
}

}  // namespace

PyObject* new_array_like(PyArrayObject* prototype, int type_number) {
  PyArray_Descr* const descr = PyArray_DescrFromType(type_number);
  const auto make = [&] {
    return PyArray_NewLikeArray(prototype, NPY_KEEPORDER, descr, /*subok=*/0);
  };
  const auto bytes = PyArray_SIZE(prototype) * PyDataType_ELSIZE(descr);
  if (static_cast<std::size_t>(bytes) < runtime::kPooledBytes) return make();
  const Pooled pooled;
  return make();
}

PyObject* new_array(int rank, const npy_intp* shape, int type_number) {
  std::size_t bytes = 16;  // of the widest type
  bool is_large = false;   // beyond all numbers; NumPy says so
  for (int d = 0; d < rank; ++d) {
    is_large = __builtin_mul_overflow(bytes, shape[d], &bytes) || is_large;
  }
  if (bytes < runtime::kPooledBytes && !is_large)
    return PyArray_SimpleNew(rank, shape, type_number);
  PyArray_Descr* const descr = PyArray_DescrFromType(type_number);
  bytes = bytes / 16 * static_cast<std::size_t>(PyDataType_ELSIZE(descr));
  if (bytes < runtime::kPooledBytes && !is_large) {
    return PyArray_Empty(rank, shape, descr, /*is_fortran=*/0);
  }
  const Pooled pooled;
  return PyArray_Empty(rank, shape, descr, /*is_fortran=*/0);
}

void bind_arrays(nb::module_& module) {
  if (_import_array() < 0) nb::raise_python_error();
  module.def("empty", &empty, "A new array with memory from the pool if it is large.");
  module.def("by_length_bytes", &api::by_length_bytes, "What running rows by length needs.");
  module.def("spread", &spread, "Write numbers of rows to the places of their values.");
}

}  // namespace lw::python

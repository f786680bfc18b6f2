// Arrays for results. Large ones take their memory from the pool of results through NumPy's memory
// handler (NEP 49), so that they own it, can be resized, and give it back when they go.
#define LW_IMPORT_NUMPY
#include "arrays.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "bindings.h"
#include "lanewise/runtime/output_pool.h"

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

/// The types by NumPy's numbers, of which several may mean one type.
struct TypeNumbers {
  static constexpr int kMost = 32;

  TypeNumbers() {
    const auto add = [&](DType type, std::initializer_list<int> list) {
      for (const int number : list) types[number] = static_cast<std::int8_t>(type);
      numbers[static_cast<int>(type)] = *list.begin();
    };
    std::fill(std::begin(types), std::end(types), std::int8_t{-1});
    std::fill(std::begin(numbers), std::end(numbers), NPY_VOID);
    add(DType::Bool, {NPY_BOOL});
    add(DType::I8, {NPY_BYTE});
    add(DType::I16, {NPY_SHORT});
    add(DType::I32, {NPY_INT});
    add(DType::I64, {NPY_LONG, NPY_LONGLONG});
    add(DType::U8, {NPY_UBYTE});
    add(DType::U16, {NPY_USHORT});
    add(DType::U32, {NPY_UINT});
    add(DType::U64, {NPY_ULONG, NPY_ULONGLONG});
    add(DType::F16, {NPY_HALF});
    add(DType::F32, {NPY_FLOAT});
    add(DType::F64, {NPY_DOUBLE});
  }

  std::int8_t types[kMost];
  int numbers[kMost];
};
static_assert(sizeof(long) == 8 && sizeof(int) == 4);

const TypeNumbers type_numbers;

nb::object empty(const std::vector<npy_intp>& shape, nb::handle dtype) {
  PyObject* const array = new_array(static_cast<int>(shape.size()), shape.data(),
                                    reinterpret_cast<PyArray_Descr*>(dtype.ptr())->type_num);
  if (array == nullptr) nb::raise_python_error();
  return nb::steal(array);
}

}  // namespace

std::optional<DType> dtype_of(int type_number) {
  if (type_number < 0 || type_number >= TypeNumbers::kMost) return std::nullopt;
  const std::int8_t type = type_numbers.types[type_number];
  return type < 0 ? std::nullopt : std::optional(static_cast<DType>(type));
}

int type_number(DType type) { return type_numbers.numbers[static_cast<int>(type)]; }

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
}

}  // namespace lw::python

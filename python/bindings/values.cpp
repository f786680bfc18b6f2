#include "values.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

namespace lw::python {
namespace {

// The kinds of a code; the type is beside it.
constexpr Code kMapped = 1 << 8;
constexpr Code kShared = 2 << 8;
constexpr Code kNumber = 3 << 8;    // of Python: gives way to other types
constexpr Code kComplex = 1 << 12;  // beside a kind: the type is that of the parts

Code with_type(Code kind, int type_number) {
  if (const std::optional<DType> type = dtype_of(type_number)) {
    return static_cast<Code>(kind | static_cast<Code>(*type));
  }
  const std::optional<DType> part = part_of(type_number);
  return part ? static_cast<Code>(kind | kComplex | static_cast<Code>(*part)) : Code{0};
}

PyArrayObject* as_array(PyObject* value) { return reinterpret_cast<PyArrayObject*>(value); }

bool is_native(PyArrayObject* array) { return PyArray_ISNBO(PyArray_DESCR(array)->byteorder); }

bool is_exact_array(PyObject* value) { return Py_TYPE(value) == &PyArray_Type; }

/// The exact scalar types of NumPy; -1 for others.
int scalar_type_number(PyObject* value) {
  if (!PyArray_IsScalar(value, Number) && !PyArray_IsScalar(value, Bool)) return -1;
  PyArray_Descr* const descr = PyArray_DescrFromScalar(value);
  if (descr == nullptr) {
    PyErr_Clear();
    return -1;
  }
  const int number = descr->type_num;
  Py_DECREF(descr);
  return number;
}

bool read_int(PyObject* value, Scalar& scalar) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  scalar = Scalar(static_cast<std::int64_t>(number));
  return overflow == 0;
}

/// A number, a NumPy scalar or an array of rank 0, of exactly this type.
bool read_shared(PyObject* value, DType type, Scalar& scalar) {
  if (PyFloat_CheckExact(value)) {
    scalar = Scalar(PyFloat_AS_DOUBLE(value));
    return type == DType::F64;
  }
  if (PyLong_CheckExact(value)) return type == DType::I64 && read_int(value, scalar);
  if (PyBool_Check(value)) {
    scalar = Scalar(value == Py_True);
    return type == DType::Bool;
  }
  if (is_exact_array(value)) {
    PyArrayObject* const array = as_array(value);
    if (PyArray_NDIM(array) != 0 || !is_native(array)) return false;
    scalar = Scalar::load(type, PyArray_DATA(array));
    return dtype_of(PyArray_TYPE(array)) == type;
  }
  if (dtype_of(scalar_type_number(value)) != type) return false;
  alignas(16) std::byte bytes[32];
  PyArray_ScalarAsCtype(value, bytes);
  scalar = Scalar::load(type, bytes);
  return true;
}

/// A complex number whose parts are of exactly this type.
bool read_shared(PyObject* value, DType part, Scalar& real, Scalar& imaginary) {
  if (PyComplex_CheckExact(value)) {
    real = Scalar(PyComplex_RealAsDouble(value));
    imaginary = Scalar(PyComplex_ImagAsDouble(value));
    return part == DType::F64;
  }
  alignas(16) std::byte bytes[32];
  const void* number = bytes;
  if (is_exact_array(value)) {
    PyArrayObject* const array = as_array(value);
    if (PyArray_NDIM(array) != 0 || !is_native(array)) return false;
    if (part_of(PyArray_TYPE(array)) != part) return false;
    number = PyArray_DATA(array);
  } else {
    if (part_of(scalar_type_number(value)) != part) return false;
    PyArray_ScalarAsCtype(value, bytes);
  }
  real = Scalar::load(part, number);
  imaginary = Scalar::load(part, static_cast<const std::byte*>(number) + types::size_of(part));
  return true;
}

bool is_flat(PyArrayObject* array) { return PyArray_IS_C_CONTIGUOUS(array); }

bool have_one_shape(PyArrayObject* a, PyArrayObject* b) {
  return PyArray_NDIM(a) == PyArray_NDIM(b) &&
         std::equal(PyArray_DIMS(a), PyArray_DIMS(a) + PyArray_NDIM(a), PyArray_DIMS(b));
}

/// The shape that the arrays have in common, as NumPy broadcasts.
bool broadcast(std::span<PyArrayObject* const> arrays, Geometry& g) {
  g.is_flat = false;
  g.rank = 0;
  for (PyArrayObject* const array : arrays) g.rank = std::max(g.rank, PyArray_NDIM(array));
  std::fill_n(g.shape, g.rank, npy_intp{1});
  for (PyArrayObject* const array : arrays) {
    const int skip = g.rank - PyArray_NDIM(array);
    for (int d = skip; d < g.rank; ++d) {
      const npy_intp size = PyArray_DIM(array, d - skip);
      if (size == 1 || size == g.shape[d]) continue;
      if (g.shape[d] != 1) return false;
      g.shape[d] = size;
    }
  }
  g.count = 1;
  for (int d = 0; d < g.rank; ++d) {
    if (__builtin_mul_overflow(g.count, g.shape[d], &g.count)) return false;
  }
  for (PyArrayObject* const array : arrays) {
    const bool is_whole = PyArray_NDIM(array) == g.rank && PyArray_SIZE(array) == g.count;
    if (is_whole && !is_flat(array)) g.prototype = array;
    if (is_whole) break;
  }
  return true;
}

}  // namespace

Code code_of(PyObject* value) {
  if (is_exact_array(value)) {
    PyArrayObject* const array = as_array(value);
    if (!is_native(array)) return 0;
    return with_type(PyArray_NDIM(array) == 0 ? kShared : kMapped, PyArray_TYPE(array));
  }
  if (PyFloat_CheckExact(value)) return kNumber | static_cast<Code>(DType::F64);
  if (PyLong_CheckExact(value)) return kNumber | static_cast<Code>(DType::I64);
  if (PyBool_Check(value)) return kShared | static_cast<Code>(DType::Bool);
  if (PyComplex_CheckExact(value)) return kNumber | kComplex | static_cast<Code>(DType::F64);
  return with_type(kShared, scalar_type_number(value));
}

bool read_values(std::span<const ir::Param> params, std::span<PyObject* const> values,
                 Inputs& inputs, Geometry& geometry) {
  PyArrayObject* arrays[Inputs::kMost];
  std::size_t mapped = 0;
  for (PyObject* const value : values) {
    if (inputs.size() == params.size()) return false;
    const ir::Param& param = params[inputs.size()];
    const bool is_pair = inputs.size() + 1 < params.size();  // or could be
    if (param.kind == ir::ParamKind::Shared) {
      Input input(param.type, nullptr, 1);
      input.kind = ir::ParamKind::Shared;
      if (!read_shared(value, param.type, input.value)) {
        Input imaginary = input;
        if (!is_pair || !read_shared(value, param.type, input.value, imaginary.value)) return false;
        inputs.push_back(input);
        input = imaginary;
      }
      inputs.push_back(input);
      continue;
    }
    if (!is_exact_array(value)) return false;
    PyArrayObject* const array = as_array(value);
    if (!is_native(array)) return false;
    const bool is_complex = dtype_of(PyArray_TYPE(array)) != param.type;
    if (is_complex && part_of(PyArray_TYPE(array)) != param.type) return false;
    Input input(param.type, PyArray_DATA(array), PyArray_SIZE(array));
    if (param.is_table()) {
      if (!is_flat(array)) return false;
      if (is_complex) input.size *= 2;
      inputs.push_back(input.as_table());
      continue;
    }
    geometry.is_flat = geometry.is_flat && !is_complex && is_flat(array) &&
                       (mapped == 0 || have_one_shape(arrays[0], array));
    arrays[mapped++] = array;
    inputs.push_back(input, array);
    if (is_complex) {
      if (!is_pair) return false;
      input.data = static_cast<const std::byte*>(input.data) + types::size_of(param.type);
      inputs.push_back(input, array);
    }
  }
  if (inputs.size() != params.size()) return false;
  if (mapped == 0) return true;
  if (geometry.is_flat) {
    geometry.rank = PyArray_NDIM(arrays[0]);
    std::copy_n(PyArray_DIMS(arrays[0]), geometry.rank, geometry.shape);
    geometry.count = PyArray_SIZE(arrays[0]);
    return true;
  }
  return broadcast({arrays, mapped}, geometry);
}

void set_order(bool as_prototype, Inputs& inputs, Geometry& g) {
  const auto rank = static_cast<std::size_t>(g.rank);
  g.order.resize(rank);
  std::iota(g.order.begin(), g.order.end(), 0);
  if (as_prototype && g.prototype != nullptr) {
    const auto stride = [&](int d) { return std::abs(PyArray_STRIDE(g.prototype, d)); };
    std::sort(g.order.begin(), g.order.end(),
              [&](int a, int b) { return std::pair(-stride(a), a) < std::pair(-stride(b), b); });
  }
  g.map_shape.clear();
  for (const int d : g.order) g.map_shape.push_back(g.shape[d]);
  g.strides.clear();
  g.strides.reserve(inputs.size() * rank);  // inputs point into it
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    PyArrayObject* const array = inputs.array(i);
    if (array == nullptr) continue;
    const int skip = g.rank - PyArray_NDIM(array);
    for (const int d : g.order) {
      const bool is_repeated = d < skip || PyArray_DIM(array, d - skip) != g.shape[d];
      g.strides.push_back(is_repeated ? 0 : PyArray_STRIDE(array, d - skip));
    }
    inputs.all()[i].size = g.count;
    inputs.all()[i].strides = std::span(g.strides).last(rank);
  }
}

}  // namespace lw::python

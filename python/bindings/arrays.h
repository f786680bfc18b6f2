// NumPy arrays as the map sees them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "lanewise/types/dtype.h"
#include "numpy_api.h"

namespace lw::python {

/// The types by NumPy's numbers, of which several may mean one type.
class TypeNumbers {
 public:
  constexpr TypeNumbers() {
    for (std::int8_t& type : types_) type = -1;
    for (int& number : numbers_) number = NPY_VOID;
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
  /// The type of elements; none for those that a map does not take.
  constexpr std::optional<DType> type(int number) const {
    if (number < 0 || number >= kMost || types_[number] < 0) return std::nullopt;
    return static_cast<DType>(types_[number]);
  }
  constexpr int number(DType type) const { return numbers_[static_cast<int>(type)]; }

 private:
  static constexpr int kMost = 32;
  static_assert(sizeof(long) == 8 && sizeof(int) == 4);

  constexpr void add(DType type, std::initializer_list<int> numbers) {
    for (const int number : numbers) types_[number] = static_cast<std::int8_t>(type);
    numbers_[static_cast<int>(type)] = *numbers.begin();
  }

  std::int8_t types_[kMost] = {};
  int numbers_[kMost] = {};
};
inline constexpr TypeNumbers kTypeNumbers;

inline std::optional<DType> dtype_of(int type_number) { return kTypeNumbers.type(type_number); }
inline int type_number(DType type) { return kTypeNumbers.number(type); }

/// The type of both parts of complex numbers; none for other types. A program knows parts only: the
/// real one and the imaginary one behind it are two parameters, or two results.
inline std::optional<DType> part_of(int type_number) {
  if (type_number == NPY_CFLOAT) return DType::F32;
  if (type_number == NPY_CDOUBLE) return DType::F64;
  return std::nullopt;
}
inline int complex_type_number(DType part) { return part == DType::F32 ? NPY_CFLOAT : NPY_CDOUBLE; }

/// A new array with undefined values in C order, with memory from the pool if it is large; null
/// with an error set if there is no memory.
PyObject* new_array(int rank, const npy_intp* shape, int type_number);
/// The same with the shape of another array, and its dimensions in the same order.
PyObject* new_array_like(PyArrayObject* prototype, int type_number);

}  // namespace lw::python

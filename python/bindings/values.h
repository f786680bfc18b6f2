// The values of a call, which are NumPy arrays and numbers, as inputs of a map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "arrays.h"
#include "lanewise/api/function.h"

namespace lw::python {

/// What a value is, as far as a recorded program depends on it: a kind and a type. 0: something
/// that only the Python package understands.
using Code = std::uint16_t;
Code code_of(PyObject* value);

inline constexpr int kMostDimensions = 64;

/// The arrays of a call, broadcast to one shape. Borrows from the values.
struct Geometry {
  int rank = 0;
  npy_intp shape[kMostDimensions];
  std::int64_t count = 1;
  bool is_flat = true;  // arrays lie as one dimension, their elements together

  // Otherwise:
  PyArrayObject* prototype = nullptr;  // an array of this shape whose order is not C's, if any
  std::vector<int> order;              // of dimensions as the map goes through them, slowest first
  std::vector<std::int64_t> map_shape;
  std::vector<std::int64_t> strides;  // of each mapped input, along each dimension of `map_shape`
};

/// Inputs on the stack, as many as a map takes, without a cost for those that are not there.
class Inputs {
 public:
  static constexpr std::size_t kMost = 64;

  void push_back(const Input& input, PyArrayObject* array = nullptr) {
    arrays_[size_] = array;
    new (storage_ + size_++ * sizeof(Input)) Input(input);
  }
  std::size_t size() const { return size_; }
  std::span<Input> all() { return {std::launder(reinterpret_cast<Input*>(storage_)), size_}; }
  /// The array that a mapped input comes from: with a complex one, two do. Null for others.
  PyArrayObject* array(std::size_t index) const { return arrays_[index]; }

 private:
  static_assert(std::is_trivially_destructible_v<Input>);
  alignas(Input) std::byte storage_[kMost * sizeof(Input)];
  PyArrayObject* arrays_[kMost];
  std::size_t size_ = 0;
};

/// Reads the values for these parameters; a complex one is the value of two, or of a table of twice
/// as many. False: they do not fit, and no error is set. Where the
/// geometry is not flat before, it gets strides even if all arrays could do without.
bool read_values(std::span<const ir::Param> params, std::span<PyObject* const> values,
                 Inputs& inputs, Geometry& geometry);

/// Lets a map that is not flat go through its dimensions in the order of the prototype, or in C's.
void set_order(bool as_prototype, Inputs& inputs, Geometry& geometry);

}  // namespace lw::python

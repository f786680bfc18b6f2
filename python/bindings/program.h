// A recorded function with all that a call needs to know.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "values.h"

namespace lw::python {

/// What a call gives back: its only result, a tuple of them, or what Python makes of a list.
enum class Returns : std::uint8_t { One, Tuple, List };

/// Functions of Python's that are told of a running map: how many elements are done, and that none
/// has ended for some time. None, or nothing, where nobody wants to know.
struct Told {
  nanobind::object progress;
  nanobind::object silence;
};

class Program {
 public:
  /// What the IR does not say of the values of a call.
  struct Values {
    std::vector<bool> is_complex;      // of each result, whether two of the function make it
    std::vector<Shape> shapes;         // of the parameters' elements
    std::vector<Shape> result_shapes;  // of the results' elements
    std::vector<runtime::Fold> folds;  // of the results behind those, which are folded
  };
  Program(ir::Function recorded, const std::string& name, std::optional<bool> refill,
          const Values& values);

  /// Those that have values in a call: the seed comes from its options.
  const std::vector<Parameter>& params() const { return params_; }
  const std::vector<Shape>& result_shapes() const { return result_shapes_; }
  const ir::Function& recorded() const { return recorded_; }
  std::vector<DType> results(const MapOptions& options);
  bool is_inner(const MapOptions& options) { return ready(options).is_inner(); }
  /// Bytes that Python held for the last call.
  void add_peak(const MapOptions& options, std::int64_t bytes) {
    ElementFunction::add_peak(ready(options), bytes);
  }

  /// Maps over the values of all parameters into new arrays. Null without an error: the values need
  /// the long way, through the Python package.
  PyObject* call(std::span<PyObject* const> values, const MapOptions& options, Returns returns);
  /// Maps into these arrays; `totals` are arrays for what is folded, as
  /// many and as large as it needs; with a function that combines, a tuple of the array, its
  /// program and the values it captures. With offsets of rows, an array, these run in the order of
  /// their lengths. False: the arrays or values do not fit.
  bool call_into(std::span<PyObject* const> outputs, std::span<PyObject* const> values,
                 const MapOptions& options, const Told& told,
                 std::span<PyObject* const> totals = {}, PyObject* offsets = nullptr);

  /// The function as one that combines values; those it captures stay valid as long as it is used.
  runtime::CombineMany combiner(std::span<PyObject* const> captured);

  Explanation explain(std::span<PyObject* const> values, const MapOptions& options);
  std::string lower(const MapOptions& options);

 private:
  ElementFunction::Ready ready(const MapOptions& options);
  std::vector<Input> kinds() const;
  void run(std::span<const Output> outputs, std::span<const Input> inputs, const Geometry& geometry,
           const MapOptions& options, bool is_new, const Told& told,
           std::span<const runtime::Fold> folds = {}, const Input* starts = nullptr);

  ir::Function recorded_;
  std::vector<std::uint8_t> is_complex_;  // bytes, as every call reads them
  bool has_complex_results_ = false;
  std::vector<Parameter> params_;
  std::vector<Shape> result_shapes_;
  std::vector<runtime::Fold> folds_;
  ElementFunction function_;
  /// For each way in which options make another program.
  std::array<std::optional<ElementFunction::Ready>, 24> ready_;
};

}  // namespace lw::python

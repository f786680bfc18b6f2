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

class Program {
 public:
  /// `is_complex` says of each result that a call gives whether two of the function make it.
  Program(ir::Function recorded, const std::string& name, std::optional<bool> refill,
          const std::vector<bool>& is_complex);

  /// Those that have values in a call: the seed comes from its options.
  const std::vector<ir::Param>& params() const { return params_; }
  const ir::Function& recorded() const { return recorded_; }
  std::vector<DType> results(const MapOptions& options);

  /// Maps over the values of all parameters into new arrays. Null without an error: the values need
  /// the long way, through the Python package.
  PyObject* call(std::span<PyObject* const> values, const MapOptions& options, Returns returns);
  /// Maps into these arrays; `progress` may be none. False: the arrays or values do not fit.
  bool call_into(std::span<PyObject* const> outputs, std::span<PyObject* const> values,
                 const MapOptions& options, nanobind::object progress);

  Explanation explain(const MapOptions& options);
  std::string lower(const MapOptions& options);

 private:
  ElementFunction::Ready ready(const MapOptions& options);
  std::vector<Input> kinds() const;
  void run(std::span<const Output> outputs, std::span<const Input> inputs, const Geometry& geometry,
           const MapOptions& options, bool is_new, nanobind::object progress);

  ir::Function recorded_;
  std::vector<std::uint8_t> is_complex_;  // bytes, as every call reads them
  bool has_complex_results_ = false;
  std::vector<ir::Param> params_;
  bool is_numbered_ = false;
  ElementFunction function_;
  /// For each way in which options make another program.
  std::array<std::optional<ElementFunction::Ready>, 12> ready_;
};

}  // namespace lw::python

#include "program.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "lanewise/api/by_length.h"
#include "lanewise/base/error.h"
#include "lanewise/runtime/folding.h"

namespace lw::python {
namespace {

namespace nb = nanobind;

/// A map that surely ends so soon keeps the interpreter lock: giving it away and taking it back
/// costs some 50 ns alone, and up to 5 ms where other threads want it too.
constexpr double kKeepsLock = 2000;  // ns

std::size_t variant(const MapOptions& options) {
  const std::size_t steps = options.max_steps == 0 ? 0 : options.max_steps < INT32_MAX ? 1 : 2;
  return steps * 8 + static_cast<std::size_t>(options.check_numerics) * 4 +
         static_cast<std::size_t>(options.math) * 2 + static_cast<std::size_t>(options.accuracy);
}

/// New arrays for results, or those that were given.
class Results {
 public:
  static constexpr std::size_t kMost = 16;

  ~Results() {
    for (std::size_t i = 0; i < count_; ++i) Py_DECREF(arrays_[i]);
  }
  Results() = default;
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// Adds an array; if it is complex, with parts of the item's type.
  void add(PyObject* array, const types::Item& item, bool is_complex, const Geometry& geometry) {
    arrays_[count_++] = array;
    auto* const data = PyArray_BYTES(reinterpret_cast<PyArrayObject*>(array));
    add_output(item, data, geometry.count);
    if (is_complex) add_output(item, data + types::size_of(item.type), geometry.count);
  }
  /// For a geometry that is not flat: the strides of all, in its order.
  void set_strides(const Geometry& geometry) {
    const auto rank = static_cast<std::size_t>(geometry.rank);
    strides_.resize(size_ * rank);
    for (std::size_t i = 0; i < size_; ++i) {
      auto* const array = reinterpret_cast<PyArrayObject*>(arrays_[owners_[i]]);
      const std::span<std::int64_t> strides(strides_.data() + i * rank, rank);
      for (std::size_t d = 0; d < rank; ++d) strides[d] = PyArray_STRIDE(array, geometry.order[d]);
      std::launder(reinterpret_cast<Output*>(storage_))[i].strides = strides;
    }
  }
  std::span<const Output> all() const {
    return {std::launder(reinterpret_cast<const Output*>(storage_)), size_};
  }
  /// What the caller gets; arrays of rank 0 become scalars.
  PyObject* take(Returns returns) {
    for (std::size_t i = 0; i < count_; ++i) {
      arrays_[i] = PyArray_Return(reinterpret_cast<PyArrayObject*>(arrays_[i]));
    }
    const std::size_t size = std::exchange(count_, 0);
    if (returns == Returns::One) return arrays_[0];
    const auto n = static_cast<Py_ssize_t>(size);
    PyObject* const all = returns == Returns::Tuple ? PyTuple_New(n) : PyList_New(n);
    for (std::size_t i = 0; i < size; ++i) {
      const auto at = static_cast<Py_ssize_t>(i);
      if (returns == Returns::Tuple) {
        PyTuple_SET_ITEM(all, at, arrays_[i]);
      } else {
        PyList_SET_ITEM(all, at, arrays_[i]);
      }
    }
    return all;
  }

 private:
  void add_output(const types::Item& item, void* data, std::int64_t count) {
    owners_[size_] = static_cast<std::uint8_t>(count_ - 1);
    Output output(item.type, data, count);
    output.row = item.size;
    output.stride = item.bytes();
    new (storage_ + size_++ * sizeof(Output)) Output(output);
  }

  PyObject* arrays_[kMost];
  std::size_t count_ = 0;
  alignas(Output) std::byte storage_[kMost * sizeof(Output)];
  std::uint8_t owners_[kMost];  // the array of each output
  std::size_t size_ = 0;
  std::vector<std::int64_t> strides_;
};
static_assert(std::is_same_v<npy_intp, std::int64_t>);

/// Where no argument is an array, there are as many elements as were asked for, in one dimension,
/// or a single one. A row is one element's.
void set_count(const MapOptions& options, Geometry& geometry) {
  if (geometry.rank > 0) return;
  if (geometry.has_rows && options.count) {
    throw UsageError("map: count and an array; expected one of them.");
  }
  if (!options.count) {
    geometry.is_flat = true;
    return;
  }
  geometry.rank = 1;
  geometry.shape[0] = geometry.count = *options.count;
}

/// True for an array that results of this type and shape can go into.
bool is_output(PyObject* value, DType type, bool is_complex, const Shape& shape,
               const Geometry& geometry) {
  if (!PyArray_Check(value)) return false;
  auto* const array = reinterpret_cast<PyArrayObject*>(value);
  const int number = PyArray_TYPE(array);
  return (is_complex ? part_of(number) : dtype_of(number)) == type &&
         PyArray_ISNBO(PyArray_DESCR(array)->byteorder) && PyArray_ISWRITEABLE(array) &&
         PyArray_NDIM(array) == geometry.rank + static_cast<int>(shape.size()) &&
         std::equal(geometry.shape, geometry.shape + geometry.rank, PyArray_DIMS(array)) &&
         has_rows(array, shape);
}

/// A new array of a type of NumPy's for results with elements of this shape.
PyObject* new_result(const Geometry& geometry, int number, const Shape& shape) {
  if (geometry.prototype != nullptr && shape.empty()) {
    return new_array_like(geometry.prototype, number);
  }
  if (shape.empty()) return new_array(geometry.rank, geometry.shape, number);
  npy_intp whole[kMostDimensions];
  if (geometry.rank + std::ssize(shape) > kMostDimensions) {
    throw UsageError(
        fmt::format("map: a result has too many dimensions; got {}, expected at most {}.",
                    geometry.rank + std::ssize(shape), kMostDimensions));
  }
  std::copy(shape.begin(), shape.end(), std::copy_n(geometry.shape, geometry.rank, whole));
  return new_array(geometry.rank + static_cast<int>(shape.size()), whole, number);
}

/// Where what is folded goes, and the functions that combine it.
class Totals {
 public:
  explicit Totals(const std::vector<runtime::Fold>& folds) : folds_(folds) {}
  /// False: these do not fit.
  bool set(std::span<PyObject* const> totals) {
    if (totals.size() != folds_.size()) return false;
    combiners_.resize(folds_.size());
    for (std::size_t i = 0; i < folds_.size(); ++i) {
      const bool combines = folds_[i].kind == runtime::Fold::Kind::Combine;
      if (combines && !set_combiner(totals[i], i)) return false;
      PyObject* const total = combines ? PyTuple_GET_ITEM(totals[i], 0) : totals[i];
      if (!PyArray_Check(total)) return false;
      auto* const array = reinterpret_cast<PyArrayObject*>(total);
      if (!PyArray_ISCARRAY(array) || PyArray_NBYTES(array) != bytes_of(folds_[i])) return false;
      folds_[i].total = PyArray_DATA(array);
    }
    return true;
  }
  std::span<const runtime::Fold> folds() const { return folds_; }

 private:
  static npy_intp bytes_of(const runtime::Fold& fold) {
    if (fold.kind == runtime::Fold::Kind::Combine) return npy_intp{8} * (1 + fold.size);
    if (fold.gives_place()) return 16;
    return std::max<npy_intp>(fold.size, 1) * static_cast<npy_intp>(types::size_of(fold.type));
  }
  bool set_combiner(PyObject* total, std::size_t place) {
    if (!PyTuple_Check(total) || PyTuple_GET_SIZE(total) != 3) return false;
    std::vector<PyObject*> captured;
    for (const nb::handle value : nb::borrow<nb::tuple>(PyTuple_GET_ITEM(total, 2))) {
      captured.push_back(value.ptr());
    }
    Program& program = nb::cast<Program&>(nb::handle(PyTuple_GET_ITEM(total, 1)));
    combiners_[place] = program.combiner(captured);
    folds_[place].combine = &combiners_[place];
    return true;
  }

  std::vector<runtime::Fold> folds_;
  std::vector<runtime::CombineMany> combiners_;
};

}  // namespace

namespace {

/// Whether a shape, from a file perhaps, is of so many values.
bool is_of_size(const Shape& shape, std::int64_t size) {
  for (const npy_intp n : shape) {
    if (n <= 0 || size % n != 0) return false;
    size /= n;
  }
  return size == 1;
}

void check_shape(const types::Item& item, const Shape& shape) {
  if (shape.empty() != item.is_row() && is_of_size(shape, item.values())) return;
  throw UsageError(fmt::format("map: a row has another size than its shape; got ({}), expected {}.",
                               fmt::join(shape, ", "), types::to_string(item)));
}

}  // namespace

Program::Program(ir::Function recorded, const std::string& name, std::optional<bool> refill,
                 const Values& values)
    : recorded_(std::move(recorded)),
      is_complex_(values.is_complex.begin(), values.is_complex.end()),
      result_shapes_(values.result_shapes),
      folds_(values.folds),
      function_([this](std::span<const Input>) { return recorded_; },
                {.name = name, .schedule = {.refill = refill}}) {
  for (const ir::Param& param : recorded_.params) {
    const bool has_value =
        param.is_mapped() || param.is_table() || param.kind == ir::ParamKind::Shared;
    if (!has_value) continue;
    const std::size_t place = params_.size();
    params_.push_back({param, place < values.shapes.size() ? values.shapes[place] : Shape()});
    check_shape(param.item(), params_.back().shape);
  }
  const std::vector<bool>& is_complex = values.is_complex;
  const auto pairs = std::count(is_complex.begin(), is_complex.end(), true);
  has_complex_results_ = pairs > 0;
  const auto expected =
      is_complex.size() + static_cast<std::size_t>(pairs) + runtime::folded_results(folds_);
  if (recorded_.results.size() != expected) {
    throw UsageError(fmt::format("map: {} gives other results than it should; got {}, expected {}.",
                                 name, recorded_.results.size(), expected));
  }
  result_shapes_.resize(is_complex.size());
  const types::Item* item = recorded_.results.data();
  for (std::size_t i = 0; i < is_complex.size(); ++i) {
    check_shape(*item, result_shapes_[i]);
    item += is_complex[i] ? 2 : 1;
  }
  if (params_.size() <= Inputs::kMost) return;
  throw UsageError(fmt::format("map: too many arguments; got {}, expected at most {}.",
                               params_.size(), Inputs::kMost));
}

std::vector<Input> Program::kinds() const {
  std::vector<Input> inputs;
  for (const Parameter& param : params_) {
    Input& input = inputs.emplace_back(param.type, nullptr, 0);
    input.kind = param.is_table() ? ir::ParamKind::Table : param.kind;  // as in a call
    input.row = param.size;
  }
  return inputs;
}

ElementFunction::Ready Program::ready(const MapOptions& options) {
  std::optional<ElementFunction::Ready>& found = ready_[variant(options)];
  if (!found) {
    MapOptions with_folds = options;
    with_folds.folds = folds_;
    found = function_.prepare(kinds(), with_folds);
  }
  return *found;
}

std::vector<DType> Program::results(const MapOptions& options) {
  std::vector<DType> types;
  for (const types::Item& item : ready(options).results()) types.push_back(item.type);
  return types;
}

Explanation Program::explain(std::span<PyObject* const> values, const MapOptions& options) {
  Inputs inputs;
  Geometry geometry;
  geometry.is_flat = !has_complex_results_;
  if (!read_values(params_, values, inputs, geometry)) {
    return function_.explain(kinds(), options);
  }
  set_count(options, geometry);
  MapOptions with_shape = options;
  with_shape.folds = folds_;
  if (!geometry.is_flat) {
    set_order(false, inputs, geometry);
    with_shape.shape = geometry.map_shape;
  }
  if (geometry.rank == 0) with_shape.count = 1;
  return function_.explain(inputs.all(), with_shape);
}

std::string Program::lower(const MapOptions& options) { return function_.lower(kinds(), options); }

PyObject* Program::call(std::span<PyObject* const> values, const MapOptions& options,
                        Returns returns) {
  Inputs inputs;
  Geometry geometry;
  geometry.is_flat = !has_complex_results_;
  if (!read_values(params_, values, inputs, geometry)) return nullptr;
  set_count(options, geometry);
  const ElementFunction::Ready prepared = ready(options);
  Results results;
  const types::Item* item = prepared.results().data();
  for (std::size_t i = 0; i < is_complex_.size(); ++i) {
    const int number = is_complex_[i] ? complex_type_number(item->type) : type_number(item->type);
    PyObject* const array = new_result(geometry, number, result_shapes_[i]);
    if (array == nullptr) nb::raise_python_error();
    results.add(array, *item, is_complex_[i], geometry);
    item += is_complex_[i] ? 2 : 1;
  }
  if (geometry.is_flat) {
    if (!ElementFunction::call_at_once(prepared, results.all(), inputs.all(), geometry.count,
                                       options, kKeepsLock)) {
      run(results.all(), inputs.all(), geometry, options, true, {});
    }
    return results.take(returns);
  }
  const auto run_in_order = [&](bool as_prototype) {
    set_order(as_prototype, inputs, geometry);
    results.set_strides(geometry);
    run(results.all(), inputs.all(), geometry, options, true, {});
  };
  // Elements are numbered in C order, which shows in draws and in failures only.
  const bool collects = options.on_error == OnError::Collect;
  if (geometry.prototype != nullptr && !collects && !prepared.is_numbered()) {
    try {
      run_in_order(true);
      return results.take(returns);
    } catch (const ElementError&) {  // once more, for its right number
    }
  }
  run_in_order(false);
  return results.take(returns);
}

bool Program::call_into(std::span<PyObject* const> outputs, std::span<PyObject* const> values,
                        const MapOptions& options, const Told& told,
                        std::span<PyObject* const> totals, PyObject* offsets) {
  const types::Item* item = ready(options).results().data();  // refuses too many parameters
  Inputs inputs;
  Geometry geometry;
  geometry.is_flat = !has_complex_results_;
  for (PyObject* const array : outputs) {
    geometry.is_flat =
        geometry.is_flat && PyArray_IS_C_CONTIGUOUS(reinterpret_cast<PyArrayObject*>(array));
  }
  if (!read_values(params_, values, inputs, geometry)) return false;
  set_count(options, geometry);
  if (outputs.size() != is_complex_.size()) return false;
  Totals folded(folds_);
  if (!folded.set(totals)) return false;
  Results results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_output(outputs[i], item->type, is_complex_[i], result_shapes_[i], geometry)) {
      return false;
    }
    Py_INCREF(outputs[i]);
    results.add(outputs[i], *item, is_complex_[i], geometry);
    item += is_complex_[i] ? 2 : 1;
  }
  if (!geometry.is_flat) {
    set_order(false, inputs, geometry);
    results.set_strides(geometry);
  }
  std::optional<Input> starts;
  if (offsets != nullptr && geometry.is_flat) {
    PyArrayObject* const array = reinterpret_cast<PyArrayObject*>(offsets);
    const auto type = dtype_of(PyArray_TYPE(array));
    const bool fits = (type == DType::I32 || type == DType::I64) &&
                      PyArray_IS_C_CONTIGUOUS(array) && PyArray_SIZE(array) == geometry.count + 1;
    if (!fits) return false;
    starts.emplace(*type, PyArray_DATA(array), geometry.count);
  }
  run(results.all(), inputs.all(), geometry, options, false, told, folded.folds(),
      starts ? &*starts : nullptr);
  return true;
}

runtime::CombineMany Program::combiner(std::span<PyObject* const> captured) {
  std::vector<Parameter> params;  // behind those that are combined
  for (const Parameter& param : params_) {
    if (!param.is_mapped()) params.push_back(param);
  }
  Inputs inputs;
  Geometry geometry;
  if (!read_values(params, captured, inputs, geometry)) {
    throw InternalError("map: values of other kinds than the program's came through.");
  }
  const MapOptions options{.threads = 1};
  const std::vector<Input> others(inputs.all().begin(), inputs.all().end());
  return [this, options, others, prepared = ready(options)](
             const void* const* arrays, void* const* results, std::int64_t count) {
    std::vector<Input> all;
    for (const Parameter& param : params_) {
      if (!param.is_mapped()) continue;
      Input& input = all.emplace_back(param.type, arrays[all.size()], count);
      input.row = param.size;
      input.stride = param.item().bytes();
    }
    all.insert(all.end(), others.begin(), others.end());
    std::vector<Output> outputs;
    for (const types::Item& item : prepared.results()) {
      Output& output =
          outputs.emplace_back(item.type, results[outputs.size()], count, item.bytes());
      output.row = item.size;
    }
    try {
      function_.call_ready(prepared, outputs, all, count, options);
    } catch (const ElementError& error) {
      throw ElementError(
          fmt::format("accumulator: combining what elements add failed; got {}", error.what()), -1);
    }
  };
}

void Program::run(std::span<const Output> outputs, std::span<const Input> inputs,
                  const Geometry& geometry, const MapOptions& options, bool is_new,
                  const Told& told, std::span<const runtime::Fold> folds, const Input* starts) {
  std::optional<nb::python_error> pending;  // of a signal handler (KeyboardInterrupt), or progress
  MapOptions with_signals = options;
  with_signals.folds = folds;
  if (!geometry.is_flat) with_signals.shape = geometry.map_shape;
  if (geometry.rank == 0) with_signals.count = 1;
  with_signals.interrupt = [&] {
    const nb::gil_scoped_acquire held;
    if (!pending && PyErr_CheckSignals() != 0) pending.emplace();
    return pending.has_value();
  };
  const auto tell = [&](const nb::object& callback, const auto&... values) {
    const nb::gil_scoped_acquire held;
    try {
      if (!pending) callback(values...);
    } catch (nb::python_error& error) {
      pending.emplace(std::move(error));
    }
  };
  const auto is_there = [](const nb::object& one) { return one.is_valid() && !one.is_none(); };
  if (is_there(told.progress)) {
    with_signals.progress = [&](const Progress& p) { tell(told.progress, p.done, p.rate); };
  }
  if (is_there(told.silence)) {
    with_signals.on_silence = [&](const Silence& s) { tell(told.silence, s); };
  }
  const ElementFunction::Ready prepared = ready(options);
  try {
    const nb::gil_scoped_release released;
    if (starts != nullptr) {
      api::call_by_length(function_, prepared, outputs, inputs, *starts, with_signals);
    } else if (is_new) {
      function_.call_ready(prepared, outputs, inputs, geometry.count, with_signals);
    } else {
      function_.call_into(outputs, inputs, with_signals);
    }
  } catch (const Cancelled&) {
    if (!pending) throw;
  }
  if (pending) throw nb::python_error(std::move(*pending));
}

}  // namespace lw::python

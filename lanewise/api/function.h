// A function for one element, ready to be called on arrays: what lw::vectorize (api/vectorize.h)
// and the Python package are made of. Traced once per signature.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <span>

#include "lanewise/api/accumulator.h"
#include "lanewise/api/explain.h"
#include "lanewise/api/tensor.h"
#include "lanewise/base/fork.h"
#include "lanewise/ir/function.h"

namespace lw {
namespace transform {
struct Options;
}

/// Elements that stand `stride` elements apart, forward or backward; 0 repeats one value.
template <class T>
struct Strided {
  T* data = nullptr;
  std::int64_t size = 0;
  std::int64_t stride = 1;
};

/// What a std::vector can hold for us: one of bool has no bools to point to.
template <class T>
concept VectorElement = types::ElementType<T> && !std::is_same_v<T, bool>;

/// An argument: an array with one value per element, or a row of them, one value shared by all, or
/// a table of values that all elements read by index.
class Input {
 public:
  template <VectorElement T>
  Input(const std::vector<T>& values) : Input(std::span<const T>(values)) {}  // NOLINT: implicit
  template <types::ElementType T>
  Input(std::span<const T> values)  // NOLINT: implicit
      : Input(types::dtype_of<T>, values.data(), std::ssize(values)) {}
  template <types::ElementType T>
  Input(std::span<T> values) : Input(std::span<const T>(values)) {}  // NOLINT: implicit
  Input(const Tensor& tensor)                                        // NOLINT: implicit
      : Input(tensor.type(), tensor.data(), tensor.size()) {
    if (tensor.row() > 0) *this = in_shape(tensor.shape());
  }
  template <types::ElementType T>
  Input(T number)
      : type(types::dtype_of<T>), kind(ir::ParamKind::Shared), value(number) {}  // NOLINT: implicit
  template <class T>
    requires types::ElementType<std::remove_const_t<T>>
  Input(const Strided<T>& values)  // NOLINT: implicit
      : Input(types::dtype_of<std::remove_const_t<T>>, values.data, values.size,
              values.stride * static_cast<std::int64_t>(sizeof(T))) {}
  Input(DType element_type, const void* memory, std::int64_t count)
      : Input(element_type, memory, count,
              static_cast<std::int64_t>(types::size_of(element_type))) {}
  /// `byte_stride` bytes from one element to the next; any alignment.
  Input(DType element_type, const void* memory, std::int64_t count, std::int64_t byte_stride)
      : type(element_type), data(memory), size(count), stride(byte_stride) {}

  bool is_mapped() const { return kind == ir::ParamKind::Mapped; }
  types::Item item() const { return {type, row}; }
  /// The same array, whose values stand together, with so many of them for each element.
  Input in_rows(std::uint32_t length) const;
  /// The same with elements of this shape, in C order: Input(pixels).in_shape({28, 28}).
  Input in_shape(const types::Shape& sizes) const;
  /// The same array as a table.
  Input as_table() const;

  DType type;
  ir::ParamKind kind = ir::ParamKind::Mapped;
  const void* data = nullptr;
  std::int64_t size = 0;
  std::int64_t stride = 0;  // bytes from one element to the next
  std::uint32_t row = 0;    // values of an element, which stand together; 0: it is a number
  types::Shape shape;       // of an element of more than one dimension, or of what is shared
  /// Bytes along each dimension of MapOptions::shape, where that is given.
  std::span<const std::int64_t> strides = {};
  Scalar value;          // when shared
  bool is_mask = false;  // MapOptions::where, which is the last one
};

/// An argument of this shape that all elements share, for a parameter that is a row or matrix:
/// weights. Without a shape it is a row.
Input shared(const Input& values, const types::Shape& sizes);
Input shared(const Input& values);

/// Memory for results that the caller owns.
struct Output {
  template <VectorElement T>
  Output(std::vector<T>& values) : Output(std::span<T>(values)) {}  // NOLINT: implicit
  template <types::ElementType T>
  Output(std::span<T> values)  // NOLINT: implicit
      : Output(types::dtype_of<T>, values.data(), std::ssize(values)) {}
  Output(const Tensor& tensor)  // NOLINT: implicit
      : Output(tensor.type(), tensor.data(), tensor.size()) {
    if (tensor.row() > 0) *this = in_rows(tensor.row());
  }
  template <types::ElementType T>
  Output(const Strided<T>& values)  // NOLINT: implicit
      : Output(types::dtype_of<T>, values.data, values.size,
               values.stride * static_cast<std::int64_t>(sizeof(T))) {}
  Output(DType element_type, void* memory, std::int64_t count)
      : Output(element_type, memory, count,
               static_cast<std::int64_t>(types::size_of(element_type))) {}
  Output(DType element_type, void* memory, std::int64_t count, std::int64_t byte_stride)
      : type(element_type), data(memory), size(count), stride(byte_stride) {}

  types::Item item() const { return {type, row}; }
  /// The same memory with so many values for each element.
  Output in_rows(std::uint32_t length) const;

  DType type;
  void* data;
  std::int64_t size;
  std::int64_t stride;    // bytes from one element to the next
  std::uint32_t row = 0;  // as Input's
  /// Bytes along each dimension of MapOptions::shape, where that is given.
  std::span<const std::int64_t> strides = {};
};

class ElementFunction {
  struct Entry;

 public:
  /// Records the function for arguments of these types and kinds; with a mask behind them, for
  /// elements for which that holds.
  using Tracer = std::function<api::Traced(std::span<const Input> inputs)>;

  ElementFunction(Tracer tracer, VectorizeOptions options);
  ~ElementFunction();
  ElementFunction(const ElementFunction&) = delete;
  ElementFunction& operator=(const ElementFunction&) = delete;

  /// Maps over the inputs into new tensors, one for each result of the function.
  void call(std::span<Tensor> results, std::span<const Input> inputs, const MapOptions& options);
  /// Maps into the caller's memory, which must not overlap an input.
  runtime::RunStats call_into(std::span<const Output> outputs, std::span<const Input> inputs,
                              const MapOptions& options);
  /// A signature that was looked up; good as long as the function is.
  class Ready {
   public:
    const std::vector<types::Item>& results() const;
    /// Those that no accumulator takes.
    std::span<const types::Item> stored() const;
    /// What becomes of some of them: rows of different lengths.
    const std::vector<api::WrittenRows>& rows() const;
    /// Of the program that gives the lengths of those that have some of their own.
    Ready lengths() const;
    /// Memory for result `index` of so many elements.
    Tensor new_result(std::size_t index, std::int64_t count) const;
    /// True where machine code takes one element after the other: their order costs nothing.
    bool is_inner() const;
    /// True where it makes a difference which number an element has.
    bool is_numbered() const;

   private:
    friend ElementFunction;
    explicit Ready(const Entry& entry) : entry_(&entry) {}
    const Entry* entry_;
  };
  /// Traces for arguments of these types and kinds; their memory is not looked at.
  Ready prepare(std::span<const Input> inputs, const MapOptions& options);
  /// Maps at once, if that surely takes no longer: there is machine code without loops, arrays have
  /// their elements together, and nobody wants to hear of it. None: it must be mapped otherwise, as
  /// it is if an element fails.
  static std::optional<runtime::RunStats> call_at_once(Ready ready, std::span<const Output> outputs,
                                                       std::span<const Input> inputs,
                                                       std::int64_t count,
                                                       const MapOptions& options,
                                                       double nanoseconds);
  /// Has `explain` tell this of the last call, which ran in parts.
  static void remember(Ready ready, const runtime::RunStats& stats);
  /// Adds what the caller held beside it.
  static void add_peak(Ready ready, std::int64_t bytes);
  /// Maps without a look at arguments and outputs: all are right, and outputs apart from the rest.
  runtime::RunStats call_ready(Ready ready, std::span<const Output> outputs,
                               std::span<const Input> inputs, std::int64_t count,
                               const MapOptions& options);
  /// What the results are for such inputs.
  std::vector<types::Item> results(std::span<const Input> inputs, const MapOptions& options);
  /// What happens, or happened, with such inputs: program, schedule and reason, code, counts.
  Explanation explain(std::span<const Input> inputs, const MapOptions& options);
  /// The element program as text.
  std::string lower(std::span<const Input> inputs, const MapOptions& options);
  /// Plans and compiles for such inputs now; returns what the compiler did.
  runtime::Program::Report compile(std::span<const Input> inputs, const MapOptions& options);

 private:
  struct Signature;

  static Signature signature(std::span<const Input> inputs, const MapOptions& options);
  const Entry& find(std::span<const Input> inputs, const MapOptions& options);
  const Entry& load(const Signature& key, std::span<const Input> inputs, const MapOptions& options);
  /// Makes the program of what was traced.
  void finish(Entry& entry, const transform::Options& passes) const;
  runtime::RunStats run(const Entry& entry, std::span<const Output> outputs,
                        std::span<const Input> inputs, std::int64_t count,
                        const MapOptions& options);
  static std::int64_t projected_bytes(const Entry& entry, std::span<const Input> inputs,
                                      const MapOptions& options);

  Tracer tracer_;
  VectorizeOptions options_;
  std::atomic<const Entry*> entries_{nullptr};  // newest first; never removed while this lives
  base::RenewedMutex mutex_;
};

}  // namespace lw

// What an element reads and writes by index: tables that all elements share, arrays of its own.
//
//   lw::Array<float> heap(16);             // 16 zeros, for each element
//   heap[i] = heap[i - 1] + table[n];      // an index out of range is a failure of the element
//   x = table.read(n, lw::Mode::Clip);     // or says what it means
#pragma once

#include <string>

#include "lanewise/trace/variable.h"

namespace lw {

/// What an index outside means: Check: the element fails; Clip: the nearest inside; Wrap: modulo
/// the size; Fill: reads give a value, writes do nothing; Unchecked: anything, it does not happen.
using Mode = ir::IndexMode;

namespace trace {

/// An index: a variable or a literal of an integer type, as an i32 or i64.
class Index {
 public:
  template <class T>
    requires std::is_integral_v<T> && (!std::is_same_v<T, bool>)
  Index(const Variable<T>& index,  // NOLINT: implicit
        std::source_location from = std::source_location::current())
      : here(from) {
    static_assert(!std::is_same_v<T, std::uint64_t>, "a u64 is no index; cast it to std::int64_t");
    constexpr bool fits = sizeof(T) < 4 || std::is_same_v<T, std::int32_t>;
    value = Trace::current().builder().convert(index.read(), fits ? DType::I32 : DType::I64);
  }
  template <std::integral T>
  Index(T literal,  // NOLINT: implicit
        std::source_location from = std::source_location::current())
      : here(from),
        value(Trace::current().builder().constant(Scalar(static_cast<std::int32_t>(literal)))) {}

  /// The builder, which goes on at the line that the index stands on.
  ir::Builder& build() const {
    ir::Builder& build = Trace::current().builder();
    build.set_location(to_location(here));
    return build;
  }

  std::source_location here;
  ir::ValueId value;
};

/// array[i] as something that can be read and assigned to: an operand like the variables V.
template <class V>
class Item {
 public:
  using Value = V;
  using Operand = typename V::Operand;

  Item(ir::ValueId array, const Index& index) : array_(array), index_(index) {}
  Item(const Item&) = default;

  ir::ValueId read() const { return index_.build().array_read(array_, index_.value, Mode::Check); }
  Item& operator=(const Operand& value) {
    index_.build().array_write(array_, index_.value, value.value, Mode::Check);
    return *this;
  }
  Item& operator=(const Item& item) { return *this = Operand(item); }
  Item& operator+=(const Operand& b) { return *this = V(*this) + V::of(b.value); }
  Item& operator-=(const Operand& b) { return *this = V(*this) - V::of(b.value); }
  Item& operator*=(const Operand& b) { return *this = V(*this) * V::of(b.value); }
  Item& operator/=(const Operand& b) { return *this = V(*this) / V::of(b.value); }

 private:
  ir::ValueId array_;
  Index index_;
};

}  // namespace trace

/// A parameter with many values, which all elements read: an array argument that is not mapped.
template <types::ElementType T>
class Table {
 public:
  explicit Table(ir::ValueId parameter) : parameter_(parameter) {}

  i64 size() const { return i64::of(build().table_size(parameter_)); }
  Variable<T> operator[](const trace::Index& index) const { return read(index, Mode::Check); }
  /// `fill` is what is read outside, where the mode says so.
  Variable<T> read(const trace::Index& index, Mode mode, T fill = T()) const {
    ir::Builder& build = index.build();
    const ir::ValueId value = mode == Mode::Fill ? build.constant(Scalar(fill)) : ir::kNone;
    return Variable<T>::of(build.table_read(parameter_, index.value, mode, value));
  }

 private:
  static ir::Builder& build() { return trace::Trace::current().builder(); }
  ir::ValueId parameter_;
};

/// Values of the element's own, as many for each; at most 4096.
template <types::ElementType T>
class Array {
 public:
  using Item = trace::Item<Variable<T>>;

  explicit Array(std::uint32_t size, typename Variable<T>::Operand initial = T()) : size_(size) {
    if (size == 0 || size > ir::kMostInArray) {
      throw UsageError("Array: wrong size; got " + std::to_string(size) + ", expected 1 to " +
                       std::to_string(ir::kMostInArray) + ".");
    }
    array_ = build().array(initial.value, size);
  }
  Array(const Array&) = delete;  // it would be a second name for the same values
  Array& operator=(const Array&) = delete;

  std::uint32_t size() const { return size_; }
  Item operator[](const trace::Index& index) { return Item(array_, index); }
  Variable<T> read(const trace::Index& index, Mode mode = Mode::Check,
                   typename Variable<T>::Operand fill = T()) const {
    return Variable<T>::of(
        build().array_read(array_, index.value, mode, mode == Mode::Fill ? fill.value : ir::kNone));
  }
  void write(const trace::Index& index, typename Variable<T>::Operand value,
             Mode mode = Mode::Check) {
    build().array_write(array_, index.value, value.value, mode);
  }

 private:
  static ir::Builder& build() { return trace::Trace::current().builder(); }
  ir::ValueId array_ = ir::kNone;
  std::uint32_t size_;
};

}  // namespace lw

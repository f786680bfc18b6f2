// What an element reads and writes by index: tables that all elements share, arrays of its own.
//
//   lw::Array<float> heap(16);             // 16 zeros, for each element
//   heap[i] = heap[i - 1] + table[n];      // an index out of range is a failure of the element
//   x = table.read(n, lw::Mode::Clip);     // or says what it means
#pragma once

#include <string>

#include "lanewise/trace/variable.h"
#include "lanewise/trace/view.h"

namespace lw {

/// What an index outside means: Check: the element fails; Clip: the nearest inside; Wrap: modulo
/// the size; Fill: reads give a value, writes do nothing; Unchecked: anything, it does not happen.
using Mode = ir::IndexMode;

namespace trace {

/// An index: a variable or a literal of an integer type, as an i32 or i64, with the line it stands
/// on.
class Index {
 public:
  template <class T>
    requires std::is_integral_v<T> && (!std::is_same_v<T, bool>)
  Index(const Variable<T>& index,  // NOLINT: implicit
        std::source_location here = std::source_location::current()) {
    static_assert(!std::is_same_v<T, std::uint64_t>, "a u64 is no index; cast it to std::int64_t");
    constexpr bool fits = sizeof(T) < 4 || std::is_same_v<T, std::int32_t>;
    ir::Builder& build = locate(here);
    value = build.convert(index.read(), fits ? DType::I32 : DType::I64);
  }
  template <std::integral T>
  Index(T literal,  // NOLINT: implicit
        std::source_location here = std::source_location::current())
      : value(locate(here).constant(scalar(static_cast<std::int64_t>(literal)))) {}

  ir::ValueId value;

 private:
  static Scalar scalar(std::int64_t index) {
    const auto narrow = static_cast<std::int32_t>(index);
    return narrow == index ? Scalar(narrow) : Scalar(index);
  }
};

/// array[i] as something that can be read and assigned to: an operand like the variables V.
template <class V>
class Item {
 public:
  using Value = V;
  using Operand = typename V::Operand;

  Item(ir::ValueId array, ir::ValueId index) : array_(array), index_(index) {}
  Item(const Item&) = default;

  ir::ValueId read() const { return build().read(array_, index_, Mode::Check); }
  Item& operator=(const Operand& value) { return assign(value.value); }
  Item& operator=(const Item& item) { return assign(item.read()); }
  Item& operator+=(const Operand& b) { return change(ops::Op::Add, b); }
  Item& operator-=(const Operand& b) { return change(ops::Op::Sub, b); }
  Item& operator*=(const Operand& b) { return change(ops::Op::Mul, b); }
  Item& operator/=(const Operand& b) { return change(ops::Op::Div, b); }

 private:
  // What stands here has no lines of its own: they are those of index and operands.
  Item& change(ops::Op op, const Operand& b) {
    return assign(V::record(op, {read(), b.value}).read());
  }
  Item& assign(ir::ValueId value) {
    Trace::current().require_own(array_);
    build().array_write(array_, index_, value, Mode::Check);
    return *this;
  }
  static ir::Builder& build() { return Trace::current().builder(); }
  ir::ValueId array_;
  ir::ValueId index_;
};

}  // namespace trace

/// Values that are read by index: what tables and arrays have in common.
template <types::ElementType T>
class Indexed {
 public:
  /// Where the mode is Fill, 0 is read outside, or what is given.
  Variable<T> read(const trace::Index& index, Mode mode = Mode::Check) const {
    return read_at(index, mode, mode == Mode::Fill ? build().constant(Scalar(T())) : ir::kNone);
  }
  Variable<T> read(const trace::Index& index, Mode mode,
                   const typename Variable<T>::Operand& fill) const {
    return read_at(index, mode, mode == Mode::Fill ? fill.value : ir::kNone);
  }

 protected:
  explicit Indexed(ir::ValueId values) : values_(values) {}
  static ir::Builder& build() { return trace::Trace::current().builder(); }
  ir::ValueId values_;  // the table or array

 private:
  Variable<T> read_at(const trace::Index& index, Mode mode, ir::ValueId fill) const {
    return Variable<T>::of(build().read(values_, index.value, mode, fill));
  }
};

/// A parameter with many values, which all elements read: an array argument that is not mapped.
template <types::ElementType T>
class Table : public Indexed<T> {
 public:
  explicit Table(ir::ValueId parameter) : Indexed<T>(parameter) {}

  i64 size() const { return i64::of(this->build().table_size(this->values_)); }
  Variable<T> operator[](const trace::Index& index) const { return this->read(index); }
};

/// Values of the element's own, as many for each; at most 4096.
template <types::ElementType T>
class Array : public Indexed<T> {
 public:
  using Item = trace::Item<Variable<T>>;

  explicit Array(std::uint32_t size, std::source_location here = std::source_location::current())
      : Array(size, typename Variable<T>::Operand(0, here)) {}
  Array(std::uint32_t size, const typename Variable<T>::Operand& initial)
      : Indexed<T>(this->build().array(initial.value, checked(size))), size_(size) {}
  /// With the values of a row, or of a grid in C order.
  template <class G>
    requires std::same_as<typename G::Number, T>
  explicit Array(const G& grid, std::source_location here = std::source_location::current())
      : Array(grid.view(), here) {}
  Array(const Array&) = delete;  // it would be a second name for the same values
  Array& operator=(const Array&) = delete;

  std::uint32_t size() const { return size_; }
  ir::ValueId id() const { return this->values_; }
  Item operator[](const trace::Index& index) { return Item(this->values_, index.value); }
  void write(const trace::Index& index, typename Variable<T>::Operand value,
             Mode mode = Mode::Check) {
    trace::Trace::current().require_own(this->values_);
    this->build().array_write(this->values_, index.value, value.value, mode);
  }

 private:
  Array(const trace::View& view, std::source_location here)
      : Indexed<T>(trace::locate(here).array(trace::array_of(view),
                                             static_cast<std::uint32_t>(view.shape.count()))),
        size_(static_cast<std::uint32_t>(view.shape.count())) {}
  static std::uint32_t checked(std::uint32_t size) {
    if (size == 0 || size > ir::kMostInArray) {
      throw UsageError("Array: wrong size; got " + std::to_string(size) + ", expected 1 to " +
                       std::to_string(ir::kMostInArray) + ".");
    }
    return size;
  }

  std::uint32_t size_;
};

}  // namespace lw

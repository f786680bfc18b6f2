// A vector whose first N elements live inside of it: instructions have few operands, and making a
// program must not cost an allocation for each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

namespace lw::base {

template <class T, std::uint32_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;

  SmallVector() = default;
  SmallVector(std::initializer_list<T> values) : SmallVector(values.begin(), values.end()) {}
  SmallVector(std::span<const T> values) : SmallVector(values.begin(), values.end()) {}
  template <class It>
  SmallVector(It first, It last) {
    assign(first, last);
  }
  SmallVector(const SmallVector& other) { assign(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept { swap(other); }
  SmallVector& operator=(SmallVector other) noexcept {
    swap(other);
    return *this;
  }
  ~SmallVector() = default;

  T* begin() { return heap_ ? heap_.get() : inline_; }
  T* end() { return begin() + size_; }
  const T* begin() const { return heap_ ? heap_.get() : inline_; }
  const T* end() const { return begin() + size_; }
  const T* data() const { return begin(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return begin()[i]; }
  const T& operator[](std::size_t i) const { return begin()[i]; }
  T& back() { return begin()[size_ - 1]; }
  const T& back() const { return begin()[size_ - 1]; }

  void push_back(T value) {
    reserve(size_ + 1);
    begin()[size_++] = value;
  }
  template <class It>
  void append(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  void erase(const T* at) {
    std::copy(at + 1, static_cast<const T*>(end()), begin() + (at - begin()));
    --size_;
  }
  operator std::span<const T>() const { return {begin(), size_}; }

 private:
  template <class It>
  void assign(It first, It last) {
    reserve(static_cast<std::uint32_t>(last - first));
    size_ = static_cast<std::uint32_t>(last - first);
    std::copy(first, last, begin());
  }
  void reserve(std::uint32_t wanted) {
    if (wanted <= capacity_) return;
    const std::uint32_t capacity = std::max(wanted, capacity_ * 2);
    std::unique_ptr<T[]> grown(new T[capacity]);
    std::copy(begin(), end(), grown.get());
    heap_ = std::move(grown);
    capacity_ = capacity;
  }
  void swap(SmallVector& other) noexcept {
    std::swap(inline_, other.inline_);
    std::swap(heap_, other.heap_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  T inline_[N] = {};
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = N;
  std::unique_ptr<T[]> heap_;
};

}  // namespace lw::base

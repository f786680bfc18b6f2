#include "lanewise/api/by_length.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "lanewise/api/ragged.h"
#include "lanewise/base/error.h"
#include "lanewise/runtime/ragged.h"

namespace lw::api {
namespace {

constexpr std::int64_t kBlock = 1 << 13;  // rows: their order and copies stay in cache
constexpr std::int64_t kPacket = 64;      // fewer rows stay as they stand

using Order = std::vector<std::uint32_t>;

/// What is said of an element of a part of the call, for the whole.
std::string renumbered(std::string message, std::int64_t element, std::int64_t first) {
  const std::string number = fmt::format("element {}", element);
  if (const std::size_t at = message.find(number); at != std::string::npos) {
    message.replace(at, number.size(), fmt::format("element {}", first + element));
  }
  return message;
}

/// The elements from one on of an array.
template <class Array>
Array part(Array array, std::int64_t first, std::int64_t count) {
  using Byte = std::conditional_t<std::is_same_v<Array, Input>, const std::byte, std::byte>;
  array.data = static_cast<Byte*>(array.data) + first * array.stride;
  array.size = count;
  return array;
}

/// Calls `copy` with a type of as many bytes as an element has, or with bytes of a long one.
template <class Copy>
void with_bytes(std::int64_t bytes, const Copy& copy) {
  switch (bytes) {
    case 1:
      return copy(std::uint8_t{}, 1);
    case 2:
      return copy(std::uint16_t{}, 1);
    case 4:
      return copy(std::uint32_t{}, 1);
    case 8:
      return copy(std::uint64_t{}, 1);
    default:
      return copy(std::byte{}, bytes);
  }
}

void take(const void* from, const Order& order, std::int64_t bytes, void* to) {
  with_bytes(bytes, [&]<class T>(T, std::int64_t many) {
    auto* out = static_cast<T*>(to);
    for (const std::uint32_t i : order) {
      out = std::copy_n(static_cast<const T*>(from) + i * many, many, out);
    }
  });
}

void put(const void* from, const Order& order, std::int64_t bytes, void* to) {
  with_bytes(bytes, [&]<class T>(T, std::int64_t many) {
    const auto* in = static_cast<const T*>(from);
    for (const std::uint32_t i : order) {
      std::copy_n(in, many, static_cast<T*>(to) + i * many);
      in += many;
    }
  });
}

class CallByLength {
 public:
  CallByLength(ElementFunction& function, ElementFunction::Ready ready, const Input& starts,
               const MapOptions& options)
      : function_(function), ready_(ready), starts_(starts), options_(options) {}

  runtime::RunStats run(std::span<const Output> outputs, std::span<const Input> inputs) {
    if (options_.failures != nullptr) *options_.failures = {};
    std::int64_t count = 0;
    for (std::int64_t first = 0; first < starts_.size; first += count) {
      // Rows that have all lanes wait for no others.
      count = starts_.size - first;
      if (!ready_.is_inner()) count = std::min(kBlock, count);
      own_inputs_.clear();
      own_outputs_.clear();
      for (const Input& input : inputs) {
        own_inputs_.push_back(input.is_mapped() ? part(input, first, count) : input);
      }
      for (const Output& output : outputs) own_outputs_.push_back(part(output, first, count));
      run_block(first, count);
    }
    stats_.peak_bytes += held_bytes();
    ElementFunction::remember(ready_, stats_);
    return stats_;
  }

 private:
  void run_block(std::int64_t first, std::int64_t count) {
    if (count >= kPacket && !ready_.is_inner() && find_order(first, count) &&
        run_ordered(first, count)) {
      return;
    }
    MapOptions own = options(first);
    Failures told;
    if (options_.failures != nullptr) {
      own.failures = &told;
      own.most_failures -= std::ssize(options_.failures->first);
    }
    try {
      add(function_.call_ready(ready_, own_outputs_, own_inputs_, count, own));
    } catch (const ElementError& error) {
      throw ElementError(renumbered(error.what(), error.element(), first), first + error.element());
    }
    if (options_.failures == nullptr) return;
    options_.failures->count += told.count;
    for (ElementFailure& one : told.first) {
      one.message = renumbered(std::move(one.message), one.element, first);
      one.element += first;
      options_.failures->first.push_back(std::move(one));
    }
  }

  bool find_order(std::int64_t first, std::int64_t count) {
    order_.resize(static_cast<std::size_t>(count));
    return with_offsets(starts_, [&](const auto* offsets) {
      return runtime::order_by_length(
          std::span(offsets + first, static_cast<std::size_t>(count) + 1), std::span(order_));
    });
  }

  /// False where an element fails, and nothing is done: it is not known which is the first.
  bool run_ordered(std::int64_t first, std::int64_t count) {
    std::vector<Input> inputs = own_inputs_;
    std::vector<Output> outputs = own_outputs_;
    copies_.resize(inputs.size() + outputs.size());
    const auto memory = [&](std::size_t at, std::int64_t bytes) {
      copies_[at].resize(static_cast<std::size_t>(count * bytes));
      return copies_[at].data();
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].is_mapped()) continue;
      const std::int64_t bytes = inputs[i].item().bytes();
      std::byte* const copy = memory(i, bytes);
      take(inputs[i].data, order_, bytes, copy);
      inputs[i].data = copy;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::int64_t bytes = outputs[i].item().bytes();
      std::byte* const copy = memory(inputs.size() + i, bytes);
      if (options_.mask >= 0) take(outputs[i].data, order_, bytes, copy);  // some stay
      outputs[i].data = copy;
    }
    MapOptions own = options(first);
    Failures told;
    if (own.on_error != OnError::Raise) {
      own.on_error = OnError::Collect;
      own.failures = &told;
      own.most_failures = 0;
      own.failed = nullptr;
    }
    try {
      add(function_.call_ready(ready_, outputs, inputs, count, own));
    } catch (const ElementError&) {
      return false;
    }
    if (told.count > 0) return false;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      put(outputs[i].data, order_, outputs[i].item().bytes(), own_outputs_[i].data);
    }
    return true;
  }

  /// Those for a part of the call, which has what is left of its time.
  MapOptions options(std::int64_t first) const {
    MapOptions own = options_;
    own.count.reset();
    own.first_element += first;
    if (own.failed != nullptr) own.failed += first;
    if (options_.progress) {
      own.progress = [this, first](Progress progress) {
        progress.done += first;
        progress.total = starts_.size;
        options_.progress(progress);
      };
    }
    own.begin = begin_;
    return own;
  }

  void add(runtime::RunStats block) {
    block.tier0_elements += stats_.tier0_elements;
    block.tier1_elements += stats_.tier1_elements;
    block.seconds += stats_.seconds;
    block.lanes.live += stats_.lanes.live;
    block.lanes.all += stats_.lanes.all;
    block.peak_bytes = std::max(block.peak_bytes, stats_.peak_bytes);
    block.shares.resize(std::max(block.shares.size(), stats_.shares.size()));
    for (std::size_t i = 0; i < stats_.shares.size(); ++i) {
      block.shares[i].chunks += stats_.shares[i].chunks;
      block.shares[i].elements += stats_.shares[i].elements;
      block.shares[i].seconds += stats_.shares[i].seconds;
    }
    stats_ = std::move(block);
  }

  /// What is kept from block to block, and what the order took.
  std::int64_t held_bytes() const {
    if (order_.empty()) return 0;
    auto bytes = runtime::ordering_bytes(std::min(kBlock, starts_.size)) +
                 static_cast<std::int64_t>(order_.capacity() * sizeof(Order::value_type));
    for (const auto& copy : copies_) bytes += static_cast<std::int64_t>(copy.capacity());
    return bytes;
  }

  ElementFunction& function_;
  ElementFunction::Ready ready_;
  const Input& starts_;
  const MapOptions& options_;
  std::vector<Input> own_inputs_;  // of the block
  std::vector<Output> own_outputs_;
  Order order_;
  std::vector<std::vector<std::byte>> copies_;  // of arrays, in that order
  runtime::RunStats stats_;
  std::chrono::steady_clock::time_point begin_ =
      options_.begin.value_or(std::chrono::steady_clock::now());
};

}  // namespace

std::int64_t by_length_bytes(std::int64_t rows, std::int64_t row_bytes) {
  const std::int64_t block = std::min(rows, kBlock);
  if (block < kPacket) return 0;
  return runtime::ordering_bytes(block) +
         block * (row_bytes + static_cast<std::int64_t>(sizeof(Order::value_type)));
}

runtime::RunStats call_by_length(ElementFunction& function, ElementFunction::Ready ready,
                                 std::span<const Output> outputs, std::span<const Input> inputs,
                                 const Input& starts, const MapOptions& options) {
  return CallByLength(function, ready, starts, options).run(outputs, inputs);
}

}  // namespace lw::api

#include "lanewise/backend/tile/machine.h"

#include <cstring>

#include "lanewise/base/float_state.h"
#include "lanewise/runtime/memory.h"

namespace lw::backend::tile {
namespace {

/// One scratch per thread, kept between calls.
std::byte* scratch(std::size_t bytes) {
  thread_local runtime::Block memory;
  if (memory.bytes() < bytes) {
    memory = {};
    memory = runtime::Block(runtime::Purpose::Scratch, bytes);
  }
  return memory.data();
}

/// Calls `f` with a pointer type of `size` bytes.
template <class F>
void with_size(int size, F f) {
  switch (size) {
    case 1:
      return f(static_cast<std::uint8_t*>(nullptr));
    case 2:
      return f(static_cast<std::uint16_t*>(nullptr));
    case 4:
      return f(static_cast<std::uint32_t*>(nullptr));
    default:
      return f(static_cast<std::uint64_t*>(nullptr));
  }
}

void fill(std::byte* dst, const std::byte* value, int size, int n) {
  with_size(size, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    T v;
    std::memcpy(&v, value, sizeof(T));
    std::fill_n(reinterpret_cast<T*>(dst), n, v);
  });
}

/// dst[j] = dst[pick[j]]; pick ascends, so nothing is overwritten before it is read.
void pack(std::byte* dst, int size, const std::int32_t* pick, int n) {
  with_size(size, [&](auto* type) {
    auto* v = reinterpret_cast<decltype(type)>(dst);
    for (int j = 0; j < n; ++j) v[j] = v[pick[j]];
  });
}

/// home[order[j]] = src[j]
void scatter(std::byte* home, const std::byte* src, int size, const std::int32_t* order, int n) {
  with_size(size, [&](auto* type) {
    auto* to = reinterpret_cast<decltype(type)>(home);
    const auto* from = reinterpret_cast<const std::remove_pointer_t<decltype(type)>*>(src);
    for (int j = 0; j < n; ++j) to[order[j]] = from[j];
  });
}

}  // namespace

/// Runs tiles on one thread.
class Machine::Worker {
 public:
  Worker(const Machine& m, runtime::Context* context, const Options& options)
      : m_(m), context_(context), options_(options), base_(scratch(m.scratch_bytes_)) {
    for (const Preset& p : m.presets_) {
      if (p.shared != kernel::kNone) {
        std::memcpy(at(p.offset), &context->shared[p.shared], 8);
      } else if (p.table != kernel::kNone) {
        std::memcpy(at(p.offset), &context->tables[p.table].size, 8);
      } else {
        p.value.store(at(p.offset));
      }
      if (p.lanes != kernel::kNone) {
        fill(at(p.lanes), at(p.offset), p.size, m.lanes_);
      }
    }
  }

  Outcome run(std::int64_t first, std::int64_t count) {
    for (std::int64_t done = 0; done < count; done += m_.lanes_) {
      if (has_code()) return {runtime::Status::Done, done};
      first_ = first;
      offset_ = done;
      live_ = static_cast<int>(std::min<std::int64_t>(m_.lanes_, count - done));
      if (m_.needs_ids_) {
        auto* ids = reinterpret_cast<std::int32_t*>(at(m_.ids_));
        for (int i = 0; i < live_; ++i) ids[i] = static_cast<std::int32_t>(done) + i;
      }
      switch (block(0, live_)) {
        case Exit::Stop:
          return {runtime::Status::Stopped, done};
        case Exit::Abandon:
          return {runtime::Status::Done, done};
        case Exit::End:
        case Exit::Leave:
          break;
      }
    }
    return {runtime::Status::Done, count};
  }

 private:
  enum class Exit { End, Leave, Stop, Abandon };

  std::byte* at(std::uint32_t offset) const { return base_ + offset; }

  bool has_code() const {
    return options_.code != nullptr && options_.code->load(std::memory_order_acquire) != nullptr;
  }

  Exit block(std::uint32_t id, int n) {
    for (const Step& s : m_.blocks_[id]) {
      switch (s.kind) {
        case Kind::Compute:
          s.loop(at(s.dst), at(s.sources[0]), at(s.sources[1]), at(s.sources[2]),
                 s.uniform ? 1 : n);
          break;
        case Kind::Terms: {
          const Terms& t = m_.terms_[s.index];
          t.loop(at(s.dst), at(t.first), t.from_one, at(t.x), base_, t.terms.data(), n);
          break;
        }
        case Kind::Copy:
          std::memcpy(at(s.dst), at(s.sources[0]),
                      static_cast<std::size_t>(s.uniform ? 1 : n) * s.size);
          break;
        case Kind::Broadcast:
          // All lanes, also those packed away: they are read again when the loop has ended.
          fill(at(s.dst), at(s.sources[0]), s.size, m_.lanes_);
          break;
        case Kind::Active:
          std::memset(at(s.dst), 1, static_cast<std::size_t>(n));
          break;
        case Kind::Load:
          std::memcpy(at(s.dst),
                      static_cast<const std::byte*>(context_->inputs[s.index]) +
                          (first_ + offset_) * s.size,
                      static_cast<std::size_t>(n) * s.size);
          break;
        case Kind::Store:
          std::memcpy(
              static_cast<std::byte*>(context_->outputs[s.index]) + (first_ + offset_) * s.size,
              at(s.sources[0]), static_cast<std::size_t>(n) * s.size);
          break;
        case Kind::Loop:
          if (const Exit exit = loop(m_.loops_[s.index], n); exit != Exit::End) return exit;
          break;
        case Kind::ExitIf:
          if (*at(s.sources[0]) != std::byte{0}) {
            further_out_ = s.index;
            return Exit::Leave;
          }
          break;
        case Kind::Fail:
          fail(s, n);
          break;
        case Kind::Element:
          number_lanes(s, n);
          break;
        case Kind::TableRead:
          read_table(s, n);
          break;
        case Kind::TableWrite:
          write_table(s, n);
          break;
        case Kind::RowRead:
          read_row(s, n);
          break;
        case Kind::RowLoad:
          load_rows(s, n);
          break;
        case Kind::RowStore:
          store_rows(s, n);
          break;
        case Kind::Array:
          fill_array(s, n);
          break;
        case Kind::ArrayRead:
          read_array(s, n);
          break;
        case Kind::ArrayWrite:
          write_array(s, n);
          break;
      }
    }
    return Exit::End;
  }

  Exit loop(const LoopInfo& info, int n) {
    const int width = n;
    bool packed = false;
    Exit exit = Exit::End;
    auto* order = reinterpret_cast<std::int32_t*>(at(info.order));
    for (;;) {
      if (info.uniform && *at(info.mask) == std::byte{0}) break;
      if (info.masked) {
        const int live = m_.table_->count(at(info.mask), n);
        if (live == 0) break;
        if (live * 2 <= n && n > kSmallest) {
          pack_lanes(info, order, width, packed, n, live);
          packed = true;
          n = live;
        }
        if (options_.lanes != nullptr && !info.once) {
          options_.lanes->all += n;
          options_.lanes->live += live;
        }
        if (info.counted && !options_.trips.empty() &&
            !count_trips(info, packed ? order : nullptr, n)) {
          exit = Exit::Abandon;
          break;
        }
      }
      exit = block(info.block, n);
      if (exit == Exit::Leave) {
        if (further_out_ == 0) {
          exit = Exit::End;
        } else {
          --further_out_;
        }
        break;
      }
      if (exit != Exit::End || info.once) break;
      if (context_->attention.load(std::memory_order_relaxed) != 0) {
        context_->loop.store(info.block | runtime::kInterpreted, std::memory_order_relaxed);
        if (context_->poll(context_) != 0) {
          exit = Exit::Stop;
          break;
        }
      }
      if (has_code()) {
        exit = Exit::Abandon;
        break;
      }
    }
    if (packed) unpack_lanes(info, order, width, n);
    return exit;
  }

  static constexpr int kSmallest = 16;  // packing fewer lanes gains nothing

  void pack_lanes(const LoopInfo& info, std::int32_t* order, int width, bool again, int n,
                  int live) {
    std::int32_t pick[512];
    const auto* mask = reinterpret_cast<const bool*>(at(info.mask));
    int picked = 0;
    for (int i = 0; i < n; ++i) {
      pick[picked] = i;
      picked += mask[i];
    }
    for (const Packed& p : info.packed) {
      if (!again) {
        std::memcpy(at(p.home), at(p.offset), static_cast<std::size_t>(width) * p.size);
      } else if (p.written) {
        scatter(at(p.home), at(p.offset), p.size, order, n);
      }
      pack(at(p.offset), p.size, pick, live);
    }
    for (int j = 0; j < live; ++j) order[j] = again ? order[pick[j]] : pick[j];
  }

  void unpack_lanes(const LoopInfo& info, const std::int32_t* order, int width, int n) {
    for (const Packed& p : info.packed) {
      if (p.written) scatter(at(p.home), at(p.offset), p.size, order, n);
      std::memcpy(at(p.offset), at(p.home), static_cast<std::size_t>(width) * p.size);
    }
  }

  /// False once a lane has gone round as often as was asked for.
  bool count_trips(const LoopInfo& info, const std::int32_t* order, int n) {
    const auto* mask = reinterpret_cast<const bool*>(at(info.mask));
    std::uint32_t most = 0;
    for (int j = 0; j < n; ++j) {
      const auto lane = static_cast<std::size_t>(order != nullptr ? order[j] : j);
      std::uint32_t& trips = options_.trips[static_cast<std::size_t>(offset_) + lane];
      trips += mask[j];
      most = std::max(most, trips);
    }
    return most < options_.most_trips;
  }

  // --- arrays and tables ---

  const std::int32_t* ids() const { return reinterpret_cast<const std::int32_t*>(at(m_.ids_)); }

  void number_lanes(const Step& s, int n) {
    auto* words = reinterpret_cast<std::uint32_t*>(at(s.dst));
    const std::int64_t first = context_->first_element + first_;
    for (int i = 0; i < n; ++i) {
      words[i] = static_cast<std::uint32_t>((first + ids()[i]) >> (32 * s.index));
    }
  }

  /// Calls `f(lane, index)` for the lanes of the mask, all if there is none.
  template <class F>
  void for_each_index(const Step& s, std::uint32_t mask, int n, F f) {
    const auto* live = mask == kernel::kNone ? nullptr : reinterpret_cast<const bool*>(at(mask));
    const auto visit = [&](const auto* index) {
      for (int i = 0; i < n; ++i) {
        if (live == nullptr || live[i]) f(i, static_cast<std::int64_t>(index[i]));
      }
    };
    if (s.is_wide) {
      visit(reinterpret_cast<const std::int64_t*>(at(s.sources[0])));
    } else {
      visit(reinterpret_cast<const std::int32_t*>(at(s.sources[0])));
    }
  }

  /// Lanes outside of the mask read 0: no bool has another value than 0 and 1.
  void clear_unread(const Step& s, int n) {
    if (s.sources[1] != kernel::kNone) {
      std::memset(at(s.dst), 0, static_cast<std::size_t>(n) * s.size);
    }
  }

  void read_table(const Step& s, int n) {
    clear_unread(s, n);
    with_size(s.size, [&](auto* type) {
      auto* to = reinterpret_cast<decltype(type)>(at(s.dst));
      const auto* from =
          static_cast<const std::remove_pointer_t<decltype(type)>*>(context_->tables[s.index].data);
      for_each_index(s, s.sources[1], s.uniform ? 1 : n,
                     [&](int i, std::int64_t index) { to[i] = from[index]; });
    });
  }

  void write_table(const Step& s, int n) {
    with_size(s.size, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      auto* to = static_cast<T*>(const_cast<void*>(context_->tables[s.index].data));
      const auto* values = reinterpret_cast<const T*>(at(s.sources[1]));
      for_each_index(s, s.sources[2], n, [&](int i, std::int64_t place) { to[place] = values[i]; });
    });
  }

  void read_row(const Step& s, int n) {
    clear_unread(s, n);
    with_size(s.size, [&](auto* type) {
      auto* to = reinterpret_cast<decltype(type)>(at(s.dst));
      const auto* from =
          static_cast<const std::remove_pointer_t<decltype(type)>*>(context_->inputs[s.index]) +
          first_ * s.length;
      for_each_index(s, s.sources[1], n, [&](int i, std::int64_t index) {
        to[i] = from[std::int64_t{ids()[i]} * s.length + index];
      });
    });
  }

  /// Arrays that hold the results of all lanes of the tile, to their output.
  void load_rows(const Step& s, int n) {
    with_size(s.size, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      const auto* from =
          static_cast<const T*>(context_->inputs[s.sources[0]]) + (first_ + offset_) * s.length;
      auto* rows = reinterpret_cast<T*>(at(s.index));
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t place = 0; place < s.length; ++place) {
          rows[place * m_.lanes_ + i] = from[i * s.length + place];
        }
      }
    });
  }

  void store_rows(const Step& s, int n) {
    with_size(s.size, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      auto* to = static_cast<T*>(context_->outputs[s.sources[0]]) + (first_ + offset_) * s.length;
      const auto* rows = reinterpret_cast<const T*>(at(s.index));
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t place = 0; place < s.length; ++place) {
          to[i * s.length + place] = rows[place * m_.lanes_ + i];
        }
      }
    });
  }

  /// The value at a place of an array that the element in a lane has; packed lanes keep theirs.
  template <class T>
  T& array_value(const Step& s, int lane, std::int64_t place) {
    auto* rows = reinterpret_cast<T*>(at(s.index));
    return rows[place * m_.lanes_ + (ids()[lane] - static_cast<std::int32_t>(offset_))];
  }

  void fill_array(const Step& s, int n) {
    with_size(s.size, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      const auto* values = reinterpret_cast<const T*>(at(s.sources[0]));
      for (std::int64_t place = 0; place < s.length; ++place) {
        for (int i = 0; i < n; ++i) array_value<T>(s, i, place) = values[i];
      }
    });
  }

  void read_array(const Step& s, int n) {
    clear_unread(s, n);
    with_size(s.size, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      auto* to = reinterpret_cast<T*>(at(s.dst));
      for_each_index(s, s.sources[1], n,
                     [&](int i, std::int64_t place) { to[i] = array_value<T>(s, i, place); });
    });
  }

  void write_array(const Step& s, int n) {
    with_size(s.size, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      const auto* values = reinterpret_cast<const T*>(at(s.sources[1]));
      for_each_index(s, s.sources[2], n,
                     [&](int i, std::int64_t place) { array_value<T>(s, i, place) = values[i]; });
    });
  }

  void fail(const Step& s, int n) {
    const auto* failing = reinterpret_cast<const bool*>(at(s.sources[0]));
    if (m_.table_->count(failing, n) == 0) return;
    for (int begin = 0; begin < n; begin += 64) {
      std::uint64_t lanes = 0;
      for (int i = begin; i < std::min(n, begin + 64); ++i) {
        lanes |= static_cast<std::uint64_t>(failing[i]) << (i - begin);
      }
      if (lanes != 0) context_->fail(context_, s.index, lanes, ids() + begin, first_);
    }
    for (const std::uint32_t mask : m_.cleared_[s.index]) {
      auto* m = reinterpret_cast<bool*>(at(mask));
      for (int i = 0; i < n; ++i) m[i] = m[i] && !failing[i];
    }
  }

  const Machine& m_;
  runtime::Context* context_;
  Options options_;
  std::byte* base_;
  std::int64_t first_ = 0;
  std::int64_t offset_ = 0;
  int live_ = 0;
  std::uint32_t further_out_ = 0;  // loops that an exit leaves beside the innermost
};

Machine::Outcome Machine::run(runtime::Context* context, std::int64_t first, std::int64_t count,
                              const Options& options) const {
  const base::FloatState state;
  return Worker(*this, context, options).run(first, count);
}

}  // namespace lw::backend::tile

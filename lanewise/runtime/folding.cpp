#include "lanewise/runtime/folding.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "lanewise/base/error.h"
#include "lanewise/ir/function.h"

namespace lw::runtime {
namespace {

constexpr std::int64_t kFewKeys = 4096;  // of which there may be several tables

ir::Collect collect_of(Fold::Kind kind) {
  switch (kind) {
    case Fold::Kind::Min:
    case Fold::Kind::ArgMin:
      return ir::Collect::Min;
    case Fold::Kind::Max:
    case Fold::Kind::ArgMax:
      return ir::Collect::Max;
    case Fold::Kind::Sum:
    case Fold::Kind::Histogram:
    case Fold::Kind::KeyedSum:
    case Fold::Kind::Combine:
      break;
  }
  return ir::Collect::Sum;
}

std::int64_t tables_of(const Fold& fold) {
  return fold.kind == Fold::Kind::Histogram && fold.size <= kFewKeys ? kKeyTables : 1;
}

/// Calls `f` with the type of the values.
template <class F>
void with_number(DType type, const F& f) {
  types::with_type(type, [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      f.template operator()<T>();
    } else {
      throw InternalError("fold: values of this type are not folded.");
    }
  });
}

void fill(void* values, std::int64_t count, const Scalar& value) {
  with_number(value.type(),
              [&]<class T>() { std::fill_n(static_cast<T*>(values), count, value.as<T>()); });
}

/// True for a value that is before the one there is: the first of equal ones stays.
template <class T>
bool is_before(bool least, T value, T present) {
  if (value != value) return present == present;
  return least ? value < present : value > present;
}

void take_better(bool least, DType type, FoldCell& left, const FoldCell& right) {
  if (right.place < 0) return;
  with_number(type, [&]<class T>() {
    T a, b;
    std::memcpy(&a, &left.bits, sizeof(T));
    std::memcpy(&b, &right.bits, sizeof(T));
    if (left.place < 0 || is_before(least, b, a)) left = right;
  });
}

/// The first of some values that is there and is this one; `place` is the number of the first.
FoldCell find_first(DType type, const void* values, const bool* are_there, std::int64_t count,
                    std::int64_t place, std::uint64_t wanted) {
  FoldCell found;
  with_number(type, [&]<class T>() {
    const T* const all = static_cast<const T*>(values);
    T value;
    std::memcpy(&value, &wanted, sizeof(T));
    for (std::int64_t i = 0; i < count; ++i) {
      if (!are_there[i] || (all[i] != value && value == value)) continue;
      if (value != value && all[i] == all[i]) continue;
      std::memcpy(&found.bits, &all[i], sizeof(T));
      found.place = place + i;
      return;
    }
  });
  return found;
}

/// Integers wrap.
template <class T>
void add_value(T& sum, T value) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    sum = static_cast<T>(static_cast<U>(sum) + static_cast<U>(value));
  } else {
    sum += value;
  }
}

/// Adds values to those of their keys, element by element; `columns` are pairs of keys and values.
template <class T>
void add_keyed(std::span<const Block> columns, std::int64_t count, std::int64_t size, T* table) {
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < columns.size(); c += 2) {
      const auto key =
          static_cast<std::uint32_t>(reinterpret_cast<const std::int32_t*>(columns[c].data())[i]);
      if (key >= static_cast<std::uint64_t>(size)) continue;
      add_value(table[key], reinterpret_cast<const T*>(columns[c + 1].data())[i]);
    }
  }
}

}  // namespace

std::size_t folded_results(std::span<const Fold> folds) {
  std::size_t results = 0;
  for (const Fold& fold : folds) results += fold.columns;
  return results;
}

void clear_totals(std::span<const Fold> folds) {
  for (const Fold& fold : folds) {
    if (fold.kind == Fold::Kind::Combine) {
      std::memset(fold.total, 0, static_cast<std::size_t>(1 + fold.size) * sizeof(std::uint64_t));
      continue;
    }
    fill(fold.total, std::max<std::int64_t>(fold.size, 1),
         ir::neutral(collect_of(fold.kind), fold.type));
    constexpr std::int64_t kNobody = -1;
    if (fold.gives_place()) {
      std::memcpy(static_cast<std::byte*>(fold.total) + 8, &kNobody, sizeof kNobody);
    }
  }
}

std::size_t Folding::Way::cells() const {
  if (fold->kind == Fold::Kind::Combine) return static_cast<std::size_t>(1 + fold->size);
  return fold->is_keyed() ? 0 : static_cast<std::size_t>(std::max<std::int64_t>(fold->size, 1));
}

std::size_t Folding::Way::stripe_bytes() const {
  if (fold->size == 0 || fold->is_keyed() || fold->kind == Fold::Kind::Combine) return 0;
  return static_cast<std::size_t>(kFoldStripes * fold->size) * types::size_of(fold->type);
}

std::size_t Folding::Way::table_bytes() const {
  if (!fold->is_keyed() || is_ordered) return 0;
  return static_cast<std::size_t>(fold->size * tables_of(*fold)) * types::size_of(fold->type);
}

Folding::Way Folding::way(const Fold& fold) {
  Way way{.fold = &fold, .column = 0, .cell = 0, .neutral = {}, .items = {}};
  if (fold.kind == Fold::Kind::Combine) return way;
  way.neutral = ir::neutral(collect_of(fold.kind), fold.type);
  way.is_ordered = fold.kind == Fold::Kind::KeyedSum && types::is_float(fold.type);
  if (!fold.is_keyed()) {
    const Fold::Kind kind = fold.kind == Fold::Kind::ArgMin   ? Fold::Kind::Min
                            : fold.kind == Fold::Kind::ArgMax ? Fold::Kind::Max
                                                              : fold.kind;
    way.block = fold_block(kind, fold.type);
    way.many = fold_many(kind, fold.type);
  }
  return way;
}

Folding::Folding(const Buffers& buffers, const kernel::Kernel& kernel, std::int64_t first_element)
    : first_output_(buffers.outputs.size()), first_element_(first_element) {
  items_.assign(kernel.outputs.begin() + static_cast<std::ptrdiff_t>(first_output_),
                kernel.outputs.end());
  std::size_t column = 0;
  for (const Fold& fold : buffers.folds) {
    Way next = way(fold);
    next.column = column;
    next.cell = width_;
    if (fold.kind == Fold::Kind::Combine) {
      const auto first = items_.begin() + static_cast<std::ptrdiff_t>(column);
      next.items.assign(first + 1, first + fold.columns);
    }
    is_ordered_ = is_ordered_ || next.is_ordered;
    column += fold.columns;
    width_ += next.cells();
    ways_.push_back(next);
  }
  if (width_ > 0) {
    tree_.emplace(width_, [this](FoldCell* left, const FoldCell* right) { combine(left, right); });
  }
  clear_totals(buffers.folds);
}

std::int64_t Folding::bytes(const Buffers& buffers, const kernel::Kernel& kernel,
                            std::int64_t elements) {
  std::int64_t sum = 0;
  for (std::size_t i = buffers.outputs.size(); i < kernel.outputs.size(); ++i) {
    sum += kernel.outputs[i].bytes();
  }
  return sum * elements;
}

std::int64_t Folding::table_bytes(const Buffers& buffers) {
  std::size_t sum = 0;
  for (const Fold& fold : buffers.folds) sum += way(fold).table_bytes();
  return static_cast<std::int64_t>(sum);
}

std::int64_t Folding::work_bytes(const Buffers& buffers, const kernel::Kernel& kernel,
                                 std::int64_t elements) {
  const std::int64_t blocks = elements / kFoldBlock + 2;  // a first and a last one in part
  std::size_t column = buffers.outputs.size(), cells = 0, stripes = 0;
  std::int64_t combining = 0;
  for (const Fold& fold : buffers.folds) {
    const Way next = way(fold);
    cells += next.cells();
    stripes = std::max(stripes, next.stripe_bytes());
    if (fold.kind == Fold::Kind::Combine) {
      combining +=
          combine_bytes(std::span(kernel.outputs).subspan(column + 1, fold.columns - 1), blocks);
    }
    column += fold.columns;
  }
  // Blocks wait for their neighbours on every level of the tree.
  const auto levels = static_cast<std::size_t>(
      std::bit_width(static_cast<std::uint64_t>(buffers.count / kFoldBlock + 1)));
  const std::size_t waiting = cells * sizeof(FoldCell) * 2 * levels;
  return combining + static_cast<std::int64_t>(stripes + waiting);
}

bool Folding::prefers_many(const Buffers& buffers) {
  return std::any_of(buffers.folds.begin(), buffers.folds.end(), [](const Fold& fold) {
    return fold.kind == Fold::Kind::Combine || way(fold).is_ordered;
  });
}

std::int64_t Folding::end_of_blocks(std::int64_t first, std::int64_t elements) const {
  const std::int64_t number = first + first_element_;
  const std::int64_t end = (number + elements) & -kFoldBlock;
  return (end > number ? end : end + kFoldBlock) - first_element_;
}

Folding::Share Folding::share(std::int64_t elements) const {
  Share share;
  share.first_output_ = first_output_;
  for (const types::Item& item : items_) {
    share.sizes_.push_back(item.bytes());
    share.columns_.emplace_back(Purpose::Scratch,
                                static_cast<std::size_t>(item.bytes() * elements));
  }
  for (const Way& way : ways_) {
    const std::size_t bytes = way.table_bytes();
    if (bytes == 0) continue;
    share.tables_.emplace_back(Purpose::Scratch, bytes);
    std::memset(share.tables_.back().data(), 0, bytes);
  }
  std::size_t stripes = 0;
  for (const Way& way : ways_) stripes = std::max(stripes, way.stripe_bytes());
  if (stripes > 0) share.stripes_ = Block(Purpose::Scratch, stripes);
  if (width_ > 0) {
    share.stack_.emplace(width_,
                         [this](FoldCell* left, const FoldCell* right) { combine(left, right); });
    share.best_.resize(width_);
  }
  return share;
}

void Folding::Share::aim(std::int64_t first, void** outputs) const {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    // Where element 0 would be; never followed outside of the buffer.
    const auto address = reinterpret_cast<std::uintptr_t>(columns_[c].data());
    outputs[first_output_ + c] =
        reinterpret_cast<void*>(address - static_cast<std::uintptr_t>(first * sizes_[c]));
  }
}

std::int64_t Folding::Share::bytes() const {
  std::size_t sum = stripes_.bytes() + (stack_ ? stack_->bytes() : 0);
  for (const Block& column : columns_) sum += column.bytes();
  for (const Block& table : tables_) sum += table.bytes();
  return static_cast<std::int64_t>(sum) + combining_;
}

void Folding::fold(Share& share, std::int64_t first, std::int64_t count) const {
  if (width_ > 0) fold_blocks(share, first, count);
  std::size_t table = 0;
  for (const Way& way : ways_) {
    const Fold& fold = *way.fold;
    if (way.table_bytes() == 0) continue;
    std::byte* const values = share.tables_[table++].data();
    const auto columns = std::span(share.columns_).subspan(way.column, fold.columns);
    if (fold.kind == Fold::Kind::KeyedSum) {
      with_number(fold.type, [&]<class T>() {
        add_keyed(columns, count, fold.size, reinterpret_cast<T*>(values));
      });
      continue;
    }
    for (const Block& column : columns) {
      count_keys(reinterpret_cast<const std::int32_t*>(column.data()), count, fold.size,
                 reinterpret_cast<std::int64_t*>(values), tables_of(fold));
    }
  }
}

void Folding::fold_in_order(const Share& share, std::int64_t count) const {
  for (const Way& way : ways_) {
    if (!way.is_ordered) continue;
    const auto columns = std::span(share.columns_).subspan(way.column, way.fold->columns);
    with_number(way.fold->type, [&]<class T>() {
      add_keyed(columns, count, way.fold->size, static_cast<T*>(way.fold->total));
    });
  }
}

void Folding::fold_blocks(Share& share, std::int64_t first, std::int64_t count) const {
  combine_all(share, first, count);
  for (std::int64_t at = 0; at < count;) {
    const std::int64_t number = first + at + first_element_;
    static_assert(kFoldBlock == 1 << 10);
    const std::int64_t block = number >> 10;
    const std::int64_t here = std::min((block + 1) * kFoldBlock - number, count - at);
    fold_cells(share, at, here, number, share.stack_->next());
    share.stack_->push(block);
    at += here;
  }
}

void Folding::combine_all(Share& share, std::int64_t first, std::int64_t count) const {
  share.combined_.clear();
  std::int64_t combining = 0;
  for (const Way& way : ways_) {
    if (way.items.empty()) continue;
    const auto columns = std::span(share.columns_).subspan(way.column, way.fold->columns);
    Partials partials{.are_there = reinterpret_cast<const bool*>(columns[0].data()),
                      .values = {},
                      .number = first + first_element_,
                      .count = count};
    for (const Block& column : columns.subspan(1)) partials.values.push_back(column.data());
    share.combined_.push_back(combine_blocks(*way.fold->combine, way.items, partials));
    const auto blocks = share.combined_.back().size() / way.cells();
    combining += combine_bytes(way.items, static_cast<std::int64_t>(blocks));
  }
  share.combining_ = std::max(share.combining_, combining);
}

/// The elements from `at` on, which have this number and the ones behind it, are all there is of a
/// block.
void Folding::fold_cells(Share& share, std::int64_t at, std::int64_t count, std::int64_t number,
                         FoldCell* cells) const {
  std::size_t next = 0;  // that a function of the user's combines
  for (const Way& way : ways_) {
    const Fold& fold = *way.fold;
    if (fold.is_keyed()) continue;
    if (!way.items.empty()) {
      const std::int64_t block = (number >> 10) - ((number - at) >> 10);
      const FoldCell* const from =
          share.combined_[next++].data() + static_cast<std::size_t>(block) * way.cells();
      std::copy_n(from, way.cells(), cells + way.cell);
      continue;
    }
    const std::int64_t stride = share.sizes_[way.column];
    const std::byte* const values = share.columns_[way.column].data() + at * stride;
    FoldCell* const own = cells + way.cell;
    if (fold.size > 0) {
      fold_rows(way, share.stripes_, values, count, number, own);
      continue;
    }
    if (count == kFoldBlock) {
      way.block(values, &own->bits);
    } else {
      alignas(64) std::byte padded[kFoldBlock * 8];
      fill(padded, kFoldBlock, way.neutral);
      std::memcpy(padded + (number & (kFoldBlock - 1)) * stride, values,
                  static_cast<std::size_t>(count * stride));
      way.block(padded, &own->bits);
    }
    if (!fold.gives_place()) continue;
    // Where it is matters only if it is better than what this worker has had before.
    FoldCell& best = share.best_[way.cell];
    own->place = number;
    FoldCell better = best;
    take_better(fold.kind == Fold::Kind::ArgMin, fold.type, better, *own);
    *own =
        better.place == best.place
            ? FoldCell()
            : find_first(fold.type, values,
                         reinterpret_cast<const bool*>(share.columns_[way.column + 1].data()) + at,
                         count, number, own->bits);
    if (own->place >= 0) best = *own;
  }
}

/// Rows of one block: their stripes are rows too.
void Folding::fold_rows(const Way& way, const Block& memory, const std::byte* rows,
                        std::int64_t count, std::int64_t number, FoldCell* cells) {
  const std::int64_t length = way.fold->size;
  const auto size = static_cast<std::int64_t>(types::size_of(way.fold->type));
  std::byte* const stripes = memory.data();
  fill(stripes, kFoldStripes * length, way.neutral);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t stripe = (number + i) & (kFoldStripes - 1);
    way.many(stripes + stripe * length * size, rows + i * length * size, length);
  }
  for (std::int64_t half = kFoldStripes / 2; half > 0; half /= 2) {
    way.many(stripes, stripes + half * length * size, half * length);
  }
  for (std::int64_t c = 0; c < length; ++c) {
    std::memcpy(&cells[c].bits, stripes + c * size, static_cast<std::size_t>(size));
  }
}

void Folding::combine(FoldCell* left, const FoldCell* right) const {
  for (const Way& way : ways_) {
    if (way.fold->gives_place()) {
      take_better(way.fold->kind == Fold::Kind::ArgMin, way.fold->type, left[way.cell],
                  right[way.cell]);
      continue;
    }
    if (!way.items.empty()) {
      combine_two(*way.fold->combine, way.items, left + way.cell, right + way.cell);
      continue;
    }
    for (std::size_t c = way.cell; c < way.cell + way.cells(); ++c) {
      way.many(&left[c].bits, &right[c].bits, 1);
    }
  }
}

void Folding::pass_on(Share& share) {
  if (!tree_) return;
  const std::lock_guard lock(mutex_);
  tree_->take(*share.stack_);
}

void Folding::finish(std::span<Share* const> shares) {
  for (Share* const share : shares) {
    pass_on(*share);
    std::size_t next = 0;
    for (const Way& way : ways_) {
      if (way.table_bytes() == 0) continue;
      const Fold& fold = *way.fold;
      const std::byte* const tables = share->tables_[next++].data();
      with_number(fold.type, [&]<class T>() {
        T* const total = static_cast<T*>(fold.total);
        const T* values = reinterpret_cast<const T*>(tables);
        for (std::int64_t table = 0; table < tables_of(fold); ++table, values += fold.size) {
          for (std::int64_t key = 0; key < fold.size; ++key) add_value(total[key], values[key]);
        }
      });
    }
  }
  const std::vector<FoldCell> cells = tree_ ? tree_->finish() : std::vector<FoldCell>();
  if (cells.empty()) return;
  for (const Way& way : ways_) {
    const bool is_spread = !way.items.empty();
    const std::size_t size = is_spread ? 8 : types::size_of(way.fold->type);
    auto* const total = static_cast<std::byte*>(way.fold->total);
    for (std::size_t c = 0; c < way.cells(); ++c) {
      std::memcpy(total + c * size, &cells[way.cell + c].bits, size);
    }
    if (way.fold->gives_place()) std::memcpy(total + 8, &cells[way.cell].place, 8);
  }
}

}  // namespace lw::runtime

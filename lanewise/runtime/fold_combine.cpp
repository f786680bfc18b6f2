#include "lanewise/runtime/fold_combine.h"

#include <algorithm>
#include <cstring>

namespace lw::runtime {
namespace {

using Lane = std::uint32_t;

void copy_value(std::byte* to, const std::byte* from, std::size_t size) {
  switch (size) {
    case 8:
      std::memcpy(to, from, 8);
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    default:
      std::memcpy(to, from, size);
  }
}

/// Takes the values of an item to cells of their own; gives the cell behind them.
FoldCell* spread(const types::Item& item, const std::byte* values, FoldCell* cells) {
  const std::size_t size = types::size_of(item.type);
  for (std::int64_t i = 0; i < item.values(); ++i, values += size, ++cells) {
    copy_value(reinterpret_cast<std::byte*>(&cells->bits), values, size);
  }
  return cells;
}

/// The same the other way.
const FoldCell* gather(const types::Item& item, const FoldCell* cells, std::byte* values) {
  const std::size_t size = types::size_of(item.type);
  for (std::int64_t i = 0; i < item.values(); ++i, values += size, ++cells) {
    copy_value(values, reinterpret_cast<const std::byte*>(&cells->bits), size);
  }
  return cells;
}

/// The stripes of several blocks, one behind the other.
class Stripes {
 public:
  Stripes(const CombineMany& combine, std::span<const types::Item> items, std::int64_t blocks)
      : combine_(combine), items_(items), lanes_(static_cast<std::size_t>(blocks * kFoldStripes)) {
    are_there_.resize(lanes_);
    for (const types::Item& item : items) {
      sizes_.push_back(static_cast<std::size_t>(item.bytes()));
      for (auto* columns : {&values_, &left_, &right_, &results_}) {
        columns->emplace_back(Purpose::Scratch, lanes_ * sizes_.back());
      }
    }
  }

  /// Says that something comes to a lane: values at a place of these columns.
  void add(Lane lane, const std::byte* const* values, std::int64_t at) {
    const bool is_first = !are_there_[lane];
    Columns& to = is_first ? values_ : right_;
    const std::size_t place = is_first ? lane : pairs_.size();
    for (std::size_t c = 0; c < sizes_.size(); ++c) {
      copy_value(slot(to, c, place), values[c] + at * ssize(c), sizes_[c]);
    }
    if (is_first) {
      are_there_[lane] = true;
    } else {
      pairs_.push_back(lane);
    }
  }
  /// The same for all lanes of a block, which all have something or nothing.
  void add_row(Lane first, const std::byte* const* values, std::int64_t at) {
    const bool is_first = !are_there_[first];
    Columns& to = is_first ? values_ : right_;
    const std::size_t place = is_first ? first : pairs_.size();
    for (std::size_t c = 0; c < sizes_.size(); ++c) {
      std::memcpy(slot(to, c, place), values[c] + at * ssize(c), kFoldStripes * sizes_[c]);
    }
    if (is_first) {
      std::fill_n(are_there_.begin() + first, kFoldStripes, 1);
    } else {
      for (Lane s = 0; s < kFoldStripes; ++s) pairs_.push_back(first + s);
    }
  }
  bool is_even(Lane first) const {
    const auto lanes = std::span(are_there_).subspan(first, kFoldStripes);
    return std::count(lanes.begin(), lanes.end(), lanes[0]) == kFoldStripes;
  }
  /// Combines what has come; a lane gets one thing at a time.
  void step() {
    if (pairs_.empty()) return;
    const bool is_all = pairs_.size() == lanes_;  // then they are in order
    if (!is_all) {
      for (std::size_t c = 0; c < sizes_.size(); ++c) {
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
          copy_value(slot(left_, c, i), slot(values_, c, pairs_[i]), sizes_[c]);
        }
      }
    }
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (const auto* columns : {is_all ? &values_ : &left_, &right_}) {
      for (const auto& column : *columns) inputs.push_back(column.data());
    }
    for (auto& column : results_) outputs.push_back(column.data());
    combine_(inputs.data(), outputs.data(), static_cast<std::int64_t>(pairs_.size()));
    if (is_all) {
      std::swap(values_, results_);
    } else {
      for (std::size_t c = 0; c < sizes_.size(); ++c) {
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
          copy_value(slot(values_, c, pairs_[i]), slot(results_, c, i), sizes_[c]);
        }
      }
    }
    pairs_.clear();
  }
  /// Combines stripe s of every block with s + half.
  void halve(Lane half) {
    std::vector<const std::byte*> columns;
    for (const auto& column : values_) columns.push_back(column.data());
    for (std::size_t block = 0; block < lanes_; block += kFoldStripes) {
      for (Lane s = 0; s < half; ++s) {
        const auto lane = static_cast<Lane>(block) + s;
        if (are_there_[lane + half]) add(lane, columns.data(), lane + half);
      }
    }
    step();
  }
  void get(Lane lane, FoldCell* cells) {
    cells[0].bits = are_there_[lane];
    ++cells;
    for (std::size_t c = 0; c < sizes_.size(); ++c) {
      cells = spread(items_[c], slot(values_, c, lane), cells);
    }
  }

 private:
  using Columns = std::vector<Block>;
  std::byte* slot(Columns& columns, std::size_t c, std::size_t at) {
    return columns[c].data() + at * sizes_[c];
  }
  std::int64_t ssize(std::size_t c) const { return static_cast<std::int64_t>(sizes_[c]); }

  const CombineMany& combine_;
  std::span<const types::Item> items_;
  std::size_t lanes_;
  std::vector<std::size_t> sizes_;
  std::vector<char> are_there_;
  Columns values_, left_, right_, results_;
  std::vector<Lane> pairs_;  // lanes for which something waits in right_
};

}  // namespace

std::vector<FoldCell> combine_blocks(const CombineMany& combine, std::span<const types::Item> items,
                                     const Partials& partials) {
  const std::int64_t start = partials.number & -kFoldBlock;
  const std::int64_t end = partials.number + partials.count;
  const std::int64_t blocks = (end - start + kFoldBlock - 1) / kFoldBlock;
  Stripes stripes(combine, items, blocks);
  for (std::int64_t row = 0; row < kFoldBlock; row += kFoldStripes) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t begin = start + block * kFoldBlock + row;
      const std::int64_t first = std::max(begin, partials.number);
      const auto lane_0 = static_cast<Lane>(block * kFoldStripes);
      const bool* const here = partials.are_there + (first - partials.number);
      if (first == begin && begin + kFoldStripes <= end && stripes.is_even(lane_0) &&
          std::all_of(here, here + kFoldStripes, [](bool is) { return is; })) {
        stripes.add_row(lane_0, partials.values.data(), begin - partials.number);
        continue;
      }
      for (std::int64_t number = first; number < std::min(begin + kFoldStripes, end); ++number) {
        const std::int64_t at = number - partials.number;
        if (!partials.are_there[at]) continue;
        const std::int64_t lane = block * kFoldStripes + number - begin;
        stripes.add(static_cast<Lane>(lane), partials.values.data(), at);
      }
    }
    stripes.step();
  }
  for (Lane half = kFoldStripes / 2; half > 0; half /= 2) stripes.halve(half);
  std::size_t width = 1;
  for (const types::Item& item : items) width += static_cast<std::size_t>(item.values());
  std::vector<FoldCell> cells(static_cast<std::size_t>(blocks) * width);
  for (std::int64_t block = 0; block < blocks; ++block) {
    stripes.get(static_cast<Lane>(block * kFoldStripes),
                cells.data() + static_cast<std::size_t>(block) * width);
  }
  return cells;
}

std::int64_t combine_bytes(std::span<const types::Item> items, std::int64_t blocks) {
  constexpr std::int64_t kColumns = 4;  // of each item: what there is, two sides, their results
  std::int64_t values = 1, bytes = 0;
  for (const types::Item& item : items) {
    values += item.values();
    bytes += item.bytes();
  }
  const auto cells = values * static_cast<std::int64_t>(sizeof(FoldCell));
  return blocks * (kColumns * kFoldStripes * bytes + cells);
}

void combine_two(const CombineMany& combine, std::span<const types::Item> items, FoldCell* left,
                 const FoldCell* right) {
  if (right->bits == 0) return;
  if (left->bits == 0) {
    std::int64_t values = 0;
    for (const types::Item& item : items) values += item.values();
    std::copy_n(right, 1 + values, left);
    return;
  }
  std::vector<std::vector<std::byte>> memory;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const FoldCell* cells : {static_cast<const FoldCell*>(left), right}) {
    ++cells;  // whether there is something
    for (const types::Item& item : items) {
      memory.emplace_back(static_cast<std::size_t>(item.bytes()));
      cells = gather(item, cells, memory.back().data());
      inputs.push_back(memory.back().data());
    }
  }
  for (const types::Item& item : items) {
    outputs.push_back(memory.emplace_back(static_cast<std::size_t>(item.bytes())).data());
  }
  combine(inputs.data(), outputs.data(), 1);
  ++left;
  for (std::size_t i = 0; i < items.size(); ++i) {
    left = spread(items[i], static_cast<const std::byte*>(outputs[i]), left);
  }
}

}  // namespace lw::runtime

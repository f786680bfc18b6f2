#include "lanewise/transform/streams.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "lanewise/transform/passes.h"
#include "lanewise/transform/places.h"
#include "lanewise/transform/split.h"

namespace lw::transform {
namespace {

using ir::Collect;
using ir::Instruction;
using ir::Op;
using ir::ValueId;

/// The arrays that an `each` of the outermost block keeps, and who reads them.
class Reads {
 public:
  struct Read {
    ValueId reader;              // the `each` of the outermost block that it stands in
    std::optional<Place> place;  // unless it is another use, or not known
  };

  explicit Reads(const ir::Function& f) : f_(f), places_(f) {
    for (const ValueId id : f.blocks[0].body) {
      find(id, id);
      if (f[id].block == ir::kNone) continue;
      ir::for_each(f, [&](ValueId inner, int) { find(inner, id); }, f[id].block);
    }
  }
  const std::vector<Read>& of(ValueId result) const {
    static const std::vector<Read> none;
    const auto found = reads_.find(result);
    return found == reads_.end() ? none : found->second;
  }

  /// All results that are arrays of so many bytes, kept by an `each` of the outermost block that
  /// can be computed at any time.
  std::vector<ValueId> results(std::size_t large) const {
    std::vector<ValueId> list;
    for (const ValueId id : f_.blocks[0].body) {
      const Instruction& in = f_[id];
      if (in.op == Op::Result && f_[in.operands[0]].op == Op::Each && ir::is_array(f_, id) &&
          keeps_only(in.operands[0]) &&
          std::size_t{ir::size_of(f_, id)} * types::size_of(in.type) >= large) {
        list.push_back(id);
      }
    }
    return list;
  }

  bool keeps_only(ValueId each) const {
    const auto collects = ir::collects_of(f_, each);
    return !ir::has_count(f_[each]) && is_pure(f_, f_[each].block) &&
           std::all_of(collects.begin(), collects.end(), [&](ValueId id) {
             return static_cast<Collect>(f_[id].index) == Collect::Keep;
           });
  }

 private:
  void find(ValueId id, ValueId outermost) {
    const Instruction& in = f_[id];
    for (std::size_t i = 0; i < in.operands.size(); ++i) {
      if (f_[in.operands[i]].op != Op::Result) continue;
      const bool is_read = in.op == Op::ArrayRead && i == 0 && f_[outermost].op == Op::Each &&
                           static_cast<ir::IndexMode>(in.index) == ir::IndexMode::Unchecked;
      reads_[in.operands[i]].push_back(
          {outermost, is_read ? places_.of(in.operands[1]) : std::nullopt});
    }
  }

  const ir::Function& f_;
  Places places_;
  std::map<ValueId, std::vector<Read>> reads_;  // by result
};

ValueId position_of(const ir::Function& f, ValueId each) {
  return f.blocks[f[each].block].arguments[0];
}

// --- rows ---

/// What a place has its `each`'s own position times; 0: not at all.
std::uint32_t factor_of(const ir::Function& f, const Place& place, ValueId each) {
  for (const Place::Term& term : place.terms) {
    if (term.position == position_of(f, each)) return static_cast<std::uint32_t>(term.factor);
  }
  return 0;
}

/// By each that can be split: the length of its rows as what reads it, or what it reads, has it.
std::map<ValueId, Sizes> find_rows(const ir::Function& f, std::size_t large) {
  constexpr std::uint32_t kFew = 64;  // shorter rows make poor use of lanes
  const Reads reads(f);
  std::map<ValueId, std::set<std::uint32_t>> rows;
  for (const ValueId result : reads.results(large)) {
    const ValueId each = f[result].operands[0];
    const bool is_flat = keeps_numbers(f, each);
    for (const Reads::Read& read : reads.of(result)) {
      if (!read.place) continue;
      const std::uint32_t factor = factor_of(f, *read.place, read.reader);
      const bool is_flat_reader = keeps_numbers(f, read.reader);
      if (is_flat && !is_flat_reader) rows[each].insert(factor);
      if (!is_flat && is_flat_reader && factor == 1) {
        rows[read.reader].insert(ir::size_of(f, result) / f[each].index);
      }
    }
  }
  std::map<ValueId, Sizes> sizes;
  for (const auto& [each, found] : rows) {
    const std::uint32_t row = *found.begin();
    const std::uint32_t count = f[each].index;
    if (found.size() != 1 || row < kFew || count % row != 0 || count == row) continue;
    sizes[each] = {count / row, row};
  }
  return sizes;
}

// --- streams ---

class Finder {
 public:
  Finder(const ir::Function& f, std::size_t large) : f_(f), reads_(f) {
    for (const ValueId result : reads_.results(large)) find_window(result);
  }

  Streams run() && {
    std::set<ValueId> done;
    for (const auto& [result, windows] : windows_) {
      const std::set<ValueId> members = connected(f_[result].operands[0]);
      if (!done.insert(*members.begin()).second || !can_go_together(members)) continue;
      add_stream(members);
    }
    return std::move(streams_);
  }

 private:
  /// Rows that a reader needs of another `each`, from its own row on.
  struct Window {
    ValueId reader;
    std::uint32_t first;
    std::uint32_t last;
  };

  /// An array that is read by rows only.
  void find_window(ValueId result) {
    const ValueId each = f_[result].operands[0];
    const std::uint32_t row = ir::size_of(f_, result) / f_[each].index;
    std::vector<Window> windows;
    for (const Reads::Read& read : reads_.of(result)) {
      const auto parts = read.place ? parted(*read.place, row) : std::nullopt;
      if (!parts || row == 1 || !reads_.keeps_only(read.reader)) return;
      if (keeps_numbers(f_, read.reader)) return;  // whose positions lanes hold
      const Place& rows = parts->first;
      if (rows.terms.size() != 1 || rows.terms[0].factor != 1 ||
          rows.terms[0].position != position_of(f_, read.reader)) {
        return;
      }
      const auto at = static_cast<std::uint32_t>(rows.constant);
      windows.push_back({read.reader, at, at});
    }
    if (!windows.empty()) windows_[result] = std::move(windows);
  }

  std::set<ValueId> connected(ValueId each) const {
    std::set<ValueId> members = {each};
    for (std::size_t before = 0; before != members.size();) {
      before = members.size();
      for (const auto& [result, windows] : windows_) {
        for (const Window& window : windows) {
          const ValueId made_by = f_[result].operands[0];
          if (members.count(made_by) + members.count(window.reader) == 1) {
            members.insert({made_by, window.reader});
          }
        }
      }
    }
    return members;
  }

  /// True when nothing between them, and none of them, needs more of another than rows.
  bool can_go_together(const std::set<ValueId>& members) const {
    const auto& body = f_.blocks[0].body;
    std::size_t last = 0;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (members.count(body[i]) > 0) last = i;
    }
    const std::set<ValueId> until(body.begin(),
                                  body.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    for (const ValueId id : until) {
      if (f_[id].op != Op::Result || members.count(f_[id].operands[0]) == 0) continue;
      if (windows_.count(id) > 0) continue;
      for (const Reads::Read& use : reads_.of(id)) {
        if (until.count(use.reader) > 0) return false;
      }
    }
    return true;
  }

  /// Rows begin with a line of the cache, and neighbours not at equal places of its sets.
  static std::uint32_t stride_of(std::uint32_t row, DType type) {
    const auto line = static_cast<std::uint32_t>(64 / types::size_of(type));
    return ((row + line - 1) / line | 1) * line;
  }

  void add_stream(const std::set<ValueId>& members) {
    std::map<ValueId, std::uint32_t> lead;  // rows that each is ahead of the last
    std::vector<ValueId> order;
    for (const ValueId id : f_.blocks[0].body) {
      if (members.count(id) > 0) order.push_back(id);
    }
    for (auto each = order.rbegin(); each != order.rend(); ++each) {
      for (const auto& [result, windows] : windows_) {
        if (f_[result].operands[0] != *each) continue;
        for (const Window& w : windows)
          lead[*each] = std::max(lead[*each], lead[w.reader] + w.last);
      }
    }
    for (const auto& [result, windows] : windows_) {
      const ValueId each = f_[result].operands[0];
      if (members.count(each) == 0) continue;
      std::uint32_t oldest = lead[each];
      for (const Window& w : windows) oldest = std::min(oldest, lead[w.reader] + w.first);
      const std::uint32_t row = ir::size_of(f_, result) / f_[each].index;
      streams_.rings[result] = {row, stride_of(row, f_[result].type),
                                std::bit_ceil(lead[each] - oldest + 1)};
    }
    std::uint32_t most = 0;
    for (const ValueId each : order) most = std::max(most, lead[each]);
    Stream stream{.members = {}, .steps = 0};
    for (const ValueId each : order) {
      stream.members.push_back({each, most - lead[each]});
      stream.steps = std::max(stream.steps, most - lead[each] + f_[each].index);
    }
    streams_.streams.push_back(std::move(stream));
  }

  const ir::Function& f_;
  Reads reads_;
  std::map<ValueId, std::vector<Window>> windows_;  // by result
  Streams streams_;
};

}  // namespace

Streams find_streams(const ir::Function& function, std::size_t large) {
  return Finder(function, large).run();
}

ir::Function in_rows(const ir::Function& function, std::size_t large) {
  ir::Function f = function;
  for (auto rows = find_rows(f, large); !rows.empty(); rows = find_rows(f, large)) {
    f = remove_dead(simplify(split(f, rows)));
  }
  return f;
}

}  // namespace lw::transform

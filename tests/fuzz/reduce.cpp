#include "tests/fuzz/reduce.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

#include "lanewise/base/error.h"
#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
#include "lanewise/ir/verify.h"

namespace lw::fuzz {
namespace {

using ir::Function;
using ir::Instruction;
using ir::Op;
using ir::ValueId;

// --- edits ---
// An edit may leave a program that is not valid; it is then dropped by the verifier.

void replace_uses(Function& f, ValueId from, ValueId to) {
  for (Instruction& in : f.values) std::replace(in.operands.begin(), in.operands.end(), from, to);
}

void erase_operand(Instruction& in, std::size_t i) {
  std::vector<ValueId> rest(in.operands.begin(), in.operands.end());
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
  in.operands = decltype(in.operands)(rest.begin(), rest.end());
}

/// Calls `visit(exit, loop it leaves)` for every exit of a block and of those inside.
template <class Visit>
void for_each_exit(const Function& f, const Visit& visit, std::vector<ValueId> loops = {},
                   ir::BlockId block = 0) {
  for (const ValueId id : std::vector<ValueId>(f.blocks[block].body)) {
    if (f[id].op == Op::BreakIf) visit(id, loops[loops.size() - 1 - f[id].index]);
    if (f[id].op == Op::Each) for_each_exit(f, visit, loops, f[id].block);
    if (f[id].op != Op::Loop) continue;
    loops.push_back(id);
    for_each_exit(f, visit, loops, f[id].block);
    loops.pop_back();
  }
}

/// The loop that an exit leaves, or that a `next` goes on with.
ValueId loop_of(const Function& f, ValueId id) {
  ValueId found = ir::kNone;
  for_each_exit(f, [&](ValueId exit, ValueId loop) {
    if (exit == id) found = loop;
  });
  ir::for_each(f, [&](ValueId loop, int) {
    if (f[loop].op == Op::Loop && f.blocks[f[loop].block].body.back() == id) found = loop;
  });
  return found;
}

/// Reads something and changes nothing.
bool is_read(Op op) {
  return op == Op::Element || op == Op::TableSize || op == Op::TableRead || op == Op::ArrayRead;
}

void erase(Function& f, ValueId id) {
  for (ir::Block& block : f.blocks) std::erase(block.body, id);
}

/// A literal at the very beginning, where everything can use it.
ValueId add_literal(Function& f, Scalar value) {
  const auto id = static_cast<ValueId>(f.values.size());
  f.values.push_back({.op = Op::Constant, .type = value.type(), .constant = value});
  auto& body = f.blocks[0].body;
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(f.params.size()), id);
  return id;
}

/// Drops values that nothing reads. A division may go as well: whether the case still goes wrong
/// decides.
void drop_unused(Function& f) {
  for (;;) {
    std::vector<bool> read(f.values.size(), false);
    ir::for_each(f, [&](ValueId id, int) {
      for (const ValueId operand : f[id].operands) read[operand] = true;
    });
    bool changed = false;
    for (ir::Block& block : f.blocks) {
      changed |= std::erase_if(block.body, [&](ValueId id) {
                   const Op op = f[id].op;
                   return !read[id] && (ops::is_elementwise(op) || is_read(op) ||
                                        op == Op::Constant || op == Op::Result || op == Op::Array);
                 }) > 0;
    }
    if (!changed) return;
  }
}

std::vector<ValueId> listed(const Function& f) {
  std::vector<ValueId> ids;
  ir::for_each(f, [&](ValueId id, int) { ids.push_back(id); });
  return ids;
}

/// Equal literals become the first of them, moved to the beginning.
void merge_literals(Function& f) {
  std::vector<ValueId> literals;
  for (const ValueId id : listed(f)) {
    if (f[id].op != Op::Constant) continue;
    erase(f, id);
    const auto same = std::find_if(literals.begin(), literals.end(), [&](ValueId other) {
      return f[other].constant == f[id].constant;
    });
    if (same != literals.end()) {
      replace_uses(f, id, *same);
    } else {
      literals.push_back(id);
    }
  }
  auto& body = f.blocks[0].body;
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(f.params.size()), literals.begin(),
              literals.end());
}

/// Position `i` is no longer carried by the loop: inside and after it, its initial value stands.
void drop_carried(Function& f, ValueId loop, std::uint32_t i) {
  ir::Block& body = f.blocks[f[loop].block];
  const ValueId initial = f[loop].operands[i];
  replace_uses(f, body.arguments[i], initial);
  for_each_exit(f, [&](ValueId exit, ValueId left) {
    if (left == loop) erase_operand(f[exit], i + 1);
  });
  erase_operand(f[body.body.back()], i);
  erase_operand(f[loop], i);
  body.arguments.erase(body.arguments.begin() + static_cast<std::ptrdiff_t>(i));
  for (const ValueId id : listed(f)) {
    Instruction& in = f[id];
    if (in.op != Op::Result || in.operands[0] != loop) continue;
    if (in.index == i) {
      replace_uses(f, id, initial);
      erase(f, id);
    } else if (in.index > i) {
      --in.index;
    }
  }
  for (std::uint32_t k = 0; k < body.arguments.size(); ++k) f[body.arguments[k]].index = k;
}

/// Drops exits out of the block, which is `up` loops further out; those that lead further lead one
/// loop less far then.
void remove_exits(Function& f, ir::BlockId block, std::uint32_t up) {
  for (const ValueId id : std::vector<ValueId>(f.blocks[block].body)) {
    if (f[id].op == Op::Loop) remove_exits(f, f[id].block, up + 1);
    if (f[id].op != Op::BreakIf || f[id].index < up) continue;
    if (f[id].index == up) {
      erase(f, id);
    } else {
      --f[id].index;
    }
  }
}

/// The body stands where the loop stood, once; its results are the values `end` hands over.
void inline_once(Function& f, ValueId loop, ValueId end) {
  const ir::BlockId inner = f[loop].block;
  const std::vector<ValueId> arguments = f.blocks[inner].arguments;
  const auto initial = f[loop].operands;
  std::vector<ValueId> handed(f[end].operands.begin(), f[end].operands.end());
  if (f[end].op == Op::BreakIf) handed.erase(handed.begin());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    replace_uses(f, arguments[i], initial[i]);
    std::replace(handed.begin(), handed.end(), arguments[i], initial[i]);
  }
  for (const ValueId id : listed(f)) {
    if (f[id].op != Op::Result || f[id].operands[0] != loop) continue;
    replace_uses(f, id, handed[f[id].index]);
    erase(f, id);
  }
  remove_exits(f, inner, 0);
  std::vector<ValueId> moved = f.blocks[inner].body;
  moved.pop_back();  // next
  f.blocks[inner].body.clear();
  for (ir::Block& block : f.blocks) {
    const auto at = std::find(block.body.begin(), block.body.end(), loop);
    if (at == block.body.end()) continue;
    const auto place = block.body.erase(at);
    block.body.insert(place, moved.begin(), moved.end());
    return;
  }
}

// --- each ---

/// Collect number `i` is gone; with a result that is still read, the program is not valid.
void drop_collect(Function& f, ValueId each, std::uint32_t i) {
  erase(f, ir::collects_of(f, each)[i]);
  for (const ValueId id : listed(f)) {
    Instruction& in = f[id];
    if (in.op != Op::Result || in.operands[0] != each) continue;
    if (in.index == i) erase(f, id);
    if (in.index > i) --in.index;
  }
}

/// The body stands where the `each` stood, for position 0; what was combined is its one value.
void inline_position(Function& f, ValueId each) {
  const ir::BlockId inner = f[each].block;
  const std::vector<ValueId> collects = ir::collects_of(f, each);
  const ValueId zero = add_literal(f, Scalar(std::int32_t{0}));
  for (const ValueId id : listed(f)) {
    if (f[id].op != Op::Result || f[id].operands[0] != each) continue;
    const Instruction& collect = f[collects[f[id].index]];
    const bool is_place = collect.index >= static_cast<std::uint32_t>(ir::Collect::ArgMin);
    replace_uses(f, id, is_place ? zero : collect.operands[0]);
    erase(f, id);
  }
  replace_uses(f, f.blocks[inner].arguments[0], zero);
  std::vector<ValueId> moved = f.blocks[inner].body;
  std::erase_if(moved, [&](ValueId id) { return f[id].op == Op::Collect; });
  f.blocks[inner].body.clear();
  for (ir::Block& block : f.blocks) {
    const auto at = std::find(block.body.begin(), block.body.end(), each);
    if (at == block.body.end()) continue;
    block.body.insert(block.body.erase(at), moved.begin(), moved.end());
    return;
  }
}

/// Copies of arrays and results are as long as what they are of.
void settle_sizes(Function& f) {
  for (const ValueId id : listed(f)) {
    Instruction& in = f[id];
    if (in.op == Op::Array && !in.operands.empty() && ir::is_array(f, in.operands[0])) {
      in.index = ir::size_of(f, in.operands[0]);
    }
  }
  const Instruction& end = f[f.blocks[0].body.back()];
  for (std::size_t r = 0; r < f.results.size(); ++r) {
    f.results[r] = ir::item_of(f, end.operands[r]);
  }
}

// --- search ---

class Reducer {
 public:
  Reducer(Case failing, const StillWrong& is_wrong, double seconds)
      : best_(std::move(failing)),
        is_wrong_(is_wrong),
        end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  /// Large cuts come first: what they leave out is not tried piece by piece.
  Case run() {
    do {
      progress_ = false;
      fewer_elements();
      fewer_results();
      try_edit(merge_literals, false);
      many_statements();
      many_values();
      fewer_positions();
      fewer_loops();
      fewer_carried();
      fewer_statements();
      fewer_values();
      plainer_handovers();
      plainer_literals();
      plainer_memory();
      fewer_params();
    } while (progress_ && Clock::now() < end_);
    return std::move(best_);
  }

 private:
  /// Keeps the candidate if it is valid and still wrong.
  bool accept(Case candidate, bool is_progress = true) {
    try {
      drop_unused(candidate.function);
      ir::verify(candidate.function);
      candidate.function = ir::parse(ir::print(candidate.function));
    } catch (const Error&) {
      return false;
    }
    // The last round tries everything again that was in vain.
    const std::size_t hash = std::hash<std::string>()(
        print_inputs(candidate.function, candidate.inputs) + ir::print(candidate.function));
    if (Clock::now() > end_ || in_vain_.contains(hash)) return false;
    if (!is_wrong_(candidate)) {
      in_vain_.insert(hash);
      return false;
    }
    best_ = std::move(candidate);
    progress_ = progress_ || is_progress;
    return true;
  }

  template <class Edit>
  bool try_edit(const Edit& edit, bool is_progress = true) {
    Case candidate = best_;
    edit(candidate.function);
    return accept(std::move(candidate), is_progress);
  }

  /// Calls `visit(id)` for instructions of the present best until one has led to a smaller
  /// program; ids change then, so it begins anew at the same place.
  template <class Visit>
  void for_each_listed(const Visit& visit) {
    for (std::size_t i = 0; i < listed(best_.function).size();) {
      if (!visit(listed(best_.function)[i])) ++i;
    }
  }

  /// Calls `cut(function, some of the values)` with half of those that `fits` says, a quarter, and
  /// so on.
  template <class Fits, class Cut>
  void cut_parts(const Fits& fits, const Cut& cut) {
    constexpr std::size_t kFew = 2;  // others take these one by one
    const auto found = [&] {
      std::vector<ValueId> ids = listed(best_.function);
      std::erase_if(ids, [&](ValueId id) { return !fits(best_.function[id]); });
      return ids;
    };
    for (std::size_t part = found().size() / 2; part >= kFew; part /= 2) {
      for (std::size_t first = 0; first < found().size();) {
        const std::vector<ValueId> ids = found();
        const auto some = std::span(ids).subspan(first, std::min(part, ids.size() - first));
        if (!try_edit([&](Function& f) { cut(f, some); })) first += part;
      }
    }
  }

  void many_statements() {
    cut_parts([](const Instruction& in) { return in.op == Op::Fail || in.op == Op::ArrayWrite; },
              [](Function& f, std::span<const ValueId> ids) {
                for (const ValueId id : ids) erase(f, id);
              });
  }

  void many_values() {
    cut_parts(
        [](const Instruction& in) {
          return in.op != Op::Constant && (ops::is_elementwise(in.op) || is_read(in.op));
        },
        [](Function& f, std::span<const ValueId> ids) {
          for (const ValueId id : ids) {
            replace_uses(f, id, add_literal(f, types::scalar_of(f[id].type, 1)));
          }
        });
  }

  void fewer_elements() {
    for (std::int64_t part = best_.inputs.count / 2; part > 0; part /= 2) {
      for (std::int64_t first = 0; first < best_.inputs.count && best_.inputs.count > 1;) {
        std::vector<std::int64_t> kept;
        for (std::int64_t i = 0; i < best_.inputs.count; ++i) {
          if (i < first || i >= first + part) kept.push_back(i);
        }
        Case candidate = best_;
        candidate.inputs = subset(best_.function, best_.inputs, kept);
        if (kept.empty() || !accept(std::move(candidate))) first += part;
      }
    }
  }

  void fewer_results() {
    for (std::size_t r = 0; r < best_.function.results.size();) {
      const bool dropped = best_.function.results.size() > 1 && try_edit([&](Function& f) {
                             erase_operand(f[f.blocks[0].body.back()], r);
                             f.results.erase(f.results.begin() + static_cast<std::ptrdiff_t>(r));
                           });
      if (!dropped) ++r;
    }
  }

  void fewer_loops() {
    for_each_listed([&](ValueId loop) {
      if (best_.function[loop].op != Op::Loop) return false;
      const auto body = best_.function.blocks[best_.function[loop].block].body;
      for (const ValueId end : body) {
        const Op op = best_.function[end].op;
        if (op != Op::Next && (op != Op::BreakIf || best_.function[end].index != 0)) continue;
        if (try_edit([&](Function& f) { inline_once(f, loop, end); })) return true;
      }
      return false;
    });
  }

  /// All rows and `each` of one size shorter at once, then each by itself; or none at all.
  void fewer_positions() {
    for (std::uint32_t size = longest(); size > 1; size = std::min(size - 1, longest())) {
      for (const std::uint32_t shorter : {size / 2, size - 1}) {
        if (resize([&](std::uint32_t now) { return now == size ? shorter : now; })) break;
      }
    }
    for_each_listed([&](ValueId id) {
      const Instruction in = best_.function[id];
      if (in.op != Op::Each) return false;
      if (try_edit([&](Function& f) { erase(f, id); })) return true;
      if (try_edit([&](Function& f) { inline_position(f, id); })) return true;
      const bool is_known =
          ir::has_count(in) && try_edit([&](Function& f) { f[id].operands = {}; });
      if (is_known) return true;
      const auto count = static_cast<std::uint32_t>(ir::collects_of(best_.function, id).size());
      for (std::uint32_t i = 0; i < count; ++i) {
        if (try_edit([&](Function& f) { drop_collect(f, id, i); })) return true;
      }
      for (const std::uint32_t shorter : {in.index / 2, in.index - 1}) {
        const bool done = shorter > 0 && shorter < in.index && try_edit([&](Function& f) {
                            f[id].index = shorter;
                            settle_sizes(f);
                          });
        if (done) return true;
      }
      return false;
    });
  }

  std::uint32_t longest() const {
    std::uint32_t most = 0;
    for (const ir::Param& p : best_.function.params) most = std::max(most, p.size);
    for (const ValueId id : listed(best_.function)) {
      const Instruction& in = best_.function[id];
      if (in.op == Op::Each && !ir::has_count(in)) most = std::max(most, in.index);
    }
    return most;
  }

  template <class NewSize>
  bool resize(const NewSize& new_size) {
    Case candidate = best_;
    Function& f = candidate.function;
    for (std::size_t p = 0; p < f.params.size(); ++p) {
      if (!f.params[p].is_row()) continue;
      const std::uint32_t old = std::exchange(f.params[p].size, new_size(f.params[p].size));
      std::vector<Scalar> values;
      for (std::size_t i = 0; i < candidate.inputs.values[p].size(); ++i) {
        if (i % old < f.params[p].size) values.push_back(candidate.inputs.values[p][i]);
      }
      candidate.inputs.values[p] = std::move(values);
    }
    for (const ValueId id : listed(f)) {
      const bool has_size = f[id].op == Op::Each || f[id].op == Op::Array;
      if (has_size) f[id].index = new_size(f[id].index);
    }
    settle_sizes(f);
    return accept(std::move(candidate));
  }

  void fewer_carried() {
    for_each_listed([&](ValueId loop) {
      if (best_.function[loop].op != Op::Loop) return false;
      const auto count = static_cast<std::uint32_t>(best_.function[loop].operands.size());
      for (std::uint32_t i = 0; i < count; ++i) {
        if (try_edit([&](Function& f) { drop_carried(f, loop, i); })) return true;
      }
      return false;
    });
  }

  void fewer_statements() {
    for_each_listed([&](ValueId id) {
      const Op op = best_.function[id].op;
      return (op == Op::BreakIf || op == Op::Fail || op == Op::ArrayWrite) &&
             try_edit([&](Function& f) { erase(f, id); });
    });
  }

  /// A value is replaced by a literal, one of its operands or a parameter.
  void fewer_values() {
    for_each_listed([&](ValueId id) {
      const Instruction in = best_.function[id];
      if (!ops::is_elementwise(in.op) && !is_read(in.op) && in.op != Op::Result) return false;
      for (const double number : {0.0, 1.0}) {
        if (try_edit([&](Function& f) {
              replace_uses(f, id, add_literal(f, types::scalar_of(in.type, number)));
            })) {
          return true;
        }
      }
      std::vector<ValueId> others;
      if (in.op != Op::Result) others.assign(in.operands.begin(), in.operands.end());
      for (const ir::Param& p : best_.function.params) others.push_back(p.value);
      for (const ValueId other : others) {
        if (best_.function[other].type != in.type) continue;
        if (try_edit([&](Function& f) { replace_uses(f, id, other); })) return true;
      }
      return false;
    });
  }

  /// Exits and steps hand over the carried value as it stands; loops begin with a literal.
  void plainer_handovers() {
    for_each_listed([&](ValueId id) {
      const Op op = best_.function[id].op;
      if (op != Op::BreakIf && op != Op::Next) return false;
      const ValueId loop = loop_of(best_.function, id);
      const std::vector<ValueId> arguments =
          best_.function.blocks[best_.function[loop].block].arguments;
      const std::size_t skip = op == Op::BreakIf ? 1 : 0;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (best_.function[id].operands[i + skip] == arguments[i]) continue;
        if (try_edit([&](Function& f) { f[id].operands[i + skip] = arguments[i]; })) return true;
      }
      return false;
    });
    for_each_listed([&](ValueId loop) {
      if (best_.function[loop].op != Op::Loop) return false;
      const ir::Block body = best_.function.blocks[best_.function[loop].block];
      for (std::size_t i = 0; i < body.arguments.size(); ++i) {
        const Instruction& initial = best_.function[best_.function[loop].operands[i]];
        if (initial.op == Op::Constant) continue;
        if (try_edit([&](Function& f) {
              const ValueId zero = add_literal(f, types::scalar_of(initial.type, 0));
              f[loop].operands[i] = zero;
            })) {
          return true;
        }
      }
      return false;
    });
  }

  void plainer_literals() {
    for_each_listed([&](ValueId id) {
      const Instruction in = best_.function[id];
      if (in.op != Op::Constant) return false;
      for (const double number : {0.0, 1.0, 2.0}) {
        const Scalar plain = types::scalar_of(in.type, number);
        if (plain == in.constant) return false;
        if (try_edit([&](Function& f) { f[id].constant = plain; })) return true;
      }
      return false;
    });
  }

  /// Shorter arrays and tables, the first element's number 0, no branch that few elements take.
  void plainer_memory() {
    for_each_listed([&](ValueId id) {
      const Instruction in = best_.function[id];
      const bool is_rare = in.op == Op::Loop && in.index != 0;
      const bool is_long = in.op == Op::Array && in.index > 1;
      return (is_rare || is_long) && try_edit([&](Function& f) {
               --f[id].index;
               settle_sizes(f);
             });
    });
    const auto try_inputs = [&](const auto& edit) {
      Case candidate = best_;
      edit(candidate.inputs);
      return accept(std::move(candidate));
    };
    if (best_.inputs.first_element != 0) {
      try_inputs([](Inputs& inputs) { inputs.first_element = 0; });
    }
    for (std::size_t p = 0; p < best_.function.params.size(); ++p) {
      if (!best_.function.params[p].is_table()) continue;
      while (best_.inputs.values[p].size() > 1 &&
             try_inputs([&](Inputs& inputs) { inputs.values[p].pop_back(); })) {
      }
    }
  }

  void fewer_params() {
    for (std::size_t p = 0; p < best_.function.params.size();) {
      Case candidate = best_;
      Function& f = candidate.function;
      erase(f, f.params[p].value);
      f.params.erase(f.params.begin() + static_cast<std::ptrdiff_t>(p));
      for (std::uint32_t i = 0; i < f.params.size(); ++i) f[f.params[i].value].index = i;
      candidate.inputs.values.erase(candidate.inputs.values.begin() +
                                    static_cast<std::ptrdiff_t>(p));
      if (!accept(std::move(candidate))) ++p;
    }
  }

  using Clock = std::chrono::steady_clock;

  Case best_;
  const StillWrong& is_wrong_;
  Clock::time_point end_;
  std::unordered_set<std::size_t> in_vain_;  // hashes of candidates
  bool progress_ = false;
};

}  // namespace

Case reduce(Case failing, const StillWrong& is_wrong, double seconds) {
  return Reducer(std::move(failing), is_wrong, seconds).run();
}

}  // namespace lw::fuzz

// An `each` becomes what one lane does for its element: straight code where it is short, else a
// loop. What is kept goes into an array. Values that combine do so in the order that ir::Collect
// has: where there are many, in an array of stripes. A stripe begins with the value that changes no
// other: -0 for sums, 1 for products, the largest number for minima.
//
// Where the element says how many positions there are, it is known only at its end whether these
// are few, so sums are kept both ways. All elements count from 0 up, so that in lanes the place of
// a stripe is the same for all. Of integers, bools and extremes the order makes no difference but
// for the sign of a zero: an extreme is found in sequence, and only one that is 0 is looked for
// again in stripes.
#include <map>

#include "lanewise/base/check.h"
#include "lanewise/base/float_state.h"
#include "lanewise/transform/in_step.h"
#include "lanewise/transform/passes.h"
#include "lanewise/transform/places.h"
#include "lanewise/transform/streams.h"

namespace lw::transform {
namespace {

using ir::Collect;
using ir::Instruction;
using ir::Op;
using ir::ValueId;

constexpr std::size_t kMostUnrolled = 512;  // instructions

class Serializer : public StepCopier {
 public:
  Serializer(const ir::Function& f, SerializeOptions options)
      : StepCopier(f),
        places_(f),
        keeps_inner_(options.keeps_inner),
        in_step_(options.in_step),
        in_block_(options.terms) {
    if (keeps_inner_) streams_ = find_streams(f, options.large);
    for (const Stream& stream : streams_.streams) {
      for (const Stream::Member& member : stream.members) stream_of_[member.each] = &stream;
    }
  }

 private:
  // --- arithmetic of indices ---
  ValueId number(std::int64_t n) { return build_.constant(Scalar(static_cast<std::int32_t>(n))); }
  ValueId add(ValueId a, ValueId b) { return build_.op(Op::Add, {a, b}); }

  /// A loop over i = 0 .. count - 1 that carries `values` from step to step.
  template <class Body>
  ir::Operands count_to(std::int64_t count, ir::Operands values, const Body& body) {
    return count_below([&] { return number(count); }, std::move(values), body);
  }
  template <class Limit, class Body>
  ir::Operands count_below(const Limit& limit, ir::Operands values, const Body& body) {
    ir::Operands carried = {number(0)};
    carried.append(values.begin(), values.end());
    const ValueId loop = build_.begin_loop(carried);
    const auto arguments = [&](std::size_t i) { return build_.arguments(loop)[i]; };
    ir::Operands now;
    for (std::size_t i = 0; i < carried.size(); ++i) now.push_back(arguments(i));
    build_.break_if(build_.op(Op::Ge, {now[0], limit()}), now);
    ir::Operands next = body(now[0], std::span<const ValueId>(now).subspan(1));
    ir::Operands all = {add(now[0], number(1))};
    all.append(next.begin(), next.end());
    build_.end_loop(all);
    ir::Operands results;
    for (std::uint32_t i = 1; i < carried.size(); ++i) results.push_back(build_.result(loop, i));
    return results;
  }

  /// `value()` where the condition holds, else another.
  template <class Value>
  ValueId branch(ValueId condition, ValueId otherwise, bool rare, const Value& value) {
    const ValueId loop = build_.begin_loop(ir::Operands{otherwise}, rare);
    const ir::Operands own = {build_.arguments(loop)[0]};
    build_.break_if(build_.op(Op::Not, {condition}), own);
    build_.break_if(build_.constant(Scalar(true)), ir::Operands{value()});
    build_.end_loop(own);
    return build_.result(loop, 0);
  }

  ValueId new_array(DType type, std::uint32_t size) {
    return build_.append({.op = Op::Array, .type = type, .index = size});
  }
  ValueId get(ValueId array, ValueId index) {
    return build_.read(array, index, ir::IndexMode::Unchecked);
  }
  void set(ValueId array, ValueId index, ValueId value) {
    build_.array_write(array, index, value, ir::IndexMode::Unchecked);
  }

  // --- instructions ---
  void instruction(ValueId id) override {
    const Instruction& in = f_[id];
    build_.set_location(in.location);
    if (in.op == Op::Param) return param(id);
    if (stream_of_.count(id) > 0) return stream(id);
    if (in.op == Op::Result && stream_of_.count(in.operands[0]) > 0) return;  // set by `stream`
    if (in.op == Op::ArrayRead && streams_.rings.count(in.operands[0]) > 0) return read_ring(id);
    if (in.op == Op::Each && stays(id)) return keep(id);
    if (in.op == Op::Loop && sums_.count(id) > 0) return;
    if (in.op == Op::Result && sums_.count(in.operands[0]) > 0) return read_sum(id);
    if (ir::has_count(in)) return count_positions(id);
    if (in.op == Op::Each) {
      return unrolled_cost(id) <= kMostUnrolled ? unroll(id) : go_round(id);
    }
    if (in.op == Op::Collect && inside_ == ir::kNone) {
      collected_.push_back(map_[in.operands[0]]);
    } else if (in.op == Op::Collect && targets_.count(&in) > 0) {
      const Target& target = targets_.at(&in);
      build_.append({.op = Op::Collect,
                     .type = in.type,
                     .operands = {map_[in.operands[0]], target.array, target.base},
                     .index = in.index});
    } else if (in.op == Op::Result && f_[in.operands[0]].op == Op::Each &&
               std::find(stays_.begin(), stays_.end(), in.operands[0]) == stays_.end()) {
      const Made& made = made_.at(in.operands[0])[in.index];
      map_[id] = made.value;
      kept_[id] = &made.values;
    } else if ((in.op == Op::ArrayRead || in.op == Op::TableRead) && known_value(in) != ir::kNone) {
      map_[id] = known_value(in);
    } else if (in.op == Op::TableRead && rows_.count(in.operands[0]) > 0) {
      Instruction read = in;
      read.op = Op::ArrayRead;
      read.operands = mapped(in.operands);
      read.operands[0] = rows_.at(in.operands[0]).value;
      map_[id] = build_.append(std::move(read));
    } else if (in.op == Op::Array && !in.operands.empty() && ir::is_array(f_, in.operands[0])) {
      map_[id] = new_array(in.type, in.index);
      copy(map_[in.operands[0]], map_[id], number(0), in.index);
    } else {
      Copier::instruction(id);
    }
  }

  /// A short row is read once, at the beginning; a long one too where products go over it again
  /// and again.
  void param(ValueId id) {
    constexpr std::uint32_t kShort = 64;
    Copier::instruction(id);
    const ir::Param& p = f_.params[f_[id].index];
    if (!p.is_row() || keeps_inner_ || (p.size > kShort && in_step_ == 1)) return;
    Made& row = rows_[id];
    row.value = build_.array(map_[id], p.size);
    if (p.size > kShort) return;
    for (std::uint32_t i = 0; i < p.size; ++i) row.values.push_back(get(row.value, number(i)));
    kept_[id] = &row.values;
  }

  /// A result of the loop over terms that are taken, in the block of an `each`.
  void read_sum(ValueId id) {
    const Sums& sums = sums_.at(f_[id].operands[0]);
    const ValueId array = sums.arrays[f_[id].index];
    map_[id] = array == ir::kNone ? number(sums.terms) : get(array, position_);
  }

  void keep(ValueId id) {
    stays_.push_back(id);
    inside_ = id;
    Copier::each(id);
    inside_ = ir::kNone;
  }

  /// An `each` with many positions, none inside, and numbers to collect.
  bool stays(ValueId id) const {
    constexpr std::uint32_t kFew = 16;
    if (!keeps_inner_ || f_[id].index < kFew) return false;
    bool is_innermost = true;
    ir::for_each(
        f_,
        [&](ValueId inner, int) {
          const Instruction& in = f_[inner];
          is_innermost = is_innermost && in.op != Op::Each &&
                         (in.op != Op::Collect || ir::is_number(f_, in.operands[0]));
        },
        f_[id].block);
    return is_innermost;
  }

  /// What a place of an unrolled array is, where it is known which one is read.
  ValueId known_value(const Instruction& in) const {
    const auto kept = kept_.find(in.operands[0]);
    const Instruction& index = build_.function()[map_[in.operands[1]]];
    if (kept == kept_.end() || index.op != Op::Constant) return ir::kNone;
    const std::int64_t place = types::to_int64(index.constant);
    const auto& values = *kept->second;
    return place >= 0 && place < std::ssize(values) ? values[static_cast<std::size_t>(place)]
                                                    : ir::kNone;
  }

  void copy(ValueId from, ValueId to, ValueId base, std::uint32_t size) {
    count_to(size, {}, [&](ValueId i, std::span<const ValueId>) {
      set(to, add(base, i), get(from, i));
      return ir::Operands();
    });
  }

  /// Instructions that it would be in straight code; those of loops count as many.
  std::size_t unrolled_cost(ValueId each) const {
    if (ir::has_count(f_[each])) return kMostUnrolled + 1;
    std::size_t sum = 0;
    for (const ValueId id : f_.blocks[f_[each].block].body) {
      const Instruction& in = f_[id];
      if (in.op == Op::Each) {
        sum += unrolled_cost(id);
      } else if (in.op == Op::Loop) {
        sum += ir::can_go_round(f_, id) ? kMostUnrolled : loop_cost(in.block);
      } else if (in.op == Op::Collect && ir::is_array(f_, in.operands[0])) {
        sum += ir::size_of(f_, in.operands[0]);
      } else {
        ++sum;
      }
    }
    return std::min<std::size_t>(sum * f_[each].index, kMostUnrolled + 1);
  }

  std::size_t loop_cost(ir::BlockId block) const {
    std::size_t sum = 0;
    ir::for_each(f_, [&](ValueId, int) { ++sum; }, block);
    return sum;
  }

  /// What becomes of a collected value.
  struct Made {
    ValueId value = ir::kNone;         // a number or an array
    std::vector<ValueId> values = {};  // of an array whose places are known
    ValueId base = ir::kNone;          // where in the array it begins; kNone: at 0
    const Ring* ring = nullptr;        // if it has the last rows only

    std::uint32_t stride(std::uint32_t row) const { return ring == nullptr ? row : ring->stride; }
  };
  /// Where what is kept goes: into the array of an `each` around.
  struct Target {
    ValueId array;
    ValueId base;
  };

  /// What the positions have of a loop over terms, by what it carries; kNone: the counter.
  struct Sums {
    std::uint32_t terms;
    std::vector<ValueId> arrays;
  };

  std::vector<const Instruction*> collects(ValueId each) const {
    std::vector<const Instruction*> list;
    for (const ValueId id : ir::collects_of(f_, each)) list.push_back(&f_[id]);
    return list;
  }

  // --- straight code ---
  void unroll(ValueId id) {
    const Instruction& in = f_[id];
    const auto collects = this->collects(id);
    std::vector<std::vector<ValueId>> values(collects.size());
    for (std::uint32_t j = 0; j < in.index; ++j) {
      map_[f_.blocks[in.block].arguments[0]] = number(j);
      std::vector<ValueId> outer;
      outer.swap(collected_);
      block(in.block);
      outer.swap(collected_);
      for (std::size_t i = 0; i < collects.size(); ++i) append(*collects[i], outer[i], values[i]);
    }
    build_.set_location(in.location);
    std::vector<Made> made;
    for (std::size_t i = 0; i < collects.size(); ++i) {
      made.push_back(make(*collects[i], std::move(values[i])));
    }
    made_[id] = std::move(made);
  }

  /// One value of a position, or all of an array that it has.
  void append(const Instruction& collect, ValueId value, std::vector<ValueId>& to) {
    const ValueId of = collect.operands[0];
    if (!ir::is_array(f_, of)) {
      to.push_back(value);
      return;
    }
    const auto kept = kept_.find(of);
    for (std::uint32_t i = 0; i < ir::size_of(f_, of); ++i) {
      const bool is_known = kept != kept_.end() && !kept->second->empty();
      to.push_back(is_known ? (*kept->second)[i] : get(value, number(i)));
    }
  }

  Made make(const Instruction& collect, std::vector<ValueId> values) {
    const auto how = static_cast<Collect>(collect.index);
    if (how == Collect::Keep) {
      const auto size = static_cast<std::uint32_t>(values.size());
      const ValueId array = new_array(collect.type, size);
      for (std::uint32_t i = 0; i < size; ++i) set(array, number(i), values[i]);
      return {array, std::move(values)};
    }
    if (ir::gives_place(how)) {
      ir::Operands best = {values[0], number(0)};
      for (std::size_t j = 1; j < values.size(); ++j) {
        best = better(how, best, values[j], number(static_cast<std::int64_t>(j)));
      }
      return {best[1]};
    }
    const Op op = ir::combining_op(how);
    const std::size_t count = values.size() <= ir::kFewTerms ? 1 : ir::kStripes;
    std::vector<ValueId> stripes;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (j < count) {
        stripes.push_back(values[j]);
      } else {
        stripes[j % count] = build_.op(op, {stripes[j % count], values[j]});
      }
    }
    for (std::size_t half = ir::kStripes / 2; half > 0; half /= 2) {
      for (std::size_t s = 0; s < half && s + half < stripes.size(); ++s) {
        stripes[s] = build_.op(op, {stripes[s], stripes[s + half]});
      }
    }
    return {stripes[0]};
  }

  /// The better one of two values with their places, the first being the earlier.
  ir::Operands better(Collect how, std::span<const ValueId> best, ValueId value, ValueId place) {
    ValueId takes = build_.op(how == Collect::ArgMin ? Op::Lt : Op::Gt, {value, best[0]});
    if (types::is_float(build_.type(value))) {
      const ValueId is_nan = build_.op(Op::Ne, {value, value});
      const ValueId is_number = build_.op(Op::Eq, {best[0], best[0]});
      takes = build_.op(Op::Or, {takes, build_.op(Op::And, {is_nan, is_number})});
    }
    return {build_.op(Op::Select, {takes, value, best[0]}),
            build_.op(Op::Select, {takes, place, best[1]})};
  }

  // --- loops ---
  void go_round(ValueId id) {
    const Instruction& in = f_[id];
    const auto collects = this->collects(id);
    std::vector<Made> made(collects.size());
    ir::Operands carried;
    for (std::size_t i = 0; i < collects.size(); ++i) {
      begin(*collects[i], in.index, made[i], carried);
    }
    const auto collect = [&](ValueId j, std::span<const ValueId> values,
                             std::span<const ValueId> now) {
      build_.set_location(in.location);
      ir::Operands next;
      for (std::size_t i = 0; i < collects.size(); ++i) {
        step(*collects[i], in.index, made[i], j, values[i], now, next);
      }
      return next;
    };
    std::vector<bool> own = in_step_ > 1 ? find_own_values(f_, id) : std::vector<bool>();
    if (!own.empty() && terms_in_blocks(id, own)) own.clear();  // what is behind them is left
    const std::uint32_t group = own.empty() ? 1 : std::min(in_step_, in.index);
    /// Positions from `first` on.
    const auto several = [&](ValueId first, std::uint32_t count, ir::Operands now) {
      ir::Operands js;
      for (std::uint32_t c = 0; c < count; ++c) js.push_back(add(first, number(c)));
      const auto values = in_step(id, own, js);
      for (std::uint32_t c = 0; c < count; ++c) now = collect(js[c], values[c], now);
      return now;
    };
    const auto one = [&](ValueId j, std::span<const ValueId> now) {
      map_[f_.blocks[in.block].arguments[0]] = j;
      position_ = j;
      for (std::size_t i = 0; i < collects.size(); ++i) aim(id, *collects[i], made[i], j);
      std::vector<ValueId> outer;
      outer.swap(collected_);
      block(in.block);
      outer.swap(collected_);
      return collect(j, outer, now);
    };
    ir::Operands ended =
        count_to(in.index / group, carried, [&](ValueId j, std::span<const ValueId> now) {
          if (group == 1) return one(j, now);
          return several(build_.op(Op::Mul, {j, number(group)}), group, {now.begin(), now.end()});
        });
    if (const std::uint32_t rest = in.index % group; rest > 0) {
      ended = several(number(in.index - rest), rest, std::move(ended));
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < collects.size(); ++i) {
      end(*collects[i], in.index, made[i], ended, at);
    }
    made_[id] = std::move(made);
  }

  // --- rows of several ---

  /// When the last of them comes, all go through their rows together.
  void stream(ValueId last) {
    const Stream& stream = *stream_of_.at(last);
    if (stream.members.back().each != last) return;
    for (const Stream::Member& member : stream.members) {
      std::vector<Made>& made = made_[member.each];
      const auto collects = this->collects(member.each);
      made.resize(collects.size());
      ir::Operands carried;
      for (std::size_t i = 0; i < collects.size(); ++i) {
        begin(*collects[i], f_[member.each].index, made[i], carried);
      }
    }
    for (ValueId id = 0; id < f_.values.size(); ++id) {
      const Instruction& in = f_[id];
      if (in.op != Op::Result || stream_of_.count(in.operands[0]) == 0 ||
          stream_of_.at(in.operands[0]) != &stream) {
        continue;
      }
      Made& made = made_.at(in.operands[0])[in.index];
      if (const auto ring = streams_.rings.find(id); ring != streams_.rings.end()) {
        made.value = new_array(in.type, ring->second.stride * ring->second.depth);
        made.ring = &ring->second;
      }
      map_[id] = made.value;
    }
    count_to(stream.steps, {}, [&](ValueId at, std::span<const ValueId>) {
      for (const Stream::Member& member : stream.members) row_of(member, stream.steps, at);
      return ir::Operands();
    });
  }

  /// The row that a member has at this step, if there is one.
  void row_of(const Stream::Member& member, std::uint32_t steps, ValueId at) {
    const std::uint32_t end = member.delay + f_[member.each].index;
    ValueId before = ir::kNone;
    if (member.delay > 0) before = build_.op(Op::Lt, {at, number(member.delay)});
    if (end < steps) {
      const ValueId behind = build_.op(Op::Ge, {at, number(end)});
      before = before == ir::kNone ? behind : build_.op(Op::Or, {before, behind});
    }
    if (before == ir::kNone) return keep_position(member.each, at);
    build_.begin_loop({});
    build_.break_if(before, {});
    keep_position(member.each, add(at, number(-std::int64_t{member.delay})));
    build_.break_if(build_.constant(Scalar(true)), {});
    build_.end_loop({});
  }

  void keep_position(ValueId each, ValueId j) {
    const auto collects = this->collects(each);
    const std::vector<Made>& made = made_.at(each);
    const auto place = [&](std::size_t i) {
      return made[i].ring == nullptr ? j : within_ring(j, made[i].ring->depth);
    };
    map_[f_.blocks[f_[each].block].arguments[0]] = j;
    for (std::size_t i = 0; i < collects.size(); ++i) aim(each, *collects[i], made[i], place(i));
    std::vector<ValueId> outer;
    outer.swap(collected_);
    block(f_[each].block);
    outer.swap(collected_);
    ir::Operands none;
    for (std::size_t i = 0; i < collects.size(); ++i) {
      step(*collects[i], f_[each].index, made[i], place(i), outer[i], none, none);
    }
  }

  ValueId within_ring(ValueId row, std::uint32_t depth) {
    return depth == 1 ? number(0) : build_.op(Op::And, {row, number(depth - 1)});
  }

  void read_ring(ValueId id) {
    const Instruction& in = f_[id];
    const Ring& ring = streams_.rings.at(in.operands[0]);
    const auto parts = parted(places_.of(in.operands[1]).value(), ring.row).value();
    const ValueId row = within_ring(record(build_, parts.first, map_), ring.depth);
    const ValueId first = build_.op(Op::Mul, {row, number(ring.stride)});
    map_[id] = get(map_[in.operands[0]], add(first, record(build_, parts.second, map_)));
  }

  /// The terms of a long product are taken in blocks, by all positions before the next block: what
  /// these read again and again stays in the caches. Sums wait in arrays.
  bool terms_in_blocks(ValueId each, const std::vector<bool>& own) {
    const auto loop = find_term_loop(f_, each, own);
    if (!loop || loop->terms < 2 * in_block_) return false;
    const std::uint32_t count = f_[each].index;
    const auto& arguments = f_.blocks[f_[loop->loop].block].arguments;
    std::vector<ValueId> sums(arguments.size(), ir::kNone);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (i == loop->counter) continue;
      const ValueId begin = build_.constant(f_[f_[loop->loop].operands[i]].constant);
      sums[i] = build_.array(begin, count);
    }
    const auto positions = [&](ValueId from, std::uint32_t group, StepCopier::Terms terms) {
      ir::Operands js;
      for (std::uint32_t c = 0; c < group; ++c) js.push_back(add(from, number(c)));
      terms.begun.resize(sums.size());
      for (std::size_t i = 0; i < sums.size(); ++i) {
        for (const ValueId j : js) {
          if (i != loop->counter) terms.begun[i].push_back(get(sums[i], j));
        }
      }
      const auto ended = some_terms(each, *loop, own, js, terms);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        for (std::size_t c = 0; c < ended[i].size(); ++c) set(sums[i], js[c], ended[i][c]);
      }
    };
    const std::uint32_t group = std::min(in_step_, count);
    const std::uint32_t blocks = (loop->terms + in_block_ - 1) / in_block_;
    count_to(blocks, {}, [&](ValueId block, std::span<const ValueId>) {
      const ValueId first = build_.op(Op::Mul, {block, number(in_block_)});
      const ValueId end = build_.op(Op::Min, {add(first, number(in_block_)), number(loop->terms)});
      count_to(count / group, {}, [&](ValueId j, std::span<const ValueId>) {
        positions(build_.op(Op::Mul, {j, number(group)}), group, {first, end, {}});
        return ir::Operands();
      });
      if (count % group > 0)
        positions(number(count - count % group), count % group, {first, end, {}});
      return ir::Operands();
    });
    sums_[loop->loop] = {loop->terms, std::move(sums)};
    return true;
  }

  /// What an `each` in this one keeps for nothing but to be kept again goes to its place at once.
  void aim(ValueId each, const Instruction& collect, const Made& made, ValueId j) {
    const ValueId of = collect.operands[0];
    if (static_cast<Collect>(collect.index) != Collect::Keep || !ir::is_array(f_, of) ||
        f_[of].op != Op::Result) {
      return;
    }
    const auto& body = f_.blocks[f_[each].block].body;
    const ValueId inner = f_[of].operands[0];
    if (std::find(body.begin(), body.end(), inner) == body.end()) return;
    const bool goes_round = stays(inner) || unrolled_cost(inner) > kMostUnrolled;
    int uses = 0;
    ir::for_each(f_, [&](ValueId id, int) {
      for (const ValueId operand : f_[id].operands) uses += operand == of;
    });
    if (!goes_round || uses != 1) return;
    ValueId base = build_.op(Op::Mul, {j, number(made.stride(ir::size_of(f_, of)))});
    if (made.base != ir::kNone) base = add(made.base, base);
    targets_[&ir::collect_of(f_, inner, f_[of].index)] = {made.value, base};
  }

  void begin(const Instruction& collect, std::uint32_t count, Made& made, ir::Operands& carried) {
    const auto how = static_cast<Collect>(collect.index);
    if (how == Collect::Keep) {
      const ValueId of = collect.operands[0];
      if (const auto target = targets_.find(&collect); target != targets_.end()) {
        made.value = target->second.array;
        made.base = target->second.base;
        return;
      }
      made.value = new_array(
          collect.type, count * (ir::is_array(f_, of) ? ir::size_of(f_, of) : std::uint32_t{1}));
      return;
    }
    const ValueId none = build_.constant(ir::neutral(how, collect.type));
    if (ir::gives_place(how)) {
      carried.push_back(none);
      carried.push_back(number(0));
    } else if (count <= ir::kFewTerms) {
      carried.push_back(none);
    } else {
      made.value = build_.array(none, ir::kStripes);
    }
  }

  void step(const Instruction& collect, std::uint32_t count, const Made& made, ValueId j,
            ValueId value, std::span<const ValueId> now, ir::Operands& next) {
    const auto how = static_cast<Collect>(collect.index);
    const ValueId of = collect.operands[0];
    const auto from_base = [&](ValueId place) {
      return made.base == ir::kNone ? place : add(made.base, place);
    };
    if (how == Collect::Keep && ir::is_array(f_, of)) {
      const bool is_there =
          f_[of].op == Op::Result &&
          targets_.count(&ir::collect_of(f_, f_[of].operands[0], f_[of].index)) > 0;
      if (is_there) return;
      const std::uint32_t size = ir::size_of(f_, of);
      const ValueId place = build_.op(Op::Mul, {j, number(made.stride(size))});
      copy(value, made.value, from_base(place), size);
    } else if (how == Collect::Keep) {
      set(made.value, from_base(j), value);
    } else if (ir::gives_place(how)) {
      for (const ValueId best : better(how, now.subspan(next.size(), 2), value, j)) {
        next.push_back(best);
      }
    } else if (count <= ir::kFewTerms) {
      next.push_back(build_.op(ir::combining_op(how), {now[next.size()], value}));
    } else {
      const ValueId stripe = build_.op(Op::And, {j, number(ir::kStripes - 1)});
      set(made.value, stripe, build_.op(ir::combining_op(how), {get(made.value, stripe), value}));
    }
  }

  void end(const Instruction& collect, std::uint32_t count, Made& made,
           std::span<const ValueId> ended, std::size_t& at) {
    const auto how = static_cast<Collect>(collect.index);
    if (how == Collect::Keep) return;
    if (ir::gives_place(how)) {
      made.value = ended[at + 1];
      at += 2;
    } else if (count <= ir::kFewTerms) {
      made.value = ended[at++];
    } else {
      const ValueId stripes = made.value;
      for (std::uint32_t half = ir::kStripes / 2; half > 0; half /= 2) {
        if (half >= count) continue;
        count_to(half, {}, [&](ValueId s, std::span<const ValueId>) {
          const ValueId other = get(stripes, add(s, number(half)));
          set(stripes, s, build_.op(ir::combining_op(how), {get(stripes, s), other}));
          return ir::Operands();
        });
      }
      made.value = get(stripes, number(0));
    }
  }

  // --- as many positions as the element says ---

  static bool is_float_of(Collect a, Collect b, const Instruction& collect) {
    const auto how = static_cast<Collect>(collect.index);
    return types::is_float(collect.type) && (how == a || how == b);
  }

  void count_positions(ValueId id) {
    const Instruction& in = f_[id];
    const auto collects = this->collects(id);
    const ValueId count = build_.op(Op::Min, {map_[in.operands[0]], number(in.index)});
    std::vector<bool> in_stripes;
    for (const Instruction* collect : collects) {
      in_stripes.push_back(is_float_of(Collect::Sum, Collect::Product, *collect));
    }
    std::vector<Made> made = combine(id, count, in_stripes);
    const ValueId is_many = build_.op(Op::Gt, {count, number(ir::kFewTerms)});
    for (std::size_t i = 0; i < collects.size(); ++i) {
      if (!is_float_of(Collect::Min, Collect::Max, *collects[i])) continue;
      const ValueId found = made[i].value;
      const ValueId zero = build_.constant(types::scalar_of(collects[i]->type, 0));
      const ValueId is_zero = build_.op(Op::Eq, {found, zero});
      made[i].value = branch(build_.op(Op::And, {is_zero, is_many}), found, true, [&] {
        std::vector<bool> only(collects.size(), false);
        only[i] = true;
        return combine(id, count, only)[i].value;
      });
    }
    made_[id] = std::move(made);
  }

  /// What the positions have together: in stripes, or from left to right.
  std::vector<Made> combine(ValueId id, ValueId count, const std::vector<bool>& in_stripes) {
    const Instruction& in = f_[id];
    const auto collects = this->collects(id);
    std::vector<ValueId> stripes(collects.size(), ir::kNone);
    ir::Operands carried;
    for (std::size_t i = 0; i < collects.size(); ++i) {
      const auto how = static_cast<Collect>(collects[i]->index);
      if (how == Collect::Keep) continue;
      carried.push_back(build_.constant(ir::neutral(how, collects[i]->type)));
      if (ir::gives_place(how)) carried.push_back(number(0));
      if (in_stripes[i]) stripes[i] = new_array(collects[i]->type, ir::kStripes);
    }
    const auto limit = [&] { return count; };
    const ir::Operands ended = count_below(limit, carried, [&](ValueId j, auto now) {
      map_[f_.blocks[in.block].arguments[0]] = j;
      std::vector<ValueId> values;
      values.swap(collected_);
      block(in.block);
      values.swap(collected_);
      build_.set_location(in.location);
      ir::Operands next;
      for (std::size_t i = 0; i < collects.size(); ++i) {
        const auto how = static_cast<Collect>(collects[i]->index);
        if (how == Collect::Keep) {
          keep_in_target(*collects[i], j, values[i]);
          continue;
        }
        if (ir::gives_place(how)) {
          const auto best = better(how, now.subspan(next.size(), 2), values[i], j);
          next.append(best.begin(), best.end());
          continue;
        }
        const ValueId before = now[next.size()];
        ValueId sum = build_.op(ir::combining_op(how), {before, values[i]});
        if (in_stripes[i]) {
          into_stripe(how, stripes[i], j, values[i]);
          const ValueId is_few = build_.op(Op::Lt, {j, number(ir::kFewTerms)});
          sum = build_.op(Op::Select, {is_few, sum, before});
        }
        next.push_back(sum);
      }
      return next;
    });
    std::vector<Made> made;
    std::size_t at = 0;
    for (std::size_t i = 0; i < collects.size(); ++i) {
      const auto how = static_cast<Collect>(collects[i]->index);
      if (how == Collect::Keep) {
        made.emplace_back();
        continue;
      }
      at += ir::gives_place(how);
      made.push_back({ended[at++]});
      if (in_stripes[i]) made[i].value = together(how, stripes[i], count, made[i].value);
    }
    return made;
  }

  void keep_in_target(const Instruction& collect, ValueId j, ValueId value) {
    const ValueId first = map_[collect.operands[2]];
    set(map_[collect.operands[1]], add(first, build_.convert(j, build_.type(first))), value);
  }

  void into_stripe(Collect how, ValueId stripes, ValueId j, ValueId value) {
    const ValueId place = build_.op(Op::And, {j, number(ir::kStripes - 1)});
    const ValueId is_first = build_.op(Op::Lt, {j, number(ir::kStripes)});
    const ValueId sum = build_.op(ir::combining_op(how), {get(stripes, place), value});
    set(stripes, place, build_.op(Op::Select, {is_first, value, sum}));
  }

  /// All stripes, if there are more values than few.
  ValueId together(Collect how, ValueId stripes, ValueId count, ValueId few) {
    const Op op = ir::combining_op(how);
    const ValueId is_many = build_.op(Op::Gt, {count, number(ir::kFewTerms)});
    return branch(is_many, few, false, [&] {
      ValueId left = build_.op(Op::Min, {count, number(ir::kStripes)});
      for (std::uint32_t half = ir::kStripes / 2; half >= ir::kFewTerms; half /= 2) {
        const ValueId pairs = build_.op(Op::Sub, {left, number(half)});
        count_below([&] { return pairs; }, {},
                    [&](ValueId s, std::span<const ValueId>) {
                      const ValueId other = get(stripes, add(s, number(half)));
                      set(stripes, s, build_.op(op, {get(stripes, s), other}));
                      return ir::Operands();
                    });
        left = build_.op(Op::Min, {left, number(half)});
      }
      std::vector<ValueId> values;
      for (std::uint32_t s = 0; s < ir::kFewTerms; ++s) values.push_back(get(stripes, number(s)));
      for (std::size_t half = values.size() / 2; half > 0; half /= 2) {
        for (std::size_t s = 0; s < half; ++s)
          values[s] = build_.op(op, {values[s], values[s + half]});
      }
      return values[0];
    });
  }

  Places places_;
  Streams streams_;
  std::map<ValueId, const Stream*> stream_of_;  // by each
  bool keeps_inner_;
  std::uint32_t in_step_;
  std::uint32_t in_block_;
  ValueId inside_ = ir::kNone;                           // the each that stays, while it is copied
  std::vector<ValueId> stays_;                           // those
  std::vector<ValueId> collected_;                       // of the position that is being copied
  std::map<ValueId, std::vector<Made>> made_;            // by each
  std::map<ValueId, const std::vector<ValueId>*> kept_;  // by result
  std::map<ValueId, Made> rows_;                         // short ones, by parameter
  std::map<ValueId, Sums> sums_;                         // by loop over terms
  ValueId position_ = ir::kNone;                         // that is being copied alone
  std::map<const Instruction*, Target> targets_;         // by collect
};

}  // namespace

bool is_serial(const ir::Function& f) {
  bool found = false;
  ir::for_each(f, [&](ValueId id, int) {
    const Instruction& in = f[id];
    found = found || in.op == Op::Each ||
            (in.op == Op::Array && !in.operands.empty() && ir::is_array(f, in.operands[0]));
  });
  return !found;
}

ir::Function serialize(const ir::Function& function, SerializeOptions options) {
  const base::FloatState state;  // constants are folded
  if (options.keeps_inner) {
    const ir::Function f = in_rows(function, options.large);
    return remove_dead(simplify(Serializer(f, options).run()));
  }
  return remove_dead(simplify(Serializer(function, options).run()));
}

}  // namespace lw::transform

#include "lanewise/ir/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "lanewise/base/check.h"
#include "lanewise/base/float_state.h"
#include "lanewise/ops/meaning.h"

namespace lw::ir {
namespace {

template <Op op, class R, class T>
Scalar apply_typed(std::span<const Scalar> v) {
  using ops::meaning::apply;
  const T a = v[0].as<T>();
  const T b = v.size() > 1 ? v[1].as<T>() : T();
  const T c = v.size() > 2 ? v[2].as<T>() : T();
  return Scalar(apply<op, R, T, T>(a, b, c)).canonical();
}

template <Op op, ops::Accepts accepts, ops::Gives gives, ops::Kind kind>
Scalar apply_row(DType result, std::span<const Scalar> v) {
  if constexpr (kind != ops::Kind::Native) {
    LW_UNREACHABLE("only native ops can be evaluated");
  } else if constexpr (op == Op::Select) {
    return v[0].as<bool>() ? v[1] : v[2];
  } else {
    return types::with_type(v[0].type(), [&]<class T>() -> Scalar {
      if constexpr (!ops::meaning::compiles<T>(accepts)) {
        LW_UNREACHABLE("operand type outside of the row");
      } else if constexpr (gives == ops::Gives::Same) {
        return apply_typed<op, T, T>(v);
      } else if constexpr (gives == ops::Gives::Bool) {
        return apply_typed<op, bool, T>(v);
      } else {
        return types::with_type(result,
                                [&]<class R>() -> Scalar { return apply_typed<op, R, T>(v); });
      }
      return {};
    });
  }
  return {};
}

class Evaluator {
 public:
  Evaluator(const Function& f, std::span<const Scalar> arguments, EvaluateOptions options)
      : f_(f), options_(options), values_(f.values.size()) {
    std::size_t next = 0;
    for (const Param& p : f.params) {
      if (p.is_indexed()) {
        LW_CHECK(tables_.size() < options.tables.size());
        const types::Table& table = options.tables[tables_.size()];
        LW_CHECK(!p.is_row() || table.size == p.size);
        tables_[p.value] = {p.type, table};
      } else {
        LW_CHECK(next < arguments.size());
        values_[p.value] = arguments[next++];
      }
    }
    LW_CHECK(next == arguments.size());
    if (options.finds_origins) origins_.assign(f.values.size(), kNone);
  }

  Evaluation run() {
    block(0);
    return std::move(done_);
  }

 private:
  enum class Exit { End, Break, Next, Stop };  // how a block was left

  struct TypedTable {
    DType type;
    types::Table table;
  };

  std::vector<Scalar> read(std::span<const ValueId> ids) const {
    std::vector<Scalar> result;
    for (const ValueId id : ids) result.push_back(values_[id]);
    return result;
  }

  void fail(FailKind kind, const Instruction& in) {
    done_.failure = Failure{kind, in.location, {}};
    if (in.op == Op::Loop) return;
    done_.failure->values = read(std::span(in.operands).subspan(in.op == Op::Fail));
    if (in.op == Op::Fail && in.operands.size() == 1) tell_sides(in.operands[0]);
    if (kind == FailKind::NotFinite && !origins_.empty()) {
      const ValueId origin = origins_[in.operands[1]];
      if (origin != kNone && f_[origin].location) done_.failure->location = f_[origin].location;
    }
  }

  void tell_sides(ValueId condition) {
    while (f_[condition].op == Op::Not) condition = f_[condition].operands[0];
    const Instruction& in = f_[condition];
    const bool is_comparison = in.op >= Op::Eq && in.op <= Op::Ge;
    if (is_comparison) done_.failure->values = read(in.operands);
  }

  /// True where there were too many instructions, or somebody wants to stop.
  bool gives_up() {
    constexpr std::int64_t kAsk = 1 << 16;
    const std::int64_t count = ++done_.instructions;
    const bool stops =
        count > options_.most_instructions ||
        (options_.gives_up != nullptr && count % kAsk == 0 && (*options_.gives_up)());
    if (stops) done_.given_up = loop_ == kNone ? base::Location() : f_[loop_].location;
    return stops;
  }

  Exit block(BlockId id) {
    for (const ValueId value : f_.blocks[id].body) {
      const Exit exit = instruction(value);
      if (exit != Exit::End) return exit;
      if (!origins_.empty() && has_value(f_[value]) && is_number(f_, value)) find_origin(value);
    }
    return Exit::End;
  }

  // --- where values that are not finite come from ---

  bool is_not_finite(ValueId id) const {
    const Scalar& value = values_[id];
    if (!types::is_float(value.type()) || !is_number(f_, id)) return false;
    return types::with_type(value.type(),
                            [&]<class T>() { return !std::isfinite(double(value.as<T>())); });
  }

  /// Its own instruction, if what that was made of is finite, or a literal.
  void find_origin(ValueId id) {
    const Instruction& in = f_[id];
    origins_[id] = kNone;
    if (in.op == Op::Constant || !is_not_finite(id)) return;
    if (in.op == Op::Result && f_[in.operands[0]].op == Op::Loop) {
      origins_[id] = origins_[f_.blocks[f_[in.operands[0]].block].arguments[in.index]];
      return;
    }
    origins_[id] = id;
    if (!ops::is_elementwise(in.op)) return;
    const bool is_select = in.op == Op::Select;
    const std::size_t chosen = is_select && values_[in.operands[0]].as<bool>() ? 1 : 2;
    for (std::size_t i = 0; i < in.operands.size(); ++i) {
      const ValueId from = in.operands[i];
      if ((is_select && i != chosen) || !is_not_finite(from)) continue;
      if (f_[from].op == Op::Constant) continue;
      origins_[id] = origins_[from];
      return;
    }
  }

  void carry(std::span<const ValueId> ids) {
    carried_ = read(ids);
    if (origins_.empty()) return;
    carried_origins_.clear();
    for (const ValueId id : ids) carried_origins_.push_back(origins_[id]);
  }

  void arrive(const Block& body) {
    for (std::size_t i = 0; i < carried_.size(); ++i) values_[body.arguments[i]] = carried_[i];
    if (origins_.empty()) return;
    for (std::size_t i = 0; i < carried_.size(); ++i) {
      origins_[body.arguments[i]] = carried_origins_[i];
    }
  }

  Exit instruction(ValueId id) {
    const Instruction& in = f_[id];
    if (gives_up()) return Exit::Stop;
    switch (in.op) {
      case Op::Param:
        return Exit::End;
      case Op::Constant:
        values_[id] = in.constant;
        return Exit::End;
      case Op::Loop:
        return loop(id);
      case Op::Each:
        return each(id);
      case Op::Collect:
        return collect(in);
      case Op::Result:
        if (f_[in.operands[0]].op == Op::Each) {
          collected(id);
        } else {
          values_[id] = values_[f_.blocks[f_[in.operands[0]].block].arguments[in.index]];
        }
        return Exit::End;
      case Op::BreakIf:
        if (!values_[in.operands[0]].as<bool>()) return Exit::End;
        carry(std::span(in.operands).subspan(1));
        up_ = in.index;
        return Exit::Break;
      case Op::Next:
        carry(in.operands);
        return Exit::Next;
      case Op::Element:
        values_[id] = Scalar(static_cast<std::uint32_t>(options_.element >> (32 * in.index)));
        return Exit::End;
      case Op::TableSize:
        values_[id] = Scalar(tables_.at(in.operands[0]).table.size);
        return Exit::End;
      case Op::TableRead:
        return read_table(id);
      case Op::Array:
        make_array(id);
        return Exit::End;
      case Op::ArrayRead:
        return read_array(id);
      case Op::ArrayWrite:
        return write_array(in);
      case Op::Fail:
        if (!values_[in.operands[0]].as<bool>()) return Exit::End;
        fail(static_cast<FailKind>(in.index), in);
        return Exit::Stop;
      case Op::Return:
        for (const ValueId value : in.operands) append_value(value, done_.results);
        return Exit::Stop;
      default:
        return elementwise(id);
    }
  }

  enum class Place { Inside, Outside, Failed };

  /// Where an index of an array or table of this size leads to, as its mode says.
  Place find_place(const Instruction& in, std::int64_t size, std::int64_t& place) {
    const Scalar index = values_[in.operands[1]];
    place = types::to_int64(index);
    if (place >= 0 && place < size) return Place::Inside;
    const auto mode = static_cast<IndexMode>(in.index);
    if (mode == IndexMode::Fill) return Place::Outside;
    if (size > 0 && mode == IndexMode::Clip) {
      place = std::clamp<std::int64_t>(place, 0, size - 1);
      return Place::Inside;
    }
    if (size > 0 && mode == IndexMode::Wrap) {
      place = (place % size + size) % size;
      return Place::Inside;
    }
    done_.failure = Failure{FailKind::Index, in.location, {index, Scalar(size)}};
    return Place::Failed;
  }

  Exit read_table(ValueId id) {
    const Instruction& in = f_[id];
    const TypedTable& of = tables_.at(in.operands[0]);
    std::int64_t place = 0;
    const Place found = find_place(in, of.table.size, place);
    if (found == Place::Failed) return Exit::Stop;
    if (is_target(f_, in.operands[0])) {
      values_[id] = done_.written.at(in.operands[0]).at(place);
      return Exit::End;
    }
    values_[id] = found == Place::Outside ? values_[in.operands[2]] : value_at(of, place);
    return Exit::End;
  }

  static Scalar value_at(const TypedTable& of, std::int64_t place) {
    const auto* first = static_cast<const std::byte*>(of.table.data);
    return Scalar::load(of.type, first + place * std::int64_t(types::size_of(of.type))).canonical();
  }

  Exit read_array(ValueId id) {
    const Instruction& in = f_[id];
    const std::vector<Scalar>& array = arrays_.at(in.operands[0]);
    std::int64_t place = 0;
    const Place found = find_place(in, std::ssize(array), place);
    if (found == Place::Failed) return Exit::Stop;
    values_[id] =
        found == Place::Outside ? values_[in.operands[2]] : array[static_cast<std::size_t>(place)];
    return Exit::End;
  }

  Exit write_array(const Instruction& in) {
    if (is_target(f_, in.operands[0])) {
      std::int64_t place = 0;
      const std::int64_t size = tables_.at(in.operands[0]).table.size;
      if (find_place(in, size, place) == Place::Failed) return Exit::Stop;
      done_.written[in.operands[0]][place] = values_[in.operands[2]];
      return Exit::End;
    }
    std::vector<Scalar>& array = arrays_.at(in.operands[0]);
    std::int64_t place = 0;
    const Place found = find_place(in, std::ssize(array), place);
    if (found == Place::Failed) return Exit::Stop;
    if (found == Place::Inside) array[static_cast<std::size_t>(place)] = values_[in.operands[2]];
    return Exit::End;
  }

  Exit elementwise(ValueId id) {
    const Instruction& in = f_[id];
    const std::vector<Scalar> operands = read(in.operands);
    if (ops::can_fail(in.op, in.type) && operands[1] == types::scalar_of(in.type, 0)) {
      fail(FailKind::DivisionByZero, in);
      return Exit::Stop;
    }
    values_[id] = evaluate_op(in.op, in.type, operands);
    return Exit::End;
  }

  /// A number, or all of an array.
  void append_value(ValueId id, std::vector<Scalar>& to) const {
    if (!is_array(f_, id)) {
      to.push_back(values_[id]);
      return;
    }
    const std::vector<Scalar>& array = arrays_.at(id);
    to.insert(to.end(), array.begin(), array.end());
  }

  void make_array(ValueId id) {
    const Instruction& in = f_[id];
    if (in.operands.empty()) {
      arrays_[id].assign(in.index, types::scalar_of(in.type, 0));
    } else if (is_array(f_, in.operands[0])) {
      arrays_[id] = arrays_.at(in.operands[0]);
    } else if (f_[in.operands[0]].op == Op::Param && !is_number(f_, in.operands[0])) {
      arrays_[id].clear();
      for (std::int64_t i = 0; i < in.index; ++i) {
        arrays_[id].push_back(value_at(tables_.at(in.operands[0]), i));
      }
    } else {
      arrays_[id].assign(in.index, values_[in.operands[0]]);
    }
  }

  // --- each ---

  /// Positions count steps each for itself, from where the element was.
  Exit each(ValueId id) {
    const Block& body = f_.blocks[f_[id].block];
    const std::int64_t steps = done_.steps;
    const std::size_t next = next_collected_;
    std::vector<std::vector<Scalar>> mine(collects_of(f_, id).size());
    std::int64_t count = f_[id].index;
    if (has_count(f_[id])) {
      count = std::min<std::int64_t>(count, values_[f_[id].operands[0]].as<std::int32_t>());
    }
    for (std::int64_t j = 0; j < count; ++j) {
      values_[body.arguments[0]] = Scalar(static_cast<std::int32_t>(j));
      done_.steps = steps;
      next_collected_ = 0;
      std::swap(mine, collecting_);
      const Exit exit = block(f_[id].block);
      std::swap(mine, collecting_);
      if (exit != Exit::End) return exit;
    }
    done_.steps = steps;
    next_collected_ = next;
    collected_[id] = std::move(mine);
    return Exit::End;
  }

  Exit collect(const Instruction& in) {
    const std::size_t at = next_collected_++;
    if (in.operands.size() == 3) {
      const std::int64_t first = types::to_int64(values_[in.operands[2]]);
      const std::int64_t place = first + std::ssize(collecting_[at]);
      if (is_target(f_, in.operands[1])) {
        const std::int64_t size = tables_.at(in.operands[1]).table.size;
        if (place < 0 || place >= size) {
          done_.failure = Failure{FailKind::Index, in.location, {Scalar(place), Scalar(size)}};
          return Exit::Stop;
        }
        done_.written[in.operands[1]][place] = values_[in.operands[0]];
      } else {
        arrays_.at(in.operands[1]).at(static_cast<std::size_t>(place)) = values_[in.operands[0]];
      }
    }
    append_value(in.operands[0], collecting_[at]);
    return Exit::End;
  }

  void collected(ValueId id) {
    const Instruction& in = f_[id];
    const std::vector<Scalar>& values = collected_.at(in.operands[0])[in.index];
    const auto how = static_cast<Collect>(collect_of(f_, in.operands[0], in.index).index);
    if (how == Collect::Keep) {
      arrays_[id] = values;
    } else if (gives_place(how)) {
      values_[id] = Scalar(first_place(values, how == Collect::ArgMin));
    } else if (values.empty()) {
      values_[id] = neutral(how, in.type);
    } else {
      values_[id] = combine(values, combining_op(how));
    }
  }

  static bool holds(Op op, const Scalar& a, const Scalar& b) {
    return evaluate_op(op, DType::Bool, std::array{a, b}).as<bool>();
  }

  static std::int32_t first_place(const std::vector<Scalar>& values, bool least) {
    std::size_t best = 0;
    for (std::size_t j = 1; j < values.size(); ++j) {
      if (holds(Op::Ne, values[best], values[best])) break;  // a NaN
      const bool is_nan = holds(Op::Ne, values[j], values[j]);
      if (is_nan || holds(least ? Op::Lt : Op::Gt, values[j], values[best])) best = j;
    }
    return static_cast<std::int32_t>(best);
  }

  static Scalar combine(const std::vector<Scalar>& values, Op op) {
    const auto add = [&](Scalar& to, const Scalar& value) {
      to = evaluate_op(op, to.type(), std::array{to, value});
    };
    const std::size_t count = values.size() <= kFewTerms ? 1 : kStripes;
    std::vector<Scalar> stripes;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (j < count) {
        stripes.push_back(values[j]);
      } else {
        add(stripes[j % count], values[j]);
      }
    }
    for (std::size_t half = kStripes / 2; half > 0; half /= 2) {
      for (std::size_t s = 0; s < half && s + half < stripes.size(); ++s) {
        add(stripes[s], stripes[s + half]);
      }
    }
    return stripes[0];
  }

  /// A carried value lives in its argument; after the loop `result` reads it from there.
  Exit loop(ValueId id) {
    const Block& body = f_.blocks[f_[id].block];
    carry(f_[id].operands);
    for (;;) {
      arrive(body);
      const Exit exit = block(f_[id].block);
      if (exit == Exit::Stop) return exit;
      if (exit == Exit::Break && up_ > 0) {  // this loop has no results
        --up_;
        return exit;
      }
      if (exit == Exit::Break) break;
      loop_ = id;
      if (++done_.steps > options_.max_steps && options_.max_steps > 0) {
        fail(FailKind::StepLimit, f_[id]);
        return Exit::Stop;
      }
      if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed) != 0) {
        throw Cancelled("evaluate: cancelled.");
      }
    }
    arrive(body);
    return Exit::End;
  }

  const Function& f_;
  EvaluateOptions options_;
  std::map<ValueId, TypedTable> tables_;
  std::map<ValueId, std::vector<Scalar>> arrays_;
  std::vector<Scalar> values_;
  std::vector<std::vector<Scalar>> collecting_;  // by collect, of the each that is running
  std::size_t next_collected_ = 0;               // which collect of it comes next
  std::map<ValueId, std::vector<std::vector<Scalar>>> collected_;  // by each
  std::vector<Scalar> carried_;
  std::vector<ValueId> origins_;  // of values that are not finite; kNone: an argument
  std::vector<ValueId> carried_origins_;
  std::uint32_t up_ = 0;  // loops further out that a break leaves
  ValueId loop_ = kNone;  // the one that went round last
  Evaluation done_;
};

}  // namespace

Scalar evaluate_op(Op op, DType result, std::span<const Scalar> operands) {
  switch (op) {
#define LW_OP(id, name, form, arity, accepts, gives, kind, meaning, partials, domain, doc)      \
  case Op::id:                                                                                  \
    return apply_row<Op::id, ops::Accepts::accepts, ops::Gives::gives, ops::Kind::kind>(result, \
                                                                                        operands);
#include "lanewise/ops/ops.def"
#undef LW_OP
  }
  return {};
}

Evaluation evaluate(const Function& function, std::span<const Scalar> arguments,
                    EvaluateOptions options) {
  const base::FloatState state;
  return Evaluator(function, arguments, options).run();
}

}  // namespace lw::ir

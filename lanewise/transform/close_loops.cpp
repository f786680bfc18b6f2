// A loop of a known number of steps that only adds and scales integers gives the same sum whatever
// the element: s = s + x * i for i below 100 is s + x * 4950. The steps are taken here, once, with
// linear forms in place of values. Integers wrap, so forms modulo 2^w lose nothing; floats round,
// so they are never computed here: a loop may only carry them.
#include <algorithm>
#include <array>
#include <numeric>

#include "lanewise/ir/evaluate.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ir::Instruction;
using ir::Op;
using ir::ValueId;

constexpr std::size_t kMostSteps = 4096;           // of a loop
constexpr std::size_t kMostInstructions = 100000;  // taken for all loops: a millisecond
constexpr std::size_t kMostTerms = 4;

/// constant + coefficient * value + ..., modulo 2^w for integers of w bits. What is no integer is
/// either a constant, whose bits these are, or one value.
struct Form {
  struct Term {
    ValueId value;
    std::uint64_t coefficient;
  };

  bool known = false;
  std::uint32_t count = 0;
  std::uint64_t constant = 0;
  std::array<Term, kMostTerms> terms = {};

  bool is_constant() const { return known && count == 0; }

  void set_constant(std::uint64_t bits) {
    known = true;
    count = 0;
    constant = bits;
  }

  /// Becomes a * p + b * q, which are others; not known when there are too many terms.
  void set_sum(const Form& a, std::uint64_t p, const Form& b, std::uint64_t q, DType type) {
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * types::size_of(type));
    set_constant((a.constant * p + b.constant * q) & mask);
    known = add_terms(a, p, mask) && add_terms(b, q, mask);
  }

  bool add_terms(const Form& form, std::uint64_t factor, std::uint64_t mask) {
    for (std::uint32_t i = 0; i < form.count; ++i) {
      const auto [value, coefficient] = form.terms[i];
      std::uint32_t at = 0;
      while (at < count && terms[at].value != value) ++at;
      if (at == kMostTerms) return false;
      if (at == count) terms[count++] = {value, 0};
      auto& total = terms[at].coefficient;
      total = (total + coefficient * factor) & mask;
      if (total == 0) terms[at] = terms[--count];
    }
    return true;
  }
};

constexpr Form kZero = {.known = true};

Form constant_form(const Scalar& value) { return {.known = true, .constant = value.bits()}; }

Form value_form(ValueId value) { return {.known = true, .count = 1, .terms = {{{value, 1}}}}; }

/// Works in place: instructions keep their ids, and blocks list others.
class LoopCloser {
 public:
  explicit LoopCloser(const ir::Function& f)
      : f_(f), same_(f.values.size()), slot_(f.values.size(), ir::kNone) {
    std::iota(same_.begin(), same_.end(), 0u);
    std::vector<bool> used(f.values.size(), false);
    ir::for_each(f_, [&](ValueId id, int) {
      if (f_[id].op == Op::Result) results_.push_back(id);
      for (const ValueId operand : f_[id].operands) used[operand] = true;
    });
    std::erase_if(results_, [&](ValueId id) { return !used[id]; });
  }

  ir::Function run() && {
    block(0);
    return closed_ ? simplify(f_) : std::move(f_);
  }

 private:
  /// Inner loops first: once they are closed, the one around them may be.
  void block(ir::BlockId id) {
    std::vector<ValueId> body;
    for (const ValueId value : f_.blocks[id].body) {
      Instruction& in = f_[value];
      if (in.op == Op::Result && same_[in.operands[0]] == ir::kNone) continue;
      for (ValueId& operand : in.operands) operand = same_[operand];
      if (in.op == Op::Each) block(in.block);
      if (in.op == Op::Loop) {
        block(in.block);
        if (close(value, body)) continue;
      }
      body.push_back(value);
    }
    f_.blocks[id].body = std::move(body);
  }

  /// Appends what stands for the loop's results to `body`, which ends where the loop would be.
  bool close(ValueId loop, std::vector<ValueId>& body) {
    const bool is_linear = ir::can_go_round(f_, loop) && prepare(loop) && take_steps(loop);
    if (is_linear) {
      body.insert(body.end(), fixed_.begin(), fixed_.end());
      for (const ValueId id : results_) {
        if (f_[id].operands[0] != loop) continue;
        same_[id] = emit(left_[f_[id].index], f_[id].type, f_[loop].location, body);
      }
      same_[loop] = ir::kNone;
      closed_ = true;
    }
    for (const ValueId value : values_) slot_[value] = ir::kNone;
    values_.clear();
    forms_.clear();
    return is_linear;
  }

  Form& form(ValueId id) { return forms_[slot_[id]]; }

  void define(ValueId id, const Form& form) {
    slot_[id] = static_cast<std::uint32_t>(forms_.size());
    values_.push_back(id);
    forms_.push_back(form);
  }

  /// Gives what comes from outside of the loop its form.
  void need(std::span<const ValueId> ids) {
    for (const ValueId id : ids) {
      if (slot_[id] != ir::kNone) continue;
      const Instruction& in = f_[id];
      define(id, in.op == Op::Constant ? constant_form(in.constant) : value_form(id));
    }
  }

  /// Parts the body into what is the same in every step and what is not; until the first step
  /// only forms of the former are known. False: there is more in it than forms can say.
  bool prepare(ValueId loop) {
    const ir::Block& block = f_.blocks[f_[loop].block];
    const auto is_integer = [&](ValueId id) { return types::is_integer(f_[id].type); };
    if (std::none_of(block.arguments.begin(), block.arguments.end(), is_integer)) return false;
    fixed_.clear();
    varying_.clear();
    varying_.reserve(block.body.size());
    values_.reserve(2 * block.body.size());
    forms_.reserve(2 * block.body.size());
    needed_.clear();
    for (const ValueId id : results_) {
      if (f_[id].operands[0] == loop) needed_.push_back(f_[id].index);
    }
    need(f_[loop].operands);
    for (const ValueId id : block.arguments) define(id, {});
    return std::all_of(block.body.begin(), block.body.end(),
                       [&](ValueId id) { return classify(id); });
  }

  bool classify(ValueId id) {
    const Instruction& in = f_[id];
    need(in.operands);
    if (in.op == Op::Constant) {
      define(id, constant_form(in.constant));
    } else if (ops::is_elementwise(in.op)) {
      define(id, {});
      const auto is_known = [&](ValueId operand) { return form(operand).known; };
      if (std::all_of(in.operands.begin(), in.operands.end(), is_known)) {
        if (!compute(id)) return false;
        if (!form(id).known) form(id) = value_form(id);
      }
    } else if (in.op != Op::Next && (in.op != Op::BreakIf || in.index != 0)) {
      return false;
    }
    (ir::has_value(in) && form(id).known ? fixed_ : varying_).push_back(id);
    return true;
  }

  /// Steps from the initial values to an exit, whose values are then in `left_`. A result that is
  /// not known when a step begins has little hope: most loops that do not qualify end here, soon.
  bool take_steps(ValueId loop) {
    const auto& arguments = f_.blocks[f_[loop].block].arguments;
    const auto is_known = [&](std::uint32_t i) { return left_[i].known; };
    read(f_[loop].operands);
    for (std::size_t step = 0; step < kMostSteps; ++step) {
      if (allowed_ < varying_.size()) return false;
      allowed_ -= varying_.size();
      for (std::size_t i = 0; i < arguments.size(); ++i) form(arguments[i]) = left_[i];
      for (const ValueId id : varying_) {
        const Instruction& in = f_[id];
        if (in.op == Op::Next) {
          read(in.operands);
        } else if (in.op != Op::BreakIf) {
          if (!compute(id)) return false;
        } else if (!form(in.operands[0]).is_constant()) {
          return false;
        } else if (form(in.operands[0]).constant != 0) {
          read(std::span(in.operands).subspan(1));
          return std::all_of(needed_.begin(), needed_.end(), is_known);
        }
      }
      if (!std::all_of(needed_.begin(), needed_.end(), is_known)) return false;
    }
    return false;
  }

  void read(std::span<const ValueId> ids) {
    left_.clear();
    for (const ValueId id : ids) left_.push_back(form(id));
  }

  /// The form of an elementwise instruction in this step. False: the element may fail here.
  bool compute(ValueId id) {
    const Instruction& in = f_[id];
    Form& result = form(id);
    result.known = false;
    if (ops::can_fail(in.op, in.type)) {
      const Form& divisor = form(in.operands[1]);
      if (!divisor.is_constant() || divisor.constant == 0) return false;
    }
    if (in.op == Op::Select) {
      const Form& condition = form(in.operands[0]);
      if (condition.is_constant()) result = form(in.operands[condition.constant != 0 ? 1 : 2]);
    } else if (!types::is_float(in.type) && ops::row(in.op).kind == ops::Kind::Native) {
      if (!compute_linear(in, result)) fold(in, result);
    }
    return true;
  }

  /// False for what is not linear in its operands.
  bool compute_linear(const Instruction& in, Form& result) {
    constexpr std::uint64_t kMinusOne = ~std::uint64_t{0};
    const Form& a = form(in.operands[0]);
    const Form& b = form(in.operands.back());
    if (!types::is_integer(in.type) || !a.known || !b.known) return false;
    if (in.op == Op::Add) {
      result.set_sum(a, 1, b, 1, in.type);
    } else if (in.op == Op::Sub) {
      result.set_sum(a, 1, b, kMinusOne, in.type);
    } else if (in.op == Op::Neg) {
      result.set_sum(a, kMinusOne, kZero, 0, in.type);
    } else if (in.op == Op::Mul && (a.is_constant() || b.is_constant())) {
      const Form& factor = b.is_constant() ? b : a;
      result.set_sum(b.is_constant() ? a : b, factor.constant, kZero, 0, in.type);
    } else if (in.op == Op::Shl && b.is_constant() && b.constant < 8 * types::size_of(in.type)) {
      result.set_sum(a, std::uint64_t{1} << b.constant, kZero, 0, in.type);
    } else {
      return false;
    }
    return true;
  }

  void fold(const Instruction& in, Form& result) {
    std::array<Scalar, 3> values;
    for (std::size_t i = 0; i < in.operands.size(); ++i) {
      const Form& operand = form(in.operands[i]);
      if (!operand.is_constant()) return;
      values[i] = Scalar::load(f_[in.operands[i]].type, &operand.constant);
    }
    const std::span<const Scalar> given(values.data(), in.operands.size());
    result.set_constant(ir::evaluate_op(in.op, in.type, given).bits());
  }

  ValueId emit(const Form& form, DType type, base::Location location, std::vector<ValueId>& body) {
    const auto append = [&](Instruction in) {
      const auto id = static_cast<ValueId>(f_.values.size());
      in.type = type;
      in.location = location;
      f_.values.push_back(std::move(in));
      same_.push_back(id);
      slot_.push_back(ir::kNone);
      body.push_back(id);
      return id;
    };
    const auto literal = [&](std::uint64_t bits) {
      return append({.op = Op::Constant, .constant = Scalar::load(type, &bits)});
    };
    ValueId sum = ir::kNone;
    const auto add = [&](ValueId id) {
      sum = sum == ir::kNone ? id : append({.op = Op::Add, .operands = {sum, id}});
    };
    for (const auto& [value, coefficient] : std::span(form.terms).first(form.count)) {
      add(coefficient == 1 ? value
                           : append({.op = Op::Mul, .operands = {value, literal(coefficient)}}));
    }
    if (form.constant != 0 || form.count == 0) add(literal(form.constant));
    return sum;
  }

  ir::Function f_;
  std::vector<ValueId> same_;     // what stands for a result of a closed loop; kNone for the loop
  std::vector<ValueId> results_;  // the ones that are used, of all loops
  bool closed_ = false;
  std::size_t allowed_ = kMostInstructions;

  // Of the loop at hand.
  std::vector<std::uint32_t> slot_;  // by value: where its form is
  std::vector<ValueId> values_;      // by slot
  std::vector<Form> forms_;
  std::vector<ValueId> fixed_;         // the same in every step
  std::vector<ValueId> varying_;       // executed in every step
  std::vector<std::uint32_t> needed_;  // positions of the used results
  std::vector<Form> left_;             // the carried values as a step left them
};

}  // namespace

ir::Function close_loops(const ir::Function& function) { return LoopCloser(function).run(); }

}  // namespace lw::transform

// The caller asks that nothing becomes infinite, not a number, or an integer it is not: the user's
// conversions are checked, and what the function returns.
#include <cmath>

#include "lanewise/transform/copier.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ir::FailKind;
using ir::Instruction;
using ir::Op;
using ir::ValueId;

class Checker : public Copier {
 public:
  Checker(const ir::Function& f, std::size_t results) : Copier(f), results_(results) {}

 private:
  void instruction(ValueId id) override {
    const Instruction& in = f_[id];
    if (in.op == Op::Return) {
      for (std::size_t i = 0; i < results_; ++i) check_result(in.operands[i]);
    }
    if (in.op == Op::Convert && types::is_integer(in.type)) {
      const ValueId from = map_[in.operands[0]];
      build_.set_location(in.location);
      if (types::is_float(build_.type(from))) check_conversion(from, in.type);
    }
    Copier::instruction(id);
  }

  void check_result(ValueId id) {
    if (!types::is_float(f_[id].type)) return;
    build_.set_location(f_[id].location);
    const ValueId result = map_[id];
    if (ir::is_number(build_.function(), result)) return check_finite(result);
    const ValueId each = build_.begin_each(ir::size_of(build_.function(), result));
    const ValueId place = build_.arguments(each)[0];
    check_finite(build_.read(result, place, ir::IndexMode::Unchecked));
    build_.close_loop();
  }

  void check_finite(ValueId value) {
    const ValueId is_finite = build_.op(Op::Isfinite, {value});
    build_.fail_if(build_.op(Op::Not, {is_finite}), FailKind::NotFinite, std::span(&value, 1));
  }

  /// What is left after rounding towards 0 has to be inside; not a number never is.
  void check_conversion(ValueId value, DType to) {
    const int bits = static_cast<int>(8 * types::size_of(to)) - !types::is_unsigned(to);
    const double above = std::ldexp(1.0, bits);
    const double least = types::is_unsigned(to) ? 0 : -above;
    const bool is_exact = least - 1 < least;  // not of 64 bits
    const ValueId wide = build_.convert(value, DType::F64);
    const ValueId low = build_.constant(Scalar(is_exact ? least - 1 : least));
    const ValueId high = build_.constant(Scalar(above));
    const ValueId fits = build_.op(Op::And, {build_.op(is_exact ? Op::Gt : Op::Ge, {wide, low}),
                                             build_.op(Op::Lt, {wide, high})});
    build_.fail_if(build_.op(Op::Not, {fits}), FailKind::Conversion, std::span(&value, 1));
  }

  std::size_t results_;
};

}  // namespace

ir::Function check_numerics(const ir::Function& function, std::size_t results) {
  return Checker(function, results).run();
}

}  // namespace lw::transform

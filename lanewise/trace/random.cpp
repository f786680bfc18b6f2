#include "lanewise/trace/random.h"

#include "lanewise/base/check.h"

namespace lw::random {
namespace {

using ir::ValueId;
using ops::Op;

/// The words as whole numbers, and what floats are made of.
class Maker {
 public:
  explicit Maker(DType type)
      : build_(trace::Trace::current().builder()), type_(type), words_(draw()) {
    LW_CHECK(type == DType::F32 || type == DType::F64);
  }

  /// A whole number of 24 or 53 bits from one or two words.
  ValueId whole(int first) {
    const ValueId word = words_.word[first];
    if (type_ == DType::F32) return build_.convert(shifted(word, 8), type_);
    const ValueId high = build_.convert(shifted(word, 5), type_);
    const ValueId low = build_.convert(shifted(words_.word[first + 1], 6), type_);
    return op(Op::Add, op(Op::Mul, high, number(0x1p26)), low);
  }
  double unit() const { return type_ == DType::F32 ? 0x1p-24 : 0x1p-53; }
  /// Above 0, up to 1.
  ValueId positive(int first) {
    return op(Op::Mul, op(Op::Add, whole(first), number(1)), number(unit()));
  }

  ValueId number(double value) { return build_.constant(types::scalar_of(type_, value)); }
  ValueId op(Op o, ValueId a) { return build_.op(o, {a}); }
  ValueId op(Op o, ValueId a, ValueId b) { return build_.op(o, {a, b}); }
  int words_of_a_number() const { return type_ == DType::F32 ? 1 : 2; }

 private:
  ValueId shifted(ValueId word, std::uint32_t by) {
    return op(Op::Shr, word, build_.constant(Scalar(by)));
  }

  ir::Builder& build_;
  DType type_;
  Words words_;
};

}  // namespace

Words philox(ir::Builder& build, const ValueId (&key)[2], const ValueId (&counter)[4]) {
  constexpr std::uint32_t kMultipliers[] = {0xd2511f53, 0xcd9e8d57};
  constexpr std::uint32_t kWeyl[] = {0x9e3779b9, 0xbb67ae85};
  constexpr int kRounds = 10;
  const auto literal = [&](std::uint32_t value) { return build.constant(Scalar(value)); };
  const auto mix = [&](ValueId a, ValueId b, ValueId c) {
    return build.op(Op::Xor, {build.op(Op::Xor, {a, b}), c});
  };
  ValueId keys[2] = {key[0], key[1]};
  Words c{{counter[0], counter[1], counter[2], counter[3]}};
  for (int round = 0; round < kRounds; ++round) {
    ValueId low[2];
    ValueId high[2];
    for (int i = 0; i < 2; ++i) {
      const ValueId multiplier = literal(kMultipliers[i]);
      low[i] = build.op(Op::Mul, {c.word[2 * i], multiplier});
      high[i] = build.op(Op::MulHigh, {c.word[2 * i], multiplier});
    }
    c = {{mix(high[1], c.word[1], keys[0]), low[1], mix(high[0], c.word[3], keys[1]), low[0]}};
    for (int i = 0; i < 2; ++i) keys[i] = build.op(Op::Add, {keys[i], literal(kWeyl[i])});
  }
  return c;
}

Words draw() {
  trace::Trace& trace = trace::Trace::current();
  const trace::Trace::Draw next = trace.next_draw();
  return philox(trace.builder(), next.seed,
                {next.number, next.site, next.element[0], next.element[1]});
}

ValueId draw_uniform(DType type) {
  Maker make(type);
  return make.op(Op::Mul, make.whole(0), make.number(make.unit()));
}

ValueId draw_normal(DType type) {
  Maker make(type);
  const ValueId log = make.op(Op::Log, make.positive(0));
  const ValueId radius = make.op(Op::Sqrt, make.op(Op::Mul, log, make.number(-2)));
  constexpr double kTurn = 6.283185307179586;
  const ValueId angle =
      make.op(Op::Mul, make.whole(make.words_of_a_number()), make.number(kTurn * make.unit()));
  return make.op(Op::Mul, radius, make.op(Op::Cos, angle));
}

ValueId draw_exponential(DType type) {
  Maker make(type);
  return make.op(Op::Neg, make.op(Op::Log, make.positive(0)));
}

/// The words are a fraction of 64 bits, which is multiplied by how many numbers there are.
ValueId draw_integer(ValueId low, ValueId high) {
  ir::Builder& build = trace::Trace::current().builder();
  const DType type = build.type(low);
  const bool is_wide = types::size_of(type) == 8;
  const DType bits = is_wide ? DType::U64 : DType::U32;
  const auto op = [&](Op o, ValueId a, ValueId b) { return build.op(o, {a, b}); };
  const ValueId is_some = op(Op::Lt, low, high);
  // What is narrow would wrap.
  const DType difference = types::size_of(type) < 4 ? DType::I32 : type;
  const ValueId count = build.convert(
      op(Op::Sub, build.convert(high, difference), build.convert(low, difference)), bits);
  const Words words = draw();
  ValueId offset = ir::kNone;
  if (is_wide) {
    const ValueId upper =
        op(Op::Shl, build.convert(words.word[0], bits), build.constant(Scalar(std::uint64_t{32})));
    offset = op(Op::MulHigh, op(Op::Or, upper, build.convert(words.word[1], bits)), count);
  } else {
    const ValueId rest = op(Op::Mul, words.word[0], count);
    const ValueId sum = op(Op::Add, rest, op(Op::MulHigh, words.word[1], count));
    const ValueId carry = build.convert(op(Op::Lt, sum, rest), bits);
    offset = op(Op::Add, op(Op::MulHigh, words.word[0], count), carry);
  }
  const ValueId drawn = op(Op::Add, low, build.convert(offset, type));
  return build.op(Op::Select, {is_some, drawn, low});
}

}  // namespace lw::random

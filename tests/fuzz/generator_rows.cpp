// Rows and `each`: what runs for all positions of an element, what is collected of them, and reads
// at places that have to do with the position.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "tests/fuzz/generator_parts.h"

namespace lw::fuzz {

using ir::Collect;
using ir::IndexMode;

namespace {

constexpr int kMostPositions = 130;
constexpr int kMostKept = 700;  // values in one array

}  // namespace

int Generator::random_size() {
  const int dice = random_.below(100);
  if (dice < 55) return random_.between(7, 70);
  return dice < 70 ? random_.between(1, 9) : random_.between(1, kMostPositions);
}

void Generator::row_parameters() {
  usual_size_ = random_size();
  for (int i = random_.chance(90) ? random_.between(1, 3) : 0; i > 0; --i) {
    const DType type = random_.chance(60) ? random_type() : any_type();
    const int size = random_.chance(70) ? usual_size_ : random_size();
    row_params_.push_back(build_.param(fmt::format("row{}", i), type, ir::ParamKind::Mapped,
                                       static_cast<std::uint32_t>(size)));
  }
}

// --- each ---

/// So that what an element does stays little: loops and others around count.
int Generator::most_positions() const {
  constexpr std::array kTrips = {1, 15, 100, 300};  // by depth of loops
  int around = kTrips[static_cast<std::size_t>(std::min(loop_depth(), 3))];
  for (const Each& e : each_) around *= e.size;
  return std::min(kMostPositions, 600 / around);
}

bool Generator::may_open_each() const {
  constexpr std::size_t kDeepest = 3;
  return has_each_ && each_.size() < kDeepest && most_positions() > 0;
}

int Generator::each_size() {
  const int most = most_positions();
  const int size = random_.chance(60) ? usual_size_ : random_size();
  return size <= most ? size : random_.between(1, most);
}

/// How many positions an element has: up to so many, at times any number.
ValueId Generator::some_count(int size) {
  const ValueId any = convert(operand(DType::I32), DType::I32);
  if (random_.chance(15)) return any;
  return emit_op(Op::Rem, {any, number(DType::I32, size + 1)});
}

/// True of a remainder by this number; any other count may be one by a larger number.
bool Generator::is_below(ValueId count, int number) const {
  const ir::Function& f = build_.function();
  if (f[count].op != Op::Rem) return false;
  const ir::Instruction& by = f[f[count].operands[1]];
  return by.op == Op::Constant && by.constant == types::scalar_of(by.type, number);
}

void Generator::open_each(int size, ValueId count, bool bounded) {
  Each e{.scopes = scopes_.size(),
         .visible = visible_.size(),
         .arrays = arrays_.size(),
         .kept = kept_.size(),
         .draws = draws_,
         .size = size,
         .is_counted = count != ir::kNone};
  bounded = e.is_counted && (bounded || is_below(count, size + 1));
  const bool is_open = bounded && random_.chance(50);
  e.each = build_.begin_each(is_open ? ir::kMostCounted : static_cast<std::uint32_t>(size), count);
  e.position = emit(build_.arguments(e.each)[0], true);
  each_.push_back(e);
}

void Generator::close_each() {
  const Each e = each_.back();
  each_.pop_back();
  build_.close_loop();
  visible_.resize(e.visible);
  arrays_.resize(e.arrays);
  kept_.resize(e.kept);
  draws_ = e.draws;
  for (std::uint32_t i = 0; i < e.collects; ++i) {
    if (random_.chance(5)) continue;
    const ValueId result = build_.result(e.each, i);
    if (ir::is_array(build_.function(), result)) {
      kept_.push_back(result);
    } else {
      emit(result, false);
    }
  }
}

void Generator::each() {
  const int dice = random_.below(100);
  if (dice < 40) return recorded();
  if (dice < 55) return product();
  const int size = each_size();
  open_each(size, random_.chance(35) ? some_count(size) : ir::kNone);
  for (int reads = random_.between(0, 3); reads > 0; --reads) read_at_position();
  segment(random_.between(0, 5));
  if (random_.chance(15)) collect();
  if (random_.chance(30)) segment(random_.between(1, 3));
  observe_arrays(each_.back().arrays, each_.back().kept);
  for (int collects = random_.between(1, 3); collects > 0; --collects) collect();
  close_each();
}

/// Each position has a chain of sums over the same terms, of which some values are its own and
/// some those of all.
void Generator::product() {
  const int size = each_size();
  open_each(size, random_.chance(15) ? some_count(size) : ir::kNone);
  constexpr std::array kTypes = {DType::F32, DType::F32, DType::F64, DType::I32};
  const DType type = random_.pick(kTypes);
  const auto literal = [&](int n) { return build_.constant(types::scalar_of(DType::I32, n)); };
  const int terms = random_.between(1, 9);
  const ValueId first = convert(operand(type), type);
  const ValueId loop = build_.begin_loop(std::initializer_list<ValueId>{first, literal(0)});
  const ValueId sum = build_.arguments(loop)[0];
  const ValueId counter = build_.arguments(loop)[1];
  build_.break_if(build_.op(Op::Ge, {counter, literal(terms)}),
                  std::initializer_list<ValueId>{sum, counter});
  const auto factor = [&]() -> ValueId {
    const auto place = any_place();
    if (!place) return sum;
    ValueId index = counter;
    if (random_.chance(60)) {
      const ValueId times = literal(random_.chance(50) ? terms : random_.between(-1, 3));
      index = build_.op(Op::Add, {build_.op(Op::Mul, {each_.back().position, times}), index});
    }
    constexpr std::array kModes = {IndexMode::Clip, IndexMode::Wrap};
    return build_.convert(build_.read(*place, index, random_.pick(kModes)), type);
  };
  const ValueId a = factor();
  const ValueId b = factor();
  const ValueId next = types::is_float(type) && random_.chance(60)
                           ? build_.op(Op::Fma, {a, b, sum})
                           : build_.op(Op::Add, {build_.op(Op::Mul, {a, b}), sum});
  build_.end_loop(std::initializer_list<ValueId>{next, build_.op(Op::Add, {counter, literal(1)})});
  emit(build_.result(loop, 0), false);
  if (random_.chance(50)) segment(random_.between(1, 3));
  for (int collects = random_.between(1, 2); collects > 0; --collects) collect();
  close_each();
}

/// As programs are recorded: one `each` for every operation, on what those before have kept.
void Generator::recorded() {
  const int size = each_size();
  const ValueId count = random_.chance(25) ? some_count(size) : ir::kNone;
  for (int steps = random_.between(2, 6); steps > 0 && has_budget(); --steps) {
    const bool is_alike = random_.chance(85);
    open_each(is_alike ? size : each_size(), is_alike && random_.chance(80) ? count : ir::kNone);
    for (int reads = random_.between(1, 2); reads > 0; --reads) read_at_position();
    if (random_.chance(80)) random_op();
    for (int collects = random_.chance(80) ? 1 : 2; collects > 0; --collects) collect();
    close_each();
  }
}

/// Any way to collect that fits the type of a value from inside.
void Generator::collect() {
  Each& e = each_.back();
  ++e.collects;
  std::vector<ValueId> arrays(kept_.begin() + static_cast<std::ptrdiff_t>(e.kept), kept_.end());
  arrays.insert(arrays.end(), arrays_.begin() + static_cast<std::ptrdiff_t>(e.arrays),
                arrays_.end());
  std::erase_if(arrays, [&](ValueId id) { return size_of(id) * e.size > kMostKept; });
  if (!arrays.empty() && !e.is_counted && random_.chance(40)) {
    collected_.push_back(random_.pick(arrays));
    return build_.collect(Collect::Keep, collected_.back());
  }
  ValueId value = *find([&](ValueId id) { return id >= e.position; });
  if (random_.chance(30) && build_.type(value) != DType::Bool) value = take_in(value, e.visible, 4);
  if (!e.is_counted && random_.chance(45)) return build_.collect(Collect::Keep, value);
  if (types::is_half(build_.type(value))) value = convert(value, DType::F32);
  constexpr std::array kOfFloats = {Collect::Sum, Collect::Product, Collect::Min,
                                    Collect::Max, Collect::ArgMin,  Collect::ArgMax};
  constexpr std::array kOfIntegers = {Collect::Sum,    Collect::Product, Collect::Min, Collect::Max,
                                      Collect::ArgMin, Collect::ArgMax,  Collect::And, Collect::Or};
  const DType type = build_.type(value);
  const Collect how = type == DType::Bool     ? (random_.chance(50) ? Collect::And : Collect::Or)
                      : types::is_float(type) ? random_.pick(kOfFloats)
                                              : random_.pick(kOfIntegers);
  build_.collect(how, value);
}

// --- reads ---

/// Of a row, of what was kept, or of another place.
void Generator::read_at_position() {
  const auto found = any_place();
  if (!found) return random_op();
  const ValueId place = *found;
  if (is_table(place)) return access();
  const int size = size_of(place);
  if (random_.chance(8)) return guarded_access();
  const ValueId position = each_.back().position;
  const bool fits = each_.back().size <= size;
  constexpr std::array kMeaning = {IndexMode::Clip, IndexMode::Wrap, IndexMode::Fill};
  constexpr std::array kInside = {IndexMode::Check, IndexMode::Unchecked, IndexMode::Unchecked};
  const IndexMode inside =
      fits && random_.chance(80) ? random_.pick(kInside) : random_.pick(kMeaning);
  const auto read = [&](ValueId index, IndexMode mode) {
    if (random_.chance(15)) index = convert(index, DType::I64);
    access(place, mode, index, false);
  };
  const int dice = random_.below(100);
  if (dice < 45) return read(position, inside);
  if (dice < 57) return read(emit_op(Op::Sub, {number(DType::I32, size - 1), position}), inside);
  if (dice < 72) {
    const ValueId by = number(DType::I32, random_.between(-3, 3));
    const ValueId index = emit_op(random_.chance(70) ? Op::Add : Op::Sub, {position, by});
    return read(index, random_.pick(kMeaning));
  }
  if (dice < 80) {
    const ValueId times = number(DType::I32, random_.between(-2, 5));
    return read(emit_op(Op::Mul, {position, times}), random_.pick(kMeaning));
  }
  if (dice < 85) return read(emit_op(Op::Shr, {position, number(DType::I32, 1)}), inside);
  if (dice < 93 && each_.size() > 1) {  // as of a matrix
    const Each& outer = each_[each_.size() - 2];
    const ValueId row = emit_op(Op::Mul, {outer.position, number(DType::I32, each_.back().size)});
    const ValueId index = emit_op(Op::Add, {row, position});
    const bool is_inside = outer.size * each_.back().size <= size;
    return read(index, is_inside ? random_.pick(kInside) : random_.pick(kMeaning));
  }
  if (dice < 96) return access(place, IndexMode::Check, safe_index(place), false);
  const ValueId index = any_index(place);
  read(index, random_.pick(kMeaning));
}

// --- failures ---

/// For few elements, and for few positions of those.
ValueId Generator::failing_condition() {
  const ValueId first = rare_condition();
  ValueId both = emit_op(Op::And, {first, rare_condition()});
  for (const Each& e : each_) {
    const ValueId place = number(DType::I32, random_.below(e.size));
    both = emit_op(Op::And, {both, emit_op(Op::Eq, {e.position, place})});
  }
  return both;
}

}  // namespace lw::fuzz

// Internal to the generator: one class, a file for each theme. Values and conditions are made in
// generator_values.cpp, loops and what else is left in generator_scopes.cpp, arrays, tables and
// random draws in generator_memory.cpp, rows and `each` in generator_rows.cpp, rows of lengths of
// their own and tables of bits in generator_tables.cpp, the rest in generator.cpp.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lanewise/ir/builder.h"
#include "tests/fuzz/generator.h"
#include "tests/fuzz/random.h"

namespace lw::fuzz {

using ir::Op;
using ir::ValueId;

/// Values are drawn from `visible_`, the ones in scope. Which of them have been used and which are
/// the same for all elements, as far as is known, is noted: to use what is unused and to make
/// uniform conditions.
class Generator {
 public:
  Generator(std::uint64_t seed, const Options& options);
  ir::Function run();

 private:
  /// What can be left: a loop, a branch, or another block that never goes round.
  struct Scope {
    ValueId loop = ir::kNone;
    std::vector<ValueId> arguments = {};
    std::vector<bool> uniform = {};  // by position: what it gives is the same for all
    bool parts = false;              // elements leave it one by one
    bool tame = false;               // a loop that all elements leave together, if all goes well
    ValueId counter = ir::kNone;     // of a loop
    ValueId below = ir::kNone;       // what the counter is less than, wherever the body reads it
    std::optional<std::size_t> draws = {};  // position of the number of draws
    std::size_t visible = 0;                // how much was in scope outside
    std::size_t arrays = 0;
    std::size_t kept = 0;
  };

  /// What runs for all positions. Scopes around it cannot be left inside.
  struct Each {
    ValueId each = ir::kNone;
    ValueId position = ir::kNone;
    std::size_t scopes = 0;  // how many there were outside, and so on
    std::size_t visible = 0;
    std::size_t arrays = 0;
    std::size_t kept = 0;
    ValueId draws = ir::kNone;
    int size = 0;
    bool is_counted = false;  // elements say how many of those they have
    std::uint32_t collects = 0;
  };

  /// Rows of lengths of their own, one behind the other in tables.
  struct Ragged {
    std::vector<ValueId> tables = {};
    ValueId start = ir::kNone;  // of the element's
    ValueId stop = ir::kNone;
    ValueId length = ir::kNone;  // an i32
    ValueId target = ir::kNone;  // memory for rows of results, at the same places
  };

  /// How a loop's counter goes by `step` towards `end`.
  struct Loop {
    std::size_t counter = 0;                    // its position
    std::optional<std::size_t> companion = {};  // second counter, the same for all elements
    std::optional<std::size_t> sum = {};        // takes in what nothing else in the body uses
    bool down = false;
    bool tests_first = false;  // nothing stands before the test
    bool tame = false;         // tests nothing but the counter, which is the same for all
    ValueId end = ir::kNone;
    ValueId step = ir::kNone;
  };

  // --- what kind of program ---

  void choose_flavour();
  void parameters();
  void body();
  void results();
  void array_results(std::vector<ValueId>& values);
  /// What accumulators take: a value and whether it is there, or the other way round.
  ValueId is_there();
  ValueId foldable();
  DType random_type() { return random_.pick(types_); }
  DType any_type() { return static_cast<DType>(random_.below(types::kDTypeCount)); }
  bool has_budget() { return build_.function().values.size() < most_; }

  // --- straight code ---

  void segment(int length);
  void random_op();
  ValueId not_zero(ValueId value);
  ValueId seldom_zero(DType type);
  void fail_seldom();

  // --- values ---

  ValueId emit(ValueId id, bool uniform);
  ValueId emit_op(Op op, std::span<const ValueId> operands, DType stated = DType::Bool);
  ValueId emit_op(Op op, std::initializer_list<ValueId> operands, DType stated = DType::Bool) {
    return emit_op(op, std::span(operands.begin(), operands.size()), stated);
  }
  bool is_uniform(ValueId id) {
    return build_.function()[id].op == Op::Constant || (id < uniform_.size() && uniform_[id]);
  }
  /// A value in scope for which `fits`; unused and recent ones rather than others.
  template <class Fits>
  std::optional<ValueId> find(const Fits& fits);
  std::optional<ValueId> find(DType type);
  std::optional<ValueId> find_uniform(DType type);
  std::optional<ValueId> find_varying();
  ValueId any_value();
  ValueId number(DType type, double value) {
    return build_.constant(types::scalar_of(type, value));
  }
  ValueId constant(DType type);
  /// A value of this type by conversion of another one; the bits where the sizes allow it.
  ValueId converted(DType type);
  ValueId convert(ValueId id, DType type) {
    return build_.type(id) == type ? id : emit_op(Op::Convert, {id}, type);
  }
  ValueId operand(DType type);
  /// A value that is the same for all elements.
  ValueId uniform_operand(DType type);
  /// An i32 that differs between elements and, inside of loops, between steps. Values made by
  /// random ops alone soon are the same for all elements.
  ValueId noise();
  ValueId noise_of(ValueId parameter);
  /// An i32 from 0 to `most`, from any value in scope or, if asked, from a uniform one.
  ValueId small(int most, bool uniform);
  ValueId condition();
  /// True for few elements, or only now and then.
  ValueId rare_condition();
  /// The same for all elements: a test of a counter, if there is one.
  ValueId uniform_condition();
  /// `sum` with all that nothing else uses taken in, so that mistakes show: what loops give, and
  /// up to `most` other values of those in scope from position `from` on.
  ValueId take_in(ValueId sum, std::size_t from, int most);

  // --- scopes ---

  int loop_depth() const;
  /// The first scope that can be left here, if there is one.
  std::size_t first_scope() const { return each_.empty() ? 0 : each_.back().scopes; }
  bool can_leave() const { return scopes_.size() > first_scope(); }
  void open_scope(std::vector<ValueId> initial, bool goes_round, bool rare = false);
  /// Ends with `next`; what it gives is in scope then, or some of it.
  void close_scope(std::span<const ValueId> next, std::optional<std::size_t> sum = {});
  /// Ends a block that never goes round with these values.
  void close_once(std::vector<ValueId> values);
  std::vector<ValueId> some_operands(int least, int most);
  std::vector<ValueId> operands_like(std::span<const ValueId> values);
  /// Leaves the scope and those inside of it.
  void leave(std::size_t target, ValueId condition, std::vector<ValueId> values);
  void leave_own(ValueId condition, std::vector<ValueId> values) {
    leave(scopes_.size() - 1, condition, std::move(values));
  }
  std::vector<ValueId> exit_values(std::size_t target);
  void exit();
  ValueId exit_condition();
  bool is_tame() const { return !scopes_.empty() && scopes_.back().tame; }
  void branch();
  void once();
  void loop();
  void linear_loop();
  ValueId loop_end(Loop& loop, DType& type, int most);
  void rotate(Loop& loop, std::vector<ValueId>& initial);
  void loop_body(const Loop& loop);
  ValueId next_count(const Loop& loop);
  void test(const Loop& loop, ValueId count);
  ValueId next_companion(ValueId argument);
  ValueId next_value(std::size_t i);

  // --- memory ---

  /// True for programs with arrays, tables, rows or numbers of elements.
  bool has_memory() const {
    return has_arrays_ || !tables_.empty() || has_numbers_ || !row_params_.empty();
  }
  void memory_op();
  void new_array();
  void access();
  void guarded_access();
  void access_neighbours();
  void update();
  void fill_all();
  void access(ValueId place, ir::IndexMode mode, ValueId index, bool writes);
  /// An array, a table, a row or what an `each` has kept.
  std::optional<ValueId> any_place();
  bool is_table(ValueId place) {
    const ir::Function& f = build_.function();
    return f[place].op == Op::Param && f.params[f[place].index].is_table();
  }
  /// No position changes what others see.
  bool can_write(ValueId place) const;
  int size_of(ValueId place) { return static_cast<int>(ir::size_of(build_.function(), place)); }
  /// One that is inside, in a way that shows more or less.
  ValueId safe_index(ValueId place);
  ValueId safe_in_array(int most);
  ValueId composed(int most, bool uniform);
  ValueId safe_in_table(ValueId table);
  /// One that may be anything, but often is near.
  ValueId any_index(ValueId place);
  ValueId index_of(ValueId value);
  /// So that what was written last is seen: reads arrays, and what was kept, from there on.
  void observe_arrays(std::size_t from, std::size_t from_kept);
  void element_number();
  void draw();

  // --- rows ---

  int random_size();
  void row_parameters();
  int most_positions() const;
  bool may_open_each() const;
  int each_size();
  ValueId some_count(int size);
  /// `bounded`: the count is never more than the size.
  bool is_below(ValueId count, int number) const;
  void open_each(int size, ValueId count = ir::kNone, bool bounded = false);
  void close_each();
  void each();
  void recorded();
  void product();
  void collect();
  void read_at_position();
  ValueId failing_condition();

  // --- tables that mean something ---

  void ragged_parameters();
  void ragged_lengths();
  bool may_open_ragged() const;
  void ragged();
  void write_rows();
  ValueId read_ragged(const Ragged& rows, ValueId table);
  void bits_parameter();
  void read_bits();

  Random random_;
  ir::Builder build_;
  std::size_t most_ = 0;
  std::vector<DType> types_;  // of this program, the usual ones several times
  std::vector<const ops::Row*> rows_;
  bool divides_ = false;   // divides integers
  bool fails_ = false;     // some elements may fail
  bool branches_ = false;  // has many branches and exits out of several of them
  bool has_arrays_ = false;
  bool has_numbers_ = false;  // reads the numbers of elements
  ValueId seed_ = ir::kNone;
  ValueId draws_ = ir::kNone;  // a u32: how often the element has drawn
  int sites_ = 0;              // places that draw
  ValueId noise_ = ir::kNone;  // an i32 that differs between elements
  std::vector<ValueId> tables_;
  bool has_each_ = false;
  int usual_size_ = 1;  // of rows
  std::vector<ValueId> row_params_;
  std::vector<Ragged> ragged_;
  ValueId bits_ = ir::kNone;        // a table, linear more often than not
  std::vector<ValueId> arrays_;     // in scope
  std::vector<ValueId> collected_;  // of these; nobody writes them any more
  std::vector<ValueId> kept_;       // in scope
  std::vector<ValueId> visible_;
  std::vector<bool> used_;     // by value
  std::vector<bool> uniform_;  // by value
  std::vector<Scope> scopes_;  // the innermost is last
  std::vector<Each> each_;     // the innermost is last
};

template <class Fits>
std::optional<ValueId> Generator::find(const Fits& fits) {
  std::vector<ValueId> fitting;
  std::vector<ValueId> unused;
  for (const ValueId id : visible_) {
    if (!fits(id)) continue;
    fitting.push_back(id);
    if (!used_[id]) unused.push_back(id);
  }
  if (fitting.empty()) return std::nullopt;
  const bool fresh = !unused.empty() && random_.chance(50);
  const auto& list = fresh ? unused : fitting;
  const int size = static_cast<int>(list.size());
  int at = random_.below(size);
  if (random_.chance(50)) at = std::max(at, random_.below(size));
  const ValueId id = list[static_cast<std::size_t>(at)];
  used_[id] = true;
  return id;
}

}  // namespace lw::fuzz

#include "lanewise/trace/trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "lanewise/base/error.h"
#include "lanewise/trace/space.h"

namespace lw::trace {
namespace {

thread_local Trace* open_trace = nullptr;
std::atomic<std::uint64_t> next_id{1};

}  // namespace

Trace::Trace(std::string name) : builder_(std::move(name)), id_(next_id++), scopes_(1) {
  require_none();
  open_trace = this;
}

bool Trace::is_open() { return open_trace != nullptr; }

void Trace::require_none() {
  if (is_open()) {
    throw UsageError(
        "trace: a function is being traced on this thread already. "
        "Call the plain function, not its vectorized form, inside another.");
  }
}

Trace::~Trace() { open_trace = nullptr; }

Trace& Trace::current() {
  if (!is_open()) {
    throw UsageError(
        "trace: a symbolic variable was used outside of a traced function. "
        "Create and use lw::f32 and its kind only inside the function given to lw::vectorize.");
  }
  return *open_trace;
}

ir::ValueId Trace::new_slot(ir::ValueId initial) {
  const ir::ValueId slot = builder_.append({.op = ir::Op::Slot, .type = builder_.type(initial)});
  write(slot, initial);
  return slot;
}

ir::ValueId Trace::read(ir::ValueId slot) {
  return builder_.append({.op = ir::Op::SlotRead, .type = builder_.type(slot), .operands = {slot}});
}

void Trace::write(ir::ValueId slot, ir::ValueId value) {
  builder_.append({.op = ir::Op::SlotWrite, .operands = {slot, value}});
}

// --- scopes ---

void Trace::begin(Scope scope) {
  constexpr std::size_t kMost = 500;
  if (scopes_.size() >= kMost) {
    throw UsageError(fmt::format(
        "trace: too deep; got {} loops, branches and calls in one another, expected at most {}. "
        "Does the function call itself? Write a loop with an lw::Array as its stack.",
        scopes_.size() + 1, kMost));
  }
  scope.first = builder_.function().values.size();
  scope.sites = sites_;
  scopes_.push_back(std::move(scope));
}

void Trace::end() {
  const std::size_t first = scopes_.back().first;
  while (!gone_.empty() && gone_.back().first >= first) gone_.pop_back();
  gone_.emplace_back(first, builder_.function().values.size());
  scopes_.pop_back();
}

bool Trace::is_gone(ir::ValueId value) const {
  const auto after =
      std::upper_bound(gone_.begin(), gone_.end(), value,
                       [](ir::ValueId id, const std::pair<std::size_t, std::size_t>& range) {
                         return id < range.first;
                       });
  return after != gone_.begin() && value < std::prev(after)->second;
}

void Trace::require_own(ir::ValueId array) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (scope->kind != Scope::Each) continue;
    if (array >= scope->first) return;
    const base::Location here = builder_.location();
    throw UsageError(fmt::format(
        "{}{}each: an array from outside is written for each position; got an assignment to it, "
        "expected a result. Give the value back from the function, or write a loop.",
        base::to_string(here), here ? ": " : ""));
  }
}

void Trace::begin_loop() {
  begin({.kind = Scope::Loop, .depth = builder_.depth()});
  builder_.begin_loop({});
}

void Trace::begin_body() { scopes_.back().begin = builder_.position(); }

void Trace::end_body() { unwrap(scopes_.back()); }

void Trace::end_loop() {
  builder_.end_loop({});
  end();
}

void Trace::begin_branch(ir::ValueId condition) {
  begin({.kind = Scope::Branch, .depth = builder_.depth()});
  builder_.begin_loop({});
  builder_.break_if(builder_.op(ir::Op::Not, {condition}), {});
}

void Trace::end_branch() {
  builder_.break_if(literal(Scalar(true)), {});
  builder_.end_loop({});
  end();
}

void Trace::begin_region(ir::ValueId condition) {
  begin_branch(condition);
  begin_call();
}

std::vector<ir::ValueId> Trace::end_region(std::span<const ir::ValueId> results) {
  std::vector<ir::ValueId> values = end_call(results);
  for (ir::ValueId& value : values) {
    const auto [type, size] = ir::item_of(builder_.function(), value);
    const Scalar zero = types::scalar_of(type, 0);
    const ir::ValueId inside =
        std::exchange(value, size > 0 ? first_array(zero, size) : first_slot(zero));
    if (size > 0) {
      write_all(array_view(value, {size}), array_view(inside, {size}));
    } else {
      write(value, inside);
    }
  }
  end_branch();
  for (ir::ValueId& value : values) {
    if (!ir::is_array(builder_.function(), value)) value = read(value);
  }
  return values;
}

ir::ValueId Trace::begin_each(std::uint32_t size, ir::ValueId count) {
  begin({.kind = Scope::Each, .depth = builder_.depth()});
  const ir::ValueId each = builder_.begin_each(size, count);
  scopes_.back().results = {each};
  scopes_.back().first = each + 1;
  return builder_.arguments(each)[0];
}

std::vector<ir::ValueId> Trace::end_each(std::span<const Collected> collected) {
  const ir::ValueId each = scopes_.back().results[0];
  for (const auto& [how, value] : collected) builder_.collect(how, value);
  builder_.close_loop();
  end();
  std::vector<ir::ValueId> results;
  for (std::uint32_t i = 0; i < collected.size(); ++i) results.push_back(builder_.result(each, i));
  return results;
}

void Trace::discard_each() {
  sites_ = scopes_.back().sites;
  discard_scope(scope());
}

void Trace::begin_call() {
  begin({.kind = Scope::Function, .depth = builder_.depth() - 1, .begin = builder_.position()});
}

std::vector<ir::ValueId> Trace::end_call(std::span<const ir::ValueId> results) {
  std::vector<ir::ValueId> values = end_function(results);
  scopes_.pop_back();
  return values;
}

Trace::Scope& Trace::innermost(Scope::Kind kind, std::string_view what) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (scope->kind == kind) return *scope;
    // A called function cannot leave a loop around it, nor can a position.
    if (scope->kind == Scope::Function || scope->kind == Scope::Each) break;
  }
  throw UsageError(fmt::format(
      "{}: stands outside of any loop. Use it in the body of lw::While or lw::For.", what));
}

std::uint32_t Trace::up_to(const Scope& scope) const {
  return static_cast<std::uint32_t>(builder_.depth() - 1 - scope.depth) - scope.is_wrapped;
}

void Trace::wrap(Scope& scope) {
  if (scope.is_wrapped) return;
  builder_.wrap(scope.depth, scope.begin);
  scope.is_wrapped = true;
  for (Scope& other : scopes_) {
    if (&other <= &scope) continue;
    if (other.depth == scope.depth) other.begin -= scope.begin;
    ++other.depth;  // what is inside has one block more around it
  }
}

void Trace::unwrap(Scope& scope) {
  if (!scope.is_wrapped) return;
  builder_.break_if(literal(Scalar(true)), {});
  builder_.end_loop({});
}

void Trace::break_if(ir::ValueId condition, std::string_view what) {
  const Scope& loop = innermost(Scope::Loop, what);
  builder_.break_if(condition, {}, up_to(loop) + loop.is_wrapped);
}

void Trace::continue_if(ir::ValueId condition, std::string_view what) {
  Scope& loop = innermost(Scope::Loop, what);
  wrap(loop);
  builder_.break_if(condition, {}, up_to(loop));
}

// --- blocks ---

void Trace::begin_block() {
  begin({.kind = Scope::Block, .depth = builder_.depth() - 1, .begin = builder_.position()});
}

void Trace::end_block(std::size_t scope) {
  scopes_.resize(scope + 1);
  unwrap(scopes_.back());
  scopes_.pop_back();
}

void Trace::break_scope(std::size_t scope) {
  const Scope& loop = scopes_[scope];
  builder_.break_if(literal(Scalar(true)), {}, up_to(loop) + loop.is_wrapped);
}

void Trace::leave_scope(std::size_t scope) {
  wrap(scopes_[scope]);
  builder_.break_if(literal(Scalar(true)), {}, up_to(scopes_[scope]));
}

std::size_t Trace::around(Scope& scope) {
  if (scope.kind != Scope::Block) return scope.depth - 1;
  wrap(scope);
  return scope.depth;
}

ir::ValueId Trace::slot_before(std::size_t scope, DType type, ir::ValueId initial) {
  const std::size_t depth = around(scopes_[scope]);
  return builder_.early_slot(depth, builder_.position(depth) - 1, type, initial);
}

ir::ValueId Trace::slot_before(std::size_t scope, Scalar initial) {
  const std::size_t depth = around(scopes_[scope]);
  return builder_.early_slot(depth, builder_.position(depth) - 1, initial);
}

ir::ValueId Trace::array_before(std::size_t scope, DType type, std::uint32_t size) {
  const std::size_t depth = around(scopes_[scope]);
  return builder_.early_array(depth, builder_.position(depth) - 1, type, size);
}

bool Trace::dissolve_branch() {
  if (!builder_.dissolve_loop()) return false;
  scopes_.pop_back();
  return true;
}

void Trace::discard_scope(std::size_t scope) {
  builder_.discard_from(around(scopes_[scope]));
  scopes_.resize(scope);
}

// --- functions ---

void Trace::leave_function(std::size_t at, std::span<const ir::ValueId> results) {
  const std::vector<ir::ValueId> places = scopes_[at].results;
  const auto fits = [&](std::size_t i) {
    return ir::item_of(builder_.function(), places[i]) ==
           ir::item_of(builder_.function(), results[i]);
  };
  bool same = places.size() == results.size();
  for (std::size_t i = 0; same && i < results.size(); ++i) same = fits(i);
  if (!same) {
    throw UsageError(
        "Return: gives other types or shapes, or another number of values, than the function does "
        "elsewhere. Return the same everywhere.");
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const types::Item item = ir::item_of(builder_.function(), results[i]);
    if (item.is_row()) {
      write_all(array_view(places[i], {item.size}), array_view(results[i], {item.size}));
    } else {
      write(places[i], results[i]);
    }
  }
  builder_.break_if(literal(Scalar(true)), {}, up_to(scopes_[at]));
}

void Trace::return_if(ir::ValueId condition, std::span<const ir::ValueId> results) {
  std::size_t at = scopes_.size() - 1;
  while (scopes_[at].kind != Scope::Function && scopes_[at].kind != Scope::Each) --at;
  if (scopes_[at].kind == Scope::Each) {
    throw UsageError(
        "Return: stands in what runs for each position. Give a value back from there, and choose "
        "with lw::select.");
  }
  if (Scope& scope = scopes_[at]; !scope.is_wrapped) {
    if (at == 0) scope.begin = builder_.function().params.size();
    wrap(scope);
    for (const ir::ValueId result : results) {
      const auto [type, size] = ir::item_of(builder_.function(), result);
      if (size > 0) {
        scope.results.push_back(builder_.early_array(scope.depth, scope.begin, type, size));
        scope.begin += 1;
      } else {
        scope.results.push_back(builder_.early_slot(scope.depth, scope.begin, type));
        scope.begin += 3;
      }
    }
  }
  // Only an element that leaves takes the values.
  begin_branch(condition);
  leave_function(at, results);
  end_branch();
}

std::vector<ir::ValueId> Trace::end_function(std::span<const ir::ValueId> results) {
  if (!scopes_.back().is_wrapped) return {results.begin(), results.end()};
  leave_function(scopes_.size() - 1, results);
  builder_.end_loop({});
  std::vector<ir::ValueId> values;
  for (const ir::ValueId id : scopes_.back().results) {
    values.push_back(ir::is_array(builder_.function(), id) ? id : read(id));
  }
  return values;
}

ir::Function Trace::finish(std::span<const ir::ValueId> results) {
  std::vector<ir::ValueId> values = end_function(results);
  for (const Partials& partials : partials_) {
    for (const ir::ValueId id : partials.values) {
      values.push_back(ir::is_array(builder_.function(), id) ? id : read(id));
    }
  }
  builder_.ret(values);
  return builder_.take();
}

std::vector<ir::ValueId>& Trace::partials_of(void* owner) {
  for (Partials& partials : partials_) {
    if (partials.owner == owner) return partials.values;
  }
  return partials_.emplace_back(Partials{owner, {}}).values;
}

bool Trace::is_in_loop() const {
  return std::any_of(scopes_.begin(), scopes_.end(), [](const Scope& scope) {
    return scope.kind == Scope::Loop || scope.kind == Scope::Each;
  });
}

// --- random draws ---

Trace::Draw Trace::next_draw() {
  if (seed_ == ir::kNone) {
    seed_ = late_param("seed", DType::U64, ir::ParamKind::Seed, 0);
  }
  const ir::ValueId slot = first_slot(Scalar(std::uint32_t{0}));
  Draw draw;
  draw.seed[0] = builder_.convert(seed_, DType::U32);
  const ir::ValueId high = builder_.op(ir::Op::Shr, {seed_, literal(Scalar(std::uint64_t{32}))});
  draw.seed[1] = builder_.convert(high, DType::U32);
  draw.site = literal(Scalar(sites_++));
  for (std::uint32_t word = 0; word < 2; ++word) draw.element[word] = builder_.element(word);
  draw.number = read(slot);
  write(slot, builder_.op(ir::Op::Add, {draw.number, literal(Scalar(std::uint32_t{1}))}));
  return draw;
}

ir::ValueId Trace::first_slot(Scalar initial) {
  const ir::ValueId slot = builder_.early_slot(0, builder_.function().params.size(), initial);
  shift_entry(3);
  return slot;
}

ir::ValueId Trace::first_array(Scalar initial, std::uint32_t size) {
  const std::size_t position = builder_.function().params.size();
  const ir::ValueId array = builder_.early_array(0, position, initial, size);
  shift_entry(2);
  return array;
}

ir::ValueId Trace::late_param(std::string name, DType type, ir::ParamKind kind,
                              std::uint32_t size) {
  const ir::ValueId id = builder_.late_param(std::move(name), type, kind, size);
  shift_entry(1);
  return id;
}

/// Calls in the first block begin so much later.
void Trace::shift_entry(std::size_t by) {
  for (Scope& scope : scopes_) {
    if (scope.depth == 0 && &scope != &scopes_.front()) scope.begin += by;
  }
}

void ResultList::add(ir::ValueId value, const types::Shape& shape) {
  values.push_back(value);
  shapes.push_back(shape);
}

base::Location to_location(const std::source_location& here) {
  return {base::intern(here.file_name()), static_cast<int>(here.line()),
          static_cast<int>(here.column())};
}

}  // namespace lw::trace

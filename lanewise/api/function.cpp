#include "lanewise/api/function.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>
#include <utility>

#include "lanewise/api/backends.h"
#include "lanewise/api/check_call.h"
#include "lanewise/api/explain_facts.h"
#include "lanewise/api/layout.h"
#include "lanewise/api/row_lengths.h"
#include "lanewise/base/environment.h"
#include "lanewise/base/error.h"
#include "lanewise/ir/print.h"
#include "lanewise/runtime/division.h"
#include "lanewise/runtime/folding.h"
#include "lanewise/runtime/program_cache.h"
#include "lanewise/runtime/timeline.h"
#include "lanewise/trace/trace.h"
#include "lanewise/transform/passes.h"

namespace lw {

/// Types and kinds of the arguments, six bits each, behind the step counter, mathematics, accuracy
/// and what is checked.
struct ElementFunction::Signature {
  std::uint64_t words[8] = {};
  std::vector<std::uint64_t> rows = {};  // number of the argument, and a size of its elements
  bool operator==(const Signature&) const = default;
};

/// A signature that has been traced.
struct ElementFunction::Entry {
  Signature key;
  ir::Function traced;
  std::vector<api::AccumulatorUse> uses = {};
  std::vector<types::Shape> shapes = {};  // of results, where they were traced from C++
  std::vector<api::WrittenRows> rows = {};
  std::unique_ptr<Entry> lengths = {};  // of rows that have some of their own
  bool is_numbered = false;             // elements ask for their numbers
  std::shared_ptr<runtime::Program> program;
  const Entry* next = nullptr;
  // The last run, for explain.
  mutable std::atomic<int> workers{0};
  mutable std::atomic<runtime::CodeSource> code{runtime::CodeSource::None};
  mutable std::atomic<std::int64_t> chunk{0}, scratch_bytes{0}, peak_bytes{0}, tier0_elements{0},
      tier1_elements{0};
  mutable std::atomic<double> load_ms{0}, seconds{0};
  mutable base::Mutex shares_mutex;
  mutable std::vector<runtime::WorkerShare> shares;  // of a run that was timed
  mutable std::vector<runtime::MemoryUseAt> memory;  // likewise
  mutable runtime::LaneSteps lanes;                  // likewise

  /// The results that are not folded.
  std::span<const types::Item> stored(const MapOptions& options) const {
    const std::vector<types::Item>& all = program->function().results;
    return std::span(all).first(all.size() - api::folded_results(uses) -
                                runtime::folded_results(options.folds));
  }
  Tensor new_result(std::size_t index, std::int64_t count) const {
    const auto [type, row] = program->function().results[index];
    const bool has_shape = row > 0 && index < shapes.size();
    const types::Shape shape = has_shape ? shapes[index]
                               : row > 0 ? types::Shape{row}
                                         : types::Shape();
    return {type, row > 0 ? count * row : count, shape};
  }
  void remember(const runtime::RunStats& run) const {
    workers.store(run.workers, std::memory_order_relaxed);
    code.store(run.code, std::memory_order_relaxed);
    chunk.store(run.chunk, std::memory_order_relaxed);
    scratch_bytes.store(run.scratch_bytes, std::memory_order_relaxed);
    peak_bytes.store(run.peak_bytes, std::memory_order_relaxed);
    tier0_elements.store(run.tier0_elements, std::memory_order_relaxed);
    tier1_elements.store(run.tier1_elements, std::memory_order_relaxed);
    load_ms.store(run.load_ms, std::memory_order_relaxed);
    seconds.store(run.seconds, std::memory_order_relaxed);
    if (run.shares.empty()) return;
    const std::lock_guard lock(shares_mutex);
    shares = run.shares;
    memory = run.memory;
    lanes = run.lanes;
  }
};

namespace {

constexpr std::size_t kMostInputs = 64;
constexpr std::size_t kInputsInWord = 10;
constexpr std::size_t kMostOutputs = 16;

/// True for one whose draws or results depend on the numbers of elements.
bool asks_for_numbers(const ir::Function& f) {
  bool found = std::any_of(f.params.begin(), f.params.end(),
                           [](const ir::Param& p) { return p.kind == ir::ParamKind::Seed; });
  ir::for_each(f, [&](ir::ValueId id, int) { found = found || f[id].op == ir::Op::Element; });
  return found;
}

/// `results`: those that are stored.
transform::Options passes_of(const MapOptions& options, std::size_t results) {
  transform::Options passes{.contract = options.math == Math::Fast,
                            .high_accuracy = options.accuracy == Accuracy::High};
  if (options.max_steps > 0) {
    passes.step_counter = options.max_steps < INT32_MAX ? DType::I32 : DType::I64;
  }
  if (options.check_numerics) passes.checked_results = results;
  return passes;
}

}  // namespace

ElementFunction::Signature ElementFunction::signature(std::span<const Input> inputs,
                                                      const MapOptions& options) {
  if (inputs.size() > kMostInputs) {
    throw UsageError(fmt::format("map: too many arguments; got {}, expected at most {}.",
                                 inputs.size(), kMostInputs));
  }
  api::check_options(options);
  Signature key{{
      options.max_steps == 0          ? std::uint64_t{1}
      : options.max_steps < INT32_MAX ? std::uint64_t{2}
                                      : std::uint64_t{3},
  }};
  key.words[0] = key.words[0] << 3 | static_cast<std::uint64_t>(options.math) |
                 static_cast<std::uint64_t>(options.accuracy) << 1 |
                 static_cast<std::uint64_t>(options.check_numerics) << 2;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::uint64_t& word = key.words[1 + i / kInputsInWord];
    const std::uint64_t code = static_cast<std::uint64_t>(inputs[i].type) << 2 |
                               static_cast<std::uint64_t>(inputs[i].kind);
    word = word << 6 | (code + 1);
    if (inputs[i].row > 0) key.rows.push_back(std::uint64_t{i} << 32 | inputs[i].row);
    for (const std::uint32_t size : inputs[i].shape) {
      key.rows.push_back(std::uint64_t{i} << 32 | size);
    }
  }
  return key;
}

namespace {

/// Calls `use` with the arguments and options of a call in which `where` is the last argument.
template <class Use>
auto masked(std::span<const Input> arguments, MapOptions options, const Use& use) {
  const std::vector<Input> inputs = api::with_mask(arguments, options);
  return use(std::span<const Input>(inputs), std::as_const(options));
}

}  // namespace

ElementFunction::ElementFunction(Tracer tracer, VectorizeOptions options)
    : tracer_(std::move(tracer)), options_(std::move(options)) {}

ElementFunction::~ElementFunction() {
  for (const Entry* entry = entries_.load(); entry != nullptr;) {
    delete std::exchange(entry, entry->next);
  }
}

namespace {

/// The arrays and numbers of a call as the runtime takes them.
class Pointers {
 public:
  void add(std::span<const Output> outputs, std::span<const Input> inputs) {
    for (const Input& input : inputs) {
      if (input.is_mapped()) {
        mapped_[mapped_count_++] = input.data;
      } else if (input.kind == ir::ParamKind::Table) {
        new (tables_ + table_count_++ * sizeof(types::Table)) types::Table{input.data, input.size};
      } else {
        shared_[shared_count_++] = input.value.bits();
      }
    }
    for (const Output& output : outputs) outputs_[output_count_++] = output.data;
  }
  runtime::Buffers buffers(std::int64_t count) const {
    return {.inputs = {mapped_, mapped_count_},
            .shared = {shared_, shared_count_},
            .outputs = {outputs_, output_count_},
            .count = count,
            .tables = {std::launder(reinterpret_cast<const types::Table*>(tables_)), table_count_}};
  }

 private:
  const void* mapped_[kMostInputs];
  std::uint64_t shared_[kMostInputs];
  alignas(types::Table) std::byte tables_[kMostInputs * sizeof(types::Table)];
  void* outputs_[kMostOutputs];
  std::size_t mapped_count_ = 0, shared_count_ = 0, table_count_ = 0, output_count_ = 0;
};

api::Layout layout_of(std::span<const Output> outputs, std::span<const Input> inputs,
                      std::int64_t count, const MapOptions& options) {
  std::vector<api::Placed> arrays;
  for (const Input& input : inputs) {
    if (input.is_mapped()) arrays.push_back(api::placed(input));
  }
  for (const Output& output : outputs) arrays.push_back(api::placed(output));
  api::Layout layout =
      api::join_dimensions(options.shape.empty() ? std::span(&count, 1) : options.shape, arrays);
  if (layout.shape.size() == 1) {
    const auto is_together = [&](const api::Placed& a) {
      return layout.strides[static_cast<std::size_t>(&a - arrays.data())] == a.size;
    };
    if (std::all_of(arrays.begin(), arrays.end(), is_together)) return {};
  }
  return layout;
}

/// True where elements of each array stand one behind the other.
bool are_together(std::span<const Output> outputs, std::span<const Input> inputs) {
  const auto is_apart = [](const auto& array) { return array.stride != array.item().bytes(); };
  return std::none_of(outputs.begin(), outputs.end(), is_apart) &&
         std::none_of(inputs.begin(), inputs.end(),
                      [&](const Input& input) { return input.is_mapped() && is_apart(input); });
}

/// True where a call may end before anybody could ask for anything.
bool may_run_at_once(const MapOptions& options) {
  return options.compile != Compile::Never && options.memory == 0 && options.chunk == 0 &&
         options.timeout == 0 && !options.cancel && !options.progress &&
         options.finished == nullptr && options.failures == nullptr && options.mask < 0 &&
         options.shape.empty() && options.folds.empty();
}

/// Everything that a call gives to the runtime.
class Given {
 public:
  Given(std::span<const Output> outputs, std::span<const Input> inputs, std::int64_t count,
        const MapOptions& options) {
    pointers_.add(outputs, inputs);
    const bool is_strided = !options.shape.empty() || !are_together(outputs, inputs);
    if (is_strided) layout_ = layout_of(outputs, inputs, count, options);
    buffers = pointers_.buffers(count);
    buffers.folds = options.folds;
    buffers.strides = layout_.strides;
    buffers.shape = layout_.shape;
    if (options.mask >= 0) {  // its number among the mapped ones
      buffers.where = static_cast<int>(std::count_if(inputs.begin(), inputs.begin() + options.mask,
                                                     [](const Input& i) { return i.is_mapped(); }));
    }
  }
  Given(const Given&) = delete;  // buffers point to it
  Given& operator=(const Given&) = delete;

  runtime::Buffers buffers;

 private:
  Pointers pointers_;
  api::Layout layout_;
};

}  // namespace

// The life of a call. `load` has what happens once per signature, `run` what happens every time.
void ElementFunction::call(std::span<Tensor> results, std::span<const Input> inputs,
                           const MapOptions& options) {
  if (options.where) {
    if (!results.empty()) {
      throw UsageError(
          "map: where without memory for the results; got a mask and new arrays, expected ones "
          "that keep their values where the mask is false. Give them: f.into(out, ...).");
    }
    return masked(inputs, options, [&](auto all, auto& with) { return call(results, all, with); });
  }
  const std::int64_t count = api::mapped_size(inputs, options);
  const Entry& entry = find(inputs, options);
  api::check_output_count(results.size(), entry.stored(options).size());
  std::vector<Output> outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = entry.new_result(i, count);
    outputs.emplace_back(results[i]);
  }
  if (options.finished != nullptr) api::check_new_results(*options.finished);
  run(entry, outputs, inputs, count, options);
  if (options.finished != nullptr) {
    const Given given(outputs, inputs, count, options);
    runtime::fill_unfinished(given.buffers, entry.program->kernel(), *options.finished);
  }
}

runtime::RunStats ElementFunction::call_into(std::span<const Output> outputs,
                                             std::span<const Input> inputs,
                                             const MapOptions& options) {
  if (options.where) {
    return masked(inputs, options,
                  [&](auto all, auto& with) { return call_into(outputs, all, with); });
  }
  const std::int64_t count = api::mapped_size(inputs, options);
  const Entry& entry = find(inputs, options);
  api::check_shape(outputs, inputs, options, count);
  api::check_mask(inputs, options);
  api::check_outputs(outputs, inputs, entry.stored(options), count, options);
  return run(entry, outputs, inputs, count, options);
}

const std::vector<types::Item>& ElementFunction::Ready::results() const {
  return entry_->program->function().results;
}

std::span<const types::Item> ElementFunction::Ready::stored() const { return entry_->stored({}); }

const std::vector<api::WrittenRows>& ElementFunction::Ready::rows() const { return entry_->rows; }

ElementFunction::Ready ElementFunction::Ready::lengths() const { return Ready(*entry_->lengths); }

Tensor ElementFunction::Ready::new_result(std::size_t index, std::int64_t count) const {
  return entry_->new_result(index, count);
}

bool ElementFunction::Ready::is_inner() const { return entry_->program->is_inner(); }

bool ElementFunction::Ready::is_numbered() const { return entry_->is_numbered; }

ElementFunction::Ready ElementFunction::prepare(std::span<const Input> inputs,
                                                const MapOptions& options) {
  return Ready(find(inputs, options));
}

std::optional<runtime::RunStats> ElementFunction::call_at_once(
    Ready ready, std::span<const Output> outputs, std::span<const Input> inputs, std::int64_t count,
    const MapOptions& options, double nanoseconds) {
  const Entry& entry = *ready.entry_;
  if (!may_run_at_once(options) || !entry.uses.empty() || !are_together(outputs, inputs)) return {};
  Pointers pointers;
  pointers.add(outputs, inputs);
  if (!runtime::execute_at_once(*entry.program, pointers.buffers(count), options.first_element,
                                nanoseconds)) {
    return {};
  }
  std::optional<runtime::RunStats> stats(std::in_place);
  stats->chunk = stats->tier1_elements = count;
  stats->code = runtime::CodeSource::Memory;
  entry.remember(*stats);
  return stats;
}

void ElementFunction::remember(Ready ready, const runtime::RunStats& stats) {
  ready.entry_->remember(stats);
}

void ElementFunction::add_peak(Ready ready, std::int64_t bytes) {
  ready.entry_->peak_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

runtime::RunStats ElementFunction::call_ready(Ready ready, std::span<const Output> outputs,
                                              std::span<const Input> inputs, std::int64_t count,
                                              const MapOptions& options) {
  return run(*ready.entry_, outputs, inputs, count, options);
}

const ElementFunction::Entry& ElementFunction::find(std::span<const Input> inputs,
                                                    const MapOptions& options) {
  const Signature key = signature(inputs, options);
  for (const Entry* e = entries_.load(std::memory_order_acquire); e != nullptr; e = e->next) {
    if (e->key == key) return *e;
  }
  return load(key, inputs, options);
}

const ElementFunction::Entry& ElementFunction::load(const Signature& key,
                                                    std::span<const Input> inputs,
                                                    const MapOptions& options) {
  trace::Trace::require_none();  // a function that calls itself would wait for its own trace
  const std::lock_guard lock(mutex_);
  for (const Entry* e = entries_.load(); e != nullptr; e = e->next) {
    if (e->key == key) return *e;  // another thread was first
  }
  const runtime::LoneSpan span(runtime::Happening::Record, options_.name);
  auto [traced, uses, shapes, rows] = tracer_(inputs);
  base::dump("trace", [&] { return ir::print(traced); });
  const std::size_t folded = api::folded_results(uses) + runtime::folded_results(options.folds);
  const std::size_t stored = traced.results.size() - folded;
  if (traced.results.empty() || traced.results.size() > kMostOutputs) {
    throw UsageError(fmt::format("map: the function returns {} values; expected 1 to {}.",
                                 traced.results.size(), kMostOutputs));
  }
  const auto tables = std::count_if(traced.params.begin(), traced.params.end(),
                                    [](const ir::Param& p) { return p.is_table(); });
  if (tables > std::ptrdiff_t{kMostInputs}) {
    throw UsageError(
        fmt::format("map: tables and rows of results are too many; got {}, expected "
                    "at most {}.",
                    tables, kMostInputs));
  }
  auto entry = std::make_unique<Entry>();
  entry->key = key;
  if (const std::size_t own = api::own_lengths(rows); own > 0) {
    entry->lengths = std::make_unique<Entry>();
    entry->lengths->traced = api::row_lengths(traced, stored - own, own);
    finish(*entry->lengths, passes_of(options, own));
  }
  entry->traced = std::move(traced);
  entry->uses = std::move(uses);
  entry->shapes = std::move(shapes);
  entry->rows = std::move(rows);
  finish(*entry, passes_of(options, stored));
  entry->next = entries_.load();
  entries_.store(entry.get(), std::memory_order_release);
  return *entry.release();
}

void ElementFunction::finish(Entry& entry, const transform::Options& passes) const {
  const ir::Function& traced = entry.traced;
  const std::string content =
      plan::to_string(options_.schedule) +
      std::to_string(passes.step_counter ? static_cast<int>(*passes.step_counter) : -1) +
      (passes.contract ? "fast" : "strict") + (passes.high_accuracy ? " high" : "") +
      (passes.checked_results ? fmt::format(" finite {} ", *passes.checked_results) : "") +
      ir::fingerprint(traced);
  entry.program = runtime::cached_program(content, [&] {
    return std::make_shared<runtime::Program>(transform::run(traced, passes), options_.schedule,
                                              api::cpu_backend());
  });
  entry.is_numbered = asks_for_numbers(traced);
}

namespace {

runtime::ExecuteOptions execute_options(const MapOptions& options) {
  return {.threads = options.threads,
          .max_steps = options.max_steps,
          .chunk = options.chunk,
          .memory = options.memory,
          .compile = options.compile,
          .seed = options.seed,
          .first_element = options.first_element,
          .cancel = options.cancel ? &*options.cancel : nullptr,
          .interrupt = options.interrupt ? &options.interrupt : nullptr,
          .timeout = options.timeout,
          .begin = options.begin,
          .progress = options.progress ? &options.progress : nullptr,
          .finished = options.finished,
          .watchdog = options.watchdog,
          .on_silence = options.on_silence ? &options.on_silence : nullptr,
          .on_error = options.on_error,
          .fill = options.fill,
          .failures = options.failures,
          .most_failures = options.most_failures,
          .failed = options.failed};
}

}  // namespace

runtime::RunStats ElementFunction::run(const Entry& entry, std::span<const Output> outputs,
                                       std::span<const Input> inputs, std::int64_t count,
                                       const MapOptions& options) {
  if (options.on_error != OnError::Raise) api::check_on_error(entry.stored(options), options);
  if (options.finished != nullptr && (!entry.uses.empty() || !options.folds.empty())) {
    api::refuse_unfinished_totals();
  }
  constexpr double kAtOnce = 5e3;  // ns, of which the way below would be a good part
  if (auto stats = call_at_once(Ready(entry), outputs, inputs, count, options, kAtOnce)) {
    return *std::move(stats);
  }
  Given given(outputs, inputs, count, options);
  std::optional<api::Accumulating> accumulating;
  if (!entry.uses.empty()) {
    accumulating.emplace(entry.uses);
    given.buffers.folds = accumulating->folds();
  }
  const runtime::RunStats stats =
      runtime::execute(*entry.program, given.buffers, execute_options(options));
  if (accumulating) accumulating->take();
  entry.remember(stats);
  return stats;
}

/// The scratch of a call with new arrays for the results.
std::int64_t ElementFunction::projected_bytes(const Entry& entry, std::span<const Input> inputs,
                                              const MapOptions& options) {
  std::int64_t count = options.count.value_or(1);
  for (const Input& input : inputs) {
    if (input.is_mapped()) count = input.size;
  }
  if (count == 0) return 0;
  std::vector<Output> outputs;
  std::vector<std::vector<std::int64_t>> strides;  // as options.shape has dimensions
  for (const types::Item& item : entry.stored(options)) {
    Output& output = outputs.emplace_back(item.type, nullptr, count, item.bytes());
    output.row = item.size;
    std::vector<std::int64_t>& own = strides.emplace_back(options.shape.size(), item.bytes());
    for (std::size_t d = own.size(); d-- > 1;) own[d - 1] = own[d] * options.shape[d];
    output.strides = own;
  }
  Given given(outputs, inputs, count, options);
  std::optional<api::Accumulating> accumulating;
  if (!entry.uses.empty()) {
    accumulating.emplace(entry.uses);
    given.buffers.folds = accumulating->folds();
  }
  return runtime::divide(*entry.program, given.buffers, execute_options(options)).room.bytes;
}

std::vector<types::Item> ElementFunction::results(std::span<const Input> inputs,
                                                  const MapOptions& options) {
  return find(inputs, options).program->function().results;
}

std::string ElementFunction::lower(std::span<const Input> inputs, const MapOptions& options) {
  if (options.where) {
    return masked(inputs, options, [&](auto all, auto& with) { return lower(all, with); });
  }
  return ir::print(find(inputs, options).program->function(), {.locations = true});
}

runtime::Program::Report ElementFunction::compile(std::span<const Input> inputs,
                                                  const MapOptions& options) {
  if (options.where) {
    return masked(inputs, options, [&](auto all, auto& with) { return compile(all, with); });
  }
  runtime::Program& program = *find(inputs, options).program;
  const runtime::Program::Use use(program);  // keeps the code until it is reported
  program.compile({});
  return program.report();
}

namespace {

std::int64_t count_elementwise(const ir::Function& f) {
  std::int64_t count = 0;
  ir::for_each(f, [&](ir::ValueId id, int) { count += ops::is_elementwise(f[id].op); });
  return count;
}

}  // namespace

Explanation ElementFunction::explain(std::span<const Input> inputs, const MapOptions& options) {
  if (options.where) {
    return masked(inputs, options, [&](auto all, auto& with) { return explain(all, with); });
  }
  const Entry& entry = find(inputs, options);
  const runtime::Program& program = *entry.program;
  const ir::Function& function = program.function();
  const runtime::Program::Report report = program.report();
  const ir::Function recorded =
      transform::prepare(entry.traced, passes_of(options, entry.stored(options).size()));
  Explanation e{.name = options_.name,
                .math = options.math,
                .accuracy = options.accuracy,
                .program = ir::print(recorded),
                .recorded = count_elementwise(recorded),
                .instructions = count_elementwise(function),
                .scratch_bytes = static_cast<std::int64_t>(program.interpreter().scratch_bytes()),
                .compiled = report.compiled,
                .schedule = report.choice.schedule,
                .reason = report.choice.reason,
                .considered = program.considered(),
                .trips = report.trips,
                .source = report.source,
                .times = report.times,
                .code_bytes = static_cast<std::int64_t>(report.code_bytes),
                .error = report.error};
  kernel::for_each(program.kernel(),
                   [&](const kernel::Instruction&, int) { ++e.lane_instructions; });
  for (const ir::Param& param : function.params) {
    if (param.is_mapped()) e.bytes_in += param.item().bytes();
  }
  for (const types::Item& item : function.results) e.bytes_out += item.bytes();
  e.budget_bytes = runtime::budget_of(execute_options(options));
  try {
    e.projected_bytes = projected_bytes(entry, inputs, options);
  } catch (const ResourceError& error) {
    e.refusal = error.what();
  }
  if (entry.workers.load() > 0) {
    e.last_run = runtime::RunStats{.workers = entry.workers.load(),
                                   .chunk = entry.chunk.load(),
                                   .tier0_elements = entry.tier0_elements.load(),
                                   .tier1_elements = entry.tier1_elements.load(),
                                   .code = entry.code.load(),
                                   .scratch_bytes = entry.scratch_bytes.load(),
                                   .peak_bytes = entry.peak_bytes.load(),
                                   .load_ms = entry.load_ms.load(),
                                   .seconds = entry.seconds.load()};
    const std::lock_guard lock(entry.shares_mutex);
    if (e.last_run->seconds > 0) {
      e.last_run->shares = entry.shares;
      e.last_run->memory = entry.memory;
      e.last_run->lanes = entry.lanes;
    }
  }
  api::add_facts(function, e);
  return e;
}

}  // namespace lw

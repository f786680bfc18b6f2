#include "lanewise/api/function.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>
#include <utility>

#include "lanewise/api/backends.h"
#include "lanewise/api/layout.h"
#include "lanewise/base/environment.h"
#include "lanewise/base/error.h"
#include "lanewise/ir/print.h"
#include "lanewise/runtime/folding.h"
#include "lanewise/runtime/program_cache.h"
#include "lanewise/trace/trace.h"
#include "lanewise/transform/passes.h"

namespace lw {

/// Types and kinds of the arguments, six bits each, behind the step counter, mathematics and
/// accuracy.
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
  std::shared_ptr<runtime::Program> program;
  const Entry* next = nullptr;
  // The last run, for explain.
  mutable std::atomic<int> workers{0};
  mutable std::atomic<runtime::CodeSource> code{runtime::CodeSource::None};
  mutable std::atomic<std::int64_t> chunk{0}, scratch_bytes{0}, tier0_elements{0},
      tier1_elements{0};
  mutable std::atomic<double> load_ms{0};

  /// The results that are not folded.
  std::span<const types::Item> stored(const MapOptions& options) const {
    const std::vector<types::Item>& all = program->function().results;
    return std::span(all).first(all.size() - api::folded_results(uses) -
                                runtime::folded_results(options.folds));
  }
  void remember(const runtime::RunStats& run) const {
    workers.store(run.workers, std::memory_order_relaxed);
    code.store(run.code, std::memory_order_relaxed);
    chunk.store(run.chunk, std::memory_order_relaxed);
    scratch_bytes.store(run.scratch_bytes, std::memory_order_relaxed);
    tier0_elements.store(run.tier0_elements, std::memory_order_relaxed);
    tier1_elements.store(run.tier1_elements, std::memory_order_relaxed);
    load_ms.store(run.load_ms, std::memory_order_relaxed);
  }
};

namespace {

constexpr std::size_t kMostInputs = 64;
constexpr std::size_t kInputsInWord = 10;
constexpr std::size_t kMostOutputs = 16;

void check_options(const MapOptions& options) {
  const auto check = [](const char* option, std::int64_t value, const char* zero,
                        const char* unit) {
    if (value >= 0) return;
    throw UsageError(
        fmt::format("map: {} is negative; got {}, expected 0 for {} or a number of {}.", option,
                    value, zero, unit));
  };
  check("threads", options.threads, "all that the process may use", "threads");
  check("max_steps", options.max_steps, "no limit", "steps");
  check("chunk", options.chunk, "the library's choice", "elements");
}

transform::Options passes_of(const MapOptions& options) {
  transform::Options passes{.contract = options.math == Math::Fast,
                            .high_accuracy = options.accuracy == Accuracy::High};
  if (options.max_steps > 0) {
    passes.step_counter = options.max_steps < INT32_MAX ? DType::I32 : DType::I64;
  }
  return passes;
}

}  // namespace

ElementFunction::Signature ElementFunction::signature(std::span<const Input> inputs,
                                                      const MapOptions& options) {
  if (inputs.size() > kMostInputs) {
    throw UsageError(fmt::format("map: too many arguments; got {}, expected at most {}.",
                                 inputs.size(), kMostInputs));
  }
  check_options(options);
  Signature key{{
      options.max_steps == 0          ? std::uint64_t{1}
      : options.max_steps < INT32_MAX ? std::uint64_t{2}
                                      : std::uint64_t{3},
  }};
  key.words[0] = key.words[0] << 2 | static_cast<std::uint64_t>(options.math) |
                 static_cast<std::uint64_t>(options.accuracy) << 1;
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

void check_table(const Input& table, std::size_t argument) {
  if (table.data == nullptr || table.size <= 0) {
    throw UsageError(
        fmt::format("map: argument {} is a table without values; got size {}, expected at least 1.",
                    argument, table.size));
  }
  if (table.stride != static_cast<std::int64_t>(types::size_of(table.type))) {
    throw UsageError(
        fmt::format("map: argument {} is a table whose values stand apart; got {} bytes from one "
                    "to the next, expected {}. Copy it first.",
                    argument, table.stride, types::size_of(table.type)));
  }
}

/// The one size of all mapped inputs; without any, as many as were asked for.
std::int64_t mapped_size(std::span<const Input> inputs, const MapOptions& options) {
  std::int64_t size = -1;
  std::size_t first = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    if (input.kind == ir::ParamKind::Table) check_table(input, i);
    if (!input.is_mapped()) continue;
    if (input.size < 0) {
      throw UsageError(fmt::format(
          "map: argument {} has a negative size; got {}, expected 0 or more.", i, input.size));
    }
    if (input.data == nullptr && input.size > 0) {
      throw UsageError(fmt::format(
          "map: argument {} has no data; got a null pointer with size {}, expected memory for its "
          "elements. Check that the array is allocated.",
          i, input.size));
    }
    if (size >= 0 && input.size != size) {
      throw UsageError(fmt::format(
          "map: arguments disagree on the mapped size; got {} (argument {}) and {} (argument {}), "
          "expected one size. Pass a plain number to share it between elements.",
          size, first, input.size, i));
    }
    if (size < 0) first = i;
    size = input.size;
  }
  if (options.count.value_or(0) < 0) {
    throw UsageError(fmt::format(
        "map: count is negative; got {}, expected 0 or a number of elements.", *options.count));
  }
  if (size < 0 && !options.count) {
    throw UsageError(
        "map: nothing to map over; got only shared numbers, expected at least one array, or a "
        "count of elements.");
  }
  if (size >= 0 && options.count.value_or(size) != size) {
    throw UsageError(
        fmt::format("map: count is not the mapped size; got {} and {} (argument {}). Leave it away "
                    "where there are arrays.",
                    *options.count, size, first));
  }
  return size >= 0 ? size : *options.count;
}

/// Array `a` of a call whose arrays have this shape.
template <class Array>
api::Placed placed(const Array& a) {
  return {.data = a.data,
          .size = a.item().bytes(),
          .strides = a.strides.empty() ? std::span(&a.stride, 1) : a.strides};
}

void check_strides(std::size_t got, std::size_t expected, const char* kind, std::size_t number) {
  if (got == expected) return;
  throw UsageError(
      fmt::format("map: {} {} has other dimensions; got strides along {}, expected {}, as many as "
                  "shape has.",
                  kind, number, got, expected));
}

/// Where dimensions are given, every array must have strides along all of them.
void check_shape(std::span<const Output> outputs, std::span<const Input> inputs,
                 const MapOptions& options, std::int64_t count) {
  if (options.shape.empty()) return;
  std::int64_t product = 1;
  for (const std::int64_t n : options.shape) product *= n;
  if (product != count) {
    throw UsageError(
        fmt::format("map: shape has another size; got {} elements, expected {}.", product, count));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_mapped()) continue;
    check_strides(inputs[i].strides.size(), options.shape.size(), "argument", i);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check_strides(outputs[i].strides.size(), options.shape.size(), "output", i);
  }
}

void check_where(std::span<const Input> inputs, const MapOptions& options) {
  if (options.where < 0) return;
  const auto where = static_cast<std::size_t>(options.where);
  if (where < inputs.size() && inputs[where].is_mapped() && inputs[where].type == DType::Bool) {
    return;
  }
  throw UsageError(
      fmt::format("map: where is not an array of bools; got argument {}, expected the number of "
                  "one.",
                  options.where));
}

bool overlaps(std::span<const std::int64_t> shape, const Output& output, const Input& input) {
  if (input.is_mapped()) return api::overlaps(shape, placed(output), placed(input));
  const auto bytes = input.size * static_cast<std::int64_t>(types::size_of(input.type));
  return api::touches(shape, placed(output), input.data, bytes);
}

void check_output_count(std::size_t got, std::size_t expected) {
  if (got != expected) {
    throw UsageError(
        fmt::format("map: wrong number of outputs; got {}, expected {}.", got, expected));
  }
}

void check_outputs(std::span<const Output> outputs, std::span<const Input> inputs,
                   std::span<const types::Item> results, std::int64_t count,
                   const MapOptions& options) {
  check_output_count(outputs.size(), results.size());
  const std::span<const std::int64_t> shape =
      options.shape.empty() ? std::span(&count, 1) : options.shape;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Output& out = outputs[i];
    if (out.item() != results[i]) {
      throw UsageError(fmt::format("map: output {} has another type; got {}, expected {}.", i,
                                   types::to_string(out.item()), types::to_string(results[i])));
    }
    if (out.size != count) {
      throw UsageError(
          fmt::format("map: output {} has another size; got {}, expected {}, the mapped size.", i,
                      out.size, count));
    }
    if (out.data == nullptr && out.size > 0) {
      throw UsageError(
          fmt::format("map: output {} has no data; got a null pointer with size {}.", i, out.size));
    }
    if (api::overlaps_itself(shape, placed(out))) {
      throw UsageError(fmt::format(
          "map: output {} overlaps itself; got {} bytes from one element to the next, expected at "
          "least {}.",
          i, placed(out).strides.back(), out.item().bytes()));
    }
    for (std::size_t j = 0; j < inputs.size(); ++j) {
      if (inputs[j].kind != ir::ParamKind::Shared && overlaps(shape, out, inputs[j])) {
        throw UsageError(fmt::format(
            "map: output {} overlaps argument {}; got shared memory, expected separate arrays. "
            "Give another out, or none.",
            i, j));
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (api::overlaps(shape, placed(out), placed(outputs[j]))) {
        throw UsageError(fmt::format("map: outputs {} and {} overlap.", j, i));
      }
    }
  }
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

}  // namespace

// The life of a call. `load` has what happens once per signature, `run` what happens every time.
void ElementFunction::call(std::span<Tensor> results, std::span<const Input> inputs,
                           const MapOptions& options) {
  const std::int64_t count = mapped_size(inputs, options);
  const Entry& entry = find(inputs, options);
  const std::span<const types::Item> items = entry.stored(options);
  check_output_count(results.size(), items.size());
  std::vector<Output> outputs;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto [type, row] = items[i];
    const bool has_shape = row > 0 && i < entry.shapes.size();
    const types::Shape shape = has_shape ? entry.shapes[i]
                               : row > 0 ? types::Shape{row}
                                         : types::Shape();
    results[i] = Tensor(type, row > 0 ? count * row : count, shape);
    outputs.emplace_back(results[i]);
  }
  run(entry, outputs, inputs, count, options);
}

runtime::RunStats ElementFunction::call_into(std::span<const Output> outputs,
                                             std::span<const Input> inputs,
                                             const MapOptions& options) {
  const std::int64_t count = mapped_size(inputs, options);
  const Entry& entry = find(inputs, options);
  check_shape(outputs, inputs, options, count);
  check_where(inputs, options);
  check_outputs(outputs, inputs, entry.stored(options), count, options);
  return run(entry, outputs, inputs, count, options);
}

namespace {

/// How many values an element of this shape has; there are so many in all.
std::uint32_t checked_row(const char* what, const types::Shape& shape, std::int64_t values) {
  const std::int64_t row = shape.count();
  if (row > 0 && row <= ir::kMostPositions && values % row == 0) {
    return static_cast<std::uint32_t>(row);
  }
  throw UsageError(
      fmt::format("{}: elements do not fit; got {} values in elements of the shape {}, expected "
                  "sizes of at least 1 and a whole number of elements.",
                  what, values, types::to_string(shape)));
}

}  // namespace

Input Input::in_rows(std::uint32_t length) const { return in_shape({length}); }

Input Input::in_shape(const types::Shape& sizes) const {
  Input rows = *this;
  rows.row = checked_row("Input", sizes, size);
  rows.size = size / rows.row;
  rows.stride = rows.item().bytes();
  if (sizes.rank() > 1) rows.shape = sizes;
  return rows;
}

Input Input::as_table() const {
  Input table = *this;
  table.kind = ir::ParamKind::Table;
  if (row == 0) return table;
  table.size = size * row;
  table.stride = static_cast<std::int64_t>(types::size_of(type));
  table.row = 0;
  table.shape = {};
  return table;
}

Input shared(const Input& values, const types::Shape& sizes) {
  Input table = values.as_table();
  if (checked_row("shared", sizes, table.size) != table.size) {
    throw UsageError(
        fmt::format("shared: another number of values; got {} and the shape {}, expected as many "
                    "as the shape has.",
                    table.size, types::to_string(sizes)));
  }
  table.shape = sizes;
  return table;
}

Input shared(const Input& values) {
  return shared(values, {static_cast<std::uint32_t>(values.as_table().size)});
}

Output Output::in_rows(std::uint32_t length) const {
  Output rows = *this;
  rows.row = checked_row("Output", {length}, size);
  rows.size = size / length;
  rows.stride = rows.item().bytes();
  return rows;
}

const std::vector<types::Item>& ElementFunction::Ready::results() const {
  return entry_->program->function().results;
}

bool ElementFunction::Ready::is_inner() const { return entry_->program->is_inner(); }

ElementFunction::Ready ElementFunction::prepare(std::span<const Input> inputs,
                                                const MapOptions& options) {
  return Ready(find(inputs, options));
}

bool ElementFunction::call_at_once(Ready ready, std::span<const Output> outputs,
                                   std::span<const Input> inputs, std::int64_t count,
                                   const MapOptions& options, double nanoseconds) {
  if (options.compile == Compile::Never || options.memory != 0) return false;
  const Entry& entry = *ready.entry_;
  Pointers pointers;
  pointers.add(outputs, inputs);
  if (!runtime::execute_at_once(*entry.program, pointers.buffers(count), options.first_element,
                                nanoseconds)) {
    return false;
  }
  entry.remember(
      {.workers = 1, .chunk = count, .tier1_elements = count, .code = runtime::CodeSource::Memory});
  return true;
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
  auto [traced, uses, shapes] = tracer_(inputs);
  base::dump("trace", [&] { return ir::print(traced); });
  const transform::Options passes = passes_of(options);
  if (traced.results.empty() || traced.results.size() > kMostOutputs) {
    throw UsageError(fmt::format("map: the function returns {} values; expected 1 to {}.",
                                 traced.results.size(), kMostOutputs));
  }
  const std::string content =
      plan::to_string(options_.schedule) +
      std::to_string(options.max_steps > 0 ? static_cast<int>(*passes.step_counter) : -1) +
      (passes.contract ? "fast" : "strict") + (passes.high_accuracy ? " high" : "") +
      ir::fingerprint(traced);
  auto* entry = new Entry;
  entry->key = key;
  try {
    entry->program = runtime::cached_program(content, [&] {
      return std::make_shared<runtime::Program>(transform::run(traced, passes), options_.schedule,
                                                api::cpu_backend());
    });
  } catch (...) {
    delete entry;
    throw;
  }
  entry->traced = std::move(traced);
  entry->uses = std::move(uses);
  entry->shapes = std::move(shapes);
  entry->next = entries_.load();
  entries_.store(entry, std::memory_order_release);
  return *entry;
}

namespace {

api::Layout layout_of(std::span<const Output> outputs, std::span<const Input> inputs,
                      std::int64_t count, const MapOptions& options) {
  std::vector<api::Placed> arrays;
  for (const Input& input : inputs) {
    if (input.is_mapped()) arrays.push_back(placed(input));
  }
  for (const Output& output : outputs) arrays.push_back(placed(output));
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

}  // namespace

runtime::RunStats ElementFunction::run(const Entry& entry, std::span<const Output> outputs,
                                       std::span<const Input> inputs, std::int64_t count,
                                       const MapOptions& options) {
  Pointers pointers;
  pointers.add(outputs, inputs);
  const auto is_apart = [](const auto& array) { return array.stride != array.item().bytes(); };
  const bool is_strided =
      !options.shape.empty() || std::any_of(outputs.begin(), outputs.end(), is_apart) ||
      std::any_of(inputs.begin(), inputs.end(),
                  [&](const Input& input) { return input.is_mapped() && is_apart(input); });
  api::Layout layout;
  if (is_strided) layout = layout_of(outputs, inputs, count, options);
  runtime::Buffers buffers = pointers.buffers(count);
  std::optional<api::Accumulating> accumulating;
  if (!entry.uses.empty()) accumulating.emplace(entry.uses);
  buffers.folds = accumulating ? accumulating->folds() : options.folds;
  buffers.strides = layout.strides;
  buffers.shape = layout.shape;
  if (options.where >= 0) {  // its number among the mapped ones
    buffers.where = static_cast<int>(std::count_if(inputs.begin(), inputs.begin() + options.where,
                                                   [](const Input& i) { return i.is_mapped(); }));
  }
  const runtime::RunStats stats =
      runtime::execute(*entry.program, buffers,
                       {.threads = options.threads,
                        .max_steps = options.max_steps,
                        .chunk = options.chunk,
                        .memory = options.memory,
                        .compile = options.compile,
                        .seed = options.seed,
                        .first_element = options.first_element,
                        .cancel = options.cancel ? &*options.cancel : nullptr,
                        .interrupt = options.interrupt ? &options.interrupt : nullptr,
                        .timeout = options.timeout,
                        .progress = options.progress ? &options.progress : nullptr});
  if (accumulating) accumulating->take();
  entry.remember(stats);
  return stats;
}

std::vector<types::Item> ElementFunction::results(std::span<const Input> inputs,
                                                  const MapOptions& options) {
  return find(inputs, options).program->function().results;
}

std::string ElementFunction::lower(std::span<const Input> inputs, const MapOptions& options) {
  return ir::print(find(inputs, options).program->function(), {.locations = true});
}

runtime::Program::Report ElementFunction::compile(std::span<const Input> inputs,
                                                  const MapOptions& options) {
  runtime::Program& program = *find(inputs, options).program;
  const runtime::Program::Use use(program);  // keeps the code until it is reported
  program.compile({});
  return program.report();
}

Explanation ElementFunction::explain(std::span<const Input> inputs, const MapOptions& options) {
  const Entry& entry = find(inputs, options);
  const runtime::Program& program = *entry.program;
  const ir::Function& function = program.function();
  const runtime::Program::Report report = program.report();
  Explanation e{.name = options_.name,
                .math = options.math,
                .program = ir::print(transform::prepare(entry.traced, passes_of(options))),
                .scratch_bytes = static_cast<std::int64_t>(program.interpreter().scratch_bytes()),
                .compiled = report.compiled,
                .schedule = report.choice.schedule,
                .reason = report.choice.reason,
                .source = report.source,
                .times = report.times,
                .code_bytes = static_cast<std::int64_t>(report.code_bytes),
                .error = report.error};
  ir::for_each(function, [&](ir::ValueId id, int) {
    e.instructions += ops::is_elementwise(function[id].op);
  });
  for (const ir::Param& param : function.params) {
    if (param.is_mapped()) e.bytes_in += param.item().bytes();
  }
  for (const types::Item& item : function.results) e.bytes_out += item.bytes();
  if (entry.workers.load() > 0) {
    e.last_run = runtime::RunStats{.workers = entry.workers.load(),
                                   .chunk = entry.chunk.load(),
                                   .tier0_elements = entry.tier0_elements.load(),
                                   .tier1_elements = entry.tier1_elements.load(),
                                   .code = entry.code.load(),
                                   .scratch_bytes = entry.scratch_bytes.load(),
                                   .load_ms = entry.load_ms.load()};
  }
  return e;
}

}  // namespace lw

// lanewise as a competitor: formulas as element functions, programs from programs.cpp, and figures
// about lanewise alone.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <type_traits>

#include "../formulas.h"
#include "../harness.h"
#include "competitor.h"
#include "function.h"
#include "lanewise/runtime/compile_queue.h"

namespace lw::bench {
namespace {

/// The formula as a function of elements of type V, its result times `factor` if that is not 1.
template <class Formula, class V>
Function formula_function(const std::string& name, const plan::Wish& wish, double factor) {
  const auto scaled = [factor](V y) { return factor == 1 ? y : y * V(factor); };
  if constexpr (!formulas::kAvailable<Formula, V>) {
    return nullptr;
  } else if constexpr (Formula::kInputs == 1) {
    return make_function([scaled](V x) { return scaled(Formula{}(x)); }, name, wish);
  } else if constexpr (Formula::kInputs == 2) {
    return make_function([scaled](V x, V y) { return scaled(Formula{}(x, y)); }, name, wish);
  } else {
    return make_function([scaled](V x, V y, V z) { return scaled(Formula{}(x, y, z)); }, name,
                         wish);
  }
}

plan::Wish only(plan::Isa isa) {
  plan::Wish wish;
  wish.isa = isa;
  return wish;
}

/// Null for a workload that has no formula.
Function formula_of(const std::string& workload, DType type, plan::Isa isa, double factor = 1) {
  Function found;
  formulas::with_formula(workload, [&]<class Formula>(Formula) {
    found = type == DType::F32 ? formula_function<Formula, f32>(workload, only(isa), factor)
                               : formula_function<Formula, f64>(workload, only(isa), factor);
  });
  return found;
}

std::vector<Input> inputs_of(const Case& c) {
  std::vector<Input> inputs;
  for (const Array& a : c.inputs) inputs.emplace_back(a.type, a.data(), a.size);
  for (const Array& a : c.tables) inputs.push_back(Input(a.type, a.data(), a.size).as_table());
  return inputs;
}

/// A new function each time: recorded and run by tier 0, while machine code is made beside it.
MaybeCompetitor first_call(const Case& c) {
  Competitor competitor;
  competitor.once = true;
  competitor.settle = runtime::wait_for_compiles;
  auto factor = std::make_shared<double>(1);
  competitor.run = [c, factor] {
    const Function f = formula_of("wave", c.type, c.isa, *factor);
    *factor += 0x1p-10;
    const Output out(c.output.type, c.output.data(), c.size);
    MapOptions options;
    options.threads = c.threads;
    f->call_into({&out, 1}, inputs_of(c), options);
  };
  competitor.output = [c] { return c.output.data(); };
  return competitor;
}

std::int64_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

/// Inputs of one element, which is 1, for any workload.
class Ones {
 public:
  explicit Ones(const std::string& workload) : inputs_(3, Input(DType::F32, &one_, 1)) {
    formulas::with_formula(workload, [&](auto formula) { count_ = formula.kInputs; });
  }
  std::span<const Input> inputs() const { return {inputs_.data(), count_}; }

 private:
  static constexpr float one_ = 1;
  std::vector<Input> inputs_;
  std::size_t count_ = 0;
};

struct Peak {
  double resident = 0;  // bytes of the process beyond its arrays
  double compiler = 0;  // of the compiler, as it is accounted
};

/// During the first call of a new function, its compile and a second call.
Peak peak_memory(std::int64_t size, plan::Isa isa) {
  // What a process has after its first compile is not of this map.
  formula_of("square", DType::F32, isa)->compile(Ones("square").inputs(), {});
  const Function wave = formula_of("wave", DType::F32, isa, 1.5);
  const Array x(DType::F32, size);
  const Array y(DType::F32, size);
  std::fill_n(static_cast<float*>(x.data()), size, 1.0f);
  std::fill_n(static_cast<float*>(y.data()), size, 0.0f);
  reset_memory_peaks();
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts from here
  const std::int64_t before = status_bytes("VmRSS");
  const Input in(DType::F32, x.data(), size);
  const Output out(DType::F32, y.data(), size);
  wave->call_into({&out, 1}, {&in, 1}, {});
  runtime::wait_for_compiles();
  wave->call_into({&out, 1}, {&in, 1}, {});
  return {static_cast<double>(std::max(status_bytes("VmHWM") - before, std::int64_t{0})),
          static_cast<double>(memory_info().compiler.peak)};
}

/// What the pool keeps when a result of `size` floats has been dropped.
double pool_memory(std::int64_t size, plan::Isa isa) {
  const Function wave = formula_of("wave", DType::F32, isa);
  const Array x(DType::F32, size);
  std::fill_n(static_cast<float*>(x.data()), size, 1.0f);
  const Input in(DType::F32, x.data(), size);
  for (int i = 0; i < 3; ++i) {
    Tensor result;
    wave->call({&result, 1}, {&in, 1}, {});
  }
  return static_cast<double>(memory_info().pool.peak);
}

/// Of compiles on the compile thread that find nothing made before, after maps too short to be in
/// its way. There is no disk cache here.
double compile_seconds(const std::string& workload, plan::Isa isa) {
  const Ones ones(workload);
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < 7; ++i) {
    clear_cache();
    const Function f = formula_of(workload, DType::F32, isa);
    Tensor result;
    f->call({&result, 1}, ones.inputs(), {});
    runtime::wait_for_compiles();
    least = std::min(least, f->compile(ones.inputs(), {}).times.total_ms() * 1e-3);
  }
  return least;
}

/// How long a call takes to find its code on disk, where another process left it; the first time in
/// this one, or the least of many later ones.
double disk_seconds(const std::string& workload, plan::Isa isa, bool is_first) {
  std::string directory = (std::filesystem::temp_directory_path() / "lanewise-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) fail("disk cache: no temporary directory");
  setenv("LANEWISE_CACHE_DIR", directory.c_str(), 1);
  setenv("LANEWISE_DISK_CACHE", "1", 1);
  const Ones ones(workload);
  const pid_t writer = fork();  // nothing of lanewise has run here yet
  if (writer == 0) {
    formula_of(workload, DType::F32, isa)->compile(ones.inputs(), {});
    _exit(0);
  }
  waitpid(writer, nullptr, 0);
  const auto hit = [&] {
    clear_cache();
    float result = 0;
    const Output out(DType::F32, &result, 1);
    const Function f = formula_of(workload, DType::F32, isa);
    const runtime::RunStats stats = f->call_into({&out, 1}, ones.inputs(), {});
    if (stats.code != runtime::CodeSource::Disk) fail("disk cache: code was not found");
    return stats.load_ms * 1e-3;
  };
  double seconds = hit();
  for (int i = 0; i < 30 && !is_first; ++i) seconds = std::min(seconds, hit());
  std::filesystem::remove_all(directory);
  return seconds;
}

/// Of the workload, under the schedule that the competitor's name asks for.
Function function_of(const std::string& name, const Case& c) {
  if (const Function formula = formula_of(c.workload, c.type, c.isa)) return formula;
  plan::Wish wish = only(c.isa);
  if (name == "lanewise, packets") wish.refill = false;
  if (name == "lanewise, refill") wish.refill = true;
  return program_function(c.workload, wish);
}

}  // namespace

MaybeCompetitor lanewise_competitor(const std::string& name, const Case& c) {
  if (c.workload == "first_call") return first_call(c);
  const Function f = function_of(name, c);
  if (f == nullptr) return Missing{"not written"};
  MapOptions options;
  options.threads = c.threads;
  options.count = c.size;
  options.seed = 42;  // of first_passage
  options.compile = name == "lanewise, tier 0" ? Compile::Never : Compile::Now;
  options.math = name == "lanewise, fast" ? Math::Fast : Math::Strict;
  const std::vector<Input> inputs = inputs_of(c);
  Competitor competitor;
  if (name == "lanewise, new output") {
    auto results = std::make_shared<std::vector<Tensor>>(1);
    competitor.run = [f, c, inputs, options, results] { f->call(*results, inputs, options); };
    competitor.output = [results] { return (*results)[0].data(); };
  } else {
    const Output out(c.output.type, c.output.data(), c.size);
    competitor.run = [f, c, inputs, options, out] { f->call_into({&out, 1}, inputs, options); };
    competitor.output = [c] { return c.output.data(); };
  }
  return competitor;
}

double lanewise_figure(const std::string& what, const std::string& argument, plan::Isa isa) {
  if (what == "compile") return compile_seconds(argument, isa);
  if (what == "memory") return peak_memory(std::stoll(argument), isa).resident;
  if (what == "compiler_memory") return peak_memory(std::stoll(argument), isa).compiler;
  if (what == "pool_memory") return pool_memory(std::stoll(argument), isa);
  if (what == "disk_hit") return disk_seconds(argument, isa, false);
  if (what == "disk_hit_first") return disk_seconds(argument, isa, true);
  fail("no figure " + what);
}

}  // namespace lw::bench

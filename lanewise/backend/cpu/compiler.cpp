#include "lanewise/backend/cpu/compiler.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

#include "lanewise/backend/cpu/announce.h"
#include "lanewise/backend/cpu/code_version.h"
#include "lanewise/backend/cpu/emit.h"
#include "lanewise/backend/cpu/enter.h"
#include "lanewise/base/check.h"
#include "lanewise/base/environment.h"
#include "lanewise/base/float_state.h"
#include "lanewise/base/fork.h"
#include "lanewise/runtime/memory.h"

// From glibc 2.33 on, in sys/platform/x86.h, which is not C++.
extern "C" {
struct CpuidLeaf {
  unsigned present[4];  // eax, ebx, ecx, edx
  unsigned active[4];   // of these, the features that can be used
};
const CpuidLeaf* __x86_get_cpuid_feature_leaf(unsigned leaf) __attribute__((weak));
}

namespace lw::backend::cpu {
namespace {

constexpr const char* kEntry = "kernel";  // the symbol of every object's function

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <class T>
T unwrap(llvm::Expected<T> value, const char* what) {
  if (value) return std::move(*value);
  throw InternalError(fmt::format("compile: {}: {}", what, llvm::toString(value.takeError())));
}

void unwrap(llvm::Error error, const char* what) {
  if (!error) return;
  throw InternalError(fmt::format("compile: {}: {}", what, llvm::toString(std::move(error))));
}

void register_target() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    // It takes constants into registers that loop bodies need.
    const char* const options[] = {"lanewise", "-disable-machine-licm"};
    llvm::cl::ParseCommandLineOptions(2, options);
  });
}

std::unique_ptr<llvm::TargetMachine> make_target(plan::Isa isa) {
  register_target();
  std::string error;
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget("x86_64-unknown-linux-gnu", error);
  LW_CHECK(target != nullptr);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      "x86_64-unknown-linux-gnu", plan::name_of(isa), "", options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, true));
}

/// A short list: fusing, hoisting and vectorising are done already. No instcombine: it rewrites
/// the masked additions into slower code.
void run_passes(llvm::Module& module, llvm::TargetMachine& target) {
  llvm::PassBuilder builder(&target);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstSimplifyPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  for (llvm::Function& f : module) {
    if (!f.isDeclaration()) passes.run(f, functions);
  }
}

/// Counts what a compile has allocated when it is asked; other threads blur it.
class Meter {
 public:
  ~Meter() { runtime::count_memory(runtime::Purpose::Compiler, -counted_); }
  void look() {
    const std::int64_t grown = std::max<std::int64_t>(allocated() - start_, 0);
    runtime::count_memory(runtime::Purpose::Compiler, grown - counted_);
    counted_ = grown;
  }

 private:
  /// Without large blocks, which are arrays of others.
  static std::int64_t allocated() { return static_cast<std::int64_t>(mallinfo2().uordblks); }

  std::int64_t start_ = allocated();
  std::int64_t counted_ = 0;
};

struct Job {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> target;
};

void build(Job& job, const kernel::Kernel& kernel, const plan::Schedule& schedule,
           runtime::CompileTimes& times) {
  const double start = now_ms();
  job.target = make_target(schedule.isa);
  job.module = std::make_unique<llvm::Module>(kEntry, job.context);
  job.module->setSourceFileName(kernel.name);  // the object says it, see announce.h
  job.module->setTargetTriple("x86_64-unknown-linux-gnu");
  job.module->setDataLayout(job.target->createDataLayout());
  emit(*job.module, kEntry, kernel, schedule);
  std::string problems;
  llvm::raw_string_ostream out(problems);
  if (llvm::verifyModule(*job.module, &out)) {
    throw InternalError("compile: the generated code is invalid: " + problems);
  }
  const double emitted = now_ms();
  run_passes(*job.module, *job.target);
  times.emit_ms = emitted - start;
  times.passes_ms = now_ms() - emitted;
}

llvm::SmallVector<char, 0> generate(Job& job, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager codegen;
  if (job.target->addPassesToEmitFile(codegen, out, nullptr, type)) {
    throw InternalError("compile: LLVM cannot write this kind of file.");
  }
  codegen.run(*job.module);
  return bytes;
}

/// The process's JIT; made on first use and never destroyed, as code may run until the very end.
llvm::orc::LLJIT& jit() {
  static llvm::orc::LLJIT* instance = [] {
    register_target();
    auto made = unwrap(llvm::orc::LLJITBuilder()
                           .setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(
                               llvm::Triple("x86_64-unknown-linux-gnu")))
                           .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                           .create(),
                       "starting the JIT");
    // The caller hears of errors by what it gets back.
    made->getExecutionSession().setErrorReporter(
        [](llvm::Error error) { llvm::consumeError(std::move(error)); });
    // What LLVM may call: fma without an fma unit, and moving memory.
    llvm::orc::SymbolMap symbols;
    const auto add = [&](const char* name, auto* function) {
      symbols[made->mangleAndIntern(name)] = {
          llvm::orc::ExecutorAddr::fromPtr(function),
          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    };
    add("fma", static_cast<double (*)(double, double, double)>(std::fma));
    add("fmaf", static_cast<float (*)(float, float, float)>(std::fma));
    add("lanewise_enter_poll", &lanewise_enter_poll);
    add("lanewise_enter_fail", &lanewise_enter_fail);
    add("lanewise_angle_rest", &lanewise_angle_rest);
    add("lanewise_angle_lost", &lanewise_angle_lost);
    add("lanewise_angle_quadrant", &lanewise_angle_quadrant);
    add("memcpy", &std::memcpy);
    add("memset", &std::memset);
    add("memmove", &std::memmove);
    unwrap(made->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))),
           "defining symbols");
    return made.release();
  }();
  return *instance;
}

/// Each object has a library of its own, so that all may call their entry the same.
class LinkedCode : public runtime::Code {
 public:
  explicit LinkedCode(const std::string& object) : bytes_(object.size()) {
    static std::atomic<std::uint64_t> number{0};
    auto& session = jit().getExecutionSession();
    library_ = &session.createBareJITDylib(fmt::format("kernel {}", number++));
    try {
      library_->addToLinkOrder(jit().getMainJITDylib());
      unwrap(jit().addObjectFile(*library_,
                                 llvm::MemoryBuffer::getMemBufferCopy(object, library_->getName())),
             "linking");
      const llvm::orc::ExecutorAddr entry = unwrap(jit().lookup(*library_, kEntry), "linking");
      announcement_ = Announcement::make(object, kEntry, entry.getValue());
      run_ = entry.toPtr<runtime::Run>();
    } catch (...) {
      remove();
      throw;
    }
  }
  ~LinkedCode() override {
    const base::NoFork guard;
    announcement_.reset();
    remove();
  }
  LinkedCode(const LinkedCode&) = delete;
  LinkedCode& operator=(const LinkedCode&) = delete;
  runtime::Run run() const override { return run_; }
  std::size_t bytes() const override { return bytes_; }

 private:
  void remove() { llvm::consumeError(jit().getExecutionSession().removeJITDylib(*library_)); }

  llvm::orc::JITDylib* library_ = nullptr;
  runtime::Run run_ = nullptr;
  std::size_t bytes_;
  std::unique_ptr<Announcement> announcement_;
};

/// Model and features of the processor. glibc asked for them when the process started; under a
/// hypervisor each question costs some 10 us, and LLVM has twenty, which a first call would feel.
std::string processor() {
  if (__x86_get_cpuid_feature_leaf != nullptr) {
    std::string text = fmt::format("{:x}", __x86_get_cpuid_feature_leaf(0)->present[0]);
    for (unsigned leaf = 0; leaf < 9; ++leaf) {
      const auto& words = __x86_get_cpuid_feature_leaf(leaf)->active;
      text += fmt::format(" {:x}", fmt::join(std::begin(words), std::end(words), " "));
    }
    return text;
  }
  std::vector<std::string> features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    if (feature.second) features.push_back(feature.first().str());
  }
  std::sort(features.begin(), features.end());
  return fmt::format("{} {}", llvm::sys::getHostCPUName().str(), fmt::join(features, " "));
}

}  // namespace

runtime::ObjectCode compile_object(const kernel::Kernel& kernel, const plan::Schedule& schedule) {
  if (schedule.isa > plan::host_isa()) {
    throw UsageError(fmt::format("compile: code this machine cannot run; got {}, expected {}.",
                                 plan::name_of(schedule.isa), plan::name_of(plan::host_isa())));
  }
  const base::FloatState state;  // LLVM folds roots of constants with this machine's own
  runtime::ObjectCode code;
  Meter meter;
  Job job;
  build(job, kernel, schedule, code.times);
  meter.look();
  base::dump("code", [&] { return plan::to_string(schedule) + "\n" + assembly(kernel, schedule); });
  const double start = now_ms();
  const auto object = generate(job, llvm::CodeGenFileType::ObjectFile);
  code.bytes.assign(object.begin(), object.end());
  code.times.code_ms = now_ms() - start;
  meter.look();
  return code;
}

std::unique_ptr<runtime::Code> link(const std::string& object) {
  return std::make_unique<LinkedCode>(object);
}

std::unique_ptr<runtime::Code> compile(const kernel::Kernel& kernel,
                                       const plan::Schedule& schedule) {
  return link(compile_object(kernel, schedule).bytes);
}

const std::string& target() {
  static const std::string text =
      fmt::format("lanewise {}\nLLVM {}\n{}\n{}\n", kCodeVersion, LLVM_VERSION_STRING,
                  plan::name_of(plan::host_isa()), processor());
  return text;
}

std::string llvm_ir(const kernel::Kernel& kernel, const plan::Schedule& schedule) {
  runtime::CompileTimes times;
  Job job;
  build(job, kernel, schedule, times);
  std::string text;
  llvm::raw_string_ostream out(text);
  job.module->print(out, nullptr);
  return text;
}

std::string assembly(const kernel::Kernel& kernel, const plan::Schedule& schedule) {
  runtime::CompileTimes times;
  Job job;
  build(job, kernel, schedule, times);
  const auto bytes = generate(job, llvm::CodeGenFileType::AssemblyFile);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace lw::backend::cpu

// Machine code generation, second half: passes, object code, linking into the process.
// The only header of this folder that others include; it shows no LLVM type.
#pragma once

#include <string>

#include "lanewise/runtime/backend.h"

namespace lw::backend::cpu {

/// Compiles a kernel; may be called from any thread. Throws InternalError if LLVM refuses. The
/// object holds no address of this process: what it calls are symbols.
runtime::ObjectCode compile_object(const kernel::Kernel& kernel, const plan::Schedule& schedule);

/// Puts an object of `compile_object`'s into this process; its pages are freed with the result.
std::unique_ptr<runtime::Code> link(const std::string& object);

/// Both at once.
std::unique_ptr<runtime::Code> compile(const kernel::Kernel& kernel,
                                       const plan::Schedule& schedule);

/// All that objects depend on besides kernel and schedule: the version of this library's sources,
/// LLVM's, and the processor with its features.
const std::string& target();

/// The LLVM IR after the passes, and the assembly, for people and tests; any level, also above
/// what this machine runs.
std::string llvm_ir(const kernel::Kernel& kernel, const plan::Schedule& schedule);
std::string assembly(const kernel::Kernel& kernel, const plan::Schedule& schedule);

}  // namespace lw::backend::cpu

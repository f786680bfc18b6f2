// Machine code generation, second half: passes, object code, linking into the process.
// The only header of this folder that others include; it shows no LLVM type.
#pragma once

#include <string>

#include "lanewise/runtime/backend.h"

namespace lw::backend::cpu {

/// Compiles a kernel; may be called from any thread. Throws InternalError if LLVM refuses.
std::unique_ptr<runtime::Code> compile(const kernel::Kernel& kernel,
                                       const plan::Schedule& schedule);

/// The LLVM IR after the passes, and the assembly, for people and tests; any level, also above
/// what this machine runs.
std::string llvm_ir(const kernel::Kernel& kernel, const plan::Schedule& schedule);
std::string assembly(const kernel::Kernel& kernel, const plan::Schedule& schedule);

}  // namespace lw::backend::cpu

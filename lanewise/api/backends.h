// The one table of backends.
#pragma once

#include "lanewise/runtime/backend.h"

namespace lw::api {

/// This machine's CPU: the tile machine and LLVM machine code.
runtime::Backend cpu_backend();

}  // namespace lw::api

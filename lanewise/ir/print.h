// Element programs as text; ir/parse.h reads it back to an equal program.
#pragma once

#include <string>

#include "lanewise/ir/function.h"

namespace lw::ir {

struct PrintOptions {
  bool locations = false;  // append "# file:line" where known
};

/// Values are numbered in order of appearance, so equal programs give equal text.
std::string print(const Function& function, PrintOptions options = {});

/// Bytes that are equal exactly for equal programs. With source lines they are good for this
/// process only, without them also for others that run the same version of this library.
std::string fingerprint(const Function& function, PrintOptions options = {.locations = true});

}  // namespace lw::ir

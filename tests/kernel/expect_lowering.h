// From an element program to lane form, text in, text out.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "lanewise/ir/parse.h"
#include "lanewise/kernel/lower.h"

namespace lw::kernel {

inline void expect_lowering(const char* program, std::string_view expected,
                            LowerOptions options = {}) {
  const Kernel kernel = lower(ir::parse(program), options);
  EXPECT_NO_THROW(verify(kernel));
  if (expected.starts_with('\n')) expected.remove_prefix(1);
  EXPECT_EQ(print(kernel), expected);
}

}  // namespace lw::kernel

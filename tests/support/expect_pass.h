// Tests of passes: text in, text out.
#pragma once

#include <gtest/gtest.h>

#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
#include "lanewise/ir/verify.h"

namespace lw::test {

/// Expects that `pass` turns one program into the other. Texts may begin with an empty line.
template <class Pass>
void expect_pass(const Pass& pass, std::string_view before, std::string_view after) {
  const ir::Function result = pass(ir::parse(before));
  EXPECT_NO_THROW(ir::verify(result));
  if (after.starts_with('\n')) after.remove_prefix(1);
  EXPECT_EQ(ir::print(result), after);
}

}  // namespace lw::test

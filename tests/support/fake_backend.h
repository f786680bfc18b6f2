// A backend without a compiler: tier 0 is the tile machine, and machine code is a function of the
// test's.
#pragma once

#include "lanewise/backend/tile/machine.h"
#include "lanewise/runtime/program.h"

namespace lw::test {

/// Code whose objects are counted while they live.
class FakeCode : public runtime::Code {
 public:
  explicit FakeCode(runtime::Run code) : run_(code) { ++alive(); }
  ~FakeCode() override { --alive(); }
  FakeCode(const FakeCode&) = delete;
  FakeCode& operator=(const FakeCode&) = delete;
  runtime::Run run() const override { return run_; }
  std::size_t bytes() const override { return 1; }

  static std::atomic<int>& alive() {
    static std::atomic<int> count = 0;
    return count;
  }

 private:
  runtime::Run run_;
};

inline runtime::ObjectCode compile_nothing(const kernel::Kernel&, const plan::Schedule&) {
  return {};
}

inline std::unique_ptr<runtime::Interpreter> make_tile_machine(const kernel::Kernel& kernel) {
  return std::make_unique<backend::tile::Machine>(kernel);
}

}  // namespace lw::test

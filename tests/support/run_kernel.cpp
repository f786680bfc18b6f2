#include "tests/support/run_kernel.h"

#include "lanewise/base/check.h"

namespace lw::test {

Worker::Worker(Arrays arrays) : arrays_(std::move(arrays)) {
  inputs = arrays_.inputs.data();
  outputs = arrays_.outputs.data();
  shared = arrays_.shared.data();
  poll = [](Context* context) {
    ++static_cast<Worker*>(context)->polls;
    return 0;
  };
  fail = [](Context* context, std::uint32_t, std::uint64_t mask, const std::int32_t* ids,
            std::int64_t first) {
    for (int lane = 0; lane < 64; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      static_cast<Worker*>(context)->failing.push_back(first + ids[lane]);
    }
  };
}

std::vector<std::int64_t> run_tile(const kernel::Kernel& kernel, const Arrays& arrays,
                                   std::int64_t count) {
  Worker worker(arrays);
  const auto outcome = backend::tile::Machine(kernel).run(&worker, 0, count, {});
  LW_CHECK(outcome.status == runtime::Status::Done && outcome.done == count);
  return worker.failing;
}

std::vector<std::int64_t> run_code(const runtime::Code& code, const Arrays& arrays,
                                   std::int64_t count) {
  Worker worker(arrays);
  LW_CHECK(code.run()(&worker, 0, count) == runtime::Status::Done);
  return worker.failing;
}

std::vector<plan::Isa> fast_isas() {
  std::vector<plan::Isa> isas;
  for (const plan::Isa isa : {plan::Isa::V3, plan::Isa::V4}) {
    if (isa <= plan::host_isa()) isas.push_back(isa);
  }
  return isas;
}

}  // namespace lw::test

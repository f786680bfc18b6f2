#include "tests/support/as_evaluated.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lanewise/api/function.h"
#include "lanewise/ir/evaluate.h"
#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/transform/passes.h"

namespace lw::test {
namespace {

/// Numbers of all kinds: small whole ones often, so that values are equal, zeros of both signs and,
/// if asked for, infinities and NaNs.
class Numbers {
 public:
  explicit Numbers(bool wild) : wild_(wild) {}
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const auto r = static_cast<std::uint32_t>(state_ >> 33);
    switch (r % 16) {
      case 0:
        return 0.0;
      case 1:
        return -0.0;
      case 2:
        return wild_ ? std::numeric_limits<double>::infinity() : 1.0;
      case 3:
        return wild_ && r % 5 == 0 ? std::numeric_limits<double>::quiet_NaN() : -1.0;
      case 4:
      case 5:
        return static_cast<double>(r / 16 % 7) - 3;
      default:
        return static_cast<double>(r) / (1u << 29) - 2;
    }
  }

 private:
  std::uint64_t state_ = 7;
  bool wild_;
};

struct Memory {
  types::Item item;
  bool is_table;
  std::vector<std::byte> bytes;
};

/// Tables have the sizes that are given, one after the other.
std::vector<Memory> random_inputs(const ir::Function& f, std::int64_t count, bool wild,
                                  std::span<const std::int64_t> table_sizes) {
  Numbers numbers(wild);
  std::vector<Memory> inputs;
  for (const ir::Param& p : f.params) {
    std::int64_t elements = count;
    if (p.is_table()) {
      elements = table_sizes.front();
      table_sizes = table_sizes.subspan(1);
    }
    Memory m{p.item(), p.is_table(),
             std::vector<std::byte>(static_cast<std::size_t>(p.item().bytes() * elements))};
    const auto size = types::size_of(p.type);
    for (std::size_t at = 0; at < m.bytes.size(); at += size) {
      const double number = numbers.next();
      const double tame = types::is_float(p.type) || std::isfinite(number) ? number : 3;
      types::scalar_of(p.type, types::is_float(p.type) ? tame : std::abs(std::floor(tame * 50)))
          .store(&m.bytes[at]);
    }
    inputs.push_back(std::move(m));
  }
  return inputs;
}

/// What the evaluator gives, output by output, as bytes with canonical NaNs.
struct Expected {
  std::vector<std::vector<Scalar>> outputs;
  std::vector<std::pair<std::int64_t, ir::Failure>> failures;
};

Expected evaluated(const ir::Function& f, const std::vector<Memory>& inputs, std::int64_t count,
                   std::int64_t max_steps = 0) {
  Expected expected{std::vector<std::vector<Scalar>>(f.results.size()), {}};
  for (std::int64_t e = 0; e < count; ++e) {
    std::vector<Scalar> arguments;
    std::vector<types::Table> tables;
    for (const Memory& m : inputs) {
      const std::byte* at = m.bytes.data() + e * m.item.bytes();
      if (m.is_table) {
        tables.push_back({m.bytes.data(), std::ssize(m.bytes) / m.item.bytes()});
      } else if (m.item.is_row()) {
        tables.push_back({at, m.item.size});
      } else {
        arguments.push_back(Scalar::load(m.item.type, at));
      }
    }
    if (max_steps > 0) arguments.emplace_back(static_cast<std::int32_t>(max_steps));
    const auto got = ir::evaluate(f, arguments, {.tables = tables, .element = e});
    if (got.failure) expected.failures.emplace_back(e, *got.failure);
    std::size_t next = 0;
    for (std::size_t r = 0; r < f.results.size(); ++r) {
      const DType type = f.results[r].type;
      const std::uint32_t values = f.results[r].is_row() ? f.results[r].size : 1;
      for (std::uint32_t i = 0; i < values; ++i) {
        expected.outputs[r].push_back(
            got.failure ? types::scalar_of(type, types::is_float(type) ? std::nan("") : 0)
                        : got.results.at(next++));
      }
    }
  }
  return expected;
}

std::vector<Input> to_arguments(const std::vector<Memory>& inputs, std::int64_t count) {
  std::vector<Input> arguments;
  for (const Memory& m : inputs) {
    Input input(m.item.type, m.bytes.data(), count);
    if (m.is_table) {
      input.size = std::ssize(m.bytes) / m.item.bytes();
      arguments.push_back(input.as_table());
      continue;
    }
    input.row = m.item.size;
    input.stride = m.item.bytes();
    arguments.push_back(input);
  }
  return arguments;
}

std::string describe(const plan::Wish& wish, const MapOptions& options) {
  return fmt::format("compile {}, {} threads, chunk {}, {}", static_cast<int>(options.compile),
                     options.threads, options.chunk, plan::to_string(wish));
}

void expect_results(const ir::Function& traced, const std::vector<Tensor>& results,
                    const Expected& expected, const std::string& how) {
  for (std::size_t r = 0; r < results.size(); ++r) {
    const DType type = traced.results[r].type;
    const auto* data = static_cast<const std::byte*>(results[r].data());
    ASSERT_EQ(results[r].size(), std::ssize(expected.outputs[r]));
    for (std::size_t i = 0; i < expected.outputs[r].size(); ++i) {
      const Scalar got = Scalar::load(type, data + i * types::size_of(type));
      ASSERT_EQ(got, expected.outputs[r][i])
          << ir::print(traced) << "result " << r << ", value " << i << ", " << how << ": "
          << types::to_string(got) << ", " << types::to_string(expected.outputs[r][i]);
    }
  }
}

void expect_failures(const Failures& got, const Expected& expected, const std::string& how) {
  ASSERT_EQ(got.count, std::ssize(expected.failures)) << how;
  ASSERT_EQ(got.first.size(), expected.failures.size()) << how;
  for (std::size_t i = 0; i < got.first.size(); ++i) {
    ASSERT_EQ(got.first[i].element, expected.failures[i].first) << how;
    ASSERT_EQ(got.first[i].why, expected.failures[i].second) << how << got.first[i].message;
  }
}

}  // namespace

void expect_as_evaluated(const ir::Function& traced, std::int64_t count, bool wild,
                         std::span<const std::int64_t> table_sizes) {
  const std::string text = ir::print(traced);
  EXPECT_EQ(ir::print(ir::parse(text)), text);
  const std::vector<Memory> inputs = random_inputs(traced, count, wild, table_sizes);
  const Expected expected = evaluated(transform::run(traced), inputs, count);
  EXPECT_TRUE(expected.failures.empty());
  const std::vector<Input> arguments = to_arguments(inputs, count);
  std::vector<plan::Wish> wishes;
  for (const plan::Isa isa : {plan::Isa::V2, plan::Isa::V3, plan::Isa::V4}) {
    if (isa > plan::host_isa()) continue;
    wishes.push_back({.inner = false, .isa = isa});
    wishes.push_back({.inner = true, .isa = isa});
  }
  const auto run = [&](const plan::Wish& wish, Compile compile) {
    ElementFunction function([&](std::span<const Input>) { return traced; },
                             {.name = "rows", .schedule = wish});
    std::vector<Tensor> results(traced.results.size());
    const MapOptions options{.threads = 2, .compile = compile};
    function.call(results, arguments, options);
    expect_results(traced, results, expected, describe(wish, options));
  };
  run({}, Compile::Never);
  for (const plan::Wish& wish : wishes) run(wish, Compile::Now);
}

std::int64_t expect_collected(const ir::Function& traced, std::int64_t count, bool wild,
                              std::span<const std::int64_t> table_sizes, std::int64_t max_steps) {
  const std::vector<Memory> inputs = random_inputs(traced, count, wild, table_sizes);
  transform::Options passes;
  if (max_steps > 0) passes.step_counter = DType::I32;
  const ir::Function program = transform::run(traced, passes);
  const Expected expected = evaluated(program, inputs, count, max_steps);
  const std::vector<Input> arguments = to_arguments(inputs, count);
  const auto run = [&](const plan::Wish& wish, Compile compile) {
    for (const auto& [threads, chunk] : {std::pair(1, 0), std::pair(3, 0), std::pair(2, 100)}) {
      ElementFunction function([&](std::span<const Input>) { return traced; },
                               {.name = "collected", .schedule = wish});
      std::vector<Tensor> results(traced.results.size());
      Failures failures;
      const MapOptions options{.threads = threads,
                               .max_steps = max_steps,
                               .compile = compile,
                               .chunk = chunk,
                               .on_error = OnError::Collect,
                               .failures = &failures,
                               .most_failures = count};
      function.call(results, arguments, options);
      const std::string how = describe(wish, options);
      expect_results(traced, results, expected, how);
      expect_failures(failures, expected, how);
    }
  };
  run({}, Compile::Never);
  run({}, Compile::Auto);
  run({}, Compile::Now);
  for (const plan::Isa isa : {plan::Isa::V2, plan::Isa::V3, plan::Isa::V4}) {
    if (isa > plan::host_isa()) continue;
    run({.refill = false, .inner = false, .batched = false, .isa = isa}, Compile::Now);
    if (kernel::is_refillable(program)) run({.refill = true, .isa = isa}, Compile::Now);
    if (transform::has_each(program)) run({.inner = true, .isa = isa}, Compile::Now);
  }
  return std::ssize(expected.failures);
}

}  // namespace lw::test

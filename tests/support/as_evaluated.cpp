#include "tests/support/as_evaluated.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lanewise/api/function.h"
#include "lanewise/ir/evaluate.h"
#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
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
std::vector<std::vector<Scalar>> evaluated(const ir::Function& f, const std::vector<Memory>& inputs,
                                           std::int64_t count) {
  std::vector<std::vector<Scalar>> outputs(f.results.size());
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
    const auto got = ir::evaluate(f, arguments, {.tables = tables, .element = e});
    EXPECT_FALSE(got.failure.has_value());
    std::size_t next = 0;
    for (std::size_t r = 0; r < f.results.size(); ++r) {
      const std::uint32_t values = f.results[r].is_row() ? f.results[r].size : 1;
      for (std::uint32_t i = 0; i < values; ++i) outputs[r].push_back(got.results.at(next++));
    }
  }
  return outputs;
}

}  // namespace

void expect_as_evaluated(const ir::Function& traced, std::int64_t count, bool wild,
                         std::span<const std::int64_t> table_sizes) {
  const std::string text = ir::print(traced);
  EXPECT_EQ(ir::print(ir::parse(text)), text);
  const std::vector<Memory> inputs = random_inputs(traced, count, wild, table_sizes);
  const auto expected = evaluated(transform::run(traced), inputs, count);
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
  struct Way {
    Compile compile;
    std::optional<plan::Isa> isa;
    std::optional<bool> inner;
  };
  std::vector<Way> ways = {{Compile::Never, {}, {}}};
  for (const plan::Isa isa : {plan::Isa::V2, plan::Isa::V3, plan::Isa::V4}) {
    if (isa > plan::host_isa()) continue;
    ways.push_back({Compile::Now, isa, false});
    ways.push_back({Compile::Now, isa, true});
  }
  for (const Way& way : ways) {
    ElementFunction function([&](std::span<const Input>) { return traced; },
                             {.name = "rows", .schedule = {.inner = way.inner, .isa = way.isa}});
    std::vector<Tensor> results(traced.results.size());
    function.call(results, arguments, {.threads = 2, .compile = way.compile});
    for (std::size_t r = 0; r < results.size(); ++r) {
      const DType type = traced.results[r].type;
      const auto* data = static_cast<const std::byte*>(results[r].data());
      ASSERT_EQ(results[r].size(), std::ssize(expected[r]));
      for (std::size_t i = 0; i < expected[r].size(); ++i) {
        const Scalar got = Scalar::load(type, data + i * types::size_of(type));
        ASSERT_EQ(got, expected[r][i]) << text << "result " << r << ", value " << i << ", compile "
                                       << static_cast<int>(way.compile) << ", isa "
                                       << (way.isa ? static_cast<int>(*way.isa) : -1) << ", inner "
                                       << way.inner.value_or(false) << ": " << types::to_string(got)
                                       << ", " << types::to_string(expected[r][i]);
      }
    }
  }
}

}  // namespace lw::test

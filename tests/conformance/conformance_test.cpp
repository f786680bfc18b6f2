// Every row on every type it accepts, over all pairs of edge values: the evaluator, the tile
// machine's loops of every instruction set, and machine code of every instruction set at 4, 8 and
// 16 lanes give the same bits. Generated from the rows: a new row is covered by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "lanewise/backend/tile/loops.h"
#include "lanewise/ir/builder.h"
#include "lanewise/ir/evaluate.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/transform/passes.h"
#include "tests/support/edge_values.h"
#include "tests/support/run_kernel.h"

namespace lw {
namespace {

using ops::Op;

struct Case {
  Op op;
  DType type;  // of the operands; select has a bool before them
  DType result;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const ops::Row& row : ops::rows()) {
    if (row.kind == ops::Kind::Structural) continue;
    for (const DType type : test::all_types()) {
      if (row.kind == ops::Kind::Expand && types::is_half(type)) continue;  // widened to f32
      std::vector<DType> operands(static_cast<std::size_t>(row.arity), type);
      if (row.op == Op::Select) operands[0] = DType::Bool;
      if (row.op == Op::Ldexp) operands[1] = DType::I32;
      for (const DType stated : test::all_types()) {
        const auto result = ops::result_type(row.op, operands, stated);
        if (result == stated || (result && row.gives != ops::Gives::Stated && stated == type)) {
          cases.push_back({row.op, type, *result});
        }
      }
    }
  }
  // A row that does not state its type gives the same for every wish.
  const auto key = [](const Case& c) { return std::tuple(c.op, c.type, c.result); };
  std::sort(cases.begin(), cases.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  cases.erase(std::unique(cases.begin(), cases.end(),
                          [&](const auto& a, const auto& b) { return key(a) == key(b); }),
              cases.end());
  return cases;
}

/// Values of one type in memory.
struct Column {
  Column(DType column_type, std::size_t count)
      : type(column_type), bytes(count * types::size_of(column_type), std::byte{0x5a}) {}
  void set(std::size_t i, const Scalar& value) { value.store(&bytes[i * types::size_of(type)]); }
  Scalar at(std::size_t i) const { return Scalar::load(type, &bytes[i * types::size_of(type)]); }
  DType type;
  std::vector<std::byte> bytes;
};

class Conformance : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto [op, type, result] = GetParam();
    const auto arity = static_cast<std::size_t>(ops::row(op).arity);
    for (std::size_t i = 0; i < arity; ++i) {
      operand_types_.push_back(op == Op::Select && i == 0  ? DType::Bool
                               : op == Op::Ldexp && i == 1 ? DType::I32
                                                           : type);
    }
    std::vector<std::vector<Scalar>> choices;
    for (const DType operand : operand_types_) {
      choices.push_back(test::edge_values(operand));
      if (arity > 2 && choices.back().size() > 14) choices.back().resize(14);
    }
    program_ = program(true);
    std::vector<Scalar> tuple;
    collect(choices, tuple);
    count_ = truth_.size();
    for (std::size_t p = 0; p < arity; ++p) {
      inputs_.emplace_back(operand_types_[p], count_);
      for (std::size_t i = 0; i < count_; ++i) inputs_[p].set(i, operands_[i][p]);
    }
  }

  /// All tuples of edge values on which the op does not fail, with what the evaluator gives.
  void collect(const std::vector<std::vector<Scalar>>& choices, std::vector<Scalar>& tuple) {
    const auto [op, type, result] = GetParam();
    if (tuple.size() == choices.size()) {
      const Scalar zero = types::scalar_of(type, 0);
      if (ops::can_fail(op, result) && tuple[1] == zero) return;
      operands_.push_back(tuple);
      truth_.push_back(is_native() ? ir::evaluate_op(op, result, tuple)
                                   : ir::evaluate(program_, tuple).results[0]);
      return;
    }
    for (const Scalar& value : choices[tuple.size()]) {
      tuple.push_back(value);
      collect(choices, tuple);
      tuple.pop_back();
    }
  }

  ir::Function program(bool mapped) const {
    const auto [op, type, result] = GetParam();
    ir::Builder build("f");
    std::vector<ir::ValueId> values;
    for (const DType operand : operand_types_)
      values.push_back(
          build.param("x", operand, mapped ? ir::ParamKind::Mapped : ir::ParamKind::Shared));
    build.ret(std::vector{build.op(op, values, result)});
    return transform::expand(build.take());
  }

  /// Runs over the first `count` elements; what is behind them must not be touched.
  template <class RunKernel>
  void expect_truth(std::size_t count, const RunKernel& run) {
    Column out(GetParam().result, count + 64);
    const Column before = out;
    test::Arrays arrays{.inputs = {}, .outputs = {out.bytes.data()}};
    for (const Column& input : inputs_) arrays.inputs.push_back(input.bytes.data());
    EXPECT_TRUE(run(arrays, static_cast<std::int64_t>(count)).empty());
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out.at(i), truth_[i]) << describe(i, out);
    const std::size_t used = count * types::size_of(out.type);
    EXPECT_TRUE(std::equal(out.bytes.begin() + static_cast<std::ptrdiff_t>(used), out.bytes.end(),
                           before.bytes.begin() + static_cast<std::ptrdiff_t>(used)))
        << "wrote behind " << count << " elements";
  }

  static bool is_native() { return ops::row(GetParam().op).kind == ops::Kind::Native; }
  static bool involves_halves() {
    return types::is_half(GetParam().type) || types::is_half(GetParam().result);
  }

  std::string describe(std::size_t i, const Column& out) const {
    std::string text = std::string(ops::row(GetParam().op).name) + "(";
    for (const Scalar& operand : operands_[i]) text += types::to_string(operand) + " ";
    return text + ") is " + types::to_string(truth_[i]) + ", got " + types::to_string(out.at(i)) +
           " at " + std::to_string(i);
  }

  std::vector<std::size_t> lengths(std::size_t lanes) const {
    std::vector<std::size_t> list;
    for (const std::size_t n : {std::size_t{1}, lanes - 1, lanes, lanes + 1, 3 * lanes + 2}) {
      list.push_back(std::min(n, count_));
    }
    list.push_back(count_);
    return list;
  }

  ir::Function program_;
  std::vector<DType> operand_types_;
  std::vector<std::vector<Scalar>> operands_;
  std::vector<Scalar> truth_;
  std::vector<Column> inputs_;
  std::size_t count_ = 0;
};

TEST_P(Conformance, TileMachineAgrees) {
  const kernel::Kernel kernel = kernel::lower(program(true));
  for (const std::size_t count : lengths(256)) {
    expect_truth(count, [&](const test::Arrays& arrays, std::int64_t n) {
      return test::run_tile(kernel, arrays, n);
    });
  }
}

class NativeConformance : public Conformance {};

TEST_P(NativeConformance, TileLoopsOfEveryInstructionSetAgree) {
  using backend::tile::LoopTable;
  const std::pair<plan::Isa, const LoopTable*> tables[] = {
      {plan::Isa::V2, &backend::tile::loops_v2()},
      {plan::Isa::V3, &backend::tile::loops_v3()},
      {plan::Isa::V4, &backend::tile::loops_v4()}};
  for (const auto& [isa, table] : tables) {
    if (isa > plan::host_isa()) continue;
    const auto loop = table->find(GetParam().op, GetParam().type, GetParam().result);
    if (loop == nullptr && involves_halves()) continue;  // widened before it comes to loops
    ASSERT_NE(loop, nullptr);
    for (const std::size_t count : lengths(16)) {
      expect_truth(count, [&](const test::Arrays& arrays, std::int64_t n) {
        const auto input = [&](std::size_t i) {
          return i < arrays.inputs.size() ? arrays.inputs[i] : nullptr;
        };
        loop(arrays.outputs[0], input(0), input(1), input(2), static_cast<int>(n));
        return std::vector<std::int64_t>();
      });
    }
  }
}

TEST_P(Conformance, MachineCodeAgrees) {
  const kernel::Kernel kernel = kernel::lower(program(true));
  for (const plan::Isa isa : {plan::Isa::V2, plan::Isa::V3, plan::Isa::V4}) {
    if (isa > plan::host_isa()) continue;
    for (const int lanes : {4, 8, 16}) {
      // Long expansions are compiled once per instruction set.
      const auto size = std::max<std::size_t>(4, types::size_of(GetParam().type));
      if (!is_native() && lanes != plan::register_bytes(isa) / static_cast<int>(size)) continue;
      SCOPED_TRACE(std::string(plan::name_of(isa)) + ", " + std::to_string(lanes) + " lanes");
      const auto code =
          backend::cpu::compile(kernel, {.isa = isa, .lanes = lanes, .interleave = 2});
      for (const std::size_t count : lengths(static_cast<std::size_t>(lanes))) {
        expect_truth(count, [&](const test::Arrays& arrays, std::int64_t n) {
          return test::run_code(*code, arrays, n);
        });
      }
    }
  }
}

TEST_P(Conformance, UniformOperandsGiveTheSame) {
  const kernel::Kernel kernel = kernel::lower(program(false));
  const backend::tile::Machine machine(kernel);
  const auto code = backend::cpu::compile(kernel, {.isa = plan::host_isa(), .lanes = 8});
  for (std::size_t i = 0; i < count_; ++i) {
    Column tile(GetParam().result, 3);
    Column compiled(GetParam().result, 3);
    test::Arrays arrays{.inputs = {}, .outputs = {tile.bytes.data()}};
    for (const Scalar& operand : operands_[i]) arrays.shared.push_back(operand.bits());
    test::Worker worker(arrays);
    machine.run(&worker, 0, 3, {});
    arrays.outputs = {compiled.bytes.data()};
    test::run_code(*code, arrays, 3);
    for (std::size_t k = 0; k < 3; ++k) {
      ASSERT_EQ(tile.at(k), truth_[i]) << describe(i, tile);
      ASSERT_EQ(compiled.at(k), truth_[i]) << describe(i, compiled);
    }
  }
}

std::string case_name(const testing::TestParamInfo<Case>& test) {
  const Case& c = test.param;
  std::string name(ops::row(c.op).name);
  name += "_" + std::string(types::name_of(c.type));
  if (ops::row(c.op).gives == ops::Gives::Stated)
    name += "_to_" + std::string(types::name_of(c.result));
  return name;
}

std::vector<Case> native_cases() {
  std::vector<Case> cases = all_cases();
  std::erase_if(cases, [](const Case& c) { return ops::row(c.op).kind != ops::Kind::Native; });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Rows, Conformance, testing::ValuesIn(all_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Rows, NativeConformance, testing::ValuesIn(native_cases()), case_name);

TEST(ConformanceTable, EveryRowIsCovered) {
  const std::vector<Case> cases = all_cases();
  for (const ops::Row& row : ops::rows()) {
    const bool covered =
        std::any_of(cases.begin(), cases.end(), [&](const Case& c) { return c.op == row.op; });
    EXPECT_EQ(covered, row.kind != ops::Kind::Structural) << row.name;
  }
}

}  // namespace
}  // namespace lw

#include "lanewise/ir/parse.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "lanewise/base/cursor.h"
#include "lanewise/base/error.h"
#include "lanewise/ir/builder.h"
#include "lanewise/ir/verify.h"

namespace lw::ir {
namespace {

constexpr int kMostNested = 1000;  // loops one in another: whoever reads them calls itself

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text, "parse"), build_("f") {}

  Function run() {
    in_.next_line();
    in_.expect("function");
    build_.function().name = std::string(in_.word());
    in_.expect("(");
    while (!in_.accept(")")) {
      const std::uint32_t name = value_name();
      in_.expect(":");
      const DType type = dtype();
      const std::uint32_t size = in_.bracketed();
      const ParamKind kind = param_kind();
      if (size > 0 && kind != ParamKind::Mapped) in_.fail("only a mapped parameter is a row");
      const auto position = build_.function().params.size();
      define(name, build_.param(fmt::format("arg{}", position), type, kind, size));
      in_.accept(",");
    }
    in_.expect("->");
    in_.expect("(");
    std::vector<types::Item> declared;
    while (!in_.accept(")")) {
      const DType type = dtype();
      declared.push_back({type, in_.bracketed()});
      in_.accept(",");
    }
    in_.expect("{");
    in_.end_line();
    block();
    if (!in_.is_at_end()) in_.fail("expected the end of the text");
    if (declared != build_.function().results) {
      in_.fail("the returned types are not the declared ones");
    }
    Function f = build_.take();
    verify(f);
    return f;
  }

 private:
  std::uint32_t value_name() {
    in_.expect("%");
    return in_.number();
  }

  ParamKind param_kind() {
    if (in_.accept("shared")) return ParamKind::Shared;
    if (in_.accept("table")) return ParamKind::Table;
    if (in_.accept("step_limit")) return ParamKind::StepLimit;
    if (in_.accept("seed")) return ParamKind::Seed;
    if (in_.accept("target")) return ParamKind::Target;
    return ParamKind::Mapped;
  }

  IndexMode index_mode() {
    for (std::uint32_t i = 0; i <= static_cast<std::uint32_t>(IndexMode::Unchecked); ++i) {
      const auto mode = static_cast<IndexMode>(i);
      if (in_.accept(name_of(mode))) return mode;
    }
    in_.fail("expected check, clip, wrap, fill or unchecked");
  }

  Collect collect() {
    for (std::uint32_t i = 0; i <= static_cast<std::uint32_t>(Collect::ArgMax); ++i) {
      const auto what = static_cast<Collect>(i);
      if (in_.accept(name_of(what))) return what;
    }
    in_.fail("expected keep, sum, product, min, max, and, or, argmin or argmax");
  }

  void define(std::uint32_t name, ValueId id) {
    if (!names_.emplace(name, id).second) in_.fail(fmt::format("%{} is defined twice", name));
  }

  ValueId use() {
    const auto found = names_.find(value_name());
    if (found == names_.end()) in_.fail("this value is not defined");
    return found->second;
  }

  DType dtype() {
    const auto type = types::dtype_named(in_.word());
    if (!type) in_.fail("expected a type (bool, i8 to i64, u8 to u64, f16, bf16, f32, f64)");
    return *type;
  }

  Operands parenthesised() {
    Operands values;
    in_.expect("(");
    while (!in_.accept(")")) {
      values.push_back(use());
      in_.accept(",");
    }
    return values;
  }

  void block() {
    if (++depth_ > kMostNested) in_.fail("too many loops one in another");
    while (!in_.accept("}")) {
      if (in_.is_at_end()) in_.fail("expected '}'");
      line();
    }
    --depth_;
    in_.end_line();
  }

  void line() {
    const auto first = static_cast<ValueId>(build_.function().values.size());
    if (in_.accept("%")) {
      assignment(in_.number());
    } else {
      statement();
    }
    // What has a body has consumed its own end of line.
    if (build_.function()[first].block == kNone) {
      build_.function()[first].location = location(in_.end_line());
    }
  }

  static base::Location location(std::string_view comment) {
    const auto colon = comment.rfind(':');
    if (colon == std::string_view::npos) return {};
    while (!comment.empty() && comment[0] == ' ') comment.remove_prefix(1);
    const std::string_view digits = comment.substr(comment.rfind(':') + 1);
    int number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return {base::intern(comment.substr(0, comment.rfind(':'))), number};
  }

  void statement() {
    if (in_.accept("break_if")) {
      const ValueId condition = use();
      const std::uint32_t up = in_.accept("up") ? in_.number() : 0;
      build_.break_if(condition, parenthesised(), up);
    } else if (in_.accept("next")) {
      build_.append({.op = Op::Next, .operands = parenthesised()});
    } else if (in_.accept("return")) {
      build_.ret(parenthesised());
    } else if (in_.accept("fail_if")) {
      const ValueId condition = use();
      const auto kind = static_cast<FailKind>(in_.number());
      build_.fail_if(condition, kind, in_.is_at("(") ? parenthesised() : Operands());
    } else if (in_.accept("array_write")) {
      const Operands operands = listed();
      if (operands.size() != 3) in_.fail("expected an array, an index and a value");
      build_.array_write(operands[0], operands[1], operands[2], index_mode());
    } else if (in_.accept("collect")) {
      const Collect what = collect();
      const Operands operands = listed();
      if (operands.empty()) in_.fail("expected a value");
      build_.append({.op = Op::Collect,
                     .type = build_.type(operands[0]),
                     .operands = operands,
                     .index = static_cast<std::uint32_t>(what)});
    } else if (in_.accept("slot_write")) {
      const ValueId slot = use();
      ir::Operands operands = {slot};
      for (const ValueId value : parenthesised()) operands.push_back(value);
      build_.append({.op = Op::SlotWrite, .operands = operands});
    } else {
      in_.fail("expected a statement");
    }
  }

  void assignment(std::uint32_t name) {
    in_.expect("=");
    const std::string_view word = in_.word();
    const auto op = ops::op_named(word);
    if (!op) in_.fail(fmt::format("'{}' is not an op", word));
    if (*op == Op::Loop) return loop(name);
    if (*op == Op::Each) return each(name);
    const DType type = dtype();
    if (*op == Op::Constant) {
      const auto value = types::parse_scalar(type, in_.word());
      if (!value) in_.fail("expected a literal of this type");
      return define(name, build_.constant(*value));
    }
    const Operands operands = listed();
    if (*op == Op::Element || *op == Op::Array) {
      define(name,
             build_.append({.op = *op, .type = type, .operands = operands, .index = in_.number()}));
    } else if (*op == Op::TableRead || *op == Op::ArrayRead) {
      define(name, build_.append({.op = *op,
                                  .type = type,
                                  .operands = operands,
                                  .index = static_cast<std::uint32_t>(index_mode())}));
    } else if (*op == Op::Result) {
      if (operands.size() != 1 || build_.function()[operands[0]].block == kNone) {
        in_.fail("expected a loop or each");
      }
      const std::uint32_t index = in_.number();
      if (index >= result_count(operands[0])) in_.fail("it has fewer results");
      define(name, build_.result(operands[0], index));
    } else if (ops::is_elementwise(*op)) {
      define(name, build_.op(*op, operands, type));
      if (build_.type(names_[name]) != type) in_.fail("the op does not give this type");
      if (can_be_near(*op) && in_.accept("near")) {
        build_.function()[names_[name]].index = 1;
      }
    } else if (*op == Op::Slot || *op == Op::SlotRead || *op == Op::TableSize) {
      define(name, build_.append({.op = *op, .type = type, .operands = operands}));
    } else {
      in_.fail(fmt::format("'{}' cannot stand here", word));
    }
  }

  std::size_t result_count(ValueId id) const {
    const Function& f = build_.function();
    return f[id].op == Op::Loop ? f.blocks[f[id].block].arguments.size()
                                : collects_of(f, id).size();
  }

  Operands listed() {
    Operands operands;
    while (in_.accept("%")) {
      const auto found = names_.find(in_.number());
      if (found == names_.end()) in_.fail("this value is not defined");
      operands.push_back(found->second);
      in_.accept(",");
    }
    return operands;
  }

  void loop(std::uint32_t name) {
    const bool rare = in_.accept("rare");
    std::vector<std::uint32_t> argument_names;
    Operands initial;
    in_.expect("(");
    while (!in_.accept(")")) {
      argument_names.push_back(value_name());
      in_.expect(":");
      const DType type = dtype();
      in_.expect("=");
      initial.push_back(use());
      if (build_.type(initial.back()) != type) in_.fail("the carried value has another type");
      in_.accept(",");
    }
    in_.expect("{");
    const ValueId id = build_.begin_loop(initial, rare);
    define(name, id);
    for (std::size_t i = 0; i < initial.size(); ++i) {
      define(argument_names[i], build_.arguments(id)[i]);
    }
    build_.function()[id].location = location(in_.end_line());
    block();
    build_.close_loop();
  }

  void each(std::uint32_t name) {
    const std::uint32_t size = in_.number();
    const ValueId count = in_.accept("of") ? use() : kNone;
    in_.expect("(");
    const std::uint32_t position = value_name();
    in_.expect(":");
    if (dtype() != DType::I32) in_.fail("a position is an i32");
    in_.expect(")");
    in_.expect("{");
    const ValueId id = build_.begin_each(size, count);
    define(name, id);
    define(position, build_.arguments(id)[0]);
    build_.function()[id].location = location(in_.end_line());
    block();
    build_.close_loop();
  }

  base::Cursor in_;
  Builder build_;
  int depth_ = 0;  // blocks that are open
  std::unordered_map<std::uint32_t, ValueId> names_;
};

}  // namespace

Function parse(std::string_view text) { return Parser(text).run(); }

}  // namespace lw::ir

// Format, one instruction a line:
//
//   function f(%0: f32, %1: f32 shared, %2: f32 table) -> (i32) {     rows are f32[100]
//     %3 = constant i32 0
//     %4 = loop (%5: i32 = %3) {          "loop rare" where few elements run it
//       %6 = lt bool %5, %3
//       break_if %6 (%5)                  "up 1" before the values leaves the loop around it too
//       next (%5)
//     }
//     %7 = result i32 %4 0
//     %8 = array i32 %3 16                an array of 16 values
//     array_write %8, %3, %7 check
//     %9 = each 100 (%10: i32) {          for the positions 0 to 99
//       %11 = table_read f32 %2, %10 check
//       collect sum %11
//     }
//     %12 = result f32 %9 0
//     %13 = div f32 %12, %12 near         near: see function.h
//     return (%7)
//   }
#include "lanewise/ir/print.h"

#include <fmt/core.h>

#include <iterator>

namespace lw::ir {
namespace {

constexpr std::string_view kKinds[] = {"", " shared", " table", " step_limit", " seed", " target"};

class Printer {
 public:
  Printer(const Function& f, PrintOptions options)
      : f_(f), options_(options), names_(f.values.size(), kNone) {}

  std::string run() {
    fmt::format_to(out(), "function {}(", f_.name);
    for (std::size_t i = 0; i < f_.params.size(); ++i) {
      const Param& p = f_.params[i];
      fmt::format_to(out(), "{}{}: {}{}", i ? ", " : "", define(p.value),
                     types::to_string(p.item()), kKinds[static_cast<std::size_t>(p.kind)]);
    }
    text_ += ") -> (";
    for (std::size_t i = 0; i < f_.results.size(); ++i) {
      fmt::format_to(out(), "{}{}", i ? ", " : "", types::to_string(f_.results[i]));
    }
    text_ += ") {\n";
    block(0, 1);
    text_ += "}\n";
    return std::move(text_);
  }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

  std::string define(ValueId id) {
    names_[id] = next_++;
    return fmt::format("%{}", names_[id]);
  }

  std::string use(ValueId id) const {
    return names_[id] == kNone ? fmt::format("%?{}", id) : fmt::format("%{}", names_[id]);
  }

  void list(std::span<const ValueId> ids) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      fmt::format_to(out(), "{}{}", i ? ", " : "", use(ids[i]));
    }
  }

  void block(BlockId id, int depth) {
    for (const ValueId value : f_.blocks[id].body) {
      if (f_[value].op != Op::Param) instruction(value, depth);
    }
  }

  void instruction(ValueId id, int depth) {
    const Instruction& in = f_[id];
    const std::string_view name = ops::row(in.op).name;
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    if (in.op == Op::Loop) return loop(id, depth);
    if (in.op == Op::Each) return each(id, depth);
    if (in.op == Op::Collect) {
      fmt::format_to(out(), "collect {} ", name_of(static_cast<Collect>(in.index)));
      list(in.operands);
      return end_line(in);
    }
    if (in.op == Op::ArrayWrite) {
      text_ += "array_write ";
      list(in.operands);
      fmt::format_to(out(), " {}", name_of(static_cast<IndexMode>(in.index)));
    } else if (!has_value(in)) {
      text_ += name;
      std::span<const ValueId> rest = in.operands;
      if (in.op == Op::BreakIf || in.op == Op::Fail || in.op == Op::SlotWrite) {
        fmt::format_to(out(), " {}", use(rest[0]));
        rest = rest.subspan(1);
      }
      if (in.op == Op::BreakIf && in.index > 0) fmt::format_to(out(), " up {}", in.index);
      if (in.op == Op::Fail) fmt::format_to(out(), " {}", in.index);
      if (in.op != Op::Fail || !rest.empty()) {
        text_ += " (";
        list(rest);
        text_ += ")";
      }
    } else {
      const std::string types = std::string(types::name_of(in.type));
      fmt::format_to(out(), "{} = {} {}", define(id), name, types);
      if (in.op == Op::Constant) fmt::format_to(out(), " {}", types::to_string(in.constant));
      if (!in.operands.empty()) text_ += ' ';
      list(in.operands);
      if (in.op == Op::Result || in.op == Op::Array || in.op == Op::Element) {
        fmt::format_to(out(), " {}", in.index);
      }
      if (in.op == Op::TableRead || in.op == Op::ArrayRead) {
        fmt::format_to(out(), " {}", name_of(static_cast<IndexMode>(in.index)));
      }
      if (is_near(in)) text_ += " near";
    }
    end_line(in);
  }

  void loop(ValueId id, int depth) {
    const Instruction& in = f_[id];
    fmt::format_to(out(), "{} = loop {}(", define(id), in.index != 0 ? "rare " : "");
    const auto& arguments = f_.blocks[in.block].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      fmt::format_to(out(), "{}{}: {} = {}", i ? ", " : "", define(arguments[i]),
                     types::name_of(f_[arguments[i]].type), use(in.operands[i]));
    }
    text_ += ") {";
    body(in, depth);
  }

  void each(ValueId id, int depth) {
    const Instruction& in = f_[id];
    const std::string name = define(id);
    const std::string count = has_count(in) ? fmt::format(" of {}", use(in.operands[0])) : "";
    fmt::format_to(out(), "{} = each {}{} ({}: i32) {{", name, in.index, count,
                   define(f_.blocks[in.block].arguments[0]));
    body(in, depth);
  }

  void body(const Instruction& in, int depth) {
    end_line(in);
    block(in.block, depth + 1);
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    text_ += "}\n";
  }

  void end_line(const Instruction& in) {
    if (options_.locations && in.location) text_ += "  # " + base::to_string(in.location);
    text_ += '\n';
  }

  const Function& f_;
  PrintOptions options_;
  std::vector<std::uint32_t> names_;
  std::uint32_t next_ = 0;
  std::string text_;
};

template <class T>
void append_bytes(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::string fingerprint(const Function& f, PrintOptions options) {
  std::string out;
  out.reserve(64 * f.values.size());
  append_bytes(out, f.name.size());
  out += f.name;
  append_bytes(out, f.params.size());
  for (const Param& p : f.params) {
    append_bytes(out, p.kind);
    append_bytes(out, p.size);
  }
  for (const Block& block : f.blocks) {
    append_bytes(out, block.arguments.size());
    for (const ValueId id : block.arguments) append_bytes(out, id);
    append_bytes(out, block.body.size());
    for (const ValueId id : block.body) {
      const Instruction& in = f[id];
      append_bytes(out, id);
      append_bytes(out, in.op);
      append_bytes(out, in.type);
      append_bytes(out, in.index);
      append_bytes(out, in.block);
      append_bytes(out, in.constant.bits());
      append_bytes(out, in.operands.size());
      for (const ValueId operand : in.operands) append_bytes(out, operand);
      if (!options.locations) continue;
      append_bytes(out, in.location.file);  // interned: equal names are equal pointers
      append_bytes(out, in.location.line);
      append_bytes(out, in.location.column);
    }
  }
  return out;
}

std::string print(const Function& function, PrintOptions options) {
  return Printer(function, options).run();
}

}  // namespace lw::ir

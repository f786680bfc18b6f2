#include <fmt/core.h>

#include <iterator>

#include "lanewise/kernel/lane.h"

namespace lw::kernel {

bool has_index(Kind kind) {
  return kind == Kind::Shared || kind == Kind::Load || kind == Kind::RowRead ||
         kind == Kind::RowLoad || kind == Kind::Store || kind == Kind::RowStore ||
         kind == Kind::Fail || (kind >= Kind::Element && kind != Kind::Position);
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::Constant:
      return "constant";
    case Kind::Shared:
      return "shared";
    case Kind::Load:
      return "load";
    case Kind::RowRead:
      return "row_read";
    case Kind::Active:
      return "active";
    case Kind::Compute:
      return "compute";
    case Kind::Copy:
      return "copy";
    case Kind::Loop:
      return "loop";
    case Kind::ExitIf:
      return "exit_if";
    case Kind::Fail:
      return "fail";
    case Kind::Store:
      return "store";
    case Kind::RowLoad:
      return "row_load";
    case Kind::RowStore:
      return "row_store";
    case Kind::Element:
      return "element";
    case Kind::TableSize:
      return "table_size";
    case Kind::TableRead:
      return "table_read";
    case Kind::TableWrite:
      return "table_write";
    case Kind::Array:
      return "array";
    case Kind::ArrayRead:
      return "array_read";
    case Kind::ArrayWrite:
      return "array_write";
    case Kind::Each:
      return "each";
    case Kind::Position:
      return "position";
    case Kind::Collect:
      return "collect";
  }
  return {};
}

namespace {

class Printer {
 public:
  explicit Printer(const Kernel& k) : k_(k) {}

  std::string run() {
    fmt::format_to(out(), "kernel {}(", k_.name);
    items(k_.inputs);
    text_ += "; ";
    dtypes(k_.shared);
    if (!k_.tables.empty()) text_ += "; tables ";
    dtypes(k_.tables);
    for (std::size_t i = 0; i < k_.arrays.size(); ++i) {
      fmt::format_to(out(), "{}{} {}", i ? ", " : "; arrays ", types::name_of(k_.arrays[i].type),
                     k_.arrays[i].size);
      if (k_.arrays[i].input != kNone) fmt::format_to(out(), " input {}", k_.arrays[i].input);
      if (k_.arrays[i].output != kNone) fmt::format_to(out(), " output {}", k_.arrays[i].output);
      if (k_.arrays[i].is_flat) text_ += " flat";
    }
    text_ += ") -> (";
    items(k_.outputs);
    fmt::format_to(out(), "){}{} {{\n", k_.refillable ? " refill" : "", k_.inner ? " inner" : "");
    for (std::size_t i = 0; i < k_.sites.size(); ++i) {
      fmt::format_to(out(), "  site {} {}", i, static_cast<int>(k_.sites[i].kind));
      if (k_.sites[i].location) text_ += "  # " + base::to_string(k_.sites[i].location);
      text_ += '\n';
    }
    block(0, 1);
    text_ += "}\n";
    return std::move(text_);
  }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

  void dtypes(const std::vector<DType>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      fmt::format_to(out(), "{}{}", i ? ", " : "", types::name_of(list[i]));
    }
  }

  void items(const std::vector<types::Item>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      fmt::format_to(out(), "{}{}", i ? ", " : "", types::to_string(list[i]));
    }
  }

  std::string name(RegisterId r) const {
    return fmt::format("{}{}", k_.registers[r].varying ? 'v' : 'u', r);
  }

  void block(BlockId id, int depth) {
    for (const Instruction& in : k_.blocks[id]) {
      text_.append(static_cast<std::size_t>(depth) * 2, ' ');
      instruction(in, depth);
    }
  }

  void instruction(const Instruction& in, int depth) {
    if (in.dst != kNone) {
      fmt::format_to(out(), "{}: {} = ", name(in.dst), types::name_of(k_.registers[in.dst].type));
    }
    text_ += in.kind == Kind::Compute ? ops::row(in.op).name
             : is_part(in)            ? "part"
             : in.rare                ? "rare"
             : in.once                ? "branch"
                                      : name_of(in.kind);
    if (in.kind == Kind::Constant) fmt::format_to(out(), " {}", types::to_string(in.constant));
    if (has_index(in.kind)) {
      fmt::format_to(out(), " {}", in.index);
    }
    for (std::size_t i = 0; i < in.sources.size(); ++i) {
      fmt::format_to(out(), "{}{}", i ? ", " : " ", name(in.sources[i]));
    }
    if (in.near) text_ += " near";
    if (in.kind == Kind::ExitIf && in.index > 0) fmt::format_to(out(), " up {}", in.index);
    if (in.period != 0) {
      fmt::format_to(out(), " every {} {}", in.period, in.at_end ? "last" : "first");
    }
    if (in.step != 0) {
      fmt::format_to(out(), " step {}{}", in.step < 0 ? "minus " : "", std::abs(in.step));
    }
    if (in.below != 0) fmt::format_to(out(), " below {}", in.below);
    if (in.block != kNone) {
      text_ += " {\n";
      block(in.block, depth + 1);
      text_.append(static_cast<std::size_t>(depth) * 2, ' ');
      text_ += '}';
    }
    text_ += '\n';
  }

  const Kernel& k_;
  std::string text_;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace lw::kernel

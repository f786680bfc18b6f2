#include <fmt/core.h>

#include <charconv>

#include "lanewise/base/cursor.h"
#include "lanewise/base/error.h"
#include "lanewise/kernel/lane.h"

namespace lw::kernel {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text, "lane form") {}

  Kernel run() {
    in_.next_line();
    in_.expect("kernel");
    kernel_.name = std::string(in_.word());
    in_.expect("(");
    items(kernel_.inputs, ";");
    while (!in_.accept(")")) {
      if (in_.accept("; tables")) {
        list_ = &kernel_.tables;
      } else if (in_.accept("; arrays")) {
        list_ = nullptr;
      }
      const DType type = dtype();
      if (list_ == nullptr) {
        kernel_.arrays.push_back({type, in_.number()});
        if (in_.accept("input")) kernel_.arrays.back().input = in_.number();
        if (in_.accept("output")) kernel_.arrays.back().output = in_.number();
        kernel_.arrays.back().is_flat = in_.accept("flat");
      } else {
        list_->push_back(type);
      }
      in_.accept(",");
    }
    in_.expect("->");
    in_.expect("(");
    items(kernel_.outputs, ")");
    kernel_.refillable = in_.accept("refill");
    kernel_.inner = in_.accept("inner");
    in_.expect("{");
    in_.end_line();
    while (in_.accept("site")) site();
    block(0);
    if (!in_.is_at_end()) in_.fail("expected the end of the text");
    verify(kernel_);
    return std::move(kernel_);
  }

 private:
  DType dtype() {
    const auto type = types::dtype_named(in_.word());
    if (!type) in_.fail("expected a type (bool, i8 to i64, u8 to u64, f16, bf16, f32, f64)");
    return *type;
  }

  void items(std::vector<types::Item>& list, std::string_view end) {
    while (!in_.accept(end)) {
      const DType type = dtype();
      list.push_back({type, in_.bracketed()});
      in_.accept(",");
    }
  }

  void site() {
    if (in_.number() != kernel_.sites.size()) in_.fail("sites are numbered from 0");
    Site site{.kind = static_cast<ir::FailKind>(in_.number()), .location = {}};
    std::string_view comment = in_.end_line();
    while (!comment.empty() && comment[0] == ' ') comment.remove_prefix(1);
    if (const auto colon = comment.rfind(':'); colon != std::string_view::npos) {
      site.location.file = base::intern(comment.substr(0, colon));
      std::from_chars(comment.data() + colon + 1, comment.data() + comment.size(),
                      site.location.line);
    }
    kernel_.sites.push_back(site);
  }

  /// "u3" or "v3"; makes the register known with its kind.
  std::optional<RegisterId> try_register() {
    const bool varying = in_.accept("v");
    if (!varying && (in_.is_at("up") || !in_.accept("u"))) return std::nullopt;
    const std::uint32_t number = in_.number();
    if (number > 1u << 20) in_.fail("register number out of range");
    if (number >= kernel_.registers.size()) {
      kernel_.registers.resize(number + 1);
      known_.resize(number + 1, false);
    }
    Register& r = kernel_.registers[number];
    if (known_[number] && r.varying != varying) in_.fail("a register is either u or v");
    r.varying = varying;
    return number;
  }

  Sources sources() {
    Sources list;
    while (const auto r = try_register()) {
      if (!known_[*r]) in_.fail("this register has no value yet");
      list.push_back(*r);
      in_.accept(",");
    }
    return list;
  }

  void block(BlockId id) {
    while (!in_.accept("}")) {
      if (in_.is_at_end()) in_.fail("expected '}'");
      line(id);
    }
    in_.end_line();
  }

  void line(BlockId block_id) {
    Instruction in;
    const bool each = in_.accept("each");
    if (each) in.index = in_.number();
    const bool part = in_.accept("part");
    in.rare = in_.accept("rare");
    const bool once = part || in.rare || in_.accept("branch");
    if (each || once || in_.accept("loop")) {
      in.kind = each ? Kind::Each : Kind::Loop;
      in.once = once;
      if (!part) in.sources = sources();
      if (in.once && !part && in.sources.empty()) in_.fail("a branch has a mask");
      in.block = static_cast<BlockId>(kernel_.blocks.size());
      in_.expect("{");
      in_.end_line();
      kernel_.blocks.emplace_back();
      kernel_.blocks[block_id].push_back(in);
      return block(in.block);
    }
    if (in_.accept("exit_if")) {
      in.kind = Kind::ExitIf;
    } else if (in_.accept("fail")) {
      in.kind = Kind::Fail;
      in.index = in_.number();
    } else if (in_.accept("row_load")) {
      in.kind = Kind::RowLoad;
      in.index = in_.number();
    } else if (in_.accept("row_store")) {
      in.kind = Kind::RowStore;
      in.index = in_.number();
    } else if (in_.accept("store")) {
      in.kind = Kind::Store;
      in.index = in_.number();
    } else if (in_.accept("table_write")) {
      in.kind = Kind::TableWrite;
      in.index = in_.number();
    } else if (in_.accept("array_write")) {
      in.kind = Kind::ArrayWrite;
      in.index = in_.number();
    } else if (in_.accept("array")) {
      in.kind = Kind::Array;
      in.index = in_.number();
    } else {
      assignment(in);
    }
    if (in.kind != Kind::Constant) in.sources = sources();
    in.near = in.kind == Kind::Compute && in_.accept("near");
    if (in_.accept("up")) in.index = in_.number();
    if (in_.accept("every")) {
      in.period = in_.number();
      in.at_end = in_.accept("last");
      if (!in.at_end) in_.expect("first");
    }
    if (in_.accept("step")) {
      const int sign = in_.accept("minus") ? -1 : 1;
      in.step = sign * static_cast<std::int32_t>(in_.number());
    }
    if (in_.accept("below")) in.below = in_.number();
    if (in.dst != kNone) known_[in.dst] = true;
    in_.end_line();
    kernel_.blocks[block_id].push_back(std::move(in));
  }

  void assignment(Instruction& in) {
    const auto dst = try_register();
    if (!dst) in_.fail("expected an instruction");
    in_.expect(":");
    in.dst = *dst;
    const DType type = dtype();
    if (known_[*dst] && kernel_.registers[*dst].type != type) in_.fail("a register has one type");
    kernel_.registers[*dst].type = type;
    in_.expect("=");
    const std::string_view word = in_.word();
    for (const Kind kind : {Kind::Constant, Kind::Shared, Kind::Load, Kind::RowRead, Kind::Active,
                            Kind::Copy, Kind::Element, Kind::TableSize, Kind::TableRead,
                            Kind::ArrayRead, Kind::Position, Kind::Collect}) {
      if (word == name_of(kind)) in.kind = kind;
    }
    if (in.kind == Kind::Constant) {
      const auto value = types::parse_scalar(type, in_.word());
      if (!value) in_.fail("expected a literal of this type");
      in.constant = *value;
    } else if (has_index(in.kind)) {
      in.index = in_.number();
    } else if (in.kind == Kind::Compute) {
      const auto op = ops::op_named(word);
      if (!op) in_.fail(fmt::format("'{}' is not an op", word));
      in.op = *op;
    }
  }

  base::Cursor in_;
  Kernel kernel_;
  std::vector<DType>* list_ = &kernel_.shared;  // what is being read
  std::vector<bool> known_;
};

}  // namespace

Kernel parse(std::string_view text) { return Parser(text).run(); }

}  // namespace lw::kernel

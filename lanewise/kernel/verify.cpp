#include <fmt/core.h>

#include "lanewise/base/error.h"
#include "lanewise/kernel/lane.h"

namespace lw::kernel {
namespace {

class Verifier {
 public:
  explicit Verifier(const Kernel& k) : k_(k), assigned_(k.registers.size(), false) {}

  void run() {
    block(0, 0);
    if (k_.refillable) {
      int loops = 0;
      for (const Instruction& in : k_.body()) {
        if (in.kind != Kind::Loop || in.once) continue;
        require(!in.sources.empty(), in, "a refilled loop has a mask");
        ++loops;
      }
      if (loops != 1) throw UsageError("verify: a kernel for refill has one top-level loop.");
    }
  }

 private:
  void require(bool condition, const Instruction& in, std::string_view rule) const {
    if (condition) return;
    throw UsageError(fmt::format(
        "verify: {}: {}{}: {}.", k_.name,
        in.kind == Kind::Compute ? ops::row(in.op).name : name_of(in.kind),
        in.dst == kNone ? std::string() : fmt::format(" into register {}", in.dst), rule));
  }

  DType type(RegisterId r) const { return k_.registers[r].type; }
  bool varying(RegisterId r) const { return k_.registers[r].varying; }
  bool is_mask(RegisterId r) const { return type(r) == DType::Bool && varying(r); }

  void block(BlockId id, int depth) {
    std::vector<RegisterId> outer;
    outer.swap(first_assigned_);
    instructions(id, depth);
    // A loop body may not run at all; what it alone assigns has no value behind it.
    for (const RegisterId r : first_assigned_) assigned_[r] = depth == 0;
    first_assigned_.swap(outer);
  }

  void instructions(BlockId id, int depth) {
    for (const Instruction& in : k_.blocks[id]) {
      instruction(in, depth);
      if (in.dst != kNone && !assigned_[in.dst]) {
        assigned_[in.dst] = true;
        first_assigned_.push_back(in.dst);
      }
    }
  }

  void instruction(const Instruction& in, int depth) {
    for (const RegisterId r : in.sources) {
      require(r < k_.registers.size() && assigned_[r], in, "sources are assigned before");
    }
    const auto count = in.sources.size();
    switch (in.kind) {
      case Kind::Constant:
        return require(!varying(in.dst) && in.constant.type() == type(in.dst), in,
                       "a constant is uniform and of its register's type");
      case Kind::Shared:
        return require(
            in.index < k_.shared.size() && k_.shared[in.index] == type(in.dst) && !varying(in.dst),
            in, "names a shared parameter of this type");
      case Kind::Load:
        return require(in.index < k_.inputs.size() &&
                           k_.inputs[in.index] == types::Item{type(in.dst)} &&
                           varying(in.dst) != k_.inner,
                       in, "names a mapped input of this type");
      case Kind::RowRead:
        require(in.index < k_.inputs.size() && k_.inputs[in.index].is_row() &&
                    k_.inputs[in.index].type == type(in.dst),
                in, "names a row of this type");
        require(varying(in.dst) == (!k_.inner || varies(in)), in, "varies with its index");
        return place(in, 1);
      case Kind::Active:
        return require(is_mask(in.dst), in, "gives a mask");
      case Kind::Compute:
        return compute(in);
      case Kind::Copy:
        return require(count == 1 && type(in.sources[0]) == type(in.dst) &&
                           (varying(in.dst) || !varying(in.sources[0])),
                       in, "one source of this type, uniform into uniform");
      case Kind::Loop:
        require(count <= 1 && in.block < k_.blocks.size(), in, "one mask at most, and a body");
        require(
            count == 0 || is_mask(in.sources[0]) || (in.once && type(in.sources[0]) == DType::Bool),
            in, "looks at a mask; a branch at a bool");
        return is_part(in) ? instructions(in.block, depth) : block(in.block, depth + 1);
      case Kind::ExitIf:
        return require(static_cast<int>(in.index) < depth && count == 1 &&
                           type(in.sources[0]) == DType::Bool && !varying(in.sources[0]),
                       in, "a uniform bool, inside a loop");
      case Kind::Fail:
        require(in.index < k_.sites.size() && count >= 1, in, "names a site and a mask");
        for (const RegisterId r : in.sources) {
          require(is_mask(r) || (k_.inner && type(r) == DType::Bool), in, "sources are masks");
        }
        return;
      case Kind::Store:
        return require(depth == 0 && count == 1 && in.index < k_.outputs.size() &&
                           types::Item{type(in.sources[0])} == k_.outputs[in.index],
                       in, "a value of an output's type, outside of loops");
      case Kind::RowLoad: {
        require(
            depth == 0 && !k_.inner && !k_.refillable && count == 0 && in.index < k_.arrays.size(),
            in, "names an array, outside of loops, of elements that begin together");
        const Array& of = k_.arrays[in.index];
        return require(
            of.input < k_.inputs.size() && k_.inputs[of.input] == types::Item{of.type, of.size}, in,
            "an array of its input's type and size");
      }
      case Kind::RowStore: {
        require(depth == 0 && count == 0 && in.index < k_.arrays.size(), in,
                "names an array, outside of loops");
        const Array& of = k_.arrays[in.index];
        return require(
            of.output < k_.outputs.size() && k_.outputs[of.output] == types::Item{of.type, of.size},
            in, "an array of its output's type and size");
      }
      case Kind::Element:
        return require(type(in.dst) == DType::U32 && varying(in.dst) != k_.inner && in.index < 2,
                       in, "a varying u32, word 0 or 1");
      case Kind::TableSize:
        return require(
            in.index < k_.tables.size() && type(in.dst) == DType::I64 && !varying(in.dst), in,
            "names a table, a uniform i64");
      case Kind::TableRead:
        require(in.index < k_.tables.size() && type(in.dst) == k_.tables[in.index], in,
                "names a table of this type");
        require(count > 0 && varying(in.dst) == varies(in), in, "varies with its index");
        return place(in, 1);
      case Kind::TableWrite:
        require(
            in.index < k_.tables.size() && count >= 2 && type(in.sources[1]) == k_.tables[in.index],
            in, "names a table of this type");
        return place(in, 2);
      case Kind::Array:
        return require(in.index < k_.arrays.size() && count <= 1 &&
                           (count == 0 || type(in.sources[0]) == array(in)),
                       in, "names an array of this type");
      case Kind::ArrayRead:
        require(in.index < k_.arrays.size() && type(in.dst) == array(in) &&
                    varying(in.dst) == (!is_flat(in) || varies(in)),
                in, "names an array of this type");
        return place(in, 1);
      case Kind::ArrayWrite:
        require(in.index < k_.arrays.size() && count >= 2 && type(in.sources[1]) == array(in), in,
                "names an array of this type");
        return place(in, 2);
      case Kind::Each:
        require(k_.inner && !in_each_ && count <= 1 && in.index > 0, in,
                "a size, in a kernel for positions, and not in another");
        require(count == 0 || (type(in.sources[0]) == DType::I32 && !varying(in.sources[0])), in,
                "as many positions as a uniform i32 says");
        in_each_ = true;
        block(in.block, depth + 1);
        in_each_ = false;
        for (const Instruction& inner : k_.blocks[in.block]) {  // it is run once at least
          if (inner.kind == Kind::Collect) assigned_[inner.dst] = true;
        }
        return;
      case Kind::Position:
        return require(in_each_ && type(in.dst) == DType::I32 && varying(in.dst), in,
                       "a varying i32, in an each");
      case Kind::Collect:
        return require(in_each_ && count == 1 && !varying(in.dst), in,
                       "one source and a uniform result, in an each");
    }
  }

  bool is_flat(const Instruction& in) const { return k_.arrays[in.index].is_flat; }
  bool varies(const Instruction& in) const { return in.step != 0 || varying(in.sources[0]); }

  DType array(const Instruction& in) const { return k_.arrays[in.index].type; }

  /// The index of an access, and its mask.
  void place(const Instruction& in, std::size_t mask) const {
    const bool is_write = (in.kind == Kind::ArrayWrite && (!is_flat(in) || in_each_)) ||
                          (in.kind == Kind::TableWrite && (!k_.inner || in_each_));
    const bool needs_mask = varies(in) || is_write || (in.kind == Kind::RowRead && !k_.inner);
    require(in.step == 0 || (in_each_ && !varying(in.sources[0])), in,
            "steps from a uniform place, in an each");
    require(in.below <= kMostFew, in, "few places, or it is not known how many");
    require(in.below == 0 || (in.kind == Kind::TableRead && in.step == 0 && varies(in)), in,
            "few places of a table, where they vary");
    require(in.sources.size() == mask + (needs_mask ? 1u : 0u), in, "number of sources");
    const DType index = type(in.sources[0]);
    require(index == DType::I32 || index == DType::I64, in, "the index is an i32 or i64");
    require(!needs_mask || is_mask(in.sources[mask]), in, "lanes by a mask");
  }

  void compute(const Instruction& in) const {
    require(ops::row(in.op).kind == ops::Kind::Native, in, "only native ops");
    DType operand_types[3];
    bool any_varying = false;
    require(in.sources.size() <= 3, in, "number of operands");
    for (std::size_t i = 0; i < in.sources.size(); ++i) {
      operand_types[i] = type(in.sources[i]);
      any_varying = any_varying || varying(in.sources[i]);
    }
    require(ops::result_type(in.op, std::span(operand_types, in.sources.size()), type(in.dst)) ==
                type(in.dst),
            in, "types of operands and result");
    require(varying(in.dst) || !any_varying, in, "a varying operand gives a varying result");
  }

  const Kernel& k_;
  std::vector<bool> assigned_;
  bool in_each_ = false;
  std::vector<RegisterId> first_assigned_;  // in the block that is being read
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace lw::kernel

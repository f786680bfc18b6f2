// An array that the last `each` reads, position by position, to make a result of the same size can
// lie where that result goes: what is written first is in the caches when it is written again.
#include <algorithm>

#include "lanewise/kernel/invariant.h"
#include "lanewise/kernel/lowering.h"

namespace lw::kernel {
namespace {

class OutputMemory {
 public:
  explicit OutputMemory(Kernel& k) : k_(k), invariant_(find_invariant(k)) {}

  void share() {
    for (std::uint32_t result = 0; result < k_.arrays.size(); ++result) {
      if (k_.arrays[result].output == kNone) continue;
      const std::size_t last = last_use(result);
      if (last == kNone || !is_made_there(result, last)) continue;
      for (std::uint32_t array = 0; array < k_.arrays.size(); ++array) {
        if (can_share(array, result, last)) {
          k_.arrays[array].output = k_.arrays[result].output;
          break;
        }
      }
    }
  }

 private:
  static bool touches(const Instruction& in, std::uint32_t array) {
    return in.index == array &&
           (in.kind == Kind::Array || in.kind == Kind::ArrayRead || in.kind == Kind::ArrayWrite);
  }

  /// Calls `visit` for every access to the array by an instruction of the body, or by one in it.
  template <class Visit>
  void for_each_access(std::size_t at, std::uint32_t array, const Visit& visit) const {
    const Instruction& in = k_.body()[at];
    if (touches(in, array)) visit(in);
    if (in.block == kNone) return;
    for_each(
        k_,
        [&](const Instruction& inner, int) {
          if (touches(inner, array)) visit(inner);
        },
        in.block);
  }

  /// Where in the body the array is used last.
  std::size_t last_use(std::uint32_t array) const {
    std::size_t last = kNone;
    for (std::size_t at = 0; at < k_.body().size(); ++at) {
      for_each_access(at, array, [&](const Instruction&) { last = at; });
    }
    return last;
  }

  /// True for an access of position p to place p.
  bool is_own_place(const Instruction& in) const {
    if (in.step != 1) return false;
    return std::any_of(k_.body().begin(), k_.body().end(), [&](const Instruction& made) {
      return made.kind == Kind::Constant && made.dst == in.sources[0] &&
             types::to_int64(made.constant) == 0;
    });
  }

  /// True when the result is written by one `each`, a value a position, and not used elsewhere.
  bool is_made_there(std::uint32_t result, std::size_t at) const {
    const Instruction& in = k_.body()[at];
    if (in.kind != Kind::Each || in.index != k_.arrays[result].size) return false;
    bool is_good = true;
    for (std::size_t other = 0; other <= at; ++other) {
      for_each_access(other, result, [&](const Instruction& access) {
        is_good = is_good && other == at && access.kind == Kind::ArrayWrite && is_own_place(access);
      });
    }
    return is_good;
  }

  bool can_share(std::uint32_t array, std::uint32_t result, std::size_t at) const {
    const Array& of = k_.arrays[array];
    if (!of.is_flat || of.output != kNone || of.type != k_.arrays[result].type ||
        of.size != k_.arrays[result].size || last_use(array) != at) {
      return false;
    }
    bool is_good = true;
    for_each_access(at, array, [&](const Instruction& access) {
      is_good = is_good && access.kind == Kind::ArrayRead && is_own_place(access);
    });
    for (std::size_t before = 0; before < at; ++before) {  // what all elements share is made once
      if (!invariant_[before]) continue;
      for_each_access(before, array, [&](const Instruction&) { is_good = false; });
    }
    return is_good;
  }

  Kernel& k_;
  std::vector<bool> invariant_;  // by instruction of the body
};

}  // namespace

void share_output_memory(Kernel& kernel) { OutputMemory(kernel).share(); }

}  // namespace lw::kernel

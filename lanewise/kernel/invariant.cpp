#include "lanewise/kernel/invariant.h"

#include <algorithm>
#include <map>
#include <set>

namespace lw::kernel {
namespace {

bool is_shared(Kind kind) {
  switch (kind) {
    case Kind::Constant:
    case Kind::Shared:
    case Kind::Active:
    case Kind::Compute:
    case Kind::Copy:
    case Kind::Loop:
    case Kind::ExitIf:
    case Kind::TableSize:
    case Kind::TableRead:
    case Kind::Array:
    case Kind::ArrayRead:
    case Kind::ArrayWrite:
    case Kind::Each:
    case Kind::Position:
    case Kind::Collect:
      return true;
    case Kind::Load:
    case Kind::RowRead:
    case Kind::RowLoad:
    case Kind::TableWrite:
    case Kind::Fail:
    case Kind::Store:
    case Kind::RowStore:
    case Kind::Element:
      return false;
  }
  return false;
}

class Finder {
 public:
  explicit Finder(const Kernel& k) : k_(k), touched_(k.body().size()) {
    bool may_have_failed = false;
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      const Instruction& in = k.body()[i];
      find(in, i);
      if (in.block != kNone) {
        for_each(k, [&](const Instruction& inner, int) { find(inner, i); }, in.block);
      }
      // A failure may stand for what keeps an index inside.
      Touched& t = touched_[i];
      if (may_have_failed && t.reads_memory) t.is_invariant = false;
      may_have_failed = may_have_failed || t.can_fail;
    }
  }

  std::vector<bool> run() && {
    while (narrow()) {
    }
    std::vector<bool> found;
    bool any = false;
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      found.push_back(touched_[i].is_invariant);
      any = any || (found[i] && k_.body()[i].block != kNone);
    }
    return any ? found : std::vector<bool>(touched_.size(), false);
  }

 private:
  /// A register, or an array.
  struct Name {
    bool is_array;
    std::uint32_t number;
    auto operator<=>(const Name&) const = default;
  };
  struct Touched {
    std::set<Name> names;
    bool is_invariant = true;
    bool reads_memory = false;
    bool can_fail = false;
  };

  /// Adds what an instruction touches to that of the one of the body it stands in.
  void find(const Instruction& in, std::size_t at) {
    Touched& t = touched_[at];
    t.can_fail = t.can_fail || in.kind == Kind::Fail;
    t.is_invariant = t.is_invariant && is_shared(in.kind);
    for (const RegisterId r : in.sources) t.names.insert({false, r});
    if (in.dst != kNone) add_writer({false, in.dst}, at);
    const bool is_read = in.kind == Kind::ArrayRead || in.kind == Kind::TableRead;
    t.reads_memory = t.reads_memory || is_read;
    if (in.kind == Kind::ArrayRead) t.names.insert({true, in.index});
    if (in.kind == Kind::ArrayWrite || in.kind == Kind::Array || in.kind == Kind::RowLoad) {
      add_writer({true, in.index}, at);
      t.is_invariant = t.is_invariant && k_.arrays[in.index].output == kNone;
    }
  }

  void add_writer(Name name, std::size_t at) {
    touched_[at].names.insert(name);
    std::vector<std::size_t>& writers = writers_[name];
    if (writers.empty() || writers.back() != at) writers.push_back(at);
  }

  bool is_invariant(Name name) const {
    const auto found = writers_.find(name);
    return found == writers_.end() ||
           std::all_of(found->second.begin(), found->second.end(),
                       [&](std::size_t at) { return touched_[at].is_invariant; });
  }

  /// Takes away what needs something that is not invariant, or would change something before it is
  /// read. True: there was something.
  bool narrow() {
    bool changed = false;
    const auto take_away = [&](std::size_t at) {
      changed = changed || touched_[at].is_invariant;
      touched_[at].is_invariant = false;
    };
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      for (const Name name : touched_[i].names) {
        if (touched_[i].is_invariant && !is_invariant(name)) take_away(i);
      }
      if (touched_[i].is_invariant) continue;
      for (const Name name : touched_[i].names) {
        const auto found = writers_.find(name);
        if (found == writers_.end() || found->second.back() < i) continue;
        for (const std::size_t at : found->second) take_away(at);
      }
    }
    return changed;
  }

  const Kernel& k_;
  std::vector<Touched> touched_;  // by instruction of the body
  std::map<Name, std::vector<std::size_t>> writers_;
};

}  // namespace

std::vector<bool> find_invariant(const Kernel& kernel) { return Finder(kernel).run(); }

}  // namespace lw::kernel

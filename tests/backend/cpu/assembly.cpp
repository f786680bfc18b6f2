#include "tests/backend/cpu/assembly.h"

#include <algorithm>
#include <map>
#include <set>

namespace lw::backend::cpu::test {
namespace {

struct Text {
  std::vector<Instruction> instructions;
  std::map<std::string, std::size_t> labels;  // the instruction that follows
};

Text read(std::string_view assembly) {
  Text text;
  while (!assembly.empty()) {
    const auto end = assembly.find('\n');
    std::string_view line = assembly.substr(0, end);
    assembly.remove_prefix(end == std::string_view::npos ? assembly.size() : end + 1);
    if (line.empty()) continue;
    if (line[0] != '\t') {
      const auto colon = line.find(':');
      if (colon != std::string_view::npos) {
        text.labels[std::string(line.substr(0, colon))] = text.instructions.size();
      }
      continue;
    }
    line.remove_prefix(1);
    if (line.empty() || line[0] == '.' || line[0] == '#') continue;
    const auto tab = line.find('\t');
    text.instructions.push_back(
        {std::string(line.substr(0, tab)),
         tab == std::string_view::npos ? std::string() : std::string(line.substr(tab + 1))});
  }
  return text;
}

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

bool touches_stack(const Instruction& in) {
  return in.operands.find("(%rsp") != std::string::npos ||
         in.operands.find("(%rbp") != std::string::npos;
}

}  // namespace

std::vector<Instruction> instructions(std::string_view assembly) {
  return read(assembly).instructions;
}

bool is_vector_arithmetic(const Instruction& in) {
  return in.name.starts_with('v') &&
         !starts_with_any(in.name, {"vmov", "vbroadcast", "vpbroadcast", "vmaskmov", "vpmaskmov",
                                    "vzero", "vpmovs", "vpmovz"});
}

bool is_vector_spill(const Instruction& in) {
  return in.name.starts_with('v') && touches_stack(in);
}

bool is_mask_spill(const Instruction& in) {
  return in.name.starts_with("kmov") && touches_stack(in);
}

namespace {

/// The blocks of a function and where each goes.
struct Flow {
  struct Node {
    std::size_t begin;
    std::size_t end;
    std::vector<std::size_t> next;
  };
  std::vector<Node> nodes;
};

Flow flow_of(const Text& text) {
  std::set<std::size_t> starts = {0};
  for (const auto& [label, at] : text.labels) starts.insert(at);
  for (std::size_t i = 0; i < text.instructions.size(); ++i) {
    if (text.instructions[i].name.starts_with('j')) starts.insert(i + 1);
  }
  starts.erase(text.instructions.size());
  Flow flow;
  std::map<std::size_t, std::size_t> node_at;
  for (const std::size_t start : starts) {
    if (!flow.nodes.empty()) flow.nodes.back().end = start;
    node_at[start] = flow.nodes.size();
    flow.nodes.push_back({start, text.instructions.size(), {}});
  }
  for (std::size_t n = 0; n < flow.nodes.size(); ++n) {
    const Instruction& last = text.instructions[flow.nodes[n].end - 1];
    if (last.name.starts_with('j')) {
      const auto target = text.labels.find(last.operands);
      if (target != text.labels.end()) flow.nodes[n].next.push_back(node_at[target->second]);
    }
    const bool ends = last.name == "jmp" || last.name.starts_with("ret");
    if (!ends && n + 1 < flow.nodes.size()) flow.nodes[n].next.push_back(n + 1);
  }
  return flow;
}

using Nodes = std::set<std::size_t>;

/// The loop of a jump from `last` back to `head`: what reaches `last` without passing `head`.
Nodes loop_of(const Flow& flow, std::size_t head, std::size_t last) {
  Nodes loop = {head, last};
  std::vector<std::size_t> open = {last};
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (node == head) continue;
    for (std::size_t n = 0; n < flow.nodes.size(); ++n) {
      const auto& next = flow.nodes[n].next;
      if (std::find(next.begin(), next.end(), node) == next.end()) continue;
      if (loop.insert(n).second) open.push_back(n);
    }
  }
  return loop;
}

class LoopFinder {
 public:
  explicit LoopFinder(const Flow& flow) : flow_(flow), state_(flow.nodes.size(), kNew) { visit(0); }
  std::vector<Nodes> loops;

 private:
  enum State { kNew, kOpen, kDone };

  void visit(std::size_t node) {
    state_[node] = kOpen;
    for (const std::size_t next : flow_.nodes[node].next) {
      if (state_[next] == kOpen) loops.push_back(loop_of(flow_, next, node));
      if (state_[next] == kNew) visit(next);
    }
    state_[node] = kDone;
  }

  const Flow& flow_;
  std::vector<State> state_;
};

}  // namespace

std::vector<Instruction> hot_loop(std::string_view assembly) {
  const Text text = read(assembly);
  const Flow flow = flow_of(text);
  const std::vector<Nodes> loops = LoopFinder(flow).loops;
  std::vector<Instruction> best;
  int most = -1;
  for (const Nodes& loop : loops) {
    const bool has_inner = std::any_of(loops.begin(), loops.end(), [&](const Nodes& other) {
      return other.size() < loop.size() &&
             std::includes(loop.begin(), loop.end(), other.begin(), other.end());
    });
    if (has_inner) continue;
    std::vector<Instruction> body;
    for (const std::size_t n : loop) {
      for (std::size_t i = flow.nodes[n].begin; i < flow.nodes[n].end; ++i) {
        body.push_back(text.instructions[i]);
      }
    }
    const int vectors = count(body, [](const Instruction& in) { return in.name[0] == 'v'; });
    if (vectors > most) {
      most = vectors;
      best = body;
    }
  }
  return best;
}

}  // namespace lw::backend::cpu::test

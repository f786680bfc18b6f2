#include "tests/backend/cpu/assembly.h"

#include <algorithm>
#include <map>

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

std::vector<Instruction> hot_loop(std::string_view assembly) {
  const Text text = read(assembly);
  struct Stretch {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<Stretch> loops;
  for (std::size_t i = 0; i < text.instructions.size(); ++i) {
    const Instruction& in = text.instructions[i];
    if (!in.name.starts_with('j')) continue;
    const auto target = text.labels.find(in.operands);
    if (target != text.labels.end() && target->second <= i) loops.push_back({target->second, i});
  }
  std::vector<Instruction> best;
  int most = -1;
  for (const Stretch& loop : loops) {
    const bool has_inner = std::any_of(loops.begin(), loops.end(), [&](const Stretch& other) {
      return other.begin >= loop.begin && other.end <= loop.end &&
             (other.begin != loop.begin || other.end != loop.end);
    });
    if (has_inner) continue;
    const std::vector<Instruction> body(
        text.instructions.begin() + static_cast<std::ptrdiff_t>(loop.begin),
        text.instructions.begin() + static_cast<std::ptrdiff_t>(loop.end) + 1);
    const int vectors = count(body, [](const Instruction& in) { return in.name[0] == 'v'; });
    if (vectors > most) {
      most = vectors;
      best = body;
    }
  }
  return best;
}

}  // namespace lw::backend::cpu::test

#include "serve.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "../harness.h"
#include "competitor.h"
#include "lanewise/base/error.h"

namespace lw::bench {

Array::Array(hand::Real element, std::int64_t count) : real(element), size(count) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const auto wanted = static_cast<std::size_t>(bytes());
  const std::size_t unit = wanted < 2 * kHugePage ? 64 : kHugePage;
  const std::size_t size_in_units = (wanted / unit + 1) * unit;
  memory = std::shared_ptr<void>(std::aligned_alloc(unit, size_in_units), std::free);
  if (unit == kHugePage) madvise(memory.get(), size_in_units, MADV_HUGEPAGE);
}

namespace {

using Words = std::vector<std::string>;

constexpr double kTurn = 10e-3;    // a competitor runs for so long in its turn
constexpr double kBatch = 100e-6;  // shorter calls are timed several at a time

double least_seconds(const Competitor& competitor) {
  const auto time = [&](int calls) {
    const double start = now_seconds();
    for (int i = 0; i < calls; ++i) competitor.run();
    return (now_seconds() - start) / calls;
  };
  const double turn = now_seconds();
  double least = time(1);
  if (competitor.once) return least;
  const int calls = static_cast<int>(std::clamp(kBatch / least, 1.0, 10000.0));
  while (now_seconds() - turn < kTurn) least = std::min(least, time(calls));
  return least;
}

class Server {
 public:
  explicit Server(plan::Isa isa) : isa_(isa) {}

  std::string answer(const Words& words) {
    const std::string& command = words.at(0);
    if (command == "prepare") return prepare(words);
    if (command == "run") {
      const Competitor& competitor = find(words.at(1));
      const double seconds = least_seconds(competitor);
      if (competitor.settle) competitor.settle();
      return fmt::format("value\t{}", seconds);
    }
    if (command == "figure") {
      return fmt::format("value\t{}", lanewise_figure(words.at(1), words.at(2), isa_));
    }
    if (command == "release") {
      competitors_.clear();
      arrays_.clear();
      return "ok";
    }
    fail("no command " + command);
  }

 private:
  std::string prepare(const Words& words) {
    const std::string& name = words.at(1);
    const hand::Real real = words.at(3) == "f32" ? hand::Real::f32 : hand::Real::f64;
    const std::int64_t elements = std::stoll(words.at(4));
    const auto& [inputs, output] = read_inputs(words.at(6), real, elements);
    const Case c{words.at(2), real, elements, std::stoi(words.at(5)), isa_, inputs, output};
    MaybeCompetitor made =
        name.starts_with("lanewise") ? lanewise_competitor(name, c) : loop_competitor(name, c);
    if (const Missing* missing = std::get_if<Missing>(&made)) return "missing\t" + missing->why;
    Competitor& competitor = competitors_[name] = std::get<Competitor>(std::move(made));
    competitor.run();
    if (competitor.settle) competitor.settle();
    std::ofstream(words.at(7), std::ios::binary)
        .write(static_cast<const char*>(competitor.output()), output.bytes());
    return "ok";
  }

  struct Arrays {
    std::vector<Array> inputs;
    Array output;
  };
  const Arrays& read_inputs(const std::string& path, hand::Real real, std::int64_t elements) {
    const auto [at, is_new] = arrays_.try_emplace(path, Arrays{{}, Array(real, elements)});
    std::vector<Array>& inputs = at->second.inputs;
    if (is_new) {
      std::ifstream file(path, std::ios::binary);
      for (;;) {
        Array a(real, elements);
        if (!file.read(static_cast<char*>(a.data()), a.bytes())) break;
        inputs.push_back(a);
      }
    }
    if (inputs.empty()) throw UsageError("no inputs in " + path);
    return at->second;
  }

  const Competitor& find(const std::string& name) {
    const auto found = competitors_.find(name);
    if (found == competitors_.end()) fail(name + " has not been prepared");
    return found->second;
  }

  plan::Isa isa_;
  std::map<std::string, Competitor> competitors_;
  std::map<std::string, Arrays> arrays_;
};

Words split(const std::string& line) {
  Words words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, '\t');) words.push_back(word);
  return words;
}

}  // namespace

int serve(std::string_view isa) {
  plan::Isa chosen = plan::host_isa();
  if (isa == "v3") chosen = std::min(chosen, plan::Isa::V3);
  Server server(chosen);
  for (std::string line; std::getline(std::cin, line);) {
    try {
      fmt::print("{}\n", server.answer(split(line)));
    } catch (const std::exception& e) {
      std::string text = e.what();
      std::replace(text.begin(), text.end(), '\n', ' ');
      fmt::print("error\t{}\n", text);
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace lw::bench

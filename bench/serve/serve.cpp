#include "serve.h"

#include <fmt/core.h>

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
  const auto lines = static_cast<std::size_t>(bytes() / 64 + 1);
  memory = std::shared_ptr<void>(std::aligned_alloc(64, lines * 64), std::free);
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
      inputs_.clear();
      return "ok";
    }
    fail("no command " + command);
  }

 private:
  std::string prepare(const Words& words) {
    const std::string& name = words.at(1);
    Case c{words.at(2),
           words.at(3) == "f32" ? hand::Real::f32 : hand::Real::f64,
           std::stoll(words.at(4)),
           std::stoi(words.at(5)),
           isa_,
           {}};
    c.inputs = read_inputs(words.at(6), c);
    MaybeCompetitor made =
        name.starts_with("lanewise") ? lanewise_competitor(name, c) : loop_competitor(name, c);
    if (const Missing* missing = std::get_if<Missing>(&made)) return "missing\t" + missing->why;
    Competitor& competitor = competitors_[name] = std::get<Competitor>(std::move(made));
    competitor.run();
    if (competitor.settle) competitor.settle();
    const Array size(c.real, c.size);
    std::ofstream(words.at(7), std::ios::binary)
        .write(static_cast<const char*>(competitor.output()), size.bytes());
    return "ok";
  }

  /// Candidates of one case share its inputs.
  std::vector<Array> read_inputs(const std::string& path, const Case& c) {
    std::vector<Array>& arrays = inputs_[path];
    if (!arrays.empty()) return arrays;
    std::ifstream file(path, std::ios::binary);
    for (;;) {
      Array a(c.real, c.size);
      if (!file.read(static_cast<char*>(a.data()), a.bytes())) break;
      arrays.push_back(a);
    }
    if (arrays.empty()) throw UsageError("no inputs in " + path);
    return arrays;
  }

  const Competitor& find(const std::string& name) {
    const auto found = competitors_.find(name);
    if (found == competitors_.end()) fail(name + " has not been prepared");
    return found->second;
  }

  plan::Isa isa_;
  std::map<std::string, Competitor> competitors_;
  std::map<std::string, std::vector<Array>> inputs_;
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

#include "serve.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "../harness.h"
#include "competitor.h"
#include "lanewise/base/error.h"

namespace lw::bench {

Array::Array(DType element, std::int64_t count) : type(element), size(count) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const auto wanted = static_cast<std::size_t>(bytes());
  const std::size_t unit = wanted < 2 * kHugePage ? 64 : kHugePage;
  const std::size_t size_in_units = (wanted / unit + 1) * unit;
  memory = std::shared_ptr<void>(std::aligned_alloc(unit, size_in_units), std::free);
  if (unit == kHugePage) madvise(memory.get(), size_in_units, MADV_HUGEPAGE);
}

namespace {

using Words = std::vector<std::string>;

Words split(const std::string& line, char separator) {
  Words words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, separator);) words.push_back(word);
  return words;
}

DType dtype_of(const std::string& name) {
  const std::optional<DType> type = types::dtype_named(name);
  if (!type) throw UsageError("no type " + name);
  return *type;
}

/// What "f32:4096x1024" describes.
Array array_of(const std::string& type, const std::string& shape) {
  std::int64_t size = 1;
  for (const std::string& length : split(shape, 'x')) size *= std::stoll(length);
  return {dtype_of(type), size};
}

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
    const Case c = read_case(words);
    MaybeCompetitor made =
        name.starts_with("lanewise") ? lanewise_competitor(name, c) : loop_competitor(name, c);
    if (const Missing* missing = std::get_if<Missing>(&made)) return "missing\t" + missing->why;
    Competitor& competitor = competitors_[name] = std::get<Competitor>(std::move(made));
    // So that nobody is checked by what another has left there.
    std::memset(c.output.data(), 0xff, static_cast<std::size_t>(c.output.bytes()));
    competitor.run();
    if (competitor.settle) competitor.settle();
    std::ofstream(words.at(9), std::ios::binary)
        .write(static_cast<const char*>(competitor.output()), c.output.bytes());
    return "ok";
  }

  Case read_case(const Words& words) {
    const std::string& path = words.at(8);
    const std::int64_t size = std::stoll(words.at(5));
    if (!arrays_.contains(path)) {
      const Words output = split(words.at(4), ':');
      Arrays read{{}, {}, array_of(output.at(0), output.at(1))};
      read_arrays(path, words.at(7), read);
      arrays_.emplace(path, read);
    }
    const Arrays& arrays = arrays_.at(path);
    return {.workload = words.at(2),
            .type = dtype_of(words.at(3)),
            .size = size,
            .threads = std::stoi(words.at(6)),
            .isa = isa_,
            .inputs = arrays.inputs,
            .tables = arrays.tables,
            .output = arrays.output};
  }

  /// Of a case, for all its competitors.
  struct Arrays {
    std::vector<Array> inputs;
    std::vector<Array> tables;
    Array output;
  };
  static void read_arrays(const std::string& path, const std::string& description, Arrays& to) {
    std::ifstream file(path, std::ios::binary);
    for (const std::string& word : split(description, ' ')) {
      const Words parts = split(word, ':');
      const Array a = array_of(parts.at(1), parts.at(2));
      if (!file.read(static_cast<char*>(a.data()), a.bytes())) {
        throw UsageError("no " + word + " in " + path);
      }
      (parts[0] == "input" ? to.inputs : to.tables).push_back(a);
    }
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

}  // namespace

int serve(std::string_view isa) {
  plan::Isa chosen = plan::host_isa();
  if (isa == "v3") chosen = std::min(chosen, plan::Isa::V3);
  Server server(chosen);
  for (std::string line; std::getline(std::cin, line);) {
    try {
      fmt::print("{}\n", server.answer(split(line, '\t')));
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

#include "tests/fuzz/arguments.h"

#include <fmt/core.h>

#include <charconv>

#include "lanewise/base/error.h"

namespace lw::fuzz {

Arguments parse_arguments(int count, char** words) {
  Arguments arguments;
  const auto number = [&](int& i, auto& value) {
    const std::string_view text = i + 1 < count ? words[++i] : "";
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw UsageError(fmt::format("{}: expected a number; got '{}'.", words[i - 1], text));
    }
  };
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--programs") {
      number(i, arguments.programs);
    } else if (word == "--seed") {
      number(i, arguments.seed);
    } else if (word == "--jobs") {
      number(i, arguments.jobs);
    } else if (word == "--failures") {
      number(i, arguments.failures);
    } else if (word == "--minutes") {
      number(i, arguments.minutes);
    } else if (word == "--reduce") {
      number(i, arguments.reduce_seconds);
    } else if (word == "--digest") {
      arguments.digest = true;
    } else if (word == "--isolate") {
      arguments.isolate = true;
    } else if (word == "--crashed") {
      arguments.isolate = arguments.crashed = true;
      arguments.programs = 1;
    } else if (word == "--one" && i + 1 < count) {
      arguments.file = words[++i];
    } else if (word == "--pass" && i + 1 < count) {
      arguments.pass = words[++i];
    } else if (word == "--long" && i + 1 < count) {
      arguments.state = words[++i];
    } else {
      throw UsageError(fmt::format(
          "unknown option; got '{}', expected --programs N, --seed S, --jobs N, --failures N, "
          "--minutes M, --digest, --one FILE, --long FILE, --pass NAME, --reduce S, --isolate or "
          "--crashed.",
          word));
    }
  }
  if (arguments.jobs < 1) {
    throw UsageError(fmt::format("--jobs: expected at least 1; got {}.", arguments.jobs));
  }
  return arguments;
}

}  // namespace lw::fuzz

// What can go wrong, and how a map is stopped: bad calls, failing elements, limits, cancelling.
#include <lanewise/lanewise.h>

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

lw::i64 collatz_steps(lw::i64 n) {  // never ends for 0
  lw::i64 steps = 0;
  lw::While([&] { return n != 1; },
            [&] {
              n = lw::select(n % 2 == 0, n / 2, 3 * n + 1);
              steps = steps + 1;
            });
  return steps;
}

}  // namespace

int main() {
  auto steps = lw::vectorize(&collatz_steps, {.name = "collatz_steps"});
  const std::vector<std::int64_t> good = {1, 7, 27, 97};
  const lw::Tensor counts = steps(good);
  for (const auto n : counts.span<std::int64_t>()) std::printf("%d ", static_cast<int>(n));
  std::printf("steps\n");

  try {  // a bad call: nothing has run
    steps(std::vector<int>{1, 2});
  } catch (const lw::UsageError& error) {
    std::printf("UsageError: %s\n", error.what());
  }

  const std::vector<std::int64_t> bad = {5, 27, 0, 8};
  try {  // an element that takes too long is named
    steps.with({.max_steps = 10000}, bad);
  } catch (const lw::ElementError& error) {
    std::printf("ElementError: element %d took too many steps\n",
                static_cast<int>(error.element()));
  }

  lw::CancelToken token;  // without a limit, another thread can stop it
  std::jthread impatient([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    token.cancel();
  });
  try {
    steps.with({.cancel = token}, bad);
  } catch (const lw::Cancelled&) {
    std::printf("Cancelled\n");
  }

  lw::Finished finished;  // a call that may be stopped, and goes on where it was
  std::vector<std::int64_t> many(100'000, 27), out(many.size());
  while (!finished.is_all()) {
    steps.into(out, {.timeout = 0.01, .finished = &finished}, many);
  }
  std::printf("%d elements in the end\n", static_cast<int>(finished.count()));
  std::printf("%d steps from 97, as before\n", static_cast<int>(steps(good).at<std::int64_t>(3)));
}

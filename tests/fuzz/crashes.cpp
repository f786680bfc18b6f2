#include "tests/fuzz/crashes.h"

#include <fmt/core.h>
#include <unistd.h>

#include <csignal>

namespace lw::fuzz {
namespace {

char present_seed[32] = "1", reduce[32] = "0";

extern "C" void run_isolated_instead(int) {
  char* words[] = {const_cast<char*>("lanewise_fuzz"),
                   const_cast<char*>("--seed"),
                   present_seed,
                   const_cast<char*>("--reduce"),
                   reduce,
                   const_cast<char*>("--crashed"),
                   nullptr};
  execv("/proc/self/exe", words);
  _exit(1);
}

void write(char (&text)[32], auto value) {
  *fmt::format_to_n(text, sizeof text - 1, "{}", value).out = '\0';
}

}  // namespace

void catch_crashes(double reduce_seconds) {
  write(reduce, reduce_seconds);
  struct sigaction action = {};
  action.sa_handler = run_isolated_instead;
  action.sa_flags = SA_NODEFER;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    sigaction(number, &action, nullptr);
  }
}

void expect_crash_of(std::uint64_t seed, unsigned seconds) {
  write(present_seed, seed);
  alarm(seconds);
}

}  // namespace lw::fuzz

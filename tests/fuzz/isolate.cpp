#include "tests/fuzz/isolate.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <new>
#include <sstream>

namespace lw::fuzz {
namespace {

[[noreturn]] void run_child(const std::function<Verdict()>& job, unsigned seconds, int out) {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    std::signal(number, SIG_DFL);
  }
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  alarm(seconds);
  const Verdict verdict = job();
  const Way way = verdict.way.value_or(Way{.threads = 0});
  const std::string text = fmt::format("{}\n{} {} {} {}\n{}", verdict.kind, way.threads, way.chunk,
                                       way.count, int{way.strided}, verdict.problem);
  const bool written = write(out, text.data(), text.size()) == std::ssize(text);
  _exit(written ? 0 : 1);
}

std::string read_all(int in) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(in, buffer, sizeof buffer);
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

PresentWay& PresentWay::get() {
  static PresentWay& present = *[] {
    void* const memory = mmap(nullptr, sizeof(PresentWay), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? new PresentWay : new (memory) PresentWay;
  }();
  return present;
}

Verdict run_isolated(const std::function<Verdict()>& job, unsigned seconds) {
  PresentWay::get().clear();
  int ends[2];
  if (pipe(ends) != 0) return {"error", "no pipe"};
  const pid_t child = fork();
  if (child < 0) return {"error", "no process"};
  if (child == 0) {
    close(ends[0]);
    run_child(job, seconds, ends[1]);
  }
  close(ends[1]);
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    const std::optional<Way> way = PresentWay::get().way();
    if (WTERMSIG(status) == SIGALRM) return {"hang", fmt::format("no end in {} s", seconds), way};
    return {"crash",
            fmt::format("died of signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))),
            way};
  }
  std::istringstream in(text);
  Verdict verdict;
  Way way;
  std::getline(in, verdict.kind);
  if (!(in >> way.threads >> way.chunk >> way.count >> way.strided))
    return {"crash", "ended without a verdict"};
  if (way.threads > 0) verdict.way = way;
  in.ignore(1);
  std::getline(in, verdict.problem, '\0');
  return verdict;
}

}  // namespace lw::fuzz

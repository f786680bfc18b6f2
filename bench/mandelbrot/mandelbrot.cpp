// Escape times of 1024 x 1024 points: in image order, shuffled, and of the shuffled ones those that
// escape (short, heavy-tailed counts: 7 % of the lanes of wide packets are of use).
// Fair: every candidate gives the same counts, except "free", which may contract; one thread unless
// said; outputs are reused. Hand-written code under our rules: no contraction, sticky masks.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "../hand/hand.h"
#include "../harness.h"
#include "../programs.h"
#include "lanewise/runtime/compile_queue.h"

namespace lw::bench {
namespace {

constexpr int kSide = 1024;
constexpr int kLimit = 1000;

struct Points {
  std::vector<float> a;
  std::vector<float> b;
};

Points image() {
  Points p;
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      p.a.push_back(-2.0f + 2.6f * static_cast<float>(j) / kSide);
      p.b.push_back(-1.3f + 2.6f * static_cast<float>(i) / kSide);
    }
  }
  return p;
}

Points shuffled(const Points& p) {
  std::vector<std::size_t> order(p.a.size());
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  Points q;
  for (const std::size_t i : order) {
    q.a.push_back(p.a[i]);
    q.b.push_back(p.b[i]);
  }
  return q;
}

Points escaping(const Points& p) {
  std::vector<std::int32_t> counts(p.a.size());
  hand::mandelbrot_scalar(p.a.data(), p.b.data(), counts.data(), std::ssize(p.a), kLimit);
  Points q;
  for (std::size_t i = 0; i < p.a.size(); ++i) {
    if (counts[i] == kLimit) continue;
    q.a.push_back(p.a[i]);
    q.b.push_back(p.b[i]);
  }
  return q;
}

struct Hand {
  hand::Mandelbrot* packets;
  hand::Mandelbrot* packets_free;
  hand::Mandelbrot* refill;
  hand::Mandelbrot* refill_free;
};

class Workload {
 public:
  Workload(std::string order, const Points& points, plan::Isa isa, const Options& options)
      : title_(fmt::format("mandelbrot, {}, {}", order, plan::name_of(isa))),
        p_(points),
        out_(points.a.size()),
        truth_(points.a.size()),
        isa_(isa),
        options_(options) {
    hand::mandelbrot_scalar(p_.a.data(), p_.b.data(), truth_.data(), std::ssize(p_.a), kLimit);
    candidates_.push_back({"scalar C++", hand_run(hand::mandelbrot_scalar)});
    const Hand h = isa == plan::Isa::V4
                       ? Hand{hand::mandelbrot_packets_strict_v4, hand::mandelbrot_packets_free_v4,
                              hand::mandelbrot_refill_strict_v4, hand::mandelbrot_refill_free_v4}
                       : Hand{hand::mandelbrot_packets_strict_v3, hand::mandelbrot_packets_free_v3,
                              hand::mandelbrot_refill_strict_v3, hand::mandelbrot_refill_free_v3};
    candidates_.push_back({"hand packets, our rules", hand_run(h.packets)});
    candidates_.push_back({"hand packets, free", hand_run(h.packets_free)});
    candidates_.push_back({"hand refill, our rules", hand_run(h.refill)});
    candidates_.push_back({"hand refill, free", hand_run(h.refill_free)});
    for (const int registers : {2, 4}) add_ours(false, registers, 1);
    add_ours(true, 0, 1);
    add_ours(true, 0, 2);
  }

  void run() {
    for (Candidate& c : candidates_) check(c);
    measure(candidates_, options_.repeats);
    print_times(title_, candidates_);
  }

  double time(const std::string& name) const { return seconds_of(candidates_, name); }
  double best_packets() const {
    return std::min(time("lanewise packets x 2"), time("lanewise packets x 4"));
  }
  const std::string& title() const { return title_; }

 private:
  std::function<void()> hand_run(hand::Mandelbrot* function) {
    return [this, function] {
      function(p_.a.data(), p_.b.data(), out_.data(), std::ssize(out_), kLimit);
    };
  }

  void add_ours(bool refill, int registers, int threads) {
    VectorizeOptions options;
    options.name = "mandelbrot";
    options.schedule.isa = isa_;
    options.schedule.refill = refill;
    if (registers > 0) options.schedule.interleave = registers;
    auto f = std::make_shared<Vectorized<decltype(&mandelbrot)>>(&mandelbrot, options);
    MapOptions map;
    map.threads = threads;
    map.compile = Compile::Now;
    candidates_.push_back(
        {fmt::format("lanewise {}{}", refill ? "refill" : fmt::format("packets x {}", registers),
                     threads > 1 ? ", 2 threads" : ""),
         [this, f, map] { f->into(out_, map, p_.a, p_.b); }});
  }

  void check(Candidate& c) {
    std::fill(out_.begin(), out_.end(), -1);
    c.run();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < out_.size(); ++i) wrong += out_[i] != truth_[i];
    const bool may_differ = c.name.find("free") != std::string::npos;
    if (wrong > (may_differ ? out_.size() / 100 : 0)) {
      fail(fmt::format("{}: {} gives {} wrong counts", title_, c.name, wrong));
    }
  }

  std::string title_;
  const Points& p_;
  std::vector<std::int32_t> out_;
  std::vector<std::int32_t> truth_;
  plan::Isa isa_;
  const Options& options_;
  std::vector<Candidate> candidates_;
};

}  // namespace

void run_mandelbrot(const Options& options, std::vector<Figure>& figures) {
  const Points in_order = image();
  const Points mixed = shuffled(in_order);
  const Points short_lived = escaping(mixed);
  for (const plan::Isa isa : {plan::Isa::V4, plan::Isa::V3}) {
    if (isa > plan::host_isa()) continue;
    const bool wide = isa == plan::Isa::V4;
    Workload a("image order", in_order, isa, options);
    a.run();
    figures.push_back({a.title() + ": refill / hand refill",
                       a.time("hand refill, our rules") / a.time("lanewise refill"), 0.95});
    figures.push_back({a.title() + ": refill / scalar",
                       a.time("scalar C++") / a.time("lanewise refill"), wide ? 20.0 : 10.0});
    figures.push_back({a.title() + ": 2 threads",
                       a.time("lanewise refill") / a.time("lanewise refill, 2 threads"), 1.85});
    Workload b("shuffled", mixed, isa, options);
    b.run();
    figures.push_back(
        {b.title() + ": refill / best packets", b.best_packets() / b.time("lanewise refill"), 3});
    figures.push_back({b.title() + ": 2 threads",
                       b.time("lanewise refill") / b.time("lanewise refill, 2 threads"), 1.85});
    Workload c("escaping points", short_lived, isa, options);
    c.run();
    figures.push_back({c.title() + ": refill / best packets",
                       c.best_packets() / c.time("lanewise refill"), wide ? 5.0 : 3.0});
    figures.push_back({c.title() + ": 2 threads",
                       c.time("lanewise refill") / c.time("lanewise refill, 2 threads"), 1.85});
  }
}

}  // namespace lw::bench

// Kepler's equation for 10^6 pairs (m, e), Newton to 1e-12 in f64; about five steps an element.
// Fair: hand-written code has its own polynomial sine and cosine of about one ULP, as ours has; the
// scalar loop calls libm. Results must agree with the scalar loop to 4e-14.
#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <random>

#include "../hand/hand.h"
#include "../harness.h"
#include "../programs.h"

namespace lw::bench {
namespace {

constexpr std::size_t kCount = 1000000;

void run_on(plan::Isa isa, const Options& options, std::vector<Figure>& figures) {
  std::mt19937_64 random(1);
  std::vector<double> m(kCount);
  std::vector<double> e(kCount);
  std::vector<double> out(kCount);
  std::vector<double> truth(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    m[i] = static_cast<double>(random() >> 11) * 0x1p-53 * 6.283185307179586;
    e[i] = static_cast<double>(random() >> 11) * 0x1p-53 * 0.9;
  }
  hand::kepler_scalar(m.data(), e.data(), truth.data(), kCount);

  std::vector<Candidate> candidates;
  const auto add_hand = [&](const char* name, hand::Kepler* function) {
    candidates.push_back(
        {name, [&, function] { function(m.data(), e.data(), out.data(), kCount); }});
  };
  const auto add_ours = [&](const char* name, bool refill, int threads) {
    VectorizeOptions schedule;
    schedule.name = "kepler";
    schedule.schedule.isa = isa;
    schedule.schedule.refill = refill;
    auto f = std::make_shared<Vectorized<decltype(&kepler)>>(&kepler, schedule);
    MapOptions map;
    map.threads = threads;
    map.compile = Compile::Now;
    candidates.push_back({name, [&, f, map] { f->into(out, map, m, e); }});
  };
  const bool wide = isa == plan::Isa::V4;
  add_hand("scalar C++ with libm", hand::kepler_scalar);
  add_hand("hand packets x 2", wide ? hand::kepler_packets_u2_v4 : hand::kepler_packets_u2_v3);
  add_hand("hand packets x 4", wide ? hand::kepler_packets_u4_v4 : hand::kepler_packets_u4_v3);
  add_ours("lanewise packets", false, 1);
  add_ours("lanewise refill", true, 1);
  add_ours("lanewise packets, 2 threads", false, 2);

  const std::string title = fmt::format("kepler f64, {}", plan::name_of(isa));
  for (Candidate& c : candidates) {
    std::fill(out.begin(), out.end(), -1);
    c.run();
    for (std::size_t i = 0; i < kCount; ++i) {
      if (!(std::fabs(out[i] - truth[i]) <= 4e-14)) {
        fail(fmt::format("{}: {}: element {} is {} instead of {}", title, c.name, i, out[i],
                         truth[i]));
      }
    }
  }
  measure(candidates, options.repeats);
  print_times(title, candidates);
  const double ours = seconds_of(candidates, "lanewise packets");
  figures.push_back({title + ": packets / scalar",
                     seconds_of(candidates, "scalar C++ with libm") / ours, wide ? 12.0 : 7.0});
  figures.push_back(
      {title + ": 2 threads", ours / seconds_of(candidates, "lanewise packets, 2 threads"), 1.85});
}

}  // namespace

void run_kepler(const Options& options, std::vector<Figure>& figures) {
  for (const plan::Isa isa : {plan::Isa::V4, plan::Isa::V3}) {
    if (isa <= plan::host_isa()) run_on(isa, options, figures);
  }
}

}  // namespace lw::bench

// Mandelbrot and Kepler all ways there are: from lane-form text and from the C++ front end, as
// packets and with refill, on the tile machine and as machine code of every instruction set.
#include <gtest/gtest.h>

#include <cmath>

#include "lanewise/ir/evaluate.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/plan/choose.h"
#include "tests/support/programs.h"
#include "tests/support/run_kernel.h"

namespace lw {
namespace {

struct Way {
  std::string name;
  kernel::Kernel kernel;
  std::shared_ptr<runtime::Code> code;  // null: the tile machine
  int in_flight = 256;
};

std::vector<Way> all_ways(const ir::Function& f, const std::string& name) {
  std::vector<Way> ways;
  for (const bool refill : {false, true}) {
    const std::string file = name + (refill ? "_refill.lane" : "_packets.lane");
    const kernel::Kernel kernels[] = {kernel::parse(test::program_text(file)),
                                      kernel::lower(f, {.refill = refill})};
    for (const kernel::Kernel& kernel : kernels) {
      const std::string from = (&kernel == kernels ? "text, " : "front end, ");
      ways.push_back({from + "tile machine", kernel, nullptr});
      for (const plan::Isa isa : test::fast_isas()) {
        for (const int interleave : {1, 2, 4}) {
          const plan::Wish wish{.refill = refill, .isa = isa, .interleave = interleave};
          const plan::Schedule schedule = plan::choose(f, wish, nullptr).schedule;
          ways.push_back({from + plan::to_string(schedule), kernel,
                          backend::cpu::compile(kernel, schedule), schedule.lanes * interleave});
        }
      }
    }
  }
  return ways;
}

std::vector<std::int64_t> run(const Way& way, const test::Arrays& arrays, std::int64_t count) {
  if (way.code == nullptr) return test::run_tile(way.kernel, arrays, count);
  return test::run_code(*way.code, arrays, count);
}

TEST(ConformancePrograms, MandelbrotEqualsAPlainLoopAllWays) {
  for (const Way& way : all_ways(test::mandelbrot_program(), "mandelbrot")) {
    for (const bool shuffled : {false, true}) {
      const test::Points p = test::mandelbrot_points(53, shuffled);
      std::vector<std::int32_t> out(p.a.size(), -1);
      EXPECT_TRUE(run(way, {{p.a.data(), p.b.data()}, {out.data()}}, std::ssize(out)).empty());
      EXPECT_EQ(out, p.steps) << way.name;
    }
  }
}

TEST(ConformancePrograms, EscapingPointsAloneEqualAPlainLoopAllWays) {
  const test::Points all = test::mandelbrot_points(64, true);
  test::Points p;
  for (std::size_t i = 0; i < all.a.size(); ++i) {
    if (all.steps[i] == 1000) continue;
    p.a.push_back(all.a[i]);
    p.b.push_back(all.b[i]);
    p.steps.push_back(all.steps[i]);
  }
  ASSERT_GT(p.a.size(), 1000u);
  for (const Way& way : all_ways(test::mandelbrot_program(), "mandelbrot")) {
    std::vector<std::int32_t> out(p.a.size(), -1);
    run(way, {{p.a.data(), p.b.data()}, {out.data()}}, std::ssize(out));
    EXPECT_EQ(out, p.steps) << way.name;
  }
}

TEST(ConformancePrograms, KeplerIsCloseToLibmAndTheSameAllWays) {
  const test::Orbits o = test::kepler_orbits(4001);
  std::vector<double> truth;
  const ir::Function f = test::kepler_program();
  for (std::size_t i = 0; i < o.m.size(); ++i) {
    const std::array<Scalar, 2> arguments = {o.m[i], o.e[i]};
    truth.push_back(ir::evaluate(f, arguments).results[0].as<double>());
    ASSERT_LE(std::fabs(truth[i] - o.x[i]), 4e-14) << i;
  }
  for (const Way& way : all_ways(f, "kepler")) {
    std::vector<double> out(o.m.size(), -1);
    run(way, {{o.m.data(), o.e.data()}, {out.data()}}, std::ssize(out));
    EXPECT_EQ(out, truth) << way.name;
  }
}

TEST(ConformancePrograms, CountsAroundTheLanesInFlightAreExact) {
  const test::Points p = test::mandelbrot_points(16, true);
  for (const Way& way : all_ways(test::mandelbrot_program(), "mandelbrot")) {
    const int n = way.in_flight;
    for (const int count : {0, 1, n - 1, n, n + 1, 2 * n + 1}) {
      if (count > std::ssize(p.a)) continue;
      std::vector<std::int32_t> out(p.a.size(), -1);
      run(way, {{p.a.data(), p.b.data()}, {out.data()}}, count);
      for (int i = 0; i < std::ssize(out); ++i) {
        const auto at = static_cast<std::size_t>(i);
        ASSERT_EQ(out[at], i < count ? p.steps[at] : -1) << way.name << ", " << count;
      }
    }
  }
}

}  // namespace
}  // namespace lw

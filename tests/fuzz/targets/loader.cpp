// libFuzzer target: any bytes of a file in the disk cache are "not there", or an entry that encodes
// to the same bytes, with a plan that prints to text of the same plan or is refused. The checksum
// is set, as nothing else would be reached otherwise.
#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>

#include "lanewise/runtime/disk_entry.h"
#include "lanewise/runtime/stored_plan.h"

namespace lw::runtime {
namespace {

constexpr std::string_view kKey = "key";

void require(bool condition, std::string_view what) {
  if (condition) return;
  fmt::print(stderr, "{}\n", what);
  std::abort();
}

void check_plan(const std::string& text) {
  const auto plan = parse_plan(text);
  if (!plan) return;
  const std::string printed = print_plan(*plan);
  const auto again = parse_plan(printed);
  require(again.has_value(), "a plan that is printed is refused");
  require(again->choice.schedule == plan->choice.schedule, "another schedule");
  require(print_plan(*again) == printed, "it prints otherwise");
  const plan::Schedule& s = plan->choice.schedule;
  require(*plan::name_of(s.isa) != '\0', "a level that is none");
  require(s.lanes * s.interleave > 0 && s.steps > 0, "no lanes or no steps");
  require(plan->trips.samples >= 0 && plan->trips.mean >= 0, "counts below 0");
}

void check(std::string bytes) {
  check_plan(bytes);
  seal(bytes);
  DiskEntry entry;
  const std::string sealed = bytes;
  if (decode(bytes, kKey, entry) != Verdict::Good) return;
  require(encode(kKey, entry) == sealed, "it encodes otherwise");
  check_plan(entry.plan);
}

}  // namespace
}  // namespace lw::runtime

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lw::runtime::check({reinterpret_cast<const char*>(data), size});
  return 0;
}

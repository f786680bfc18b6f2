// The memory of this process as the system sees it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace lw::test {

// Sanitizers have memory of their own for each byte of ours.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif
#else
inline constexpr bool kIsSanitized = false;
#endif

/// A field in kB of such a file, in bytes; 0: there is none.
inline std::int64_t field_bytes(const char* path, const std::string& field) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field + ":")) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

inline std::int64_t available_bytes() { return field_bytes("/proc/meminfo", "MemAvailable"); }

/// How much larger the process was at its largest, since this was made.
class PeakGrowth {
 public:
  PeakGrowth() {
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts from here
    before_ = field_bytes("/proc/self/status", "VmRSS");
  }
  std::int64_t bytes() const { return field_bytes("/proc/self/status", "VmHWM") - before_; }

 private:
  std::int64_t before_;
};

}  // namespace lw::test

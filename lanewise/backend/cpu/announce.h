// Tells perf and gdb the names of kernels: LANEWISE_PERF=1 writes /tmp/perf-PID.map, which `perf
// report` reads, and LANEWISE_GDB=1 registers them with a debugger that is attached.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lw::backend::cpu {

struct Symbol {
  std::string name;
  std::uint64_t address;
  std::uint64_t size;
};

/// The functions of an object file whose function `entry` lies at `address`. That one is called as
/// the source that the file names, and others have this in front.
std::vector<Symbol> find_symbols(const std::string& object, const char* entry,
                                 std::uint64_t address);

/// An object file without code, which says what lies where.
std::string symbol_file(const std::vector<Symbol>& symbols);

/// While it lives a debugger knows the functions. perf has no way to forget them.
class Announcement {
 public:
  /// Null if nobody is to be told.
  static std::unique_ptr<Announcement> make(const std::string& object, const char* entry,
                                            std::uint64_t address);
  ~Announcement();
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

 private:
  Announcement() = default;
  struct Registered;
  std::unique_ptr<Registered> registered_;
};

}  // namespace lw::backend::cpu

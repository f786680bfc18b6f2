// Machine code kept on disk between processes: a directory with a file for each program.
//
// What a file holds is in disk_entry.h. Writers make a new file under another
// name and rename it: readers see all of it or nothing. Directory and files must belong to the
// effective user, be writable by nobody else and be no symbolic links. Whatever goes wrong, the
// answer is "not there": the caller compiles. LANEWISE_DUMP=cache says why.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "lanewise/base/fork.h"
#include "lanewise/base/hash.h"
#include "lanewise/runtime/disk_entry.h"

namespace lw::runtime {

class DiskStore {
 public:
  struct Options {
    std::string directory;  // absolute, made if need be; otherwise nothing is kept
    std::uint64_t most_bytes = std::uint64_t{256} << 20;
    std::uint64_t (*hash)(std::string_view) = base::hash;  // names the files
  };
  using Entry = DiskEntry;
  struct Info {
    std::string directory;  // empty: nothing is kept
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t writes = 0;
  };

  explicit DiskStore(Options options);
  ~DiskStore();
  DiskStore(const DiskStore&) = delete;
  DiskStore& operator=(const DiskStore&) = delete;

  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  std::optional<Entry> load(std::string_view key);
  /// Beyond the bound the files that were not used for longest are removed.
  void save(std::string_view key, const Entry& entry);
  void remove(std::string_view key);
  /// Removes all files that are ours.
  void clear();
  Info info() const;

 private:
  class File;

  std::string file_name(std::string_view key) const;
  /// The directory, or null.
  std::shared_ptr<File> directory(bool make);
  std::shared_ptr<File> open_directory();
  bool write_file(int at, const std::string& name, const std::string& bytes);
  void trim(int at, std::uint64_t added);
  void turn_off(std::string_view why);

  Options options_;
  std::atomic<bool> is_on_{true};
  base::Mutex mutex_;  // of what follows
  std::shared_ptr<File> directory_;
  bool is_counted_ = false;
  std::uint64_t total_ = 0;  // bytes found when the files were last counted
  std::uint64_t added_ = 0;  // since then
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, writes_{0};
};

/// The store that the environment asks for: in LANEWISE_CACHE_DIR, else $XDG_CACHE_HOME/lanewise,
/// else ~/.cache/lanewise, at most LANEWISE_DISK_CACHE_BYTES. None with LANEWISE_DISK_CACHE=0, in
/// programs that run with another user's rights, or for a relative path.
std::shared_ptr<DiskStore> disk_store();

/// Reads the environment again.
void reopen_disk_store();

}  // namespace lw::runtime

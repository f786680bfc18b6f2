#include "lanewise/runtime/disk_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "lanewise/base/environment.h"

namespace lw::runtime {
namespace {

constexpr std::string_view kSuffix = ".code";
constexpr std::string_view kNew = ".new-";  // begins the names of files that are being written
constexpr std::time_t kAbandoned = 3600;    // seconds after which their writer must be dead
constexpr std::time_t kUnknown = 60;        // or is, if no process here has its number

bool is_ours(const struct stat& s) {
  return s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool read_all(int file, std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// A file beyond RLIMIT_FSIZE raises a signal that would end the process; here it is an error.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoFileSizeSignal() {
    if (sigismember(&before_, SIGXFSZ) == 0) {
      const timespec no_time{};
      sigtimedwait(&signal_, nullptr, &no_time);
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  sigset_t signal_, before_;
};

struct Found {
  std::string name;
  std::uint64_t bytes;
  timespec used;
};

/// The files of ours in a directory.
std::vector<Found> list(int at) {
  std::vector<Found> found;
  const int copy = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* directory = copy >= 0 ? fdopendir(copy) : nullptr;
  if (directory == nullptr) {
    if (copy >= 0) close(copy);
    return found;
  }
  while (const dirent* entry = readdir(directory)) {
    const std::string_view name = entry->d_name;
    struct stat s;
    if ((name.ends_with(kSuffix) || name.starts_with(kNew)) &&
        fstatat(at, entry->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode)) {
      found.push_back({std::string(name), static_cast<std::uint64_t>(s.st_size), s.st_mtim});
    }
  }
  closedir(directory);
  return found;
}

/// True for a file whose writer was killed. One in another container is not known here; it would
/// not keep what it has written.
bool is_abandoned(const Found& file, std::time_t now) {
  if (!file.name.starts_with(kNew)) return false;
  const std::time_t age = now - file.used.tv_sec;
  const int writer = std::atoi(file.name.c_str() + kNew.size());
  return age > kAbandoned ||
         (age > kUnknown && writer > 0 && kill(writer, 0) != 0 && errno == ESRCH);
}

/// Makes a directory and those above it, for this user only.
void make_directories(const std::string& path) {
  for (std::size_t end = 1; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    mkdir(path.substr(0, end).c_str(), 0700);
  }
}

DiskStore::Options from_environment() {
  DiskStore::Options options;
  options.most_bytes = base::environment_number("LANEWISE_DISK_CACHE_BYTES", options.most_bytes);
  if (getauxval(AT_SECURE) != 0 || base::environment("LANEWISE_DISK_CACHE") == "0") return options;
  options.directory = base::environment("LANEWISE_CACHE_DIR");
  if (!options.directory.empty()) return options;
  if (const std::string cache = base::environment("XDG_CACHE_HOME"); !cache.empty()) {
    options.directory = cache + "/lanewise";
  } else if (const std::string home = base::environment("HOME"); !home.empty()) {
    options.directory = home + "/.cache/lanewise";
  }
  return options;
}

struct Instance {
  base::Mutex mutex;
  std::shared_ptr<DiskStore> store;
};

Instance& instance() {
  static Instance& it = *new Instance;
  return it;
}

}  // namespace

/// An open file or directory.
class DiskStore::File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

DiskStore::DiskStore(Options options) : options_(std::move(options)) {
  std::string& path = options_.directory;
  while (path.ends_with('/')) path.pop_back();  // with one, O_NOFOLLOW would follow
  if (path.empty()) {
    is_on_ = false;
  } else if (path[0] != '/') {
    turn_off("not an absolute path");
  }
}

DiskStore::~DiskStore() = default;

void DiskStore::turn_off(std::string_view why) {
  if (!is_on_.exchange(false)) return;
  base::dump("cache", [&] {
    return fmt::format("{}: {}; machine code is kept in memory only", options_.directory, why);
  });
}

std::string DiskStore::file_name(std::string_view key) const {
  return fmt::format("{:016x}{}", options_.hash(key), kSuffix);
}

std::shared_ptr<DiskStore::File> DiskStore::open_directory() {
  auto at = std::make_shared<File>(
      open(options_.directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat s;
  if (at->get() < 0) {
    if (errno != ENOENT) turn_off(std::strerror(errno));
    return nullptr;
  }
  if (fstat(at->get(), &s) != 0 || !is_ours(s)) {
    turn_off("it belongs to another user, or others may write to it");
    return nullptr;
  }
  return at;
}

std::shared_ptr<DiskStore::File> DiskStore::directory(bool make) {
  const std::lock_guard lock(mutex_);
  if (!is_on()) return nullptr;
  struct stat s;
  if (make && directory_ != nullptr && fstat(directory_->get(), &s) == 0 && s.st_nlink == 0) {
    directory_ = nullptr;  // somebody removed it
  }
  if (directory_ == nullptr) directory_ = open_directory();
  if (directory_ != nullptr || !make || !is_on()) return directory_;
  make_directories(options_.directory);
  directory_ = open_directory();
  if (directory_ == nullptr) turn_off("it cannot be made");
  return directory_;
}

std::optional<DiskStore::Entry> DiskStore::load(std::string_view key) {
  if (!is_on()) return std::nullopt;
  misses_.fetch_add(1, std::memory_order_relaxed);
  const std::shared_ptr<File> held = directory(false);
  if (held == nullptr) return std::nullopt;
  const int at = held->get();
  const std::string name = file_name(key);
  const File file(openat(at, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat s;
  if (file.get() < 0 || fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode) || !is_ours(s)) {
    return std::nullopt;
  }
  if (static_cast<std::uint64_t>(s.st_size) > options_.most_bytes) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(s.st_size), '\0');
  if (!read_all(file.get(), bytes)) return std::nullopt;
  Entry entry;
  switch (decode(bytes, key, entry)) {
    case Verdict::Good:
      break;
    case Verdict::Damaged:
      unlinkat(at, name.c_str(), 0);
      return std::nullopt;
    case Verdict::OtherKey:
      return std::nullopt;
  }
  futimens(file.get(), nullptr);
  misses_.fetch_sub(1, std::memory_order_relaxed);
  hits_.fetch_add(1, std::memory_order_relaxed);
  return entry;
}

void DiskStore::save(std::string_view key, const Entry& entry) {
  const std::shared_ptr<File> held = directory(true);
  if (held == nullptr) return;
  const int at = held->get();
  const std::string bytes = encode(key, entry);
  if (bytes.size() > options_.most_bytes || !write_file(at, file_name(key), bytes)) return;
  writes_.fetch_add(1, std::memory_order_relaxed);
  trim(at, bytes.size());
}

bool DiskStore::write_file(int at, const std::string& name, const std::string& bytes) {
  static std::atomic<std::uint64_t> number{0};
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::string temporary =
      fmt::format("{}{}-{}-{}", kNew, getpid(), number++, now.tv_nsec);  // O_EXCL decides
  bool is_written = false;
  {
    const NoFileSizeSignal guard;
    const int file =
        openat(at, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) {
      is_written = write_all(file, bytes);
      is_written = close(file) == 0 && is_written;  // some file systems say it only now
      is_written = is_written && renameat(at, temporary.c_str(), at, name.c_str()) == 0;
    }
    const int error = errno;
    if (!is_written && file >= 0) unlinkat(at, temporary.c_str(), 0);
    errno = error;
  }
  if (!is_written) {
    base::dump("cache", [&] {
      return fmt::format("{}: {}; not kept on disk", options_.directory, std::strerror(errno));
    });
  }
  return is_written;
}

void DiskStore::trim(int at, std::uint64_t added) {
  const std::lock_guard lock(mutex_);
  added_ += added;
  // Other processes add files too, so these are counted now and then.
  const std::uint64_t most = options_.most_bytes;
  if (is_counted_ && total_ + added_ <= most && added_ <= most / 16) return;
  std::vector<Found> files = list(at);
  is_counted_ = true;
  added_ = 0;
  total_ = 0;
  for (const Found& f : files) total_ += f.bytes;
  const bool is_full = total_ > most;
  std::sort(files.begin(), files.end(), [](const Found& a, const Found& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  const std::time_t now = std::time(nullptr);
  for (const Found& f : files) {
    const bool is_in_the_way = is_full && total_ > most - most / 8 && !f.name.starts_with(kNew);
    if (!is_abandoned(f, now) && !is_in_the_way) continue;
    unlinkat(at, f.name.c_str(), 0);
    total_ -= f.bytes;
  }
}

void DiskStore::remove(std::string_view key) {
  if (const auto at = directory(false)) unlinkat(at->get(), file_name(key).c_str(), 0);
}

void DiskStore::clear() {
  const auto at = directory(false);
  if (at == nullptr) return;
  for (const Found& f : list(at->get())) unlinkat(at->get(), f.name.c_str(), 0);
}

DiskStore::Info DiskStore::info() const {
  return {.directory = is_on() ? options_.directory : "",
          .hits = hits_.load(),
          .misses = misses_.load(),
          .writes = writes_.load()};
}

std::shared_ptr<DiskStore> disk_store() {
  Instance& it = instance();
  const std::lock_guard lock(it.mutex);
  if (it.store == nullptr) it.store = std::make_shared<DiskStore>(from_environment());
  return it.store;
}

void reopen_disk_store() {
  Instance& it = instance();
  const std::lock_guard lock(it.mutex);
  it.store = nullptr;
}

}  // namespace lw::runtime

#include "lanewise/runtime/disk_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fork.h"
#include "tests/support/temporary_directory.h"

namespace lw::runtime {
namespace {

using test::read_file;
using test::write_file;

constexpr uid_t kNobody = 65534;

class RuntimeDiskStore : public testing::Test {
 protected:
  std::string path() const { return directory_.path() + "/cache"; }
  std::vector<std::string> files() const { return directory_.files("/cache"); }
  DiskStore::Options options() const { return {.directory = path()}; }
  /// Saves an entry and returns the path of its file.
  std::string save_one() {
    DiskStore(options()).save("key", entry_);
    const auto all = files();
    return all.size() == 1 ? all[0] : "";
  }
  bool is_found() { return DiskStore(options()).load("key").has_value(); }

  test::TemporaryDirectory directory_;
  const DiskStore::Entry entry_{.plan = "a plan", .object = std::string("an\0object", 9)};
};

mode_t mode_of(const std::string& path) {
  struct stat s{};
  return lstat(path.c_str(), &s) == 0 ? s.st_mode & 07777 : 0;
}

void set_age(const std::string& path, int seconds) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const timespec times[2] = {{now.tv_sec - seconds, 0}, {now.tv_sec - seconds, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST_F(RuntimeDiskStore, WhatOneSavesAnotherFinds) {
  DiskStore first(options());
  EXPECT_FALSE(first.load("key"));
  first.save("key", entry_);
  DiskStore second(options());
  const auto found = second.load("key");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->plan, entry_.plan);
  EXPECT_EQ(found->object, entry_.object);
  EXPECT_FALSE(second.load("other key"));
  EXPECT_EQ(second.info().hits, 1u);
  EXPECT_EQ(second.info().misses, 1u);
  EXPECT_EQ(first.info().writes, 1u);
  EXPECT_EQ(second.info().directory, path());
}

TEST_F(RuntimeDiskStore, DirectoryAndFilesAreForTheUserOnly) {
  const mode_t before = umask(0);
  DiskStore({.directory = path() + "/made/on/the/way"}).save("key", entry_);
  umask(before);
  EXPECT_EQ(mode_of(path()), 0700u);
  EXPECT_EQ(mode_of(path() + "/made/on/the/way"), 0700u);
  const auto found = directory_.files("/cache/made/on/the/way");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(mode_of(found[0]), 0600u);
}

TEST_F(RuntimeDiskStore, ADamagedByteAnywhereIsAMissAndRemovesTheFile) {
  const std::string file = save_one();
  const std::string good = read_file(file);
  ASSERT_GT(good.size(), 60u);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char flip : {'\x01', '\x80'}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      write_file(file, bad);
      EXPECT_FALSE(is_found()) << i;
      EXPECT_TRUE(files().empty()) << i;
    }
  }
  write_file(file, good);
  EXPECT_TRUE(is_found());
}

TEST_F(RuntimeDiskStore, AShorterOrLongerFileIsAMissAndRemoved) {
  const std::string file = save_one();
  const std::string good = read_file(file);
  for (std::size_t size = 0; size < good.size(); ++size) {
    write_file(file, good.substr(0, size));
    EXPECT_FALSE(is_found()) << size;
    EXPECT_TRUE(files().empty()) << size;
  }
  write_file(file, good + "x");
  EXPECT_FALSE(is_found());
  EXPECT_TRUE(files().empty());
}

TEST_F(RuntimeDiskStore, EqualHashesOfDifferentKeysAreToldApart) {
  DiskStore store({.directory = path(), .hash = [](std::string_view) { return std::uint64_t{7}; }});
  store.save("one", entry_);
  EXPECT_FALSE(store.load("two"));
  EXPECT_TRUE(store.load("one"));
  store.save("two", {.plan = "", .object = "two's"});
  EXPECT_FALSE(store.load("one"));
  EXPECT_EQ(store.load("two")->object, "two's");
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(RuntimeDiskStore, AFileThatOthersMayWriteToIsNotUsed) {
  const std::string file = save_one();
  for (const mode_t mode : {0620, 0602, 0666}) {
    ASSERT_EQ(chmod(file.c_str(), mode), 0);
    EXPECT_FALSE(is_found()) << mode;
    EXPECT_EQ(files().size(), 1u);
  }
  save_one();  // replaces it
  EXPECT_TRUE(is_found());
}

TEST_F(RuntimeDiskStore, ADirectoryThatOthersMayWriteToIsNotUsed) {
  save_one();
  for (const mode_t mode : {0770, 0707, 01777}) {
    ASSERT_EQ(chmod(path().c_str(), mode), 0);
    DiskStore store(options());
    EXPECT_FALSE(store.load("key")) << mode;
    EXPECT_FALSE(store.is_on());
    store.save("another key", entry_);
    EXPECT_EQ(store.info().directory, "");
  }
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(RuntimeDiskStore, FilesAndDirectoriesOfOtherUsersAreNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const std::string file = save_one();
  ASSERT_EQ(chown(file.c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(is_found());
  ASSERT_EQ(chown(file.c_str(), 0, 0), 0);
  EXPECT_TRUE(is_found());
  ASSERT_EQ(chown(path().c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(is_found());
  DiskStore(options()).save("another key", entry_);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(RuntimeDiskStore, ASymbolicLinkIsNotFollowedAndIsReplaced) {
  const std::string file = save_one();
  const std::string elsewhere = directory_.path() + "/elsewhere";
  ASSERT_EQ(rename(file.c_str(), elsewhere.c_str()), 0);
  ASSERT_EQ(symlink(elsewhere.c_str(), file.c_str()), 0);
  EXPECT_FALSE(is_found());
  const std::string before = read_file(elsewhere);
  DiskStore(options()).save("key", {.plan = "", .object = "new"});
  EXPECT_EQ(read_file(elsewhere), before);
  EXPECT_EQ(DiskStore(options()).load("key")->object, "new");
}

TEST_F(RuntimeDiskStore, ADirectoryBehindASymbolicLinkIsNotUsed) {
  save_one();
  const std::string link = directory_.path() + "/link";
  ASSERT_EQ(symlink(path().c_str(), link.c_str()), 0);
  for (const char* end : {"", "/", "//"}) {
    DiskStore store({.directory = link + end});
    EXPECT_FALSE(store.load("key")) << end;
    EXPECT_FALSE(store.is_on()) << end;
    store.save("another key", entry_);
  }
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(RuntimeDiskStore, ADirectoryThatCannotBeMadeIsNotUsed) {
  write_file(directory_.path() + "/file", "");
  for (const std::string& where : {directory_.path() + "/file", directory_.path() + "/file/below",
                                   std::string("/proc/lanewise")}) {
    DiskStore store({.directory = where});
    store.save("key", entry_);
    EXPECT_FALSE(store.load("key")) << where;
    EXPECT_FALSE(store.is_on()) << where;
  }
}

TEST_F(RuntimeDiskStore, ADirectoryThatCannotBeWrittenIsStillRead) {
  const std::string file = save_one();
  const bool is_root = geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
    ASSERT_EQ(chown(path().c_str(), kNobody, kNobody), 0);
    ASSERT_EQ(chown(file.c_str(), kNobody, kNobody), 0);
  }
  ASSERT_EQ(chmod(path().c_str(), 0500), 0);
  EXPECT_TRUE(test::holds_in_child([&] {
    if (is_root && setuid(kNobody) != 0) return false;
    DiskStore store(options());
    store.save("another key", entry_);
    return store.load("key") && !store.load("another key");
  }));
  EXPECT_EQ(files().size(), 1u);
  chmod(path().c_str(), 0700);
}

TEST_F(RuntimeDiskStore, ARelativeDirectoryIsNotUsed) {
  for (const char* where : {"relative-cache", "./relative-cache", "../relative-cache", "."}) {
    DiskStore store({.directory = where});
    EXPECT_FALSE(store.is_on());
    store.save("key", entry_);
    EXPECT_FALSE(store.load("key"));
  }
  EXPECT_FALSE(std::filesystem::exists("relative-cache"));
  EXPECT_FALSE(std::filesystem::exists("../relative-cache"));
}

TEST_F(RuntimeDiskStore, AFileThatMayNotBecomeSoLargeIsGivenUp) {
  EXPECT_TRUE(test::holds_in_child([&] {
    const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    DiskStore store(options());
    store.save("key", {.plan = "", .object = std::string(5000, 'x')});
    if (store.load("key") || !files().empty()) return false;
    store.save("key", entry_);  // the next one fits
    return store.load("key").has_value();
  }));
}

TEST_F(RuntimeDiskStore, AFullDiskIsGivenUp) {
  ASSERT_EQ(mkdir(path().c_str(), 0700), 0);
  if (mount("tmpfs", path().c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0) {
    GTEST_SKIP() << "needs a file system of its own";
  }
  {
    DiskStore store(options());
    store.save("key", {.plan = "", .object = std::string(100'000, 'x')});
    EXPECT_FALSE(store.load("key"));
    EXPECT_TRUE(files().empty());
    store.save("key", entry_);
    EXPECT_TRUE(store.load("key"));
  }
  EXPECT_EQ(umount(path().c_str()), 0);
}

TEST_F(RuntimeDiskStore, BeyondItsBoundTheLongestUnusedGo) {
  const std::string object(1000, 'x');
  DiskStore store({.directory = path(), .most_bytes = 8000});
  for (int i = 0; i < 6; ++i) {
    store.save(fmt::format("key {}", i), {.plan = "", .object = object});
  }
  for (const std::string& file : files()) set_age(file, 1000);
  EXPECT_TRUE(store.load("key 0"));  // used now
  store.save("key 6", {.plan = "", .object = object});
  EXPECT_EQ(files().size(), 7u);
  store.save("key 7", {.plan = "", .object = object});
  EXPECT_LE(files().size(), 7u);
  EXPECT_GE(files().size(), 5u);
  for (const char* key : {"key 0", "key 6", "key 7"}) EXPECT_TRUE(store.load(key)) << key;
  store.save("too large", {.plan = "", .object = std::string(9000, 'x')});
  EXPECT_FALSE(store.load("too large"));
  EXPECT_TRUE(store.load("key 0"));
}

TEST_F(RuntimeDiskStore, FilesOfDeadWritersGoAndOthersStay) {
  save_one();
  const std::string dead = path() + "/.new-1-1-1";
  const std::string alive = path() + "/.new-1-1-2";
  const std::string foreign = path() + "/notes.txt";
  // No process has this number; in another container there may be one.
  const std::string killed = path() + "/.new-2147483647-1-1";
  const std::string unknown = path() + "/.new-2147483647-1-2";
  for (const std::string& file : {dead, alive, foreign, killed, unknown}) write_file(file, "x");
  set_age(dead, 4000);
  set_age(foreign, 4000);
  set_age(killed, 100);
  set_age(alive, 100);
  save_one();
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_FALSE(std::filesystem::exists(killed));
  EXPECT_TRUE(std::filesystem::exists(unknown));
  EXPECT_TRUE(std::filesystem::exists(alive));
  EXPECT_TRUE(std::filesystem::exists(foreign));
  DiskStore(options()).clear();
  EXPECT_EQ(files(), std::vector{foreign});
}

constexpr std::size_t kLarge = 300'000;

bool is_whole(const DiskStore::Entry& entry, const std::string& key) {
  return entry.plan == key && entry.object.size() == kLarge &&
         entry.object.find_first_not_of(entry.object[0]) == std::string::npos;
}

/// Saves and loads for ever; ends with 1 if an entry is not as somebody saved it.
[[noreturn]] void use_until_killed(const DiskStore::Options& options, int process) {
  DiskStore store(options);
  for (int i = process;; ++i) {
    const std::string key = fmt::format("key {}", i % 5);
    if (i % 2 == 0) {
      store.save(key, {.plan = key, .object = std::string(kLarge, static_cast<char>(i % 100))});
    } else if (const auto entry = store.load(key); entry && !is_whole(*entry, key)) {
      _exit(1);
    }
  }
}

TEST_F(RuntimeDiskStore, ProcessesThatAreKilledWhileTheyWriteLeaveNothingWrong) {
  if (!test::kCanFork) GTEST_SKIP() << "the sanitizer does not follow";
  constexpr std::size_t kProcesses = 8;
  constexpr int kKills = 200;
  const DiskStore::Options options{.directory = path(), .most_bytes = 3'000'000};
  std::vector<pid_t> running;
  for (int i = 0; i < kKills || !running.empty(); ++i) {
    while (i < kKills && running.size() < kProcesses) {
      running.push_back(fork());
      ASSERT_GE(running.back(), 0);
      if (running.back() == 0) use_until_killed(options, i);
    }
    usleep(static_cast<useconds_t>(2000 + i * 7919 % 8000));
    kill(running.front(), SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(running.front(), &status, 0), running.front());
    EXPECT_TRUE(WIFSIGNALED(status)) << "an entry was not whole";
    running.erase(running.begin());
  }
  DiskStore store(options);
  for (int i = 0; i < 5; ++i) {
    const std::string key = fmt::format("key {}", i);
    const auto entry = store.load(key);
    EXPECT_TRUE(!entry || is_whole(*entry, key)) << key;
  }
  int left = 0;
  for (const std::string& file : files()) {
    if (file.ends_with(".code")) continue;
    set_age(file, 100);  // as if that had been a while ago
    ++left;
  }
  EXPECT_GT(left, 0) << "nobody was killed while it wrote";
  store.save("key 0", entry_);
  for (const std::string& file : files()) EXPECT_TRUE(file.ends_with(".code")) << file;
}

TEST_F(RuntimeDiskStore, ADirectoryThatIsRemovedComesBack) {
  DiskStore store(options());
  store.save("key", entry_);
  std::filesystem::remove_all(path());
  EXPECT_FALSE(store.load("key"));
  store.save("key", entry_);
  EXPECT_TRUE(store.load("key"));
}

TEST_F(RuntimeDiskStore, ProcessesThatReadAndWriteAtOnceSeeWholeEntriesOnly) {
  if (!test::kCanFork) GTEST_SKIP() << "the sanitizer does not follow";
  constexpr int kProcesses = 8;
  const auto content = [](int key, int version) {
    return std::string(static_cast<std::size_t>(2000 + 500 * version),
                       static_cast<char>('a' + key * 5 + version));
  };
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      DiskStore store({.directory = path(), .most_bytes = 12000});  // evicts all the time
      int found = 0;
      for (int i = 0; i < 300; ++i) {
        const int key = (i + process) % 5;
        const std::string name = fmt::format("key {}", key);
        if ((i + process) % 3 == 0) {
          store.save(name, {.plan = name, .object = content(key, i % 5)});
          continue;
        }
        const auto entry = store.load(name);
        if (!entry) continue;
        ++found;
        bool is_whole = false;
        for (int v = 0; v < 5; ++v) is_whole = is_whole || entry->object == content(key, v);
        if (!is_whole || entry->plan != name) _exit(1);
      }
      _exit(found > 0 ? 0 : 2);  // others may have evicted all it asked for
    }
    children.push_back(child);
  }
  int finders = 0;
  for (const pid_t child : children) {
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << status;
    EXPECT_NE(WEXITSTATUS(status), 1) << "an entry was not whole";
    finders += WEXITSTATUS(status) == 0;
  }
  EXPECT_GT(finders, 0);
  for (const std::string& file : files()) EXPECT_TRUE(file.ends_with(".code")) << file;
}

class RuntimeDiskStoreEnvironment : public RuntimeDiskStore {
 protected:
  void SetUp() override {
    for (const char* name : kNames) {
      const char* value = std::getenv(name);
      before_.emplace_back(value != nullptr ? std::optional<std::string>(value) : std::nullopt);
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
      set(kNames[i], before_[i]);
    }
  }
  static void set(const char* name, const std::optional<std::string>& value) {
    if (value) {
      setenv(name, value->c_str(), 1);
    } else {
      unsetenv(name);
    }
    reopen_disk_store();
  }
  static std::string directory() { return disk_store()->info().directory; }

 private:
  static constexpr const char* kNames[] = {"LANEWISE_CACHE_DIR", "LANEWISE_DISK_CACHE",
                                           "LANEWISE_DISK_CACHE_BYTES", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::optional<std::string>> before_;
};

TEST_F(RuntimeDiskStoreEnvironment, SaysWhere) {
  set("HOME", directory_.path() + "/home");
  EXPECT_EQ(directory(), directory_.path() + "/home/.cache/lanewise");
  set("XDG_CACHE_HOME", directory_.path() + "/xdg");
  EXPECT_EQ(directory(), directory_.path() + "/xdg/lanewise");
  set("LANEWISE_CACHE_DIR", path());
  EXPECT_EQ(directory(), path());
  set("LANEWISE_DISK_CACHE", "0");
  EXPECT_EQ(directory(), "");
}

TEST_F(RuntimeDiskStoreEnvironment, RelativePathsAndNoPathKeepNothing) {
  set("HOME", std::nullopt);
  EXPECT_EQ(directory(), "");
  set("HOME", "home");
  EXPECT_EQ(directory(), "");
  set("LANEWISE_CACHE_DIR", "cache");
  EXPECT_EQ(directory(), "");
}

TEST_F(RuntimeDiskStoreEnvironment, BoundsTheBytes) {
  set("LANEWISE_CACHE_DIR", path());
  set("LANEWISE_DISK_CACHE_BYTES", "100");
  disk_store()->save("key", {.plan = "", .object = std::string(200, 'x')});
  EXPECT_FALSE(disk_store()->load("key"));
  set("LANEWISE_DISK_CACHE_BYTES", "1000");
  disk_store()->save("key", {.plan = "", .object = std::string(200, 'x')});
  EXPECT_TRUE(disk_store()->load("key"));
}

TEST_F(RuntimeDiskStoreEnvironment, TheReasonIsDumpedWhenAskedFor) {
  setenv("LANEWISE_DUMP", "cache", 1);
  testing::internal::CaptureStderr();
  set("LANEWISE_CACHE_DIR", "cache");
  EXPECT_EQ(directory(), "");
  unsetenv("LANEWISE_DUMP");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "=== lanewise cache ===\n"
            "cache: not an absolute path; machine code is kept in memory only\n");
}

}  // namespace
}  // namespace lw::runtime

// Taking a profile: where the time of all calls goes, as a table and as a file for a viewer.
//
//   {
//     lw::Profile profile("trace.json");
//     f(x);
//     std::cout << profile.summary();
//   }
//
// The file is written when the profile ends; ui.perfetto.dev and chrome://tracing show it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace lw {

namespace runtime {
class Timeline;
}

/// What was spent on a function, all its types together.
struct ProfileRow {
  std::string name;
  std::int64_t calls = 0;
  std::int64_t elements = 0;
  double seconds = 0;        // from the beginning of its calls to their end
  double share = 0;          // of the time of the profile
  double machine_code = 0;   // share of the elements; the tile machine ran the others
  double ns_an_element = 0;  // of `seconds`
  double workers = 0;        // that were busy in the mean
  double compile_seconds = 0;
};

struct ProfileSummary {
  double seconds = 0;            // that it was taken
  std::vector<ProfileRow> rows;  // the most time first
  std::int64_t dropped = 0;      // events that found no room and are not in the file

  /// A table.
  std::string str() const;
};

std::ostream& operator<<(std::ostream& out, const ProfileSummary& summary);

/// All calls of the process that begin while it lives. One at a time.
class Profile {
 public:
  /// An empty path: no file is written.
  explicit Profile(std::string path = {});
  /// Stops, and says so on stderr if the file cannot be written.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// Ends it and writes the file, once. Throws ResourceError if that cannot be written.
  void stop();
  ProfileSummary summary() const;
  /// What is written: the trace event format.
  std::string json() const;

 private:
  std::shared_ptr<runtime::Timeline> timeline_;
  std::string path_;
  int process_;  // a child of a fork does not write
  bool is_stopped_ = false;
};

}  // namespace lw

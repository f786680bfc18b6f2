// Calls that are stopped, or do not come further: CancelToken, Finished, Silence.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "lanewise/api/options.h"

namespace lw::python {
namespace {

namespace nb = nanobind;

nb::list ranges(const Finished& finished) {
  nb::list ranges;
  for (const ElementRange& range : finished.ranges()) {
    ranges.append(nb::make_tuple(range.first, range.last));
  }
  return ranges;
}

nb::list files_and_lines(const std::vector<base::Location>& lines) {
  nb::list all;
  for (const base::Location& line : lines) all.append(nb::make_tuple(line.file, line.line));
  return all;
}

nb::list running(const Silence& silence) {
  nb::list workers;
  for (const Running& one : silence.running) {
    workers.append(nb::make_tuple(one.worker, one.elements.first, one.elements.last, one.seconds,
                                  files_and_lines(one.loops)));
  }
  return workers;
}

nb::list loops(const Silence& silence) { return files_and_lines(silence.loops); }

}  // namespace

void bind_stopping(nb::module_& module, nb::class_<MapOptions>& options) {
  nb::class_<CancelToken>(module, "CancelToken",
                          "Stops calls from another thread: give it to them as ``cancel``.")
      .def(nb::init<>())
      .def("cancel", &CancelToken::cancel,
           "Stop all calls that have it, which then end with `Cancelled`.")
      .def_prop_ro("is_cancelled", &CancelToken::is_cancelled, "Whether that was done.");
  nb::class_<Finished>(module, "Finished", "Which elements of a map are finished.")
      .def(nb::init<>())
      .def_prop_ro("count", &Finished::count)
      .def_prop_ro("is_all", &Finished::is_all)
      .def("ranges", &ranges, "First and last, which is not one of them, of those side by side.");
  nb::class_<Silence>(module, "Silence",
                      "Told to ``on_silence`` when no element has ended for ``watchdog`` seconds.")
      .def_ro("function", &Silence::function, "Its name.")
      .def_ro("seconds", &Silence::seconds, "Of silence.")
      .def_prop_ro("running", &running,
                   "Of each worker: its number, the first element of those it is at, the one "
                   "behind the last, for how many seconds, and file and line of the loop that it "
                   "is in, behind those around it.")
      .def_prop_ro("loops", &loops, "File and line of each loop of the function.")
      .def("__str__", [](const Silence& silence) { return to_string(silence); });
  options
      .def_prop_rw(
          "cancel", [](const MapOptions& o) { return o.cancel; },
          [](MapOptions& o, const CancelToken* token) {
            o.cancel = token == nullptr ? std::nullopt : std::optional(*token);
          },
          nb::for_setter(nb::arg("cancel").none()))
      .def_rw("watchdog", &MapOptions::watchdog)
      .def(
          "begin_now", [](MapOptions& o) { o.begin = std::chrono::steady_clock::now(); },
          "Let the time of all calls with these, or with copies, run from now on.")
      .def(
          "finish_into", [](MapOptions& o, Finished& finished) { o.finished = &finished; },
          "Return when time is up; these, which outlive the call, say what is finished.");
}

}  // namespace lw::python

// The parts of lanewise._core, one file each. They convert and forward; the Python package decides.
#pragma once

#include <nanobind/nanobind.h>

namespace lw {
struct MapOptions;
}

namespace lw::python {

/// Exceptions: C++ ones become those of lanewise/errors.py.
void bind_errors(nanobind::module_& module);
/// Sets the Python error for the C++ exception that is being handled.
void raise_current();
/// The user's code on Python's stack.
void bind_source(nanobind::module_& module);
/// Recording: DType, Value, Recording.
void bind_recording(nanobind::module_& module);
/// Arrays for results.
void bind_arrays(nanobind::module_& module);
/// Programs: MapOptions, Program, and from a recording to one.
void bind_function(nanobind::module_& module);
/// What becomes of elements that fail: OnError, Failures, and the options that say so.
void bind_failures(nanobind::module_& module, nanobind::class_<MapOptions>& options);
/// Calls that are stopped, or do not come further: CancelToken, Finished, Silence, and options.
void bind_stopping(nanobind::module_& module, nanobind::class_<MapOptions>& options);
/// Calling: Caller, the type below lanewise.Vectorized.
void bind_caller(nanobind::module_& module);
/// Profiles: Profile, ProfileSummary, ProfileRow.
void bind_profile(nanobind::module_& module);
/// Threads, caches and memory of the process.
void bind_settings(nanobind::module_& module);

}  // namespace lw::python

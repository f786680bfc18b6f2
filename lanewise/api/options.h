// What a caller can ask of a function and of a call.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lanewise/plan/choose.h"
#include "lanewise/runtime/execute.h"

namespace lw {

/// Which tier runs. Auto: the tile machine until machine code, compiled beside the map, is there;
/// Now: machine code, compiled before the map; Never: the tile machine.
using Compile = runtime::CompileMode;

/// Fast: a product and a sum may become one fma, and quotients and roots be 2 ulp off. Faster,
/// other bits, also from one version or processor to another; NaN, infinities and signed zeros keep
/// their meaning, and so does the accuracy of mathematical functions.
enum class Math : std::uint8_t { Strict, Fast };

/// How near mathematical functions come to the exact results; docs/accuracy.md has the figures.
/// High: those of f32 are computed in f64, and so all but always correctly rounded; those of f64 in
/// pairs of f64, within one unit in the last place.
enum class Accuracy : std::uint8_t { Default, High };

/// What becomes of a call in which elements fail. Raise: it ends with ElementError for the lowest
/// one. Fill: all others end, and the results of those that fail are MapOptions::fill. Collect: so
/// they are, and MapOptions::failures tells of them.
using OnError = runtime::OnError;
using runtime::ElementFailure;
using runtime::Failures;

/// Options of one call.
struct MapOptions {
  int threads = 0;                        // 0: all the process may use
  std::int64_t max_steps = 0;             // loop steps an element may take; 0: no limit
  std::int64_t memory = 0;                // bytes of scratch; 0: a small part of what there is
  Compile compile = Compile::Auto;        // the tier
  std::int64_t chunk = 0;                 // elements a worker takes at a time; 0: chosen
  Math math = Math::Strict;               // what arithmetic has to keep to
  Accuracy accuracy = Accuracy::Default;  // of mathematical functions
  std::optional<std::int64_t> count;      // elements, where there is no array that says so
  std::uint64_t seed = 0;                 // of random draws
  std::int64_t first_element = 0;         // the number of the first element, for them
  std::optional<CancelToken> cancel;      // stops the map from another thread
  std::function<bool()> interrupt;        // asked now and then on this thread; true stops the map
  double timeout = 0;                     // seconds a map may take; 0: as long as it does
  /// When they began, for a map that is a part of something; none: with the map.
  std::optional<std::chrono::steady_clock::time_point> begin = {};
  /// Told now and then how far the map is, and at its end; what it throws ends the map.
  /// progress_line() gives one that writes a line.
  std::function<void(const Progress&)> progress;
  /// Not null: a map whose time is up, or that is cancelled, returns, and this says which elements
  /// are finished. Given again, with the memory that has their results, it runs the others only.
  Finished* finished = nullptr;
  double watchdog = 0;  // seconds without an element that ends, after which it is said; 0: never
  std::function<void(const Silence&)> on_silence;  // told then; none: a line on stderr
  /// The dimensions of arrays that have strides along each; none: there is one.
  std::span<const std::int64_t> shape;
  /// Which elements run, a bool for each: no other one fails, or changes what outputs hold.
  std::optional<std::span<const bool>> where;
  int mask = -1;  // the argument that is one, for a function that was recorded for it; -1: none
  /// What becomes of the last results of the function, which are folded and not stored.
  std::span<const runtime::Fold> folds;
  OnError on_error = OnError::Raise;
  /// Results of elements that fail: a value for all, or for each; none: NaN, and 0 of integers.
  std::vector<Scalar> fill;
  Failures* failures = nullptr;  // where Collect tells of them: how many, and of the first ones
  std::int64_t most_failures = 1000;  // of which it is told why they failed
  /// Memory for a bool of each element, false before: it is set where one fails and others go on.
  bool* failed = nullptr;
  /// Elements fail whose results are not finite, and those that convert a float to an integer which
  /// does not have it.
  bool check_numerics = false;
};

/// Options of a function.
struct VectorizeOptions {
  std::string name = "f";
  plan::Wish schedule;  // what the planner must keep to; chosen otherwise
};

}  // namespace lw

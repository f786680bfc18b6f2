// What is said about elements that fail.
#pragma once

#include "lanewise/runtime/execute.h"
#include "lanewise/runtime/failures.h"

namespace lw::runtime {

/// The evaluator says where and why: an element is run once more by itself, as far as that takes
/// not too long.
class Describing {
 public:
  /// `shared` are all values that elements share, with those that come from options; `stops` is
  /// asked now and then.
  Describing(const Program& program, const Buffers& buffers, std::span<const std::uint64_t> shared,
             const ExecuteOptions& options, const std::function<bool()>& stops)
      : program_(program), buffers_(buffers), shared_(shared), options_(options), stops_(stops) {}

  ElementFailure one(std::int64_t element) const;
  /// Of some elements, which go in order: what is told depends on nothing else.
  std::vector<ElementFailure> all(std::span<const std::int64_t> elements) const;

 private:
  /// With at most so many instructions, and how many there were.
  ElementFailure within(std::int64_t element, std::int64_t& instructions) const;

  const Program& program_;
  const Buffers& buffers_;
  std::span<const std::uint64_t> shared_;
  const ExecuteOptions& options_;
  const std::function<bool()>& stops_;
};

}  // namespace lw::runtime

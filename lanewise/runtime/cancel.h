// Stopping a map from another thread.
#pragma once

#include <atomic>
#include <memory>

namespace lw {

/// Copies share one state. Give it to a map in its options and call `cancel` from anywhere; the map
/// then throws Cancelled within a fraction of a second.
class CancelToken {
 public:
  CancelToken() : state_(std::make_shared<std::atomic<bool>>(false)) {}
  void cancel() { state_->store(true, std::memory_order_relaxed); }
  bool is_cancelled() const { return state_->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<bool>> state_;
};

}  // namespace lw

#include "lanewise/runtime/context.h"

#include <cstddef>

namespace lw::runtime {

static_assert(offsetof(Context, inputs) == ContextLayout::kInputs);
static_assert(offsetof(Context, outputs) == ContextLayout::kOutputs);
static_assert(offsetof(Context, shared) == ContextLayout::kShared);
static_assert(offsetof(Context, poll) == ContextLayout::kPoll);
static_assert(offsetof(Context, fail) == ContextLayout::kFail);
static_assert(offsetof(Context, attention) == ContextLayout::kAttention);
static_assert(offsetof(Context, loop) == ContextLayout::kLoop);
static_assert(offsetof(Context, tables) == ContextLayout::kTables);
static_assert(offsetof(Context, first_element) == ContextLayout::kFirstElement);
static_assert(offsetof(Context, streams) == ContextLayout::kStreams);
static_assert(offsetof(Context, lanes) == ContextLayout::kLanes);
static_assert(offsetof(Context, scratch) == ContextLayout::kScratch);

}  // namespace lw::runtime

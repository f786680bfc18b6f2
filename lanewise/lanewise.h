// lanewise: write a function for one element; it runs over all of them.
#pragma once

#include "lanewise/api/cache.h"
#include "lanewise/api/fold.h"
#include "lanewise/api/map.h"
#include "lanewise/api/memory.h"
#include "lanewise/api/profile.h"
#include "lanewise/api/row_accumulators.h"
#include "lanewise/api/vectorize.h"
#include "lanewise/base/error.h"
#include "lanewise/runtime/cancel.h"
#include "lanewise/trace/random.h"

// The last results of a program as what accumulators take: what becomes of them in the order of
// runtime/fold.h, written down as slowly as it reads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lanewise/runtime/fold.h"
#include "lanewise/types/item.h"
#include "lanewise/types/scalar.h"

namespace lw::fuzz {

/// All that can be made of the last results of a program.
std::vector<runtime::Fold> folds_of(std::span<const types::Item> results);

/// How many values the total has.
std::int64_t total_size(const runtime::Fold& fold);

/// Value `position` of result `column`, counted from the first one that is folded, of an element.
using ValueOf =
    std::function<Scalar(std::size_t column, std::int64_t element, std::int64_t position)>;
std::vector<Scalar> expected_total(const runtime::Fold& fold, std::int64_t count,
                                   std::int64_t first_element, const ValueOf& value);

}  // namespace lw::fuzz

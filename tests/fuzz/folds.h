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

/// How many words the total has.
std::size_t total_words(const runtime::Fold& fold);

/// A function as a user may give one, which takes groups of these items; the order matters.
runtime::CombineMany combining(std::vector<types::Item> items);

/// A value of the total, so many bytes behind its beginning.
struct Part {
  Scalar value;
  std::size_t offset = 0;
};

/// Value `position` of result `column`, counted from the first one that is folded, of an element.
using ValueOf =
    std::function<Scalar(std::size_t column, std::int64_t element, std::int64_t position)>;

/// Whether values that are not there are the ones that change nothing, where they have to be.
bool is_allowed(const runtime::Fold& fold, std::int64_t count, const ValueOf& value);

/// `items` are those that are folded.
std::vector<Part> expected_total(const runtime::Fold& fold, std::span<const types::Item> items,
                                 std::int64_t count, std::int64_t first_element,
                                 const ValueOf& value);

}  // namespace lw::fuzz

// The reference page of the functions, from the op rows and the table of accuracies.
#pragma once

#include <string>
#include <string_view>

namespace lw::reference {

/// docs/reference/functions.md; `accuracy` is the text of docs/accuracy.md.
std::string functions_page(std::string_view accuracy);

}  // namespace lw::reference

// A function for one element, made ready to be called on the arrays of a case.
#pragma once

#include <memory>
#include <string>

#include "lanewise/lanewise.h"

namespace lw::bench {

using Function = std::shared_ptr<ElementFunction>;

template <class F>
Function make_function(F function, const std::string& name, const plan::Wish& wish) {
  VectorizeOptions options;
  options.name = name;
  options.schedule = wish;
  return std::make_shared<ElementFunction>(
      [function, name](std::span<const Input> inputs) {
        return api::trace_function(function, name, inputs);
      },
      options);
}

/// The element function of a workload with loops (programs.cpp); null if it is not written.
Function program_function(const std::string& workload, const plan::Wish& wish);

}  // namespace lw::bench

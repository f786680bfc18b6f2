#include "lanewise/trace/product.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "lanewise/trace/space.h"

namespace lw::trace {
namespace {

using ops::Op;

constexpr std::int64_t kMostTermsStraight = 8;

ir::Builder& build() { return Trace::current().builder(); }

ir::ValueId add_product(ir::ValueId x, ir::ValueId y, ir::ValueId total) {
  if (types::is_float(build().type(x))) return build().op(Op::Fma, {x, y, total});
  const bool is_bool = build().type(x) == DType::Bool;
  const ir::ValueId both = build().op(is_bool ? Op::And : Op::Mul, {x, y});
  return build().op(is_bool ? Op::Or : Op::Add, {total, both});
}

/// A view and the names of its axes.
struct Named {
  const View& view;
  std::string_view axes;

  /// Its steps along axes that it may have or not.
  Steps steps(std::string_view names) const {
    const Steps own = steps_of(view);
    Steps steps;
    for (const char name : names) {
      const std::size_t at = axes.find(name);
      steps.push_back(at == std::string_view::npos ? 0 : own[at]);
    }
    return steps;
  }
};

std::map<char, std::uint32_t> sizes_of(std::string_view call, const Named (&both)[2]) {
  std::map<char, std::uint32_t> sizes;
  for (const auto& [view, axes] : both) {
    for (int d = 0; d < view.rank(); ++d) {
      std::uint32_t& known = sizes.try_emplace(axes[static_cast<std::size_t>(d)], 1).first->second;
      if (known == 1) {
        known = view.shape[d];
      } else if (view.shape[d] != 1 && view.shape[d] != known) {
        refuse(fmt::format(
            "{}: shapes do not fit; got {} and {}, expected equal sizes of the axes that are "
            "multiplied.",
            call, types::to_string(both[0].view.shape), types::to_string(both[1].view.shape)));
      }
    }
  }
  return sizes;
}

}  // namespace

View contract(std::string_view call, const View& a, std::string_view a_axes, const View& b,
              std::string_view b_axes, std::string_view result) {
  require_here(a);
  require_here(b);
  const Named both[2] = {{a, a_axes}, {b, b_axes}};
  const std::map<char, std::uint32_t> sizes = sizes_of(call, both);
  std::string summed;
  for (const Named& one : both) {
    for (const char name : one.axes) {
      if (result.find(name) == std::string_view::npos && summed.find(name) == std::string::npos) {
        summed += name;
      }
    }
  }
  const DType common = type_of(a);
  const DType type = common == DType::F16 || common == DType::BF16 ? DType::F32 : common;

  const std::vector<Steps> outer = {both[0].steps(result), both[1].steps(result)};
  Shape shape;
  Shape through;
  for (std::size_t d = 0; d < result.size(); ++d) {
    shape.push_back(sizes.at(result[d]));
    through.push_back(outer[0][d] != 0 || outer[1][d] != 0 ? sizes.at(result[d]) : 1);
  }
  Sizes terms;
  std::int64_t count = 1;
  for (const char name : summed) {
    terms.push_back(sizes.at(name));
    count *= terms.back();
  }
  const Joined outside = join(std::span(through.begin(), through.end()), outer);
  const Joined inside = join(terms, {both[0].steps(summed), both[1].steps(summed)});
  const Steps a_steps = together(outside.steps[0], inside.steps[0]);
  const Steps b_steps = together(outside.steps[1], inside.steps[1]);

  const ir::ValueId kept = keep_all(outside.sizes, [&](Positions positions) {
    const auto with_term = [&](Positions term, ir::ValueId total) {
      const std::vector<ir::ValueId> all = together(positions, term);
      const ir::ValueId x = build().convert(read_at(a, all, a_steps), type);
      const ir::ValueId y = build().convert(read_at(b, all, b_steps), type);
      return add_product(x, y, total);
    };
    ir::ValueId total = build().constant(types::scalar_of(type, 0));
    if (count <= kMostTermsStraight) {
      loop_over(inside.sizes, [&](Positions term) { total = with_term(term, total); });
    } else {
      Trace& trace = Trace::current();
      const ir::ValueId slot = trace.new_slot(total);
      loop_over(inside.sizes,
                [&](Positions term) { trace.write(slot, with_term(term, trace.read(slot))); });
      total = trace.read(slot);
    }
    return build().convert(total, common);
  });
  return kept_view(kept, shape, through);
}

View product(std::string_view call, const View& a, const View& b) {
  const std::uint32_t terms = a.shape[a.rank() - 1];
  const std::uint32_t others = b.shape[b.rank() > 1 ? b.rank() - 2 : 0];
  if (terms != others) {
    refuse(
        fmt::format("{}: shapes do not fit; got {} and {}, expected the sizes of the axes that are "
                    "multiplied to be equal, not {} and {}.",
                    call, types::to_string(a.shape), types::to_string(b.shape), terms, others));
  }
  // Names of the axes in front, counted from the last.
  const auto front = [](const View& view) {
    return std::string("abcdefgh")
        .substr(0, static_cast<std::size_t>(std::max(view.rank() - 2, 0)));
  };
  const auto turned = [](std::string names) { return std::string(names.rbegin(), names.rend()); };
  const std::string a_front = front(a);
  const std::string b_front = front(b);
  const std::string longer = a_front.size() > b_front.size() ? a_front : b_front;
  const std::string a_axes = turned(a_front) + (a.rank() > 1 ? "xk" : "k");
  const std::string b_axes = turned(b_front) + (b.rank() > 1 ? "ky" : "k");
  const std::string ends = std::string(a.rank() > 1 ? "x" : "") + (b.rank() > 1 ? "y" : "");
  return contract(call, a, a_axes, b, b_axes, turned(longer) + ends);
}

}  // namespace lw::trace

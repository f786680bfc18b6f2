#include "lanewise/trace/product.h"

#include <fmt/core.h>

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

}  // namespace

View product(std::string_view call, const View& a, const View& b) {
  require_here(a);
  require_here(b);
  const int a_axis = a.rank() - 1;
  const int b_axis = b.rank() > 1 ? b.rank() - 2 : 0;
  const std::uint32_t terms = a.shape[a_axis];
  if (terms != b.shape[b_axis]) {
    refuse(fmt::format(
        "{}: shapes do not fit; got {} and {}, expected the sizes of the axes that are "
        "multiplied to be equal, not {} and {}.",
        call, types::to_string(a.shape), types::to_string(b.shape), terms, b.shape[b_axis]));
  }
  const DType common = type_of(a);
  const DType type = common == DType::F16 || common == DType::BF16 ? DType::F32 : common;

  // The axes of the result: those of a, then those of b, without what is summed over.
  Shape shape;
  Shape through;
  std::vector<Steps> outer(2);
  const auto add_axes = [&](const View& view, int except, std::size_t own) {
    const Steps steps = steps_of(view);
    for (int d = 0; d < view.rank(); ++d) {
      if (d == except) continue;
      const std::int64_t step = steps[static_cast<std::size_t>(d)];
      shape.push_back(view.shape[d]);
      through.push_back(step != 0 ? view.shape[d] : 1);
      outer[own].push_back(step);
      outer[1 - own].push_back(0);
    }
  };
  add_axes(a, a_axis, 0);
  add_axes(b, b_axis, 1);
  const Joined outside = join(std::span(through.begin(), through.end()), outer);
  const Joined inside = join({&terms, 1}, {{steps_of(a)[static_cast<std::size_t>(a_axis)]},
                                           {steps_of(b)[static_cast<std::size_t>(b_axis)]}});
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
    if (terms <= kMostTermsStraight) {
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

}  // namespace lw::trace

#include "lanewise/trace/view.h"

#include <fmt/core.h>

#include <algorithm>

#include "lanewise/base/error.h"
#include "lanewise/trace/space.h"

namespace lw::trace {
namespace {

ir::Builder& build() { return Trace::current().builder(); }

/// The shape that operands have in common.
Shape broadcast(std::string_view call, std::span<const View> operands) {
  Shape shape;
  int rank = 0;
  for (const View& view : operands) rank = std::max(rank, view.rank());
  for (int d = 0; d < rank; ++d) shape.push_back(1);
  for (const View& view : operands) {
    const int skip = rank - view.rank();
    for (int d = skip; d < rank; ++d) {
      const std::uint32_t size = view.shape[d - skip];
      if (size == 1 || size == shape[d]) continue;
      if (shape[d] != 1) {
        std::string got;
        for (const View& one : operands) {
          if (one.rank() > 0) got += (got.empty() ? "" : " and ") + types::to_string(one.shape);
        }
        refuse(
            fmt::format("{}: shapes do not broadcast; got {}, expected equal sizes, or 1, in every "
                        "dimension. Reshape one of them, or put an axis in with lw::insert_axis.",
                        call, got));
      }
      shape[d] = size;
    }
  }
  return shape;
}

bool is_whole(const View& view) {
  const ir::Function& f = build().function();
  return !view.is_number && ir::is_array(f, view.base) && view.offset == 0 &&
         view.moving == ir::kNone && ir::size_of(f, view.base) == view.shape.count();
}

ir::ValueId copy_of(const View& view) {
  Joined joined = join(std::span(view.shape.begin(), view.shape.end()), {steps_of(view)});
  if (joined.sizes.empty()) joined = {{1}, {{0}}};
  return keep_all(joined.sizes,
                  [&](Positions positions) { return read_at(view, positions, joined.steps[0]); });
}

}  // namespace

View number_view(ir::ValueId number, const Shape& shape) {
  return {.base = number, .is_number = true, .shape = shape, .trace = Trace::current().id()};
}

View array_view(ir::ValueId array, const Shape& shape) {
  if (shape.count() > ir::kMostPositions) {
    refuse(fmt::format("trace: too many values; got the shape {}, expected at most {} of them.",
                       types::to_string(shape), ir::kMostPositions));
  }
  View view{.base = array, .shape = shape, .trace = Trace::current().id()};
  std::int64_t stride = 1;
  for (int d = shape.rank(); d-- > 0;) {
    view.strides[d] = stride;
    stride *= shape[d];
  }
  return view;
}

DType type_of(const View& view) { return build().type(view.base); }

ir::ValueId number_of(const View& view) {
  require_here(view);
  return read_at(view, {}, {});
}

ir::ValueId array_of(const View& view) {
  require_here(view);
  if (is_whole(view)) {
    const Joined joined = join(std::span(view.shape.begin(), view.shape.end()), {steps_of(view)});
    if (joined.sizes.empty() || joined.steps[0] == Steps{1}) return view.base;
  }
  return copy_of(view);
}

ir::ValueId result_of(const View& view, std::span<const ir::ValueId> taken) {
  const ir::ValueId array = array_of(view);
  const bool is_taken = std::find(taken.begin(), taken.end(), array) != taken.end();
  return is_taken ? copy_of(view) : array;
}

View copied(const View& view) {
  require_here(view);
  return array_view(copy_of(view), view.shape);
}

void assign(const View& array, const View& values) {
  require_here(values);
  write_all(array, broadcast_to("assign", values, array.shape));
}

View apply(ops::Op op, std::span<const View> operands, DType stated) {
  for (const View& view : operands) require_here(view);
  const std::string_view call = ops::row(op).name;
  const Shape shape = broadcast(call, operands);
  std::vector<View> parts;
  std::vector<Steps> steps;
  for (const View& view : operands) {
    parts.push_back(broadcast_to(call, view, shape));
    steps.push_back(steps_of(parts.back()));
  }
  Shape sizes = shape;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool changes =
        std::any_of(steps.begin(), steps.end(), [&](const Steps& of) { return of[d] != 0; });
    if (!changes) sizes[d] = 1;
  }
  const Joined joined = join(std::span(sizes.begin(), sizes.end()), steps);
  const ir::ValueId kept = keep_all(joined.sizes, [&](Positions positions) {
    base::SmallVector<ir::ValueId, 4> numbers;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      numbers.push_back(read_at(parts[i], positions, joined.steps[i]));
    }
    return build().op(op, numbers, stated);
  });
  return kept_view(kept, shape, sizes);
}

View convert(const View& view, DType type) {
  return type_of(view) == type ? view : apply(ops::Op::Convert, {view}, type);
}

View literal_view(DType type, double value) {
  return number_view(build().constant(types::scalar_of(type, value)));
}

View broadcast_to(std::string_view call, const View& view, const Shape& shape) {
  if (view.shape == shape) return view;
  View wide = view;
  wide.shape = shape;
  wide.strides = {};
  const int skip = shape.rank() - view.rank();
  for (int d = 0; d < view.rank(); ++d) {
    if (skip < 0 || (view.shape[d] != 1 && view.shape[d] != shape[d + skip])) {
      refuse(fmt::format("{}: shapes do not fit; got {}, expected one that broadcasts to {}.", call,
                         types::to_string(view.shape), types::to_string(shape)));
    }
    wide.strides[d + skip] = view.shape[d] == 1 ? 0 : view.strides[d];
  }
  return wide;
}

void refuse(const std::string& message) {
  const base::Location here = build().location();
  throw UsageError(base::to_string(here) + (here ? ": " : "") + message);
}

void require_here(const View& view) {
  const Trace& trace = Trace::current();
  if (trace.id() != view.trace) {
    throw UsageError(
        "trace: values of another trace were used. "
        "Create and use rows and matrices inside one traced function.");
  }
  if (trace.is_gone(view.base) || (view.moving != ir::kNone && trace.is_gone(view.moving))) {
    refuse(
        "trace: values were used outside of the loop, branch or each they were made in; got some "
        "that not every element has, expected those of the present scope. Write them to an "
        "lw::Array from before.");
  }
}

int checked_axis(std::string_view call, int axis, int rank) {
  if (axis < -rank || axis >= rank) {
    refuse(
        fmt::format("{}: no such axis; got {}, expected {} to {}.", call, axis, -rank, rank - 1));
  }
  return axis < 0 ? axis + rank : axis;
}

Shape checked_shape(std::string_view call, std::span<const std::int64_t> sizes) {
  const bool fits = std::ssize(sizes) <= Shape::kMost &&
                    std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) {
                      return size > 0 && size <= ir::kMostPositions;
                    });
  if (!fits) {
    std::string got;
    for (const std::int64_t size : sizes) got += (got.empty() ? "" : ", ") + std::to_string(size);
    refuse(fmt::format("{}: wrong sizes; got ({}), expected up to {} of them, each from 1 to {}.",
                       call, got, Shape::kMost, ir::kMostPositions));
  }
  return Shape(sizes);
}

}  // namespace lw::trace

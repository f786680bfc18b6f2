#include "lanewise/trace/arrange.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "lanewise/trace/space.h"

namespace lw::trace {
namespace {

ir::Builder& build() { return Trace::current().builder(); }

/// An index that elements have computed, which is checked, times the stride.
ir::ValueId moving_by(ir::ValueId index, std::uint32_t size, std::int64_t stride) {
  build().check_index(index, size);
  const ir::ValueId at = build().convert(index, DType::I32);
  return stride == 1 ? at : build().op(ops::Op::Mul, {at, index_literal(stride)});
}

std::uint32_t sliced(const Place& place, std::uint32_t size) {
  const std::int64_t end = place.end == Place::kEnd ? size : place.end;
  if (place.begin < 0 || place.begin >= end || end > size || place.step < 1) {
    refuse(fmt::format(
        "Slice: wrong bounds; got {} to {} in steps of {}, expected at least one of the places 0 "
        "to {}, upwards. Use lw::flip for the other direction.",
        place.begin, end, place.step, size - 1));
  }
  return static_cast<std::uint32_t>((end - place.begin + place.step - 1) / place.step);
}

/// The strides with which a view has another shape of as many values; nothing where it must be
/// copied.
std::optional<Strides> reshaped(const View& view, const Shape& shape) {
  const Steps all = steps_of(view);
  std::vector<std::uint32_t> sizes;
  Steps steps;
  for (int d = 0; d < view.rank(); ++d) {
    if (view.shape[d] == 1) continue;
    sizes.push_back(view.shape[d]);
    steps.push_back(all[static_cast<std::size_t>(d)]);
  }
  Strides strides = {};
  std::size_t at = 0;  // among those of the view
  for (int d = 0; d < shape.rank();) {
    if (shape[d] == 1) {
      ++d;
      continue;
    }
    // The fewest dimensions of both that have as many values.
    std::size_t last = at;
    int until = d + 1;
    std::int64_t have = sizes[at];
    std::int64_t want = shape[d];
    while (have != want) {
      if (have < want) {
        have *= sizes[++last];
      } else {
        want *= shape[until++];
      }
    }
    for (std::size_t i = at; i < last; ++i) {
      if (steps[i] != steps[i + 1] * sizes[i + 1]) return std::nullopt;
    }
    std::int64_t stride = steps[last];
    for (int i = until; i-- > d;) {
      strides[static_cast<std::size_t>(i)] = shape[i] == 1 ? 0 : stride;
      stride *= shape[i];
    }
    at = last + 1;
    d = until;
  }
  return strides;
}

/// An array of the element's own with this shape.
View new_array(DType type, const Shape& shape) {
  const ir::ValueId zero = build().constant(types::scalar_of(type, 0));
  return array_view(build().array(zero, static_cast<std::uint32_t>(shape.count())), shape);
}

void require_same(std::string_view call, const View& a, const View& b, int except) {
  bool same = a.rank() == b.rank();
  for (int d = 0; same && d < a.rank(); ++d) same = d == except || a.shape[d] == b.shape[d];
  if (same) return;
  refuse(fmt::format("{}: shapes differ; got {} and {}, expected equal sizes{}.", call,
                     types::to_string(a.shape), types::to_string(b.shape),
                     except < 0 ? "" : fmt::format(" but along axis {}", except)));
}

}  // namespace

View indexed(const View& view, std::span<const Place> places) {
  require_here(view);
  View part = view;
  part.shape = {};
  part.strides = {};
  const auto keep = [&](std::uint32_t size, std::int64_t stride) {
    part.strides[static_cast<std::size_t>(part.rank())] = stride;
    part.shape.push_back(size);
  };
  for (int d = 0; d < view.rank(); ++d) {
    const std::uint32_t size = view.shape[d];
    const std::int64_t stride = view.strides[static_cast<std::size_t>(d)];
    if (d >= std::ssize(places)) {
      keep(size, stride);
      continue;
    }
    const Place& place = places[static_cast<std::size_t>(d)];
    if (place.is_slice) {
      keep(sliced(place, size), stride * place.step);
      part.offset += place.begin * stride;
    } else if (place.value != ir::kNone) {
      const ir::ValueId by = moving_by(place.value, size, stride);
      part.moving = part.moving == ir::kNone ? by : build().op(ops::Op::Add, {part.moving, by});
    } else if (place.begin < 0 || place.begin >= size) {
      refuse(fmt::format("index: out of range; got {}, expected 0 to {}.", place.begin, size - 1));
    } else {
      part.offset += place.begin * stride;
    }
  }
  return part;
}

View insert_axis(const View& view, int axis) {
  if (view.rank() == Shape::kMost) {
    refuse(fmt::format("insert_axis: too many dimensions; got {}, expected at most {}.",
                       view.rank() + 1, Shape::kMost));
  }
  axis = checked_axis("insert_axis", axis, view.rank() + 1);
  View wide = view;
  wide.shape = {};
  for (int d = 0; d <= view.rank(); ++d) {
    const int from = d > axis ? d - 1 : d;
    wide.shape.push_back(d == axis ? 1 : view.shape[from]);
    wide.strides[static_cast<std::size_t>(d)] =
        d == axis ? 0 : view.strides[static_cast<std::size_t>(from)];
  }
  return wide;
}

View transpose(const View& view, std::span<const int> axes) {
  View moved = view;
  bool is_taken[Shape::kMost] = {};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int from = checked_axis("transpose", axes[i], view.rank());
    if (is_taken[from]) {
      refuse(fmt::format("transpose: an axis is there twice; got {}, expected each once.", from));
    }
    is_taken[from] = true;
    moved.shape[static_cast<int>(i)] = view.shape[from];
    moved.strides[i] = view.strides[static_cast<std::size_t>(from)];
  }
  return moved;
}

View flip(const View& view, int axis) {
  axis = checked_axis("flip", axis, view.rank());
  View turned = view;
  std::int64_t& stride = turned.strides[static_cast<std::size_t>(axis)];
  turned.offset += (view.shape[axis] - 1) * stride;
  stride = -stride;
  return turned;
}

View reshape(const View& view, std::span<const std::int64_t> sizes) {
  require_here(view);
  std::vector<std::int64_t> known(sizes.begin(), sizes.end());
  std::int64_t product = 1;
  std::int64_t* open = nullptr;
  for (std::int64_t& size : known) {
    if (size == -1 && open == nullptr) {
      open = &size;
    } else {
      product *= size;
    }
  }
  const std::int64_t count = view.shape.count();
  if (open != nullptr && product > 0) *open = count / product;
  const Shape shape = checked_shape("reshape", known);
  if (shape.count() != count) {
    refuse(fmt::format(
        "reshape: another number of values; got {} and {}, expected shapes of one size.",
        types::to_string(view.shape), types::to_string(shape)));
  }
  if (view.is_number) return number_view(view.base, shape);
  const std::optional<Strides> strides = reshaped(view, shape);
  if (!strides) return array_view(array_of(view), shape);
  View result = view;
  result.shape = shape;
  result.strides = *strides;
  return result;
}

View concat(std::span<const View> views, int axis) {
  axis = checked_axis("concat", axis, views[0].rank());
  Shape shape = views[0].shape;
  shape[axis] = 0;
  for (const View& view : views) {
    require_here(view);
    require_same("concat", views[0], view, axis);
    shape[axis] += view.shape[axis];
  }
  const View whole = new_array(type_of(views[0]), shape);
  std::vector<Place> places(static_cast<std::size_t>(shape.rank()), Place::all());
  Place& place = places[static_cast<std::size_t>(axis)];
  place.end = 0;
  for (const View& view : views) {
    place.begin = place.end;
    place.end += view.shape[axis];
    write_all(indexed(whole, places), view);
  }
  return whole;
}

View stack(std::span<const View> views, int axis) {
  std::vector<View> wide;
  for (const View& view : views) {
    require_same("stack", views[0], view, -1);
    wide.push_back(insert_axis(view, axis));
  }
  return concat(wide, checked_axis("stack", axis, wide[0].rank()));
}

View roll(const View& view, std::int64_t shift, int axis) {
  axis = checked_axis("roll", axis, view.rank());
  const std::int64_t size = view.shape[axis];
  const std::int64_t by = (shift % size + size) % size;
  if (by == 0) return view;
  std::vector<Place> places(static_cast<std::size_t>(view.rank()), Place::all());
  Place& place = places[static_cast<std::size_t>(axis)];
  place.begin = size - by;
  const View last = indexed(view, places);
  place.begin = 0;
  place.end = size - by;
  return concat(std::vector<View>{last, indexed(view, places)}, axis);
}

View pad(const View& view, std::int64_t before, std::int64_t after, int axis, ir::ValueId number) {
  axis = checked_axis("pad", axis, view.rank());
  if (before < 0 || after < 0) {
    refuse(fmt::format("pad: less than nothing; got {} and {} places, expected 0 or more.", before,
                       after));
  }
  std::vector<View> parts;
  const auto add = [&](std::int64_t size) {
    if (size == 0) return;
    std::vector<std::int64_t> sizes(view.shape.begin(), view.shape.end());
    sizes[static_cast<std::size_t>(axis)] = size;
    parts.push_back(number_view(number, checked_shape("pad", sizes)));
  };
  add(before);
  parts.push_back(view);
  add(after);
  return parts.size() == 1 ? view : concat(parts, axis);
}

}  // namespace lw::trace

// Checks of indices, after numpy.
#include "api/place.h"

#include <limits>

#include "api/operand.h"
#include "primitives/op.h"

namespace anadrome {

namespace {

using Kind = PlaceItem::Kind;

bool takes_axis(const Index& index) {
  return index.kind != Index::Kind::newaxis && index.kind != Index::Kind::ellipsis;
}

/// Python's slice.indices: start and number of elements.
PlaceItem range_item(const Slice& s, int axis, std::int64_t n) {
  if (s.step == 0)
    throw TypeError("index: a slice with step 0. Give a step other than 0." + at_current_source());
  const bool up = s.step > 0;
  const std::int64_t lowest = up ? 0 : -1, highest = up ? n : n - 1;
  const auto cut = [&](std::optional<std::int64_t> bound, std::int64_t otherwise) {
    if (!bound) return otherwise;
    const std::int64_t b = *bound < 0 ? (*bound < -n ? lowest : *bound + n) : *bound;
    return b < lowest ? lowest : b > highest ? highest : b;
  };
  const std::int64_t lo = cut(s.lo, up ? lowest : highest), hi = cut(s.hi, up ? highest : lowest);
  const std::int64_t span = up ? hi - lo : lo - hi;
  // The unsigned negation is right for the smallest integer too.
  const std::uint64_t stride = up ? static_cast<std::uint64_t>(s.step) : -static_cast<std::uint64_t>(s.step);
  const std::int64_t size =
      span <= 0 ? 0 : static_cast<std::int64_t>((static_cast<std::uint64_t>(span) - 1) / stride) + 1;
  return {Kind::range, axis, size == 0 ? 0 : lo, size, size <= 1 ? 1 : s.step, {}};
}

PlaceItem integer_item(const Index& index, int axis, const Type& base) {
  const std::int64_t n = base.shape[axis], i = index.integer;
  if (i < -n || i >= n)
    throw IndexError("index: " + std::to_string(i) + " is outside [" + std::to_string(-n) + ", " +
                     std::to_string(n) + ") of axis " + std::to_string(axis) + " of " + to_string(base) +
                     ". Use an index inside." + at_current_source());
  return {Kind::integer, axis, i < 0 ? i + n : i, 1, 1, {}};
}

void check_index_array(const Array& index, const char* what) {
  check_usable(index, "index");
  if (is_bool(index.dtype()))
    throw TypeError("index: a mask of type " + to_string(index.type()) +
                    " would give a shape that depends on its values. Use where(mask, a, b)." +
                    at_current_source());
  if (!is_integer(index.dtype()))
    throw TypeError(std::string("index: ") + what + " of type " + to_string(index.type()) +
                    "; indices are integers. Convert it." + at_current_source());
}

PlaceItem array_item(const Index& index, int axis, const Type& base) {
  check_index_array(index.array, "an index");
  const std::int64_t n = base.shape[axis];
  if (n == 0 && index.array.size() > 0)
    throw IndexError("index: " + to_string(index.array.type()) + " into axis " + std::to_string(axis) +
                     " of " + to_string(base) + ", which has no elements. Index an axis that has some." +
                     at_current_source());
  const Kind kind = index.array.rank() == 0 ? Kind::scalar : Kind::array;
  return {kind, axis, 0, 1, 1, wrap_index(index.array, n)};
}

PlaceItem window_item(const Index& index, int axis, const Type& base) {
  const std::int64_t n = base.shape[axis], size = index.integer;
  check_index_array(index.array, "a dslice start");
  if (index.array.rank() != 0)
    throw TypeError("index: a dslice start of type " + to_string(index.array.type()) + ". Give a scalar." +
                    at_current_source());
  if (size < 0 || size > n)
    throw TypeError("index: a dslice of " + std::to_string(size) + " elements on axis " +
                    std::to_string(axis) + " of " + to_string(base) + ". It must fit into the axis." +
                    at_current_source());
  return {Kind::window, axis, 0, size, 1, wrap_index(index.array, n)};
}

PlaceItem make_item(const Index& index, int axis, const Type& base) {
  const AtSource at(index.source);
  switch (index.kind) {
    case Index::Kind::integer:
      return integer_item(index, axis, base);
    case Index::Kind::slice:
      return range_item(index.range, axis, base.shape[axis]);
    case Index::Kind::dynamic_slice:
      return window_item(index, axis, base);
    default:
      return array_item(index, axis, base);
  }
}

/// How many whole axes the ellipsis, written or not, stands for.
int missing_axes(std::span<const Index> indices, const Type& base) {
  int taken = 0, ellipses = 0;
  for (const Index& i : indices) {
    taken += takes_axis(i);
    ellipses += i.kind == Index::Kind::ellipsis;
  }
  if (ellipses > 1)
    throw TypeError("index: " + std::to_string(ellipses) + " ellipses for " + to_string(base) + ". Use one." +
                    at_current_source());
  if (taken > base.rank())
    throw IndexError("index: " + std::to_string(taken) + " indices for an array of " +
                     std::to_string(base.rank()) + " axes (" + to_string(base) +
                     "). Give at most one per axis." + at_current_source());
  return base.rank() - taken;
}

void parse_items(Place& place, std::span<const Index> indices) {
  const Type& base = place.base.type();
  const int missing = missing_axes(indices, base);
  int axis = 0;
  const auto whole = [&] {
    for (int k = 0; k < missing; ++k, ++axis) place.items.push_back(range_item({}, axis, base.shape[axis]));
  };
  for (const Index& index : indices) {
    if (index.kind == Index::Kind::newaxis) {
      place.items.push_back({});
    } else if (index.kind == Index::Kind::ellipsis) {
      place.ellipsis = static_cast<int>(place.items.size());
      whole();
    } else {
      place.items.push_back(make_item(index, axis, base));
      ++axis;
    }
  }
  if (place.ellipsis < 0) whole();
}

/// Where the block of index arrays goes: at the first of them if they stand side by side, else in front.
void place_block(Place& place) {
  if (!place.arrays) return;
  int first = -1, last = -1, count = 0;
  for (int k = 0; k < static_cast<int>(place.items.size()); ++k) {
    const PlaceItem& item = place.items[static_cast<std::size_t>(k)];
    if (!item.selects()) continue;
    if (first < 0) first = k;
    last = k;
    ++count;
    if (item.kind == Kind::array) place.block = broadcast_shapes(place.block, item.value.shape(), "index");
  }
  const bool together = last - first + 1 == count && (place.ellipsis <= first || place.ellipsis > last);
  place.block_item = together ? first : 0;
}

void find_shape(Place& place) {
  const auto put_block = [&] {
    for (std::int64_t d : place.block) {
      place.shape.push_back(d);
      place.kept.push_back(d);
    }
  };
  for (int k = 0; k < static_cast<int>(place.items.size()); ++k) {
    if (k == place.block_item) put_block();
    const PlaceItem& item = place.items[static_cast<std::size_t>(k)];
    if (item.selects()) continue;
    place.shape.push_back(item.kind == Kind::newaxis ? 1 : item.size);
    if (item.keeps_axis()) place.kept.push_back(item.size);
  }
}

}  // namespace

DType index_dtype(const Shape& shape) {
  for (std::int64_t d : shape)
    if (d > std::numeric_limits<std::int32_t>::max()) return DType::i64;
  return DType::i32;
}

Array wrap_index(const Array& index, std::int64_t extent) {
  const bool wide = item_size(index.dtype()) == 8 || index.dtype() == DType::u32;
  const DType dtype = wide ? DType::i64 : index_dtype({extent});
  // Beyond any i64, but still outside after this.
  const bool huge = index.dtype() == DType::u64;
  const Array fitting = huge ? op::min(index, op::number(static_cast<double>(extent), DType::u64)) : index;
  const Array i = op::convert(fitting, dtype);
  if (is_unsigned(index.dtype())) return i;
  const Array zero = op::number(0, dtype);
  return op::select(op::lt(i, zero), op::add(i, op::number(static_cast<double>(extent), dtype)), i);
}

Place make_place(const Array& base, std::span<const Index> indices) {
  check_usable(base, "index");
  Place place;
  place.base = base;
  parse_items(place, indices);
  for (const PlaceItem& item : place.items) {
    place.arrays = place.arrays || item.kind == Kind::array;
    place.scalars = place.scalars || item.kind == Kind::scalar;
    place.moving = place.moving || item.selects() || item.kind == Kind::window;
    place.strided = place.strided || item.step != 1;
  }
  place_block(place);
  find_shape(place);
  return place;
}

}  // namespace anadrome

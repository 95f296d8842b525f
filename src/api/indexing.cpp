// Reading and updating parts of arrays: a[...] and a.at(...). A place without index arrays is a window
// (slices and dynamic slices); everything else is one gather or scatter.
#include <algorithm>

#include "api/operand.h"
#include "api/place.h"
#include "primitives/op.h"

namespace anadrome {

namespace {

using Kind = PlaceItem::Kind;

// ---- windows

/// The box that holds a place without index arrays, and the steps inside it.
struct Window {
  Ints first, extent, strides, reversed;
  Arrays starts;
};

Window window_of(const Place& place) {
  Window w;
  const DType dtype = index_dtype(place.base.shape());
  for (const PlaceItem& item : place.items) {
    if (item.kind == Kind::newaxis) continue;
    const std::int64_t stride = item.step < 0 ? -item.step : item.step;
    const std::int64_t span = item.size == 0 ? 0 : (item.size - 1) * stride + 1;
    const std::int64_t first = item.step < 0 ? item.start - span + 1 : item.start;
    w.first.push_back(first);
    w.extent.push_back(span);
    w.strides.push_back(stride);
    if (item.step < 0) w.reversed.push_back(item.axis);
    w.starts.push_back(item.value.defined() ? item.value : op::number(static_cast<double>(first), dtype));
  }
  return w;
}

Array strided(const Array& x, const Ints& first, const Window& w) {
  Ints limit;
  bool whole = true;
  for (int k = 0; k < x.rank(); ++k) {
    limit.push_back(first[k] + w.extent[k]);
    whole = whole && w.extent[k] == x.shape()[k] && w.strides[k] == 1;
  }
  return op::rev(whole ? x : op::slice(x, first, limit, w.strides), w.reversed);
}

Array read_window(const Place& place) {
  const Window w = window_of(place);
  if (!place.moving) return op::reshape(strided(place.base, w.first, w), place.shape);
  Ints zeros;
  zeros.resize(w.first.size());
  return op::reshape(strided(op::dynamic_slice(place.base, w.starts, w.extent), zeros, w), place.shape);
}

// ---- index vectors

/// A place as the dimension numbers of a gather.
struct Vectors {
  Array indices;
  GatherAttr dims;
};

/// Entries of index vectors: operand axis and values, whose axes are axes `at`, `at + 1` ... of the index
/// vectors.
struct Component {
  std::int64_t axis;
  Array values;
  int at;
};

Array progression(const PlaceItem& item, DType dtype) {
  const Array steps =
      op::mul(op::iota(dtype, {item.size}, 0), op::number(static_cast<double>(item.step), dtype));
  return op::add(steps, op::number(static_cast<double>(item.start), dtype));
}

/// The axes of index vectors follow the axes of the place: the block of index arrays, and each strided range.
class VectorBuilder {
 public:
  VectorBuilder(const Place& place, IndexMode mode) : place_(place), dtype_(index_dtype(place.base.shape())) {
    dims_.mode = mode;
    dims_.slice_sizes = place.base.shape();
    for (int k = 0; k < static_cast<int>(place.items.size()); ++k) {
      if (k == place.block_item) add_block();
      const PlaceItem& item = place.items[static_cast<std::size_t>(k)];
      if (item.keeps_axis()) add_range(item);
    }
    // Components are in the order of axes, so that programs do not depend on where the block stands.
    std::stable_sort(components_.begin(), components_.end(),
                     [](const Component& a, const Component& b) { return a.axis < b.axis; });
    std::sort(dims_.collapsed_dims.begin(), dims_.collapsed_dims.end());
  }

  Vectors vectors() {
    DType dtype = dtype_;
    for (const Component& c : components_)
      if (c.values.dtype() == DType::i64) dtype = DType::i64;
    Arrays columns;
    Shape shape = batch_;
    shape.push_back(1);
    for (const Component& c : components_) {
      dims_.start_index_map.push_back(c.axis);
      Ints axes;
      const Array values = op::convert(c.values, dtype);
      for (int k = 0; k < values.rank(); ++k) axes.push_back(c.at + k);
      columns.push_back(op::broadcast_in_dim(values, shape, axes));
    }
    return {columns.size() == 1 ? columns[0] : op::concatenate(columns, shape.rank() - 1), dims_};
  }

 private:
  void add_block() {
    const int at = batch_.rank();
    for (std::int64_t d : place_.block) batch_.push_back(d);
    axis_ += place_.block.rank();
    for (const PlaceItem& item : place_.items) {
      if (!item.selects()) continue;
      take_one(item.axis);
      const Array values =
          item.value.defined() ? item.value : op::number(static_cast<double>(item.start), dtype_);
      components_.push_back({item.axis, values, at + place_.block.rank() - values.rank()});
    }
  }
  void add_range(const PlaceItem& item) {
    const bool whole = item.kind == Kind::range && item.size == place_.base.shape()[item.axis];
    if (item.step != 1) {
      components_.push_back({item.axis, progression(item, dtype_), batch_.rank()});
      batch_.push_back(item.size);
      take_one(item.axis);
    } else {
      dims_.offset_dims.push_back(axis_);
      dims_.slice_sizes[item.axis] = item.size;
      if (!whole) components_.push_back({item.axis, window_start(item), 0});
    }
    ++axis_;
  }
  /// Window starts are clamped here: an index vector that does not fit would drop the whole update.
  Array window_start(const PlaceItem& item) const {
    if (item.kind == Kind::range) return op::number(static_cast<double>(item.start), dtype_);
    const DType dtype = item.value.dtype();
    const std::int64_t last = place_.base.shape()[item.axis] - item.size;
    return op::clamp(op::number(0, dtype), item.value, op::number(static_cast<double>(last), dtype));
  }
  void take_one(int axis) {
    dims_.collapsed_dims.push_back(axis);
    dims_.slice_sizes[axis] = 1;
  }

  const Place& place_;
  DType dtype_;
  GatherAttr dims_{};
  std::vector<Component> components_;
  Shape batch_;   // axes of the index vectors
  int axis_ = 0;  // axis of the windowed array
};

Array read(const Place& place) {
  if (!place.arrays) return read_window(place);
  if (place.shape.elements() == 0) return op::zeros({place.base.dtype(), place.shape, false});
  const Vectors v = VectorBuilder(place, IndexMode::clip_or_drop).vectors();
  return op::reshape(op::gather(place.base, v.indices, v.dims), place.shape);
}

// ---- updates

enum class Update : std::uint8_t { set, add, multiply, min, max };
constexpr const char* update_names[] = {"at.set", "at.add", "at.multiply", "at.min", "at.max"};

/// The update in the dtype of the base and the shape of the place, without its new axes.
Array fitted_update(const Place& place, const Operand& v, const char* name) {
  const Type& base = place.base.type();
  if (!v.is_literal()) {
    check_usable(v.array(), name);
    if (promote(base.dtype, v.array().dtype()) != base.dtype)
      throw TypeError(std::string(name) + ": an update of type " + to_string(v.array().type()) + " for " +
                      to_string(base) + " would lose its dtype. Convert it." + at_current_source());
  }
  const Array update = as_dtype(v, base.dtype, name);
  return op::reshape(broadcast_to_shape(update, place.shape, name), place.kept);
}

Array combine(Update kind, const Array& old, const Array& update) {
  switch (kind) {
    case Update::add:
      return op::add(old, update);
    case Update::multiply:
      return op::mul(old, update);
    case Update::min:
      return op::min(old, update);
    case Update::max:
      return op::max(old, update);
    default:
      return update;
  }
}

Array update_window(const Place& place, Update kind, const Array& update) {
  const Window w = window_of(place);
  if (place.strided) return op::add_slice(place.base, op::rev(update, w.reversed), w.first, w.strides);
  const Array box = op::reshape(update, w.extent);
  if (kind == Update::add) return op::dynamic_add_slice(place.base, box, w.starts);
  if (kind == Update::set) return op::dynamic_update_slice(place.base, box, w.starts);
  const Array old = op::dynamic_slice(place.base, w.starts, w.extent);
  return op::dynamic_update_slice(place.base, combine(kind, old, box), w.starts);
}

Array update_vectors(const Place& place, Update kind, const Array& update, OutOfBounds mode) {
  const IndexMode index_mode = mode == OutOfBounds::clip ? IndexMode::clip : IndexMode::fill_or_drop;
  const Vectors v = VectorBuilder(place, index_mode).vectors();
  const GatherAttr& g = v.dims;
  const ScatterAttr dims{g.offset_dims, g.collapsed_dims, g.start_index_map, {}, {}, index_mode};
  switch (kind) {
    case Update::set:
      return op::scatter(place.base, v.indices, update, dims);
    case Update::add:
      return op::scatter_add(place.base, v.indices, update, dims);
    case Update::multiply:
      return op::scatter_mul(place.base, v.indices, update, dims);
    case Update::min:
      return op::scatter_min(place.base, v.indices, update, dims);
    default:
      return op::scatter_max(place.base, v.indices, update, dims);
  }
}

Array updated(const Array& base, const std::vector<Index>& indices, Update kind, const Operand& v,
              OutOfBounds mode) {
  const AtSource at(v.source());
  const Place place = make_place(base, indices);
  const Array update = fitted_update(place, v, update_names[static_cast<int>(kind)]);
  if (place.shape.elements() == 0) return base;
  // A window moves into the array, which an update that drops what is outside must not do.
  const bool fits = !place.scalars || mode == OutOfBounds::clip;
  const bool window = !place.arrays && fits && (!place.strided || (kind == Update::add && !place.moving));
  return window ? update_window(place, kind, update) : update_vectors(place, kind, update, mode);
}

Array read_at(const Array& base, std::span<const Index> indices) {
  const AtSource at(indices.empty() ? std::source_location() : indices[0].source);
  return read(make_place(base, indices));
}

}  // namespace

Array Array::operator[](const Index& index) const {
  return read_at(*this, {&index, 1});
}
Array Array::operator[](std::initializer_list<Index> indices) const {
  return read_at(*this, {indices.begin(), indices.size()});
}
At Array::at(const Index& index) const {
  return At(*this, {index});
}
At Array::at(std::initializer_list<Index> indices) const {
  return At(*this, std::vector<Index>(indices));
}

Array At::get() const {
  return read_at(base_, indices_);
}
Array At::set(const Operand& v, OutOfBounds mode) const {
  return updated(base_, indices_, Update::set, v, mode);
}
Array At::add(const Operand& v, OutOfBounds mode) const {
  return updated(base_, indices_, Update::add, v, mode);
}
Array At::multiply(const Operand& v, OutOfBounds mode) const {
  return updated(base_, indices_, Update::multiply, v, mode);
}
Array At::min(const Operand& v, OutOfBounds mode) const {
  return updated(base_, indices_, Update::min, v, mode);
}
Array At::max(const Operand& v, OutOfBounds mode) const {
  return updated(base_, indices_, Update::max, v, mode);
}

}  // namespace anadrome

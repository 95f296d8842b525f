// Dimension numbers of gather and scatter: checks, shapes, inverses, and the evaluation walk.
#include "primitives/indexed.h"

#include <algorithm>
#include <limits>

namespace anadrome {

bool contains(const Ints& list, std::int64_t axis) {
  return std::find(list.begin(), list.end(), axis) != list.end();
}

Ints window_sizes(const ScatterAttr& s, const Shape& updates, int operand_rank) {
  Ints sizes;
  std::size_t window = 0;
  for (int k = 0; k < operand_rank; ++k) {
    const bool one = contains(s.inserted_dims, k) || contains(s.operand_batching_dims, k);
    const bool known = window < s.update_window_dims.size() && s.update_window_dims[window] < updates.rank();
    sizes.push_back(one || !known ? 1 : updates[s.update_window_dims[window++]]);
  }
  return sizes;
}

ScatterAttr scatter_of(const GatherAttr& g) {
  return {g.offset_dims,           g.collapsed_dims,
          g.start_index_map,       g.operand_batching_dims,
          g.indices_batching_dims, g.mode == IndexMode::clip ? IndexMode::clip : IndexMode::fill_or_drop};
}

GatherAttr gather_of(const ScatterAttr& s, const Shape& updates, int operand_rank, IndexMode mode) {
  return {s.update_window_dims,
          s.inserted_dims,
          s.scatter_dims,
          s.operand_batching_dims,
          s.indices_batching_dims,
          window_sizes(s, updates, operand_rank),
          mode};
}

std::int64_t index_count(const Shape& indices) {
  std::int64_t n = 1;
  for (int k = 0; k + 1 < indices.rank(); ++k) n *= indices[k];
  return n;
}

namespace {

/// Each entry in [0, limit) and named once.
void check_axes(const TypeIn& in, const Ints& axes, int limit, const char* name, const Type& of) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= limit)
      refuse(in, std::string(name) + " " + to_string(axes) + " names an axis that " + to_string(of) +
                     " has not. Axes count from 0.");
    if (std::count(axes.begin(), axes.end(), axes[i]) > 1)
      refuse(in, std::string(name) + " " + to_string(axes) + " names an axis twice. Name each axis once.");
  }
}

void check_batching(const TypeIn& in, const IndexDims& dims) {
  const Type& x = in.x[0];
  const Type& indices = in.x[1];
  check_axes(in, dims.operand_batching, x.rank(), "the operand's batching axes", x);
  check_axes(in, dims.indices_batching, indices.rank() - 1, "the indices' batching axes", indices);
  if (dims.operand_batching.size() != dims.indices_batching.size())
    refuse(in, "batching axes " + to_string(dims.operand_batching) + " of the operand and " +
                   to_string(dims.indices_batching) + " of the indices: they pair up, so give as many.");
  for (std::size_t k = 0; k < dims.operand_batching.size(); ++k)
    if (x.shape[dims.operand_batching[k]] != indices.shape[dims.indices_batching[k]])
      refuse(in, "batching axis " + std::to_string(dims.operand_batching[k]) + " of " + to_string(x) +
                     " and axis " + std::to_string(dims.indices_batching[k]) + " of the indices " +
                     to_string(indices) + " differ in extent.");
}

void check_sizes(const TypeIn& in, const IndexDims& dims, const Ints& sizes) {
  const Type& x = in.x[0];
  require_per_axis(in, sizes, "the window");
  for (int k = 0; k < x.rank(); ++k) {
    if (sizes[k] < 0 || sizes[k] > x.shape[k])
      refuse(in, "a window " + to_string(sizes) + " does not fit into " + to_string(x) + ".");
    if (sizes[k] != 1 && (contains(dims.collapsed, k) || contains(dims.operand_batching, k)))
      refuse(in, "the window " + to_string(sizes) + " must have extent 1 along axis " + std::to_string(k) +
                     " of " + to_string(x) + ", which the result lacks.");
  }
}

}  // namespace

void check_index_dims(const TypeIn& in, const IndexDims& dims, const Ints& sizes) {
  refuse_complex(in);
  const Type& x = in.x[0];
  const Type& indices = in.x[1];
  if (!is_integer(indices.dtype) || indices.rank() == 0)
    refuse(in, "indices of type " + to_string(indices) +
                   "; they must be integers whose last axis holds the index vectors.");
  if (x.rank() > max_rank || indices.rank() > max_rank) refuse(in, "at most 32 axes are supported.");
  check_axes(in, dims.collapsed, x.rank(), "the collapsed axes", x);
  check_axes(in, dims.map, x.rank(), "the indexed axes", x);
  check_batching(in, dims);
  for (std::int64_t a : dims.operand_batching)
    if (contains(dims.collapsed, a) || contains(dims.map, a))
      refuse(in,
             "axis " + std::to_string(a) + " is a batching axis and also collapsed or indexed. Choose one.");
  if (dims.map.rank() != indices.shape.back())
    refuse(in, "index vectors of length " + std::to_string(indices.shape.back()) + " in " +
                   to_string(indices) + ", but " + std::to_string(dims.map.size()) + " indexed axes " +
                   to_string(dims.map) + ".");
  const std::size_t windows = x.shape.size() - dims.collapsed.size() - dims.operand_batching.size();
  if (dims.window.size() != windows || !std::is_sorted(dims.window.begin(), dims.window.end()))
    refuse(in, "window axes " + to_string(dims.window) + "; give " + std::to_string(windows) +
                   " in ascending order: one for each axis of " + to_string(x) +
                   " that is neither collapsed nor batching.");
  check_axes(in, dims.window, indices.rank() - 1 + static_cast<int>(windows), "the window axes", indices);
  check_sizes(in, dims, sizes);
}

Shape windowed_shape(const Shape& indices, const IndexDims& dims, const Ints& sizes) {
  Ints windows;
  for (int k = 0; k < sizes.rank(); ++k)
    if (!contains(dims.collapsed, k) && !contains(dims.operand_batching, k)) windows.push_back(sizes[k]);
  Shape shape;
  std::size_t window = 0, batch = 0;
  const int rank = indices.rank() - 1 + windows.rank();
  for (int k = 0; k < rank; ++k)
    shape.push_back(contains(dims.window, k) ? windows[window++] : indices[batch++]);
  return shape;
}

IndexWalk index_walk(const IndexDims& dims, const Ints& sizes, const Shape& operand, const Shape& indices,
                     const Shape& windowed) {
  IndexWalk walk;
  walk.clip = dims.mode == IndexMode::clip || dims.mode == IndexMode::clip_or_drop;
  const Strides operand_steps = row_major(operand), windowed_steps = row_major(windowed);
  const Strides indices_steps = row_major(indices);
  for (int k = 0; k < windowed.rank(); ++k) {
    if (contains(dims.window, k)) continue;
    const int b = walk.batch++;
    walk.extent[b] = indices[b];
    walk.empty = walk.empty || indices[b] == 0;
    walk.windowed_step[b] = windowed_steps[k];
    walk.indices_step[b] = indices_steps[b];
    for (std::size_t i = 0; i < dims.indices_batching.size(); ++i)
      if (dims.indices_batching[i] == b) walk.operand_step[b] = operand_steps[dims.operand_batching[i]];
  }
  for (std::int64_t a : dims.map) {
    walk.map_step[walk.mapped] = operand_steps[a];
    walk.map_limit[walk.mapped++] = operand[a] - sizes[a];
  }
  std::size_t window = 0;
  for (int k = 0; k < operand.rank(); ++k)
    if (!contains(dims.collapsed, k) && !contains(dims.operand_batching, k))
      walk.window.add(sizes[k], windowed_steps[dims.window[window++]], operand_steps[k]);
  walk.empty = walk.empty || walk.window.empty;
  return walk;
}

std::int64_t load_index(DType dtype, const void* indices, std::int64_t at) {
  switch (dtype) {
    case DType::i32:
      return static_cast<const std::int32_t*>(indices)[at];
    case DType::i64:
      return static_cast<const std::int64_t*>(indices)[at];
    case DType::i8:
      return static_cast<const std::int8_t*>(indices)[at];
    case DType::i16:
      return static_cast<const std::int16_t*>(indices)[at];
    case DType::u8:
      return static_cast<const std::uint8_t*>(indices)[at];
    case DType::u16:
      return static_cast<const std::uint16_t*>(indices)[at];
    case DType::u32:
      return static_cast<const std::uint32_t*>(indices)[at];
    default:
      break;
  }
  const std::uint64_t big = static_cast<const std::uint64_t*>(indices)[at];
  constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(big < largest ? big : largest);
}

}  // namespace anadrome

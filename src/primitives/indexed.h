// What gather and the scatters share: dimension numbers, their checks, and the walk over index vectors.
#pragma once
#include "primitives/checks.h"
#include "primitives/dispatch.h"

namespace anadrome {

/// The dimension numbers of a gather (windowed = its result) or of a scatter (windowed = its updates).
struct IndexDims {
  const Ints& window;     // axes of the windowed array that run over a window
  const Ints& collapsed;  // axes of the operand with window extent 1 that the windowed array lacks
  const Ints& map;        // operand axis of each entry of an index vector
  const Ints& operand_batching;
  const Ints& indices_batching;
  IndexMode mode;
};
inline IndexDims index_dims(const GatherAttr& g) {
  return {g.offset_dims,           g.collapsed_dims,        g.start_index_map,
          g.operand_batching_dims, g.indices_batching_dims, g.mode};
}
inline IndexDims index_dims(const ScatterAttr& s) {
  const bool clips = s.mode == IndexMode::clip;  // all other modes drop updates that do not fit
  return {s.update_window_dims,    s.inserted_dims,         s.scatter_dims,
          s.operand_batching_dims, s.indices_batching_dims, clips ? IndexMode::clip : IndexMode::fill_or_drop};
}

/// What a gather reads at an index that does not fit.
Literal fill_value(DType dtype, IndexMode mode);
/// True if `axis` is in the list.
bool contains(const Ints& list, std::int64_t axis);
/// Window extents, one an axis of the operand, of a scatter with these updates.
Ints window_sizes(const ScatterAttr& s, const Shape& updates, int operand_rank);
/// The scatter that puts back what a gather reads; modes that read zero or fill become drop.
ScatterAttr scatter_of(const GatherAttr& g);
/// The gather that reads where a scatter writes, with that mode.
GatherAttr gather_of(const ScatterAttr& s, const Shape& updates, int operand_rank, IndexMode mode);
/// Number of index vectors.
std::int64_t index_count(const Shape& indices);

/// Checks everything about dimension numbers but the windowed array; operand and indices are operands 0
/// and 1.
void check_index_dims(const TypeIn& in, const IndexDims& dims, const Ints& sizes);
/// Shape of the windowed array.
Shape windowed_shape(const Shape& indices, const IndexDims& dims, const Ints& sizes);

/// The walk of an evaluation; without allocation.
struct IndexWalk {
  bool empty = false, clip = false;
  int batch = 0;  // axes of the indices but the last
  Strides extent{}, windowed_step{}, indices_step{}, operand_step{};
  int mapped = 0;
  Strides map_step{}, map_limit{};  // operand elements for one step of an index; its largest value that fits
  Loops window;                     // `to` counts elements of the windowed array, `from` those of the operand
};
IndexWalk index_walk(const IndexDims& dims, const Ints& sizes, const Shape& operand, const Shape& indices,
                     const Shape& windowed);
std::int64_t load_index(DType dtype, const void* indices, std::int64_t at);

/// f(place in the windowed array, place in the operand, whether the window fits) for each index vector, in
/// order. `load`: the index at a place of the indices.
template <class Load, class F> void for_each_place(const IndexWalk& walk, Load load, F f) {
  const int last = walk.batch - 1;  // runs innermost, without the bookkeeping of the others
  const std::int64_t count = last < 0 ? 1 : walk.extent[last];
  const auto step = [&](const Strides& steps) { return last < 0 ? 0 : steps[last]; };
  const std::int64_t next_windowed = step(walk.windowed_step), next_vector = step(walk.indices_step),
                     next_base = step(walk.operand_step);
  Strides at{};
  std::int64_t windowed = 0, vector = 0, base = 0;
  for (;;) {
    for (std::int64_t j = 0; j < count; ++j) {
      std::int64_t place = base + j * next_base;
      bool fits = true;
      for (int k = 0; k < walk.mapped; ++k) {
        std::int64_t i = load(vector + j * next_vector + k);
        if (i < 0 || i > walk.map_limit[k]) {
          fits = walk.clip;
          if (!fits) break;
          i = i < 0 ? 0 : walk.map_limit[k];
        }
        place += i * walk.map_step[k];
      }
      f(windowed + j * next_windowed, place, fits);
    }
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      windowed += walk.windowed_step[axis], vector += walk.indices_step[axis],
          base += walk.operand_step[axis];
      if (++at[axis] < walk.extent[axis]) break;
      windowed -= walk.windowed_step[axis] * walk.extent[axis];
      vector -= walk.indices_step[axis] * walk.extent[axis];
      base -= walk.operand_step[axis] * walk.extent[axis];
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}
template <class F> void for_each_index(const IndexWalk& walk, DType dtype, const void* indices, F f) {
  if (walk.empty) return;
  if (dtype == DType::i32)
    return for_each_place(walk, [p = static_cast<const std::int32_t*>(indices)](std::int64_t i) -> std::int64_t { return p[i]; }, f);
  for_each_place(walk, [=](std::int64_t i) { return load_index(dtype, indices, i); }, f);
}

}  // namespace anadrome

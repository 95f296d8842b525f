// Reading and updating by index arrays, as functions: take, gather, the scatters, and what is built on them.
#pragma once
#include "anadrome/array.h"

namespace anadrome {

/// What `take` reads where an index does not fit.
enum class TakeMode : std::uint8_t {
  fill,  // negative indices count from the end; others outside read NaN (the smallest signed or largest
         // unsigned integer)
  clip,  // every index is moved into the array; negative ones to 0
  wrap   // every index is taken modulo the extent
};

/// The slices of `x` at `indices` along `axis`, whose place the axes of `indices` take: shape x.shape[:axis]
/// + indices.shape + x.shape[axis+1:]. Dtype of `x`. Differentiable in `x`. Throws TypeError for indices that
/// are not integers and an axis that does not exist, IndexError for an axis without elements.
Array take(const Operand& x, const Operand& indices, std::int64_t axis, TakeMode mode = TakeMode::fill);
/// The same on `x` flattened to one axis; the result has the shape of `indices`.
Array take(const Operand& x, const Operand& indices, TakeMode mode = TakeMode::fill);
/// out[..., k, ...] = x[..., indices[..., k, ...], ...]: `indices` has the rank of `x`; their other axes
/// broadcast. Dtype of `x`. Differentiable in `x`. Throws TypeError for ranks that differ or shapes that do
/// not broadcast.
Array take_along_axis(const Operand& x, const Operand& indices, std::int64_t axis,
                      TakeMode mode = TakeMode::fill);

/// Dimension numbers of a gather as in StableHLO, with the index vectors along the last axis of the indices.
struct GatherDims {
  Ints offset_dims;           // axes of the result that run over a window, ascending
  Ints collapsed_slice_dims;  // axes of `x` with window extent 1 that the result lacks
  Ints start_index_map;       // axis of `x` of each entry of an index vector
  Ints operand_batching_dims = {};
  Ints start_indices_batching_dims = {};
};
/// Dimension numbers of a scatter.
struct ScatterDims {
  Ints update_window_dims;            // axes of the updates that run over a window, ascending
  Ints inserted_window_dims;          // axes of `x` with window extent 1 that the updates lack
  Ints scatter_dims_to_operand_dims;  // axis of `x` of each entry of an index vector
  Ints operand_batching_dims = {};
  Ints scatter_indices_batching_dims = {};
};
/// What a gather reads where a window does not fit: the nearest window that does, or the fill of
/// TakeMode::fill.
enum class GatherMode : std::uint8_t { clip, fill };

/// The windows of `x` of extents `slice_sizes` that start at the index vectors. Negative indices are outside.
/// Dtype of `x`. Differentiable in `x`. Throws TypeError for dimension numbers that do not fit the shapes.
Array gather(const Operand& x, const Operand& indices, const GatherDims& dims, const Ints& slice_sizes,
             GatherMode mode = GatherMode::clip);
/// `x` with the windows at the index vectors replaced by `updates`; with repeated places the last wins.
/// Updates are converted to the dtype of `x` where that loses nothing. Differentiable in `x` and `updates`.
/// Throws TypeError for dimension numbers that do not fit the shapes.
Array scatter(const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
              OutOfBounds mode = OutOfBounds::drop);
/// The same with the updates added; repeated places add up.
Array scatter_add(const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
                  OutOfBounds mode = OutOfBounds::drop);
/// The same with the updates multiplied. The second derivative at repeated places where an update is zero
/// counts that update as constant.
Array scatter_mul(const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
                  OutOfBounds mode = OutOfBounds::drop);
/// The same with the minimum; the derivative goes in equal parts to all that reach it.
Array scatter_min(const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
                  OutOfBounds mode = OutOfBounds::drop);
/// The same with the maximum.
Array scatter_max(const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
                  OutOfBounds mode = OutOfBounds::drop);

enum class Side : std::uint8_t { left, right };
/// For each query the number of elements of `sorted` (rank 1, ascending, NaN last) that are less than it, or
/// with Side::right not greater: where it can be inserted. i32 (i64 for more than 2^31 elements), shape of
/// `queries`. Not differentiable. Throws TypeError where `sorted` is not of rank 1.
Array searchsorted(const Operand& sorted, const Operand& queries, Side side = Side::left);
/// out[s] = sum of x[k] over all k with ids[k] == s, shape [num_segments] + x.shape[1:]; ids outside are left
/// out. Dtype of `x`. Differentiable in `x`. Throws TypeError where `ids` are not integers of shape
/// [x.shape[0]].
Array segment_sum(const Operand& x, const Operand& ids, std::int64_t num_segments);
/// The piecewise linear function through the points (xp, fp), xp ascending, at x; constant outside. Float
/// dtype all three promote to, shape of `x`. Differentiable in all three. Throws TypeError where xp and fp
/// are not of rank 1 and equally long, or empty.
Array interp(const Operand& x, const Operand& xp, const Operand& fp);

}  // namespace anadrome

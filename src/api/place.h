// A checked index: what each item does to its axis, and the shape of the place it names.
#pragma once
#include "core/builder.h"

namespace anadrome {

/// One item of an index. `newaxis` has no axis; `integer`, `scalar` and `array` remove theirs.
struct PlaceItem {
  enum class Kind : std::uint8_t { newaxis, integer, scalar, array, range, window };
  Kind kind = Kind::newaxis;
  int axis = -1;
  std::int64_t start = 0, size = 1, step = 1;  // of integers, ranges and windows (their start is `value`)
  Array value;  // scalar or array index, negative counted from the end; window start

  bool selects() const { return kind == Kind::integer || kind == Kind::scalar || kind == Kind::array; }
  bool keeps_axis() const { return kind == Kind::range || kind == Kind::window; }
};

/// An index for an array: items in order, one for each axis, and new axes between.
struct Place {
  Array base;
  std::vector<PlaceItem> items;
  bool arrays = false;   // an index of rank 1 or more
  bool scalars = false;  // a recorded (or concrete) index of rank 0
  bool moving = false;   // a start that is not fixed by the shapes: an integer, a scalar or a window
  bool strided = false;  // a range with a step other than 1
  int ellipsis = -1;     // number of items before the ellipsis: even an empty one separates index arrays

  Shape block;         // the shape that index arrays broadcast to; it takes the place of the axes they remove
  int block_item = 0;  // number of items before which the block stands
  Shape shape;         // of the place: what reading gives
  Shape kept;          // the same without new axes
};

/// Checks an index. Throws IndexError and TypeError.
Place make_place(const Array& base, std::span<const Index> indices);
/// `index` as an integer type in which it can be compared with `extent`, negative values counted from the
/// end.
Array wrap_index(const Array& index, std::int64_t extent);
/// i32, or i64 where an extent needs it.
DType index_dtype(const Shape& shape);

}  // namespace anadrome

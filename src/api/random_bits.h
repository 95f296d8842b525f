// What the random functions share: checked keys and the bits of a key.
#pragma once
#include <string_view>
#include <utility>

#include "anadrome/random.h"

namespace anadrome::random {

/// Throws TypeError naming `what` unless `key` is u32[2] and no extent of `shape` is negative.
void check_draw(const Array& key, const Shape& shape, std::string_view what);
/// The two keys of split(key).
std::pair<Array, Array> two_keys(const Array& key);
/// Random bits of a checked key; `dtype` is unsigned.
Array bits_of(const Array& key, const Shape& shape, DType dtype);
/// Uniform in [lo, hi), of a float dtype that both bounds have; rank 0 or `shape`.
Array uniform_between(const Array& key, const Shape& shape, DType dtype, const Array& lo, const Array& hi);
/// The same for numbers, rounded to the dtype.
Array uniform_between(const Array& key, const Shape& shape, DType dtype, double lo, double hi);
/// Of a float dtype.
Array gumbel_of(const Array& key, const Shape& shape, DType dtype);

}  // namespace anadrome::random

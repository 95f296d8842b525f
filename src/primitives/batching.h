// Helpers of batch rules.
#pragma once
#include "primitives/op.h"

namespace anadrome {

/// The list with `value` put in at `at`.
inline Ints inserted(Ints list, int at, std::int64_t value) {
  list.insert(static_cast<std::size_t>(at), value);
  return list;
}
/// Axis numbers of an operand whose batch axis is at `batch`, from numbers that do not count it.
inline Ints past_batch(Ints axes, int batch) {
  for (std::int64_t& a : axes)
    if (a >= batch) ++a;
  return axes;
}
/// The numbers first, first + 1, ..., last - 1.
inline Ints axes_between(std::int64_t first, std::int64_t last) {
  Ints axes;
  for (std::int64_t a = first; a < last; ++a) axes.push_back(a);
  return axes;
}

}  // namespace anadrome

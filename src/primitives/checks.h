// Small checks that type rules of structural primitives share.
#pragma once
#include <string>

#include "core/builder.h"
#include "primitives/strided.h"

namespace anadrome {

/// Throws TypeError "<primitive>: <text> at <line>".
[[noreturn]] inline void refuse(const TypeIn& in, const std::string& text) {
  throw TypeError(std::string(in.prim.name) + ": " + text + at_current_source());
}
/// Refuses complex operands, for which these primitives have no code yet.
inline void refuse_complex(const TypeIn& in) {
  for (const Type& t : in.x)
    if (is_complex(t.dtype))
      refuse(in, "no support for complex numbers (" + to_string(t) +
                     "). Keep real and imaginary parts as two arrays.");
}
/// The list must have one entry an axis of operand 0.
inline void require_per_axis(const TypeIn& in, const Ints& list, const char* name) {
  if (list.rank() != in.x[0].rank())
    refuse(in, std::string(name) + " " + to_string(list) + " has " + std::to_string(list.size()) +
                   " entries, " + to_string(in.x[0]) + " has " + std::to_string(in.x[0].rank()) +
                   " axes. Give one per axis.");
}
inline void require_shape(const TypeIn& in, const Shape& shape) {
  if (shape.rank() > max_rank)
    refuse(in, "the result would have " + std::to_string(shape.rank()) + " axes; at most 32 are supported.");
  for (std::int64_t d : shape)
    if (d < 0) refuse(in, "negative extent in " + to_string(shape) + ".");
}
inline void require_one_dtype(const TypeIn& in, std::size_t first, std::size_t last) {
  for (std::size_t i = first + 1; i < last; ++i)
    if (in.x[i].dtype != in.x[first].dtype)
      refuse(in, "operands of different dtypes: " + to_string(in.x[first]) + ", " + to_string(in.x[i]) +
                     ". Convert one of them.");
}

}  // namespace anadrome

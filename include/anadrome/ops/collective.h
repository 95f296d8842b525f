// Operations across the examples of a vmap whose axis has a name: `vmap(f, {.axis_name = "batch"})`.
#pragma once
#include <source_location>
#include <string_view>

#include "anadrome/array.h"

namespace anadrome {

/// The sum of x over all examples of the vmap with that axis name; every example sees the same. Integers and
/// floats, dtype kept. Differentiable. Throws TraceError when it is evaluated outside such a vmap.
Array psum(const Operand& x, std::string_view axis_name);
/// The mean over all examples; integers give f32. Differentiable.
Array pmean(const Operand& x, std::string_view axis_name);
/// The position of the example on the named axis, an i32 number.
Array axis_index(std::string_view axis_name, std::source_location source = std::source_location::current());

}  // namespace anadrome

// The linear maps behind equations that are solved.
#pragma once
#include "transforms/sub_programs.h"

namespace anadrome {

/// The derivative of `program` in its arguments from `consts` on, as a program: all arguments, then a tangent for each of those, to
/// tangents of all outputs.
ProgramPtr derivative_map(const SubProgram& program, std::size_t consts);
/// Its transpose: all arguments, then a cotangent per output, to cotangents of the arguments from `consts` on.
ProgramPtr transposed_map(const SubProgram& program, std::size_t consts);
/// The transpose of a program that is linear in its arguments from `consts` on: the others, then a cotangent per output.
ProgramPtr transposed_at_zero(const SubProgram& program, std::size_t consts);

}  // namespace anadrome

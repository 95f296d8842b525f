// Running a program backwards: from its results and some of its arguments to the others.
#pragma once
#include "core/attrs.h"
#include "transforms/common.h"

namespace anadrome {

struct InverseProgram {
  /// Inputs: the known arguments, then the outputs in `given`. Outputs: the unknown arguments.
  ProgramPtr program;
  /// How much at least a relative error of the outputs grows in the arguments, as far as literals tell; 1 or more.
  double amplification = 1;
};
/// Solves a closed program, equation by equation, for the arguments marked in `unknown`, from the others and from the outputs
/// marked in `given`. Memoised. Throws NotInvertible, beginning with `name`, that names the equation which cannot be undone and
/// its line.
std::shared_ptr<const InverseProgram> invert_program(const SubProgram& program, const Mask& unknown, const Mask& given,
                                                     const std::string& name);

}  // namespace anadrome

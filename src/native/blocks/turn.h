// Values that steps hand to each other in blocks lie with the axis of the blocks outermost.
#pragma once
#include "native/blocks/axes.h"

namespace anadrome::blocks {

/// The body with other types for values that are made and read inside it and are cut along an axis that is not their
/// outermost one: that axis comes first, so that a block of them is a piece of memory. Null where there are none.
ProgramPtr turned_inside(const Program& body, const std::vector<StepAxes>& axes);

}  // namespace anadrome::blocks

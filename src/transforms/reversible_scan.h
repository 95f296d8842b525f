// A scan whose gradient undoes its steps.
#pragma once
#include "transforms/scan_parts.h"
#include "transforms/sub_programs.h"

namespace anadrome {

/// A program of one equation: the loop, on operands of these types.
SubProgram loop_program(const ScanAttr& loop, std::span<const Type> operands);
/// The scan that such a program holds.
inline const Equation& loop_of(const SubProgram& program) { return program->equations[0]; }

/// How the steps of a loop are cut: `first` steps, then `segments` times `segment`. The states behind each part are kept.
struct RewindLayout {
  std::int64_t first = 0, segment = 1, segments = 0;
  double predicted = 0;  // relative error of the longest rewind, as far as the body tells it
};
/// `anchors` -1: the length of a segment is at most the root of the number of steps, and its predicted error a tenth of the
/// tolerance. Loops with slices are cut evenly where they can be: then no slices are copied.
RewindLayout rewind_layout(const Equation& loop, const std::vector<Type>& types, std::int64_t anchors, double tolerance);

/// The unknown inputs of the body, its carries; given: the new carries.
std::shared_ptr<const struct InverseProgram> inverse_body(const ScanParts& p, const std::string& name);

/// Records the loop so that its gradient can be had. Gives its results, then the kept states: stacks of those behind the segments,
/// a stack per carry, and the state behind the first steps; without segments the last carries.
Arrays run_and_keep(const ScanParts& p, const RewindLayout& layout, std::span<const Array> x);

/// Records the loop, and one equation for its tangents whose transpose undoes steps (`slots` -1) or keeps `slots` states.
LinearizeOut deferred_linearize(const JvpIn& in, const SubProgram& loop, std::int64_t anchors, double tolerance, std::int64_t slots);

/// The gradient of a loop, which gives cotangents of the marked operands.
struct RewindTask {
  SubProgram loop;
  Mask active, wanted;  // by operand of the loop
  Mask given;           // by active result: its cotangent is an operand
  std::int64_t anchors;
  double tolerance;
  std::int64_t slots;
};
/// Operands: those of the loop, the kept states, the given cotangents. Results: a cotangent per wanted operand.
ProgramPtr rewinding_gradient(const RewindTask& task, const std::vector<Type>& types);
/// The same from `slots` states; no kept states are among its operands.
ProgramPtr recomputing_gradient(const RewindTask& task, const std::vector<Type>& types);
/// The same by a stored trajectory.
ProgramPtr storing_gradient(const RewindTask& task, const std::vector<Type>& types);

/// Slices [begin, end) of a stack.
Array stack_part(const Array& stack, std::int64_t begin, std::int64_t end);
/// A stack as one of stacks of `length`, and back.
Array in_segments(const Array& stack, std::int64_t length);
Array out_of_segments(const Array& stack);

}  // namespace anadrome

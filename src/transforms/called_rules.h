// The rules of equations that stand for one program: each transform of the equation is one of the program, memoised.
#pragma once
#include "transforms/sub_programs.h"

namespace anadrome {

/// Records an equation for a transformed program.
using Record = std::function<Arrays(const ProgramPtr& program, std::span<const Array> operands)>;
/// A call of the program, under the name of an equation.
Record as_call(std::string name, const SubProgram& body);

Types type_of_body(const TypeIn& in, const Called& called);
void eval_of_body(const EvalIn& in, const Called& called);
Arrays jvp_of_body(const JvpIn& in, const ProgramPtr& body, const Record& record);
LinearizeOut linearize_of_body(const JvpIn& in, const ProgramPtr& body, const Record& record);
void transpose_of_body(const TransposeIn& in, const ProgramPtr& body, const Record& record);
BatchOut batch_of_body(const BatchIn& in, const ProgramPtr& body, const Record& record);

}  // namespace anadrome

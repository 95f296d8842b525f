// Counts the operations of a program by the table in docs/cost.md.
#pragma once
#include "anadrome/compile.h"
#include "core/prim.h"

namespace anadrome {

/// The cost of a program as it stands, calls counted as often as they are made. Throws RuleError for a primitive without
/// a cost rule.
CostAnalysis program_cost(const Program& program);

}  // namespace anadrome

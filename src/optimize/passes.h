// The passes of the optimiser: pure functions from a program to an equivalent canonical one.
#pragma once
#include "core/intern.h"

namespace anadrome {

enum class Inlined { everything, calls };
/// Replaces calls by their bodies, nested ones too, and, where everything is inlined, checkpoints and functions with rules of their
/// own. Regions of a body are fresh in each place it is put.
Program inline_calls(const Program& program, Inlined which = Inlined::everything);
/// Drops equations whose results nobody needs.
Program dead_code(const Program& program);
/// Computes equal equations of the same region once.
Program common_subexpressions(const Program& program);
/// Replaces what is computed from numbers alone and is a number itself by that number.
Program fold(const Program& program);
/// Identities that are exact for every value, special values included.
Program simplify(const Program& program);
/// Sees through identity matrices: products with them, and with what is known to be diagonal, become the cheap
/// operations they are. Products that would be 0*inf are 0 here.
Program structured_tangents(const Program& program);

/// Computes once, before a scan, what its steps compute from the same numbers. Bodies of bodies first.
Program hoist_invariants(const Program& program);

struct OptimizeOptions {
  bool structured_tangents = true;
  int threads = 0;  // that runs may use; 0: as many as there are
  bool loops_as_kernels = true;  // of the native backend: small loops are one kernel each
};
/// All passes, until nothing changes.
Program optimize(const Program& program, const OptimizeOptions& options = {});

}  // namespace anadrome

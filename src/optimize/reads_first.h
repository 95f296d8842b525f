// What reads a value runs before what updates it, so that the update can be made in place.
#pragma once
#include "optimize/fuse.h"

namespace anadrome {

/// The steps in another order: where an equation may write over an operand that later ones read without needing its result,
/// those come first.
Fused with_reads_first(Fused steps);

}  // namespace anadrome

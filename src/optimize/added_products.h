// Products whose result is only added to an array are added to it as they are computed.
#pragma once
#include "optimize/fuse.h"

namespace anadrome {

/// Makes one step (added_product) of each product and the kernel that does nothing but add its result to another array.
Fused with_added_products(Fused steps);

}  // namespace anadrome

// A scan whose body is written out for several steps.
#pragma once
#include "primitives/op.h"

namespace anadrome {

/// The results of the scan on `operands`, recorded as a scan of longer steps, each of which is `times` of the old ones, and a second
/// scan for the steps that are left over.
Arrays unrolled_scan(const ScanAttr& scan, const Arrays& operands, std::int64_t times);

}  // namespace anadrome

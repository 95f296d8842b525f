// Recording and running loops.
#pragma once
#include "anadrome/control.h"
#include "core/attrs.h"
#include "core/prim.h"

namespace anadrome::functional {

/// The body of a scan, recorded: what it captured is its first operands.
struct RecordedScan {
  ScanAttr attr;
  Arrays operands;
};
RecordedScan record_scan(const Function& body, const Arrays& init, const Arrays& xs, const ScanOptions& options, const Context& context);
/// Records the equation; outside every recorded function it is compiled and run: a loop is worth it.
Arrays run_loop(const Prim& prim, const Arrays& operands, const Attrs& attrs, const Context& context);

}  // namespace anadrome::functional

// The table of operations, gathered from its families.
#include "conformance/op_table.h"

namespace anadrome::conformance {

const OpTable& op_table() {
  static const OpTable table = [] {
    OpTable result;
    add_elementwise(result);
    add_shape(result);
    add_index(result);
    add_gather(result);
    add_reduce(result);
    add_linear(result);
    add_random(result);
    return result;
  }();
  return table;
}

}  // namespace anadrome::conformance

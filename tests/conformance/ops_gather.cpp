// Entries of the operations that read and update by index arrays.
#include "anadrome/ops/gather.h"
#include "conformance/op_table.h"

namespace anadrome::conformance {

namespace {

TakeMode take_mode(const Params& p) {
  const std::string mode = text(p, "mode");
  return mode == "fill" ? TakeMode::fill : mode == "clip" ? TakeMode::clip : TakeMode::wrap;
}

Arrays gathered(const Arrays& in, const Params& p) {
  const GatherDims dims{.offset_dims = ints(p, "offset_dims"),
                        .collapsed_slice_dims = ints(p, "collapsed_slice_dims"),
                        .start_index_map = ints(p, "start_index_map"),
                        .operand_batching_dims = ints(p, "operand_batching_dims"),
                        .start_indices_batching_dims = ints(p, "start_indices_batching_dims")};
  const GatherMode mode = text(p, "mode") == "clip" ? GatherMode::clip : GatherMode::fill;
  return {gather(in.at(0), in.at(1), dims, ints(p, "slice_sizes"), mode)};
}

using ScatterFunction = Array (*)(const Operand&, const Operand&, const Operand&, const ScatterDims&,
                                  OutOfBounds);

OpFunction scattered(ScatterFunction function) {
  return [function](const Arrays& in, const Params& p) -> Arrays {
    const ScatterDims dims{.update_window_dims = ints(p, "update_window_dims"),
                           .inserted_window_dims = ints(p, "inserted_window_dims"),
                           .scatter_dims_to_operand_dims = ints(p, "scatter_dims_to_operand_dims"),
                           .operand_batching_dims = ints(p, "operand_batching_dims"),
                           .scatter_indices_batching_dims = ints(p, "scatter_indices_batching_dims")};
    const OutOfBounds mode = text(p, "mode") == "clip" ? OutOfBounds::clip : OutOfBounds::drop;
    return {function(in.at(0), in.at(1), in.at(2), dims, mode)};
  };
}

}  // namespace

void add_gather(OpTable& table) {
  table["take"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {take(in.at(0), in.at(1), integer(p, "axis"), take_mode(p))};
  };
  table["take_along_axis"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {take_along_axis(in.at(0), in.at(1), integer(p, "axis"))};
  };
  table["gather"] = gathered;
  table["scatter"] = scattered(scatter);
  table["scatter_add"] = scattered(scatter_add);
  table["scatter_mul"] = scattered(scatter_mul);
  table["scatter_min"] = scattered(scatter_min);
  table["scatter_max"] = scattered(scatter_max);
  table["searchsorted"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {searchsorted(in.at(0), in.at(1), text(p, "side") == "left" ? Side::left : Side::right)};
  };
  table["segment_sum"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {segment_sum(in.at(0), in.at(1), integer(p, "num_segments"))};
  };
  table["interp"] = [](const Arrays& in, const Params&) -> Arrays {
    return {interp(in.at(0), in.at(1), in.at(2))};
  };
}

}  // namespace anadrome::conformance

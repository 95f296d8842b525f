// Entries of the products of vectors, matrices and higher arrays.
#include <stdexcept>

#include "anadrome/ops/linear.h"
#include "conformance/op_table.h"

namespace anadrome::conformance {

namespace {

OpFunction product(Array (*function)(const Operand&, const Operand&)) {
  return [function](const Arrays& in, const Params&) -> Arrays { return {function(in.at(0), in.at(1))}; };
}

Arrays contracted(const Arrays& in, const Params& p) {
  const DotAxes axes{.contract_lhs = ints(p.at("contract").at(0)),
                     .contract_rhs = ints(p.at("contract").at(1)),
                     .batch_lhs = ints(p.at("batch").at(0)),
                     .batch_rhs = ints(p.at("batch").at(1))};
  return {dot_general(in.at(0), in.at(1), axes)};
}

Arrays tensor_product(const Arrays& in, const Params& p) {
  const Json& axes = p.at("axes");
  if (axes.is_array()) return {tensordot(in.at(0), in.at(1), ints(axes.at(0)), ints(axes.at(1)))};
  return {tensordot(in.at(0), in.at(1), axes.get<std::int64_t>())};
}

Arrays summed(const Arrays& in, const Params& p) {
  const std::string subscripts = text(p, "subscripts");
  switch (in.size()) {
    case 1:
      return {einsum(subscripts, in[0])};
    case 2:
      return {einsum(subscripts, in[0], in[1])};
    case 3:
      return {einsum(subscripts, in[0], in[1], in[2])};
    default:
      throw std::runtime_error("einsum of more than three operands has no entry");
  }
}

}  // namespace

void add_linear(OpTable& table) {
  table["dot_general"] = contracted;
  table["tensordot"] = tensor_product;
  table["einsum"] = summed;
  table["matmul"] = product(matmul);
  table["outer"] = product(outer);
  table["inner"] = product(inner);
  table["vdot"] = product(vdot);
  table["kron"] = product(kron);
  table["cross"] = product(cross);
  table["polyval"] = product(polyval);
}

}  // namespace anadrome::conformance

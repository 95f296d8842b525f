// psum and axis_index: the sum over a named vmapped axis, and the position on it. The vmap with that name
// replaces them; until then they stand in the program.
#include <string>

#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

[[noreturn]] void eval_unbound(const EvalIn& in, const char* what) {
  throw TraceError(std::string(what) + ": no vmapped axis named '" + in.as<CollectiveAttr>().axis_name +
                   "' here. Call it inside a function given to vmap with that axis_name." +
                   at_current_source());
}

Types type_psum(const TypeIn& in) {
  refuse_complex(in);
  if (is_bool(in.x[0].dtype))
    refuse(in, "cannot add truth values (" + to_string(in.x[0]) + "). Convert them first.");
  return {in.x[0]};
}

/// Over its own axis: a sum, whose result every example shares; a value that all share already counts `size`
/// times.
BatchOut batch_psum(const BatchIn& in) {
  const auto& [name, size] = in.as<CollectiveAttr>();
  const Array& x = in.x[0];
  if (in.axis_name != name) return {op::psum(x, name, size), in.axis[0]};
  if (!in.batched(0)) return {op::mul(x, op::number_like(static_cast<double>(in.size), x)), unbatched};
  return {op::reduce_sum(x, {in.axis[0]}), unbatched};
}

BatchOut batch_axis_index(const BatchIn& in) {
  const auto& [name, size] = in.as<CollectiveAttr>();
  if (in.axis_name != name) return {op::axis_index(name, size), unbatched};
  return {op::iota(DType::i32, {in.size}, 0), 0};
}

}  // namespace

// As a map of all examples' values x_1 ... x_n to the n equal sums, psum is symmetric: its transpose is psum.
constinit const Prim prim::psum = {
    .name = "psum",
    .work = Work::other,
    .type = type_psum,
    .eval = [](const EvalIn& in) { eval_unbound(in, "psum"); },
    .jvp = [](const JvpIn& in) -> Arrays {
      const auto& [name, size] = in.as<CollectiveAttr>();
      return {op::psum(in.t[0], name, size)};
    },
    .transpose =
        [](const TransposeIn& in) {
          const auto& [name, size] = in.as<CollectiveAttr>();
          if (in.wants(0)) in.acc[0]->add(op::psum(in.ct[0], name, size));
        },
    .batch = batch_psum,
    .cost = [](const CostIn& in) { return Cost{.flops = static_cast<double>(in.out[0].elements())}; }};

constinit const Prim prim::axis_index = {.name = "axis_index",
                                         .work = Work::movement,
                                         .type = [](const TypeIn&) -> Types {
                                           return {Type{DType::i32, {}}};
                                         },
                                         .eval = [](const EvalIn& in) { eval_unbound(in, "axis_index"); },
                                         .jvp = no_rule("it has no operands"),
                                         .transpose = no_rule("it has no operands"),
                                         .batch = batch_axis_index,
                                         .cost = cost_free};

Array op::psum(const Array& x, std::string_view axis_name, std::int64_t axis_size) {
  return bind1(prim::psum, {x}, CollectiveAttr{std::string(axis_name), axis_size});
}

Array op::axis_index(std::string_view axis_name, std::int64_t axis_size) {
  return bind1(prim::axis_index, {}, CollectiveAttr{std::string(axis_name), axis_size});
}

}  // namespace anadrome

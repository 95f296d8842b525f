// can_emit and kernel_reasons: the tables of primitives with and without emission.
#include "native/emittable.h"

#include <algorithm>
#include <array>

#include "native/vector_math.h"
#include "optimize/axis_classes.h"
#include "primitives/prims.h"

namespace anadrome {
namespace {

constexpr std::array instructions = {
    &prim::neg, &prim::abs, &prim::sign, &prim::add, &prim::sub, &prim::mul, &prim::div, &prim::max, &prim::min,
    &prim::clamp, &prim::integer_pow, &prim::sqrt, &prim::rsqrt, &prim::floor, &prim::ceil, &prim::round, &prim::rint,
    &prim::trunc, &prim::is_finite, &prim::convert, &prim::bitcast, &prim::eq, &prim::ne, &prim::lt, &prim::le,
    &prim::gt, &prim::ge, &prim::select_n, &prim::bit_not, &prim::bit_and, &prim::bit_or, &prim::bit_xor,
    &prim::shift_left, &prim::shift_right_arithmetic, &prim::shift_right_logical, &prim::population_count, &prim::clz,
    &prim::stop_gradient};

constexpr std::array functions = {
    &prim::pow, &prim::cbrt, &prim::hypot, &prim::exp, &prim::exp2, &prim::expm1, &prim::log, &prim::log2,
    &prim::log10, &prim::log1p, &prim::logaddexp, &prim::logistic, &prim::sin, &prim::cos, &prim::tan, &prim::asin,
    &prim::acos, &prim::atan, &prim::atan2, &prim::sinh, &prim::cosh, &prim::tanh, &prim::asinh, &prim::acosh,
    &prim::atanh, &prim::erf, &prim::erfc, &prim::erf_inv, &prim::lgamma, &prim::digamma, &prim::bessel_i0e,
    &prim::bessel_i1e, &prim::xlogy, &prim::rem};

constexpr std::array movement = {&prim::broadcast_in_dim, &prim::reshape, &prim::transpose, &prim::slice, &prim::rev,
                                 &prim::iota, &prim::identity, &prim::pad, &prim::concatenate, &prim::add_slice,
                                 &prim::dynamic_slice, &prim::dynamic_add_slice, &prim::dynamic_update_slice,
                                 &prim::gather};

template <std::size_t n>
bool in(const std::array<const Prim*, n>& list, const Prim& p) {
  return std::find(list.begin(), list.end(), &p) != list.end();
}

// Times: of one float32 on one thread, among 1,000,000; a loop kernel that only multiplies takes 0.13 ns (docs/kernels.md).
constexpr std::string_view ordered = "each result needs the one before it: 0.3 to 1.7 ns",
                           indexed = "bound by reads and writes at random places: 6 to 9 ns, rows as fast as copies; "
                                     "updates of one place keep their order",
                           windows = "2 to 6 ns a result, the windows of a row together",
                           special = "hundreds of operations with branches: 130 to 970 ns",
                           copies = "copies at the speed of memory: 0.13 to 0.33 ns",
                           gone = "is replaced before fusion",
                           programs = "a step of its own, whose programs are compiled in their turn";
constexpr std::string_view computed_starts = "starts that are not numbers", integers = "integers";

constexpr std::array reasons = {
    KernelReason{&prim::sort, "", "20 ns: a pass saved is nothing beside it"},
    KernelReason{&prim::top_k, "", "2.9 ns: a pass saved is little beside it"},
    KernelReason{&prim::argmax, "", "as fast as reading: 0.1 to 0.6 ns"},
    KernelReason{&prim::argmin, "", "as fast as reading: 0.1 to 0.6 ns"},
    KernelReason{&prim::cumsum, "", ordered},
    KernelReason{&prim::cumprod, "", ordered},
    KernelReason{&prim::cummax, "", ordered},
    KernelReason{&prim::cummin, "", ordered},
    KernelReason{&prim::cumlogsumexp, "", "an exponential and a logarithm each, in order: 16 ns"},
    KernelReason{&prim::gather, "windows that are neither numbers nor whole axes", "rows as fast as copies"},
    KernelReason{&prim::scatter, "", indexed},
    KernelReason{&prim::scatter_add, "", indexed},
    KernelReason{&prim::scatter_mul, "", indexed},
    KernelReason{&prim::scatter_min, "", indexed},
    KernelReason{&prim::scatter_max, "", indexed},
    KernelReason{&prim::reduce_window_sum, "", windows},
    KernelReason{&prim::reduce_window_max, "", windows},
    KernelReason{&prim::reduce_window_min, "", windows},
    KernelReason{&prim::polygamma, "", special},
    KernelReason{&prim::zeta, "", special},
    KernelReason{&prim::igamma, "", special},
    KernelReason{&prim::igammac, "", special},
    KernelReason{&prim::igamma_grad_a, "", special},
    KernelReason{&prim::betainc, "", special},
    KernelReason{&prim::nextafter, "", "4 ns; met where rounding is studied, not where speed counts"},
    KernelReason{&prim::reduce_precision, "", "a pass at the speed of memory: 0.15 ns"},
    KernelReason{&prim::threefry2x32, "", "20 rounds with two results: 3.2 ns"},
    KernelReason{&prim::zero_tangent, "", gone},
    KernelReason{&prim::psum, "", gone},
    KernelReason{&prim::axis_index, "", gone},
    KernelReason{&prim::call, "", gone},
    KernelReason{&prim::scan, "", programs},
    KernelReason{&prim::cond, "", programs},
    KernelReason{&prim::while_loop, "", programs},
    KernelReason{&prim::custom_jvp, "", gone},
    KernelReason{&prim::custom_vjp, "", gone},
    KernelReason{&prim::custom_linear, "", gone},
    KernelReason{&prim::checkpoint, "", gone},
    KernelReason{&prim::checkpoint_name, "", gone},
    KernelReason{&prim::custom_root, "", gone},
    KernelReason{&prim::linear_solve, "", gone},
    KernelReason{&prim::require, "", "ends the run where its condition does not hold"},
    KernelReason{&prim::reversible_scan, "", gone},
    KernelReason{&prim::loop_tangent, "", gone},
    KernelReason{&prim::rewound, "", gone},
    KernelReason{&prim::checkpoint_schedule, "", "made once for a loop"},
    KernelReason{&prim::rewind_missed, "", "one number for thousands of operations"},
    KernelReason{&prim::verify_rewind, "", "one number for thousands of operations; may throw"},
    KernelReason{&prim::dynamic_slice, computed_starts, copies},
    KernelReason{&prim::dynamic_update_slice, computed_starts, copies},
    KernelReason{&prim::dynamic_add_slice, computed_starts, copies},
    KernelReason{&prim::add_slice, "steps other than 1, and b1", "a pass over the part that changes: 0.5 ns"},
    KernelReason{&prim::pad, "gaps along axes that loops run through", "0.5 ns"},
    KernelReason{&prim::dot_general, integers, "33 thousand million products a second"},
    KernelReason{&prim::rem, integers, "processors divide one integer at a time: 2.4 ns"},
    KernelReason{&prim::pow, "integers", "multiplications that follow from the exponent: 16 ns"},
    KernelReason{&prim::exp2, "16-bit floats", "rounds a product on the way: 5.5 ns of bf16, 23 ns of f16"},
};

bool all_ones(const Ints& list) {
  return std::all_of(list.begin(), list.end(), [](std::int64_t v) { return v == 1; });
}

/// Gaps in padding, and steps of added windows, need the index of the point: only where it is known.
bool plain_padding(const Program& program, const Equation& e) {
  const auto& pad = e.as<PadAttr>();
  for (int k = 0; k < program.type(e.results[0]).rank(); ++k)
    if (pad.interior[k] != 0 && program.type(e.results[0]).shape[k] > AxisClasses::most_unrolled) return false;
  return true;
}

/// Each window is one number, or all of an axis: then a number of the result is one of the array at a computed place.
bool reads_numbers(const Program& program, const Equation& e) {
  const auto& g = e.as<GatherAttr>();
  const Type array = program.type(e.operands[0]), indices = program.type(e.operands[1]);
  if (!e.operands[0].is_var() || !e.operands[1].is_var() || array.elements() == 0) return false;
  if (indices.dtype != DType::i32 && indices.dtype != DType::i64) return false;
  if (indices.shape[indices.rank() - 1] > AxisClasses::most_unrolled) return false;
  for (int k = 0; k < array.rank(); ++k) {
    const bool computed = std::find(g.start_index_map.begin(), g.start_index_map.end(), k) != g.start_index_map.end();
    const bool beside = std::find(g.operand_batching_dims.begin(), g.operand_batching_dims.end(), k) != g.operand_batching_dims.end();
    if (g.slice_sizes[k] != (computed || beside ? 1 : array.shape[k])) return false;
  }
  return true;
}

bool can_emit_movement(const Program& program, const Equation& e) {
  if (e.prim == &prim::pad) return plain_padding(program, e);
  if (e.prim == &prim::gather) return reads_numbers(program, e);
  if (e.prim == &prim::add_slice) return all_ones(e.as<SliceAttr>().strides) && !is_bool(program.type(e.results[0]).dtype);
  if (e.prim == &prim::dynamic_slice || e.prim == &prim::dynamic_add_slice || e.prim == &prim::dynamic_update_slice)
    return literal_starts(program, e).has_value();
  return true;
}

}  // namespace

Emission emission(const Prim& p) {
  if (in(instructions, p)) return Emission::instructions;
  return in(functions, p) ? Emission::function : Emission::none;
}

std::span<const KernelReason> kernel_reasons() { return reasons; }

bool can_emit(const Program& program, const Equation& e) {
  if (e.prim == &prim::dot_general) return is_float(program.type(e.results[0]).dtype);
  if (is_reduction(*e.prim)) return true;
  if (in(movement, *e.prim)) return can_emit_movement(program, e);
  const DType in_type = e.operands.empty() ? DType::f32 : program.type(e.operands[0]).dtype;
  switch (emission(*e.prim)) {
    case Emission::instructions: return true;
    case Emission::function:
      // Integers have kernels of their own, and so have a float base with an integer exponent and 2^x of 16-bit floats.
      if (e.prim == &prim::exp2 && item_size(in_type) == 2) return false;
      return is_float(in_type) && std::all_of(e.operands.begin(), e.operands.end(), [&](const Atom& a) {
               return program.type(a).dtype == in_type;
             });
    default: return false;
  }
}

}  // namespace anadrome

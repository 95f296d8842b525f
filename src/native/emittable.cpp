// can_emit: the table of primitives with emission.
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
                                 &prim::dynamic_slice, &prim::dynamic_add_slice, &prim::dynamic_update_slice};

template <std::size_t n>
bool in(const std::array<const Prim*, n>& list, const Prim& p) {
  return std::find(list.begin(), list.end(), &p) != list.end();
}

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

bool can_emit_movement(const Program& program, const Equation& e) {
  if (e.prim == &prim::pad) return plain_padding(program, e);
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

// Elementwise operations of random programs, and the choice between all operations.
#include "support/fuzz_maker.h"

namespace anadrome::testing {
namespace {

using Unary = Array (*)(const Array&);
using Binary = Array (*)(const Array&, const Array&);

template <class F, std::size_t n> F one_of(const F (&list)[n], int at) {
  return list[static_cast<std::size_t>(at) % n];
}

constexpr Unary float_functions[] = {
    op::neg,  op::abs,  op::sign, op::sqrt, op::rsqrt, op::cbrt,  op::exp,   op::exp2,  op::expm1,  op::log,
    op::log2, op::log10, op::log1p, op::sin, op::cos,  op::tan,   op::asin,  op::acos,  op::atan,   op::sinh,
    op::cosh, op::tanh, op::asinh, op::acosh, op::atanh, op::logistic, op::erf, op::erfc, op::floor, op::ceil,
    op::round, op::rint, op::trunc, op::tanh, op::sin,  op::exp,   op::logistic, op::stop_gradient};
constexpr Unary special_functions[] = {op::erf_inv, op::lgamma, op::digamma, op::bessel_i0e, op::bessel_i1e};
constexpr Binary special_pairs[] = {op::zeta, op::igamma, op::igammac, op::igamma_grad_a, op::xlogy, op::nextafter};
constexpr Binary arithmetic[] = {op::add, op::sub, op::mul, op::add, op::sub, op::mul,  op::div,
                                 op::max, op::min, op::rem, op::add, op::mul, op::hypot, op::atan2,
                                 op::pow, op::logaddexp};
constexpr Binary comparisons[] = {op::eq, op::ne, op::lt, op::le, op::gt, op::ge};
constexpr Binary bit_operations[] = {op::bit_and, op::bit_or, op::bit_xor};
constexpr Binary shifts[] = {op::shift_left, op::shift_right_arithmetic, op::shift_right_logical};
constexpr DType dtypes[] = {b1, i8, i16, i32, i64, u8, u16, u32, u64, bf16, f16, f32, f64};

}  // namespace

Array FuzzMaker::next() {
  switch (below(34)) {
    case 0: case 1: case 2: case 3: case 4: return float_unary();
    case 5: case 6: case 7: case 8: return binary();
    case 9: return special_function();
    case 10: return integer_operation();
    case 11: return comparison();
    case 12: return choice();
    case 13: return conversion();
    case 14: return logical();
    case 15: case 16: return broadcast();
    case 17: case 18: return shape_change();
    case 19: return slicing();
    case 20: return padding();
    case 21: return joined();
    case 22: return made();
    case 23: return stencil();
    case 24: return dynamic_window();
    case 25: return gathered();
    case 26: return scattered();
    case 27: case 28: return reduction();
    case 29: return cumulative();
    case 30: return chance(50) ? sorted() : windowed();
    case 31: case 32: return contraction();
    default: return chance(30) ? random_bits() : called();
  }
}

Array FuzzMaker::literal_like(const Array& a) {
  constexpr double numbers[] = {0, 1, -1, 0.5, 2, -0.25, 3, 0.1, -1.5, 7};
  const double x = one_of(numbers, below(10));
  if (is_bool(a.dtype())) return op::number(below(2), b1);
  return op::number(is_integer(a.dtype()) ? (is_unsigned(a.dtype()) ? std::abs(std::trunc(x)) : std::trunc(x)) : x,
                    a.dtype());
}

Array FuzzMaker::beside(const Array& a) {
  if (chance(15)) return literal_like(a);
  const Array b = pick([&](const Array& v) {
    return v.dtype() == a.dtype() && (v.shape() == a.shape() || v.rank() == 0);
  });
  if (b.defined()) return b;
  // The trailing axes of another value, repeated: a bias, a row.
  const Array row = pick([&](const Array& v) {
    if (v.dtype() != a.dtype() || v.rank() == 0 || v.rank() >= a.rank()) return false;
    for (int k = 0; k < v.rank(); ++k)
      if (v.shape()[k] != a.shape()[a.rank() - v.rank() + k]) return false;
    return true;
  });
  if (!row.defined()) return literal_like(a);
  Ints dims;
  for (int k = 0; k < row.rank(); ++k) dims.push_back(a.rank() - row.rank() + k);
  return op::broadcast_in_dim(row, a.shape(), dims);
}

Array FuzzMaker::mask_for(const Array& a) {
  const Array known =
      pick([&](const Array& v) { return is_bool(v.dtype()) && (v.shape() == a.shape() || v.rank() == 0); });
  if (known.defined() && chance(70)) return known;
  return is_bool(a.dtype()) ? op::ne(a, beside(a)) : op::gt(a, beside(a));
}

Array FuzzMaker::float_unary() {
  const Array x = pick_float();
  if (!x.defined()) return {};
  if (chance(12)) return op::integer_pow(x, below(7) - 2);
  if (chance(4)) return op::reduce_precision(x, 2 + below(8), below(12));
  return one_of(float_functions, below(1000))(x);
}

Array FuzzMaker::special_function() {
  const Array x = pick([](const Array& a) { return is_float(a.dtype()) && a.size() < 300; });
  if (!x.defined()) return {};
  switch (below(8)) {
    case 0: return op::polygamma(op::number(below(4), x.dtype()), x);
    case 1: return op::betainc(op::abs(beside(x)), op::abs(beside(x)), x);
    case 2: case 3: return one_of(special_functions, below(1000))(x);
    default: return one_of(special_pairs, below(1000))(x, beside(x));
  }
}

Array FuzzMaker::integer_operation() {
  const Array x = pick([](const Array& a) { return is_integer(a.dtype()); });
  if (!x.defined()) return {};
  switch (below(12)) {
    case 0: return op::clz(x);
    case 1: return op::population_count(x);
    case 2: return op::integer_pow(x, below(5));
    case 3: return op::pow(x, beside(x));
    case 4: return op::bit_not(x);
    case 5: return op::abs(x);
    case 6: return op::neg(x);
    case 7: return op::sign(x);
    case 8: return one_of(bit_operations, below(3))(x, beside(x));
    case 9: case 10: return one_of(shifts, below(3))(x, beside(x));
    default: return one_of(arithmetic, below(11))(x, beside(x));
  }
}

Array FuzzMaker::binary() {
  const Array x = pick([](const Array& a) { return !is_bool(a.dtype()); });
  if (!x.defined()) return {};
  const Array y = beside(x);
  const Binary f = is_float(x.dtype()) ? one_of(arithmetic, below(1000)) : one_of(arithmetic, below(11));
  return chance(30) ? f(y, x) : f(x, y);
}

Array FuzzMaker::comparison() {
  if (chance(15)) {
    const Array x = pick_float();
    return x.defined() ? op::is_finite(x) : Array();
  }
  const Array x = pick_ranked(0);
  return one_of(comparisons, below(6))(x, beside(x));
}

Array FuzzMaker::choice() {
  const Array x = pick_ranked(0);
  if (chance(30) && !is_bool(x.dtype())) return op::clamp(literal_like(x), x, beside(x).rank() ? x : beside(x));
  if (chance(25)) {
    const Array which = op::clamp(op::number(0, i32), op::convert(x, i32), op::number(2, i32));
    const auto case_for = [&] { return op::broadcast_scalar(beside(x), x.shape()); };
    return op::select_n(which, Arrays{x, case_for(), case_for()});
  }
  const Array mask = mask_for(x);
  return chance(50) ? op::select(mask, x, op::broadcast_scalar(beside(x), x.shape()))
                    : op::select(mask, op::broadcast_scalar(beside(x), x.shape()), x);
}

Array FuzzMaker::conversion() {
  const Array x = pick_ranked(0);
  if (chance(15)) {
    for (DType t : dtypes)
      if (t != x.dtype() && !is_bool(t) && !is_bool(x.dtype()) && item_size(t) == item_size(x.dtype()) && chance(50))
        // The sign and payload of a NaN are not part of what an operation promises.
        return op::bitcast(is_float(x.dtype()) ? op::select(op::eq(x, x), x, op::number(0, x.dtype())) : x, t);
  }
  return op::convert(x, chance(50) ? main_ : one_of(dtypes, below(1000)));
}

Array FuzzMaker::logical() {
  const Array x = pick([](const Array& a) { return is_bool(a.dtype()); });
  if (!x.defined()) return comparison();
  if (chance(25)) return op::bit_not(x);
  return one_of(bit_operations, below(3))(x, beside(x));
}

Array FuzzMaker::random_bits() {
  const Array x = pick([](const Array& a) { return a.dtype() == u32; });
  if (!x.defined()) return {};
  const Arrays words = op::threefry2x32(op::number(below(100), u32), op::number(7, u32), x, op::bit_not(x));
  values_.push_back(words[0]);
  return words[1];
}

}  // namespace anadrome::testing

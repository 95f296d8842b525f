// Continuous distributions: uniform numbers from random mantissa bits, the others from uniform ones.
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "api/operand.h"
#include "api/random_bits.h"
#include "primitives/op.h"

namespace anadrome::random {
namespace {

/// What the construction needs to know of a float dtype.
struct Format {
  DType bits;         // unsigned integer of the same size
  DType drawn;        // the random bits that are drawn
  int mantissa_bits;  // without the leading one
  double tiny;        // smallest normal number
  double epsilon;     // distance from 1 to the next number
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return {u16, u8, 7, std::numeric_limits<float>::min(), 0x1p-7};
    case DType::f16:
      return {u16, u16, 10, 0x1p-14, 0x1p-10};
    case DType::f32:
      return {u32, u32, 23, std::numeric_limits<float>::min(), 0x1p-23};
    default:
      return {u64, u64, 52, std::numeric_limits<double>::min(), 0x1p-52};
  }
}

double rounded(double value, DType dtype) {
  return Literal::of(value, dtype).as_double();
}

/// Multiples of 2^-mantissa_bits in [0, 1): random bits become the mantissa of a number in [1, 2).
Array fraction(const Array& key, const Shape& shape, DType dtype) {
  const Format format = format_of(dtype);
  const int drop = 8 * static_cast<int>(item_size(format.drawn)) - format.mantissa_bits;
  const Array drawn = op::convert(bits_of(key, shape, format.drawn), format.bits);
  const Array mantissa = op::shift_right_logical(drawn, op::number(drop, format.bits));
  const Array one = op::bitcast(op::number(1, dtype), format.bits);
  return op::sub(op::bitcast(op::bit_or(mantissa, one), dtype), op::number(1, dtype));
}

/// The upper half of the mantissa of a number, so that products of two such numbers are exact in f64.
double upper_half(double x) {
  const double scaled = x * 0x1.0000002p27;
  return scaled - (scaled - x);
}

/// fraction * width + lo in f64, the exact result rounded (all but never another way): the product and the
/// sum carry their rounding errors along.
Array fused_f64(const Array& fraction, double width, double lo) {
  const auto number = [](double v) { return op::number(v, f64); };
  const Array grid = number(0x1p26);  // keeps the upper 26 of the 52 bits of the fraction
  const Array upper = op::div(op::floor(op::mul(fraction, grid)), grid), lower = op::sub(fraction, upper);
  const double width_upper = upper_half(width), width_lower = width - width_upper;
  const Array product = op::mul(fraction, number(width));
  Array error = op::sub(op::mul(upper, number(width_upper)), product);
  error = op::add(error, op::mul(upper, number(width_lower)));
  error = op::add(error, op::mul(lower, number(width_upper)));
  error = op::add(error, op::mul(lower, number(width_lower)));
  const Array sum = op::add(product, number(lo));
  const Array of_lo = op::sub(sum, product), of_product = op::sub(sum, of_lo);
  const Array lost = op::add(op::sub(product, of_product), op::sub(number(lo), of_lo));
  return op::add(sum, op::add(lost, error));
}

/// fraction * width + lo, computed in the next wider type and rounded.
Array fused(const Array& fraction, const Array& width, const Array& lo) {
  const DType dtype = fraction.dtype();
  if (dtype == f64) return op::add(op::mul(fraction, width), lo);
  const DType wide = dtype == f32 ? f64 : f32;
  const auto widened = [&](const Array& x) {
    return is_literal(x) ? op::number(x.node()->literal.as_double(), wide) : op::convert(x, wide);
  };
  return op::convert(op::add(op::mul(widened(fraction), widened(width)), widened(lo)), dtype);
}

bool power_of_two(double x) {
  int exponent;
  return std::isfinite(x) && std::frexp(x, &exponent) == 0.5;
}

/// Both bounds are rank 0 or broadcast to the shape.
Array bound(const Operand& x, const Shape& shape, DType dtype, std::string_view what) {
  const Array value = as_dtype(x, dtype, what);
  return value.rank() == 0 ? value : broadcast_to_shape(value, shape, what);
}

void check_float(const Array& key, const Shape& shape, DType dtype, std::string_view what) {
  check_draw(key, shape, what);
  if (!is_float(dtype))
    throw TypeError(std::string(what) + ": the dtype is " + std::string(tag(dtype)) +
                    "; the results are bf16, f16, f32 or f64. Use randint for integers." +
                    at_current_source());
}

/// A distribution that needs nothing but uniform numbers.
template <class F>
Array draw(const char* what, const Array& key, const Shape& shape, DType dtype, const Source& source,
           F distribution) {
  AtSource at(source);
  check_float(key, shape, dtype, what);
  return distribution(dtype);
}

/// erf(x / sqrt(2)) of a bound of the truncated normal distribution.
Array cut(const Array& bound, DType dtype) {
  const double root = rounded(std::numbers::sqrt2, dtype);
  if (is_literal(bound)) {
    const double scaled = rounded(bound.node()->literal.as_double() / root, dtype);
    return op::number(std::erf(scaled), dtype);
  }
  return op::erf(op::div(bound, op::number(root, dtype)));
}

Array scaled_erf_inv(const Array& x) {
  return op::mul(op::number_like(std::numbers::sqrt2, x), op::erf_inv(x));
}

Array beside(const Array& bound, double towards) {
  return op::nextafter(op::stop_gradient(bound), op::number_like(towards, bound));
}

}  // namespace

Array uniform_between(const Array& key, const Shape& shape, DType dtype, double lo, double hi) {
  lo = rounded(lo, dtype);
  const double width = rounded(rounded(hi, dtype) - lo, dtype);
  Array y = fraction(key, shape, dtype);
  if (power_of_two(width) || lo == 0) {  // then the product or the sum is exact
    if (width != 1) y = op::mul(y, op::number(width, dtype));
    if (lo != 0) y = op::add(y, op::number(lo, dtype));
  } else {
    y = dtype == f64 ? fused_f64(y, width, lo) : fused(y, op::number(width, dtype), op::number(lo, dtype));
  }
  return width >= 0 ? y : op::max(op::number(lo, dtype), y);
}

Array uniform_between(const Array& key, const Shape& shape, DType dtype, const Array& lo, const Array& hi) {
  if (is_literal(lo) && is_literal(hi))
    return uniform_between(key, shape, dtype, lo.node()->literal.as_double(), hi.node()->literal.as_double());
  return op::max(lo, fused(fraction(key, shape, dtype), op::sub(hi, lo), lo));
}

Array gumbel_of(const Array& key, const Shape& shape, DType dtype) {
  return op::neg(op::log(op::neg(op::log(uniform_between(key, shape, dtype, format_of(dtype).tiny, 1)))));
}

Array uniform(const Array& key, const Shape& shape, DType dtype, const Operand& min, const Operand& max,
              Source source) {
  AtSource at(source);
  check_float(key, shape, dtype, "uniform");
  return uniform_between(key, shape, dtype, bound(min, shape, dtype, "uniform"),
                         bound(max, shape, dtype, "uniform"));
}

Array normal(const Array& key, const Shape& shape, DType dtype, Source source) {
  return draw("normal", key, shape, dtype, source, [&](DType t) {
    return scaled_erf_inv(uniform_between(key, shape, t, -1 + format_of(t).epsilon / 2, 1));
  });
}

Array truncated_normal(const Array& key, const Operand& lower, const Operand& upper, const Shape& shape,
                       DType dtype, Source source) {
  return draw("truncated_normal", key, shape, dtype, source, [&](DType t) {
    const Array lo = bound(lower, shape, t, "truncated_normal"),
                hi = bound(upper, shape, t, "truncated_normal");
    const Array y = scaled_erf_inv(uniform_between(key, shape, t, cut(lo, t), cut(hi, t)));
    const double infinity = std::numeric_limits<double>::infinity();
    return op::min(beside(hi, -infinity), op::max(beside(lo, infinity), y));
  });
}

Array exponential(const Array& key, const Shape& shape, DType dtype, Source source) {
  return draw("exponential", key, shape, dtype, source,
              [&](DType t) { return op::neg(op::log1p(op::neg(fraction(key, shape, t)))); });
}

Array gumbel(const Array& key, const Shape& shape, DType dtype, Source source) {
  return draw("gumbel", key, shape, dtype, source, [&](DType t) { return gumbel_of(key, shape, t); });
}

Array laplace(const Array& key, const Shape& shape, DType dtype, Source source) {
  return draw("laplace", key, shape, dtype, source, [&](DType t) {
    const Array u = uniform_between(key, shape, t, -1 + format_of(t).epsilon / 2, 1);
    return op::mul(op::sign(u), op::log1p(op::neg(op::abs(u))));
  });
}

Array cauchy(const Array& key, const Shape& shape, DType dtype, Source source) {
  return draw("cauchy", key, shape, dtype, source, [&](DType t) {
    const Array u = uniform_between(key, shape, t, format_of(t).epsilon, 1);
    return op::tan(op::mul(op::number(std::numbers::pi, t), op::sub(u, op::number(0.5, t))));
  });
}

Array logistic(const Array& key, const Shape& shape, DType dtype, Source source) {
  return draw("logistic", key, shape, dtype, source, [&](DType t) {
    const Array u = uniform_between(key, shape, t, format_of(t).tiny, 1);
    return op::sub(op::log(u), op::log1p(op::neg(u)));
  });
}

}  // namespace anadrome::random

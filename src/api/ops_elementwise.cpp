// Elementwise operations: promotion and broadcasting around the primitives.
#include <cmath>
#include <limits>

#include "anadrome/ops/elementwise.h"
#include "api/operand.h"
#include "primitives/op.h"

namespace anadrome {
namespace {

using Unary = Array (*)(const Array&);
using Binary = Array (*)(const Array&, const Array&);

/// Whether `x` is an array that can be used, of a dtype other than b1.
bool plain_array(const Operand& x) {
  const detail::Node* node = x.array().node();
  return !x.is_literal() && node && node->kind <= Node::Kind::literal && node->type.dtype != DType::b1;
}
/// Whether nothing is to be promoted or broadcast: two arrays of one dtype, of one shape or with a scalar among them.
/// Most operations are of this kind, and recording is measured in nanoseconds.
bool matched(const Operand& x, const Operand& y) {
  if (!plain_array(x) || !plain_array(y)) return false;
  const Type &a = x.array().node()->type, &b = y.array().node()->type;
  return a.dtype == b.dtype && (a.rank() == 0 || b.rank() == 0 || a.shape == b.shape);
}
/// Whether `x` is a float array and `y` a number, which takes its dtype.
bool float_and_number(const Operand& x, const Operand& y) {
  return y.is_literal() && plain_array(x) && is_float(x.array().node()->type.dtype);
}

Array float_unary(Unary f, const Operand& x, std::string_view what) {
  AtSource at(x.source());
  if (plain_array(x) && is_float(x.array().node()->type.dtype)) return f(x.array());
  return f(promoted({&x}, what, true)[0]);
}
Array float_binary(Binary f, const Operand& x, const Operand& y, std::string_view what) {
  AtSource at(x.source());
  if (matched(x, y) && is_float(x.array().node()->type.dtype)) return f(x.array(), y.array());
  const Arrays p = promoted({&x, &y}, what, true);
  return f(p[0], p[1]);
}

/// Operands for arithmetic: b1 counts as i32.
Arrays numbers(std::initializer_list<const Operand*> xs, std::string_view what) {
  const DType common = common_dtype(xs, what);
  Arrays p;
  for (const Operand* x : xs) p.push_back(as_dtype(*x, is_bool(common) ? i32 : common, what));
  broadcast_together(p, what);
  return p;
}
Array number_unary(Unary f, const Operand& x, std::string_view what) {
  AtSource at(x.source());
  return f(numbers({&x}, what)[0]);
}
Array number_binary(Binary f, const Operand& x, const Operand& y, std::string_view what) {
  AtSource at(x.source());
  if (matched(x, y)) return f(x.array(), y.array());
  if (float_and_number(x, y)) return f(x.array(), as_dtype(y, x.array().dtype(), what));
  if (float_and_number(y, x)) return f(as_dtype(x, y.array().dtype(), what), y.array());
  const Arrays p = numbers({&x, &y}, what);
  return f(p[0], p[1]);
}

Array real_unary(Unary f, const Operand& x, std::string_view what) {
  AtSource at(x.source());
  return f(as_array(x, what));
}
Array real_binary(Binary f, const Operand& x, const Operand& y, std::string_view what) {
  AtSource at(x.source());
  if (matched(x, y)) return f(x.array(), y.array());
  const Arrays p = promoted({&x, &y}, what);
  return f(p[0], p[1]);
}

/// Functions that leave integers as they are.
Array rounded(Unary f, const Operand& x, std::string_view what) {
  AtSource at(x.source());
  const Array p = numbers({&x}, what)[0];
  return is_integer(p.dtype()) ? p : f(p);
}

Array truth(const Operand& x, std::string_view what) {
  const Array p = as_array(x, what);
  return is_bool(p.dtype()) ? p : op::ne(p, op::number_like(0, p));
}
Array logical(Binary f, const Operand& x, const Operand& y, std::string_view what) {
  AtSource at(x.source());
  Arrays p{truth(x, what), truth(y, what)};
  broadcast_together(p, what);
  return f(p[0], p[1]);
}

/// Whether a remainder r of division by y has the other sign, so that rounding down differs from truncation.
Array crosses_zero(const Array& r, const Array& y) {
  const Array zero = op::number_like(0, r);
  const Array other_sign = op::ne(op::lt(r, zero), op::lt(y, zero));
  const Array crosses = op::bit_and(op::ne(r, zero), other_sign);
  // An integer divided by 0 leaves itself as the remainder; nothing is to be corrected there.
  return is_integer(r.dtype()) ? op::bit_and(crosses, op::ne(y, zero)) : crosses;
}

DType bits_of(DType dtype) {
  const std::size_t size = item_size(dtype);
  return size == 2 ? i16 : size == 4 ? i32 : i64;
}
Array sign_bit(const Array& x) {
  const Array bits = is_float(x.dtype()) ? op::bitcast(x, bits_of(x.dtype())) : x;
  return op::lt(bits, op::number_like(0, bits));
}

Array infinity_like(const Array& x) {
  return op::number_like(std::numeric_limits<double>::infinity(), x);
}
double largest_number(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 65504;
    case DType::bf16:
      return 0x1.fep127;
    case DType::f32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

}  // namespace

Array operator+(const Operand& x, const Operand& y) {
  return number_binary(op::add, x, y, "add");
}
Array operator-(const Operand& x, const Operand& y) {
  return number_binary(op::sub, x, y, "sub");
}
Array operator*(const Operand& x, const Operand& y) {
  return number_binary(op::mul, x, y, "mul");
}
Array operator/(const Operand& x, const Operand& y) {
  AtSource at(x.source());
  const DType dtype = common_dtype({&x, &y}, "div");
  if (y.is_literal() || x.is_literal() || !is_float(dtype)) return number_binary(op::div, x, y, "div");
  Arrays p{as_dtype(x, dtype, "div"), as_dtype(y, dtype, "div")};
  const bool repeated =
      p[1].rank() > 0 && broadcast_shapes(p[0].shape(), p[1].shape(), "div") != p[1].shape();
  // A product with the reciprocals of the divisor before it is repeated: fewer divisions, one more rounding.
  if (repeated) p[1] = op::integer_pow(p[1], -1);
  broadcast_together(p, "div");
  return repeated ? op::mul(p[0], p[1]) : op::div(p[0], p[1]);
}
Array operator%(const Operand& x, const Operand& y) {
  return number_binary(op::rem, x, y, "rem");
}
Array rem(const Operand& x, const Operand& y) {
  return number_binary(op::rem, x, y, "rem");
}
Array operator-(const Operand& x) {
  return number_unary(op::neg, x, "neg");
}
Array neg(const Operand& x) {
  return number_unary(op::neg, x, "neg");
}
Array& operator+=(Array& a, const Operand& y) {
  return a = Operand(a, y.source()) + y;
}
Array& operator-=(Array& a, const Operand& y) {
  return a = Operand(a, y.source()) - y;
}
Array& operator*=(Array& a, const Operand& y) {
  return a = Operand(a, y.source()) * y;
}
Array& operator/=(Array& a, const Operand& y) {
  return a = Operand(a, y.source()) / y;
}
Array& operator%=(Array& a, const Operand& y) {
  return a = Operand(a, y.source()) % y;
}
Array abs(const Operand& x) {
  return number_unary(op::abs, x, "abs");
}
Array sign(const Operand& x) {
  return number_unary(op::sign, x, "sign");
}
Array square(const Operand& x) {
  return integer_pow(x, 2);
}
Array reciprocal(const Operand& x) {
  AtSource at(x.source());
  return op::integer_pow(promoted({&x}, "reciprocal", true)[0], -1);
}
Array mod(const Operand& x, const Operand& y) {
  AtSource at(x.source());
  const Arrays p = numbers({&x, &y}, "mod");
  const Array r = op::rem(p[0], p[1]);
  return is_unsigned(r.dtype()) ? r : op::select(crosses_zero(r, p[1]), op::add(r, p[1]), r);
}
Array floor_div(const Operand& x, const Operand& y) {
  AtSource at(x.source());
  const Arrays p = numbers({&x, &y}, "floor_div");
  const Array r = op::rem(p[0], p[1]);
  if (is_unsigned(r.dtype())) return op::div(p[0], p[1]);
  const Array one = op::number_like(1, r), crosses = crosses_zero(r, p[1]);
  if (is_float(r.dtype())) {
    const Array zero = op::number_like(0, r);
    const Array exact = op::select(op::eq(p[1], zero), zero, r);  // x / 0 is what div says, not NaN
    const Array quotient = op::div(op::sub(p[0], exact), p[1]);
    return op::round(op::select(crosses, op::sub(quotient, one), quotient));
  }
  const Array quotient = op::div(p[0], p[1]);
  return op::select(crosses, op::sub(quotient, one), quotient);
}
Array max(const Operand& x, const Operand& y) {
  return real_binary(op::max, x, y, "max");
}
Array min(const Operand& x, const Operand& y) {
  return real_binary(op::min, x, y, "min");
}
Array clamp(const Operand& lo, const Operand& x, const Operand& hi) {
  AtSource at(x.source());
  const Arrays p = numbers({&lo, &x, &hi}, "clamp");
  return op::clamp(p[0], p[1], p[2]);
}
Array clip(const Operand& x, const std::optional<Operand>& lo, const std::optional<Operand>& hi) {
  AtSource at(x.source());
  Array y = as_array(x, "clip");
  if (lo) y = real_binary(op::max, y, *lo, "clip");
  if (hi) y = real_binary(op::min, y, *hi, "clip");
  return y;
}
Array pow(const Operand& x, const Operand& y) {
  AtSource at(x.source());
  if (y.is_literal() && (y.literal_kind() == i64 || y.literal_kind() == u64))
    return integer_pow(x, y.integer());
  const DType dtype = common_dtype({&x, &y}, "pow");
  // x^2.0 is x^2: its derivatives exist at 0, in every order.
  const bool whole = y.is_literal() && y.literal_kind() == f64 && std::trunc(y.real()) == y.real();
  if (whole && is_float(dtype) && std::abs(y.real()) <= 64)
    return op::integer_pow(as_dtype(x, dtype, "pow"), static_cast<std::int64_t>(y.real()));
  Arrays p{as_dtype(x, is_bool(dtype) ? i32 : dtype, "pow")};
  const bool integer_power = !y.is_literal() && is_float(dtype) && y.array().dtype() == i32;
  p.push_back(integer_power ? y.array() : as_dtype(y, p[0].dtype(), "pow"));
  broadcast_together(p, "pow");
  return op::pow(p[0], p[1]);
}
Array integer_pow(const Operand& x, std::int64_t n) {
  AtSource at(x.source());
  return op::integer_pow(numbers({&x}, "integer_pow")[0], n);
}
Array sqrt(const Operand& x) {
  return float_unary(op::sqrt, x, "sqrt");
}
Array rsqrt(const Operand& x) {
  return float_unary(op::rsqrt, x, "rsqrt");
}
Array cbrt(const Operand& x) {
  return float_unary(op::cbrt, x, "cbrt");
}
Array hypot(const Operand& x, const Operand& y) {
  return float_binary(op::hypot, x, y, "hypot");
}
Array exp(const Operand& x) {
  return float_unary(op::exp, x, "exp");
}
Array exp2(const Operand& x) {
  return float_unary(op::exp2, x, "exp2");
}
Array expm1(const Operand& x) {
  return float_unary(op::expm1, x, "expm1");
}
Array log(const Operand& x) {
  return float_unary(op::log, x, "log");
}
Array log2(const Operand& x) {
  return float_unary(op::log2, x, "log2");
}
Array log10(const Operand& x) {
  return float_unary(op::log10, x, "log10");
}
Array log1p(const Operand& x) {
  return float_unary(op::log1p, x, "log1p");
}
Array logaddexp(const Operand& x, const Operand& y) {
  return float_binary(op::logaddexp, x, y, "logaddexp");
}
Array xlogy(const Operand& x, const Operand& y) {
  return float_binary(op::xlogy, x, y, "xlogy");
}
Array logistic(const Operand& x) {
  return float_unary(op::logistic, x, "logistic");
}
Array sigmoid(const Operand& x) {
  return logistic(x);
}
Array sin(const Operand& x) {
  return float_unary(op::sin, x, "sin");
}
Array cos(const Operand& x) {
  return float_unary(op::cos, x, "cos");
}
Array tan(const Operand& x) {
  return float_unary(op::tan, x, "tan");
}
Array asin(const Operand& x) {
  return float_unary(op::asin, x, "asin");
}
Array acos(const Operand& x) {
  return float_unary(op::acos, x, "acos");
}
Array atan(const Operand& x) {
  return float_unary(op::atan, x, "atan");
}
Array atan2(const Operand& y, const Operand& x) {
  return float_binary(op::atan2, y, x, "atan2");
}
Array sinh(const Operand& x) {
  return float_unary(op::sinh, x, "sinh");
}
Array cosh(const Operand& x) {
  return float_unary(op::cosh, x, "cosh");
}
Array tanh(const Operand& x) {
  return float_unary(op::tanh, x, "tanh");
}
Array asinh(const Operand& x) {
  return float_unary(op::asinh, x, "asinh");
}
Array acosh(const Operand& x) {
  return float_unary(op::acosh, x, "acosh");
}
Array atanh(const Operand& x) {
  return float_unary(op::atanh, x, "atanh");
}
Array erf(const Operand& x) {
  return float_unary(op::erf, x, "erf");
}
Array erfc(const Operand& x) {
  return float_unary(op::erfc, x, "erfc");
}
Array erf_inv(const Operand& x) {
  return float_unary(op::erf_inv, x, "erf_inv");
}
Array lgamma(const Operand& x) {
  return float_unary(op::lgamma, x, "lgamma");
}
Array digamma(const Operand& x) {
  return float_unary(op::digamma, x, "digamma");
}
Array polygamma(const Operand& n, const Operand& x) {
  return float_binary(op::polygamma, n, x, "polygamma");
}
Array zeta(const Operand& s, const Operand& q) {
  return float_binary(op::zeta, s, q, "zeta");
}
Array igamma(const Operand& a, const Operand& x) {
  return float_binary(op::igamma, a, x, "igamma");
}
Array igammac(const Operand& a, const Operand& x) {
  return float_binary(op::igammac, a, x, "igammac");
}
Array betainc(const Operand& a, const Operand& b, const Operand& x) {
  AtSource at(a.source());
  const Arrays p = promoted({&a, &b, &x}, "betainc", true);
  return op::betainc(p[0], p[1], p[2]);
}
Array bessel_i0e(const Operand& x) {
  return float_unary(op::bessel_i0e, x, "bessel_i0e");
}
Array bessel_i1e(const Operand& x) {
  return float_unary(op::bessel_i1e, x, "bessel_i1e");
}
Array floor(const Operand& x) {
  return rounded(op::floor, x, "floor");
}
Array ceil(const Operand& x) {
  return rounded(op::ceil, x, "ceil");
}
Array round(const Operand& x) {
  return rounded(op::round, x, "round");
}
Array rint(const Operand& x) {
  return rounded(op::rint, x, "rint");
}
Array trunc(const Operand& x) {
  return rounded(op::trunc, x, "trunc");
}
Array nextafter(const Operand& x, const Operand& y) {
  return float_binary(op::nextafter, x, y, "nextafter");
}
Array copysign(const Operand& x, const Operand& y) {
  AtSource at(x.source());
  const Arrays p = promoted({&x, &y}, "copysign", true);
  const Array same = op::eq(sign_bit(p[0]), sign_bit(p[1]));
  return op::select(same, p[0], op::neg(p[0]));
}
Array signbit(const Operand& x) {
  AtSource at(x.source());
  return sign_bit(numbers({&x}, "signbit")[0]);
}
Array is_finite(const Operand& x) {
  return float_unary(op::is_finite, x, "is_finite");
}
Array isnan(const Operand& x) {
  AtSource at(x.source());
  const Array p = promoted({&x}, "isnan", true)[0];
  return op::ne(p, p);
}
Array isinf(const Operand& x) {
  AtSource at(x.source());
  const Array p = op::abs(promoted({&x}, "isinf", true)[0]);
  return op::eq(p, infinity_like(p));
}
Array nan_to_num(const Operand& x) {
  AtSource at(x.source());
  const Array p = promoted({&x}, "nan_to_num", true)[0];
  const Array infinity = infinity_like(p), largest = op::number_like(largest_number(p.dtype()), p);
  Array y = op::select(op::ne(p, p), op::number_like(0, p), p);
  y = op::select(op::eq(p, infinity), largest, y);
  return op::select(op::eq(p, op::neg(infinity)), op::neg(largest), y);
}
Array convert(const Operand& x, DType dtype) {
  AtSource at(x.source());
  return op::convert(as_array(x, "convert"), dtype);
}
Array astype(const Operand& x, DType dtype) {
  return convert(x, dtype);
}
Array bitcast(const Operand& x, DType dtype) {
  AtSource at(x.source());
  return op::bitcast(as_array(x, "bitcast"), dtype);
}
Array reduce_precision(const Operand& x, int exponent_bits, int mantissa_bits) {
  AtSource at(x.source());
  return op::reduce_precision(promoted({&x}, "reduce_precision", true)[0], exponent_bits, mantissa_bits);
}
Array operator==(const Operand& x, const Operand& y) {
  return real_binary(op::eq, x, y, "eq");
}
Array operator!=(const Operand& x, const Operand& y) {
  return real_binary(op::ne, x, y, "ne");
}
Array operator<(const Operand& x, const Operand& y) {
  return real_binary(op::lt, x, y, "lt");
}
Array operator<=(const Operand& x, const Operand& y) {
  return real_binary(op::le, x, y, "le");
}
Array operator>(const Operand& x, const Operand& y) {
  return real_binary(op::gt, x, y, "gt");
}
Array operator>=(const Operand& x, const Operand& y) {
  return real_binary(op::ge, x, y, "ge");
}
Array logical_not(const Operand& x) {
  AtSource at(x.source());
  return op::bit_not(truth(x, "logical_not"));
}
Array logical_and(const Operand& x, const Operand& y) {
  return logical(op::bit_and, x, y, "logical_and");
}
Array logical_or(const Operand& x, const Operand& y) {
  return logical(op::bit_or, x, y, "logical_or");
}
Array logical_xor(const Operand& x, const Operand& y) {
  return logical(op::bit_xor, x, y, "logical_xor");
}
Array where(const Operand& condition, const Operand& x, const Operand& y) {
  AtSource at(condition.source());
  const DType dtype = common_dtype({&x, &y}, "where");
  Arrays p{truth(condition, "where"), as_dtype(x, dtype, "where"), as_dtype(y, dtype, "where")};
  broadcast_together(p, "where");
  return op::select(p[0], p[1], p[2]);
}
Array select_n(const Operand& which, const std::vector<Array>& cases) {
  AtSource at(which.source());
  if (cases.empty()) throw TypeError("select_n: no cases. Give at least one." + at_current_source());
  DType dtype = b1;
  for (const Array& x : cases) {
    check_usable(x, "select_n");
    dtype = &x == &cases[0] ? x.dtype() : promote(dtype, x.dtype());
  }
  Array index = as_array(which, "select_n");
  if (is_integer(index.dtype())) index = op::convert(index, i32);
  Arrays p{index};
  for (const Array& x : cases) p.push_back(op::convert(x, dtype));
  broadcast_together(p, "select_n");
  return op::select_n(p[0], std::span<const Array>(p).subspan(1));
}
Array operator&(const Operand& x, const Operand& y) {
  return real_binary(op::bit_and, x, y, "bit_and");
}
Array operator|(const Operand& x, const Operand& y) {
  return real_binary(op::bit_or, x, y, "bit_or");
}
Array operator^(const Operand& x, const Operand& y) {
  return real_binary(op::bit_xor, x, y, "bit_xor");
}
Array operator~(const Operand& x) {
  return bit_not(x);
}
Array bit_not(const Operand& x) {
  return real_unary(op::bit_not, x, "bit_not");
}
Array population_count(const Operand& x) {
  return real_unary(op::population_count, x, "population_count");
}
Array clz(const Operand& x) {
  return real_unary(op::clz, x, "clz");
}
Array shift_left(const Operand& x, const Operand& n) {
  return real_binary(op::shift_left, x, n, "shift_left");
}
Array shift_right_arithmetic(const Operand& x, const Operand& n) {
  return real_binary(op::shift_right_arithmetic, x, n, "shift_right_arithmetic");
}
Array shift_right_logical(const Operand& x, const Operand& n) {
  return real_binary(op::shift_right_logical, x, n, "shift_right_logical");
}

}  // namespace anadrome

// Identities of elementwise primitives. Only what holds bit for bit: x + 0 is not x where x is -0, x * 0 is not 0
// where x is infinite.
#include <cmath>

#include "optimize/identities.h"

namespace anadrome {

std::optional<Atom> IdentityIn::uniform(std::size_t i) const {
  if (type(i).rank() == 0) return x(i);
  const Equation* d = made_by(i, prim::broadcast_in_dim);
  if (d && r.type(d->operands[0]).rank() == 0) return d->operands[0];
  return std::nullopt;
}

std::optional<Literal> IdentityIn::number(std::size_t i) const {
  const std::optional<Atom> scalar = uniform(i);
  if (!scalar || scalar->is_var()) return std::nullopt;
  return scalar->literal;
}

bool IdentityIn::is(std::size_t i, double value) const {
  const std::optional<Literal> n = number(i);
  if (!n) return false;
  if (!is_float(n->dtype)) return static_cast<double>(n->as_integer()) == value && !std::signbit(value);
  return n->as_double() == value && std::signbit(n->as_double()) == std::signbit(value);
}

namespace {

using Result = std::optional<Atom>;

/// True when operand i adds nothing: 0 for integers, -0 for floats.
bool adds_nothing(const IdentityIn& in, std::size_t i) { return in.is(i, is_float(in.out.dtype) ? -0.0 : 0.0); }

Result add(const IdentityIn& in) {
  if (adds_nothing(in, 1)) return in.as_result(in.x(0));
  if (adds_nothing(in, 0)) return in.as_result(in.x(1));
  if (const Equation* d = in.made_by(1, prim::neg)) return in.r.emit(prim::sub, {}, {in.x(0), d->operands[0]});
  if (const Equation* d = in.made_by(0, prim::neg)) return in.r.emit(prim::sub, {}, {in.x(1), d->operands[0]});
  return std::nullopt;
}

Result sub(const IdentityIn& in) {
  if (in.is(1, 0.0)) return in.as_result(in.x(0));
  if (const Equation* d = in.made_by(1, prim::neg)) return in.r.emit(prim::add, {}, {in.x(0), d->operands[0]});
  return std::nullopt;
}

Result mul(const IdentityIn& in) {
  for (std::size_t i : {0, 1}) {
    if (in.is(i, 1)) return in.as_result(in.x(1 - i));
    if (!is_float(in.out.dtype) && in.is(i, 0)) return in.as_result(*in.uniform(i));
  }
  return std::nullopt;
}

Result div(const IdentityIn& in) {
  if (in.is(1, 1)) return in.as_result(in.x(0));
  return std::nullopt;
}

Result neg(const IdentityIn& in) {
  if (const Equation* d = in.made_by(0, prim::neg)) return d->operands[0];
  return std::nullopt;
}

Result integer_pow(const IdentityIn& in) {
  if (in.as<IntegerPowAttr>().exponent == 1) return in.x(0);
  return std::nullopt;
}

Result convert(const IdentityIn& in) {
  if (in.type(0).dtype == in.out.dtype) return in.x(0);
  return std::nullopt;
}

Result select_n(const IdentityIn& in) {
  const std::size_t cases = in.e.operands.size() - 1;
  bool same = cases > 0;
  for (std::size_t i = 2; i <= cases; ++i) same = same && in.x(i) == in.x(1);
  if (same) return in.as_result(in.x(1));
  const std::optional<Literal> which = in.number(0);
  if (!which) return std::nullopt;
  const auto last = static_cast<std::int64_t>(cases) - 1;
  return in.as_result(in.x(static_cast<std::size_t>(1 + std::clamp<std::int64_t>(which->as_integer(), 0, last))));
}

constexpr std::pair<const Prim*, Identity> table[] = {
    {&prim::add, add},         {&prim::sub, sub}, {&prim::mul, mul},
    {&prim::div, div},         {&prim::neg, neg}, {&prim::integer_pow, integer_pow},
    {&prim::convert, convert}, {&prim::select_n, select_n},
};

}  // namespace

IdentityTable arithmetic_identities() { return table; }

}  // namespace anadrome

// Compares the native backend with `eval` on one program.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>

#include "anadrome/compile.h"
#include "core/eval.h"
#include "core/memory.h"
#include "optimize/passes.h"
#include "primitives/op.h"
#include "support/fuzz.h"
#include "support/values.h"

namespace anadrome::testing {
namespace {

/// How compiled code may differ from the eval kernel in one equation.
enum class Rounding : std::uint8_t {
  none,      // one IEEE operation, or no arithmetic: the same bits
  function,  // another formula, of its own documented error
  sum        // another order
};

Rounding rounding_of(const Equation& e, const Type& result) {
  if (!is_float(result.dtype)) return Rounding::none;
  constexpr const Prim* functions[] = {
      &prim::pow,   &prim::integer_pow, &prim::rsqrt,  &prim::cbrt,    &prim::hypot,   &prim::exp,     &prim::exp2,
      &prim::expm1, &prim::log,         &prim::log2,   &prim::log10,   &prim::log1p,   &prim::logaddexp,
      &prim::logistic, &prim::sin,      &prim::cos,    &prim::tan,     &prim::asin,    &prim::acos,    &prim::atan,
      &prim::atan2, &prim::sinh,        &prim::cosh,   &prim::tanh,    &prim::asinh,   &prim::acosh,   &prim::atanh,
      &prim::erf,   &prim::erfc,        &prim::erf_inv, &prim::lgamma, &prim::digamma, &prim::polygamma, &prim::zeta,
      &prim::igamma, &prim::igammac,    &prim::igamma_grad_a, &prim::betainc, &prim::bessel_i0e, &prim::bessel_i1e,
      &prim::xlogy};
  constexpr const Prim* sums[] = {&prim::reduce_sum,  &prim::reduce_prod, &prim::cumsum,      &prim::cumprod,
                                  &prim::cumlogsumexp, &prim::dot_general, &prim::scatter_add, &prim::scatter_mul,
                                  &prim::reduce_window_sum};
  const auto names = [&](const auto& list) { return std::find(std::begin(list), std::end(list), e.prim); };
  if (names(functions) != std::end(functions)) return Rounding::function;
  return names(sums) != std::end(sums) ? Rounding::sum : Rounding::none;
}

// ---- elements as doubles, with their spacing

double spacing(DType dtype, double x) {
  const auto unit = [&](int mantissa, int smallest) {
    const double size = std::fabs(x);
    if (!(size < std::numeric_limits<double>::infinity())) return 0.0;
    return std::ldexp(1.0, std::max(size > 0 ? std::ilogb(size) : smallest, smallest) - mantissa);
  };
  switch (dtype) {
    case DType::f64: return unit(52, -1022);
    case DType::f32: return unit(23, -126);
    case DType::bf16: return unit(7, -126);
    default: return unit(10, -14);
  }
}

/// Moves each number by up to `steps` of its spacing; zeros, infinities and NaN stay.
Array moved(const Array& a, int steps, std::mt19937_64& random) {
  Numbers v = numbers(a);
  for (double& x : v) {
    if (x == 0 || !std::isfinite(x)) continue;
    const auto draw = static_cast<int>(random() % static_cast<unsigned>(2 * steps + 1)) - steps;
    x += draw * spacing(a.dtype(), x);
  }
  return make_array(a.type(), v);
}

bool is_half(DType t) {
  return t == bf16 || t == f16;
}

// ---- evaluation with moved results

/// Evaluates a program without calls; what compiled code may round otherwise is moved at random by what it may.
class MovedEvaluation {
 public:
  MovedEvaluation(const Program& program, int scale, std::uint64_t seed)
      : program_(program), scale_(scale), random_(seed), values_(program.types.size()) {}

  Arrays run(const Arrays& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) values_[program_.inputs[i]] = inputs[i];
    for (const Equation& e : program_.equations) step(e);
    Arrays out;
    for (const Atom& a : program_.outputs) out.push_back(value(a));
    return out;
  }

 private:
  Array value(const Atom& a) const { return a.is_var() ? values_[a.var] : literal(a.literal); }

  void step(const Equation& e) {
    Arrays operands;
    for (const Atom& a : e.operands) operands.push_back(value(a));
    const Rounding rounding = rounding_of(e, program_.type(e.results[0]));
    if (rounding == Rounding::sum) change_order(e, operands);
    Arrays results = evaluate(*e.prim, e.attrs, operands);
    if (rounding == Rounding::function)
      for (Array& y : results) y = moved(y, scale_ * (is_half(y.dtype()) ? 1 : 8), random_);
    if (rounding == Rounding::sum) results[0] = moved_sum(e, operands, results[0]);
    for (std::size_t i = 0; i < results.size(); ++i) values_[e.results[i]] = results[i];
  }
  /// The result moved by what n additions in any order round: some multiple of sqrt(n) ulps of the sum of the absolute
  /// values. (n ulps are possible and do not occur by chance.)
  Array moved_sum(const Equation& e, Arrays operands, const Array& y) {
    double terms = 1;
    for (const Array& x : operands) terms = std::max(terms, static_cast<double>(x.size()));
    if (e.prim == &prim::reduce_sum || e.prim == &prim::reduce_prod)
      terms /= std::max(1.0, static_cast<double>(y.size()));
    Numbers v = numbers(y), size = v;
    if (e.prim != &prim::cumlogsumexp) {
      for (Array& x : operands)
        if (is_float(x.dtype())) x = evaluate(prim::abs, {}, Arrays{x})[0];
      size = numbers(evaluate(*e.prim, e.attrs, operands)[0]);
    }
    const double steps = scale_ * (is_half(y.dtype()) ? 1 : 2 + std::sqrt(terms));
    for (std::size_t i = 0; i < v.size(); ++i)
      if (std::isfinite(v[i]) && std::isfinite(size[i]))
        v[i] += steps * (static_cast<double>(random_() % 2001) / 1000 - 1) * spacing(y.dtype(), size[i]);
    if (e.prim == &prim::reduce_prod || e.prim == &prim::cumprod || e.prim == &prim::scatter_mul)
      forget_ranges_left(e, operands, y.dtype(), v);
    return make_array(y.type(), v);
  }
  /// Products whose factors, taken in some order, may leave the range of the dtype on the way: NaN, so that they are
  /// not compared.
  static void forget_ranges_left(const Equation& e, const Arrays& operands, DType dtype, Numbers& v) {
    const double limit = dtype == f64 ? 1000 : dtype == f16 ? 13 : 120;
    Arrays logarithms = operands;
    for (Array& x : logarithms) {
      if (!is_float(x.dtype())) continue;
      Numbers size = numbers(x);
      for (double& n : size) n = n == 0 || !std::isfinite(n) ? 0 : std::fabs(std::log2(std::fabs(n)));
      x = make_array(Type{f64, x.shape()}, size);
    }
    const Prim& sum = e.prim == &prim::reduce_prod ? prim::reduce_sum
                      : e.prim == &prim::cumprod   ? prim::cumsum
                                                   : prim::scatter_add;
    const Numbers total = numbers(evaluate(sum, e.attrs, logarithms)[0]);
    for (std::size_t i = 0; i < v.size(); ++i)
      if (total[i] > limit) v[i] = NAN;
  }
  /// The terms backwards, where the operation allows it.
  void change_order(const Equation& e, Arrays& operands) {
    const bool backwards = random_() % 2;
    if (backwards && (e.prim == &prim::reduce_sum || e.prim == &prim::reduce_prod))
      operands[0] = reversed(operands[0], e.as<AxesAttr>().axes);
    if (backwards && e.prim == &prim::dot_general) {
      operands[0] = reversed(operands[0], e.as<DotAttr>().contract_lhs);
      operands[1] = reversed(operands[1], e.as<DotAttr>().contract_rhs);
    }
  }
  static Array reversed(const Array& x, const Ints& axes) {
    return axes.empty() || is_literal(x) ? x : evaluate(prim::rev, AxesAttr{axes}, Arrays{x})[0];
  }

  const Program& program_;
  int scale_;
  std::mt19937_64 random_;
  Arrays values_;
};

/// Which outputs depend on something that may be rounded otherwise.
std::vector<bool> inexact_outputs(const Program& program) {
  std::vector<bool> inexact(program.types.size(), false);
  for (const Equation& e : program.equations) {
    bool any = false;
    for (const Atom& a : e.operands) any = any || (a.is_var() && inexact[a.var]);
    for (VarId v : e.results) inexact[v] = any || rounding_of(e, program.type(v)) != Rounding::none;
  }
  std::vector<bool> out;
  for (const Atom& a : program.outputs) out.push_back(a.is_var() && inexact[a.var]);
  return out;
}

// ---- comparison

/// What the moved evaluations say about one element.
struct Range {
  double spread = 0;
  bool flips = false;  // between NaN, infinities, and numbers
};

void widen(Range& r, double want, double moved) {
  if (std::isnan(want) != std::isnan(moved) || std::isinf(want) != std::isinf(moved) ||
      (std::isinf(want) && want != moved))
    r.flips = true;
  else if (std::isfinite(want)) r.spread = std::max(r.spread, std::fabs(moved - want));
}

bool agree(double got, double want, const Range& r, bool exact, DType dtype) {
  if (r.flips || (std::isnan(got) && std::isnan(want))) return true;
  if (got == want) return std::signbit(got) == std::signbit(want) || !exact || r.spread > 0;
  if (!std::isfinite(got) || !std::isfinite(want)) return false;
  const double floor = exact || !is_float(dtype) ? 0 : 8 * std::max(spacing(dtype, want), spacing(dtype, got));
  return std::fabs(got - want) <= floor + 4 * r.spread;
}

std::string show_element(const Array& got, double g, double w, std::size_t output, std::size_t i, const Range& r) {
  std::ostringstream out;
  out.precision(17);
  out << "output " << output << " of type " << to_string(got.type()) << ", element " << i << ": native " << g
      << ", eval " << w << "; moved results differ by " << r.spread;
  return out.str();
}

using Ranges = std::vector<std::vector<Range>>;

std::optional<std::string> first_difference(const Arrays& got, const Arrays& want, const Ranges& ranges,
                                            const std::vector<bool>& inexact) {
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (got[k].type() != want[k].type()) return "output " + std::to_string(k) + " has another type";
    const Numbers g = numbers(got[k]), w = numbers(want[k]);
    for (std::size_t i = 0; i < g.size(); ++i)
      if (!agree(g[i], w[i], ranges[k][i], !inexact[k], got[k].dtype()))
        return show_element(got[k], g[i], w[i], k, i, ranges[k][i]);
  }
  return std::nullopt;
}

void add_moved(Ranges& ranges, const Program& program, const FuzzCase& fuzz, const Arrays& want, int runs, int scale) {
  for (int run = 0; run < runs; ++run) {
    const auto seed = static_cast<std::uint64_t>(1000 * scale + run);
    const Arrays moved = MovedEvaluation(program, scale, seed).run(fuzz.inputs);
    for (std::size_t k = 0; k < want.size(); ++k) {
      const Numbers m = numbers(moved[k]), w = numbers(want[k]);
      for (std::size_t i = 0; i < w.size(); ++i) widen(ranges[k][i], w[i], m[i]);
    }
  }
}

bool all_identical(const Arrays& a, const Arrays& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!identical(a[i], b[i])) return false;
  return true;
}

}  // namespace

Arrays all_values(const Program& program, const Arrays& inputs) {
  Arrays values(program.types.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) values[program.inputs[i]] = inputs[i];
  for (const Equation& e : program.equations) {
    Arrays operands;
    for (const Atom& a : e.operands) operands.push_back(a.is_var() ? values[a.var] : literal(a.literal));
    const Arrays results = evaluate(*e.prim, e.attrs, operands);
    for (std::size_t i = 0; i < results.size(); ++i) values[e.results[i]] = results[i];
  }
  return values;
}

namespace {

bool all_finite(const Arrays& values) {
  for (const Array& a : values) {
    if (!a.defined() || !is_float(a.dtype())) continue;
    for (double x : numbers(a))
      if (!std::isfinite(x)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> backends_differ(const FuzzCase& fuzz) {
  const auto program = std::make_shared<const Program>(fuzz.program);
  const Arrays want = compile(program, {.backend = "eval"})->run(fuzz.inputs);
  const Program plain = inline_calls(fuzz.program);
  const bool structured = fuzz.structured && all_finite(all_values(plain, fuzz.inputs));
  const auto native = compile(program, {.backend = "native", .structured_tangents = structured});
  const Arrays got = native->run(fuzz.inputs), again = native->run(fuzz.inputs);
  if (!all_identical(got, again)) return "two native runs gave different bits";
  if (all_identical(got, want)) return std::nullopt;
  const std::vector<bool> inexact = inexact_outputs(plain);
  Ranges ranges;
  for (const Array& y : want) ranges.emplace_back(static_cast<std::size_t>(y.size()));
  std::optional<std::string> difference;
  for (const auto& [runs, scale] : {std::pair(3, 1), std::pair(12, 1), std::pair(48, 2)}) {
    add_moved(ranges, plain, fuzz, want, runs, scale);
    difference = first_difference(got, want, ranges, inexact);
    if (!difference) break;
  }
  return difference;
}

}  // namespace anadrome::testing

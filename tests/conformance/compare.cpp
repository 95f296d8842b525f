// Comparison of results with the golden tables.
#include "conformance/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace anadrome::conformance {

namespace {

/// Bits of the significand and exponent of the smallest normal number.
struct Format {
  int digits;
  int least_exponent;
};

Format format_of(DType dtype) {
  switch (dtype) {
    case bf16:
      return {8, -126};
    case f16:
      return {11, -14};
    case f32:
      return {24, -126};
    default:
      return {53, -1022};
  }
}

Number ulp(Number x, DType dtype) {
  const Format format = format_of(dtype);
  int exponent = format.least_exponent;
  if (x != 0) exponent = std::max(exponent, std::ilogb(x));
  return std::ldexp(Number(1), exponent - (format.digits - 1));
}

Number unit_roundoff(DType dtype) {
  return std::ldexp(Number(1), 1 - format_of(dtype).digits);
}

Number smallest_normal(DType dtype) {
  return std::ldexp(Number(1), format_of(dtype).least_exponent);
}

bool equal(Number got, Number want, bool zero_has_sign) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  return got == want && (!zero_has_sign || std::signbit(got) == std::signbit(want));
}

Number unit_of(Number want, const Rule& rule, DType dtype) {
  if (rule.unit == Rule::Unit::ulps) return ulp(want, dtype);
  return unit_roundoff(dtype) * std::max(Number(1), std::abs(want));
}

/// Whether a table that counts subnormal numbers as zero may say `want` for `got`.
bool flushed(Number got, Number want, DType dtype) {
  return want == 0 && std::abs(got) < smallest_normal(dtype);
}

bool close(Number got, Number want, const Rule& rule, DType dtype) {
  if (rule.flushed && flushed(got, want, dtype)) return true;
  if (std::isnan(got) || std::isnan(want) || std::isinf(got) || std::isinf(want))
    return equal(got, want, true);
  if (rule.unit == Rule::Unit::bits) return equal(got, want, rule.zero_has_sign);
  return std::abs(got - want) <= rule.bound * unit_of(want, rule, dtype);
}

std::string text_of(Number x, DType dtype) {
  char text[64];
  if (is_float(dtype))
    std::snprintf(text, sizeof text, "%.17Lg", x);
  else
    std::snprintf(text, sizeof text, "%.20Lg", x);
  return text;
}

std::string bound_text(const Rule& rule) {
  if (rule.unit == Rule::Unit::bits) return "exact";
  char text[64];
  std::snprintf(text, sizeof text, "%g %s", rule.bound,
                rule.unit == Rule::Unit::ulps ? "ulp" : "u max(1,|want|)");
  return text;
}

std::string distance_text(Number got, Number want, const Rule& rule, DType dtype) {
  if (!std::isfinite(got) || !std::isfinite(want) || rule.unit == Rule::Unit::bits) return "";
  char text[64];
  std::snprintf(text, sizeof text, ", off by %.3Lg", std::abs(got - want) / unit_of(want, rule, dtype));
  return text;
}

}  // namespace

std::string difference(const Array& got, const Json& want, const Rule& rule, const Json* reference) {
  if (!got.defined()) return "no result";
  const Type type = type_of(want);
  if (got.type() != type) return "got type " + to_string(got.type()) + ", want " + to_string(type);
  const std::vector<Number> g = numbers_of(got), w = numbers_from(want, type.dtype);
  if (w.size() != g.size()) return "the table has another number of elements than its shape says";
  std::vector<Number> r;
  if (reference) r = numbers_from(*reference, dtype_of_tag(reference->at("dt").get<std::string>()));
  for (std::size_t i = 0; i < g.size(); ++i) {
    const bool finite_reference = !r.empty() && std::isfinite(r[i]) && std::isfinite(w[i]);
    const bool near_reference =
        finite_reference && is_float(type.dtype) && close(g[i], r[i], rule, type.dtype);
    const bool near_table = !(rule.reference_only && finite_reference) && close(g[i], w[i], rule, type.dtype);
    if (near_table || near_reference) continue;
    std::string text = "element " + std::to_string(i) + ": got " + text_of(g[i], type.dtype) + ", want " +
                       text_of(w[i], type.dtype);
    if (finite_reference) text += " (reference " + text_of(r[i], f64) + ")";
    return text + " within " + bound_text(rule) + distance_text(g[i], w[i], rule, type.dtype);
  }
  return "";
}

}  // namespace anadrome::conformance

// Comparison of results with the golden tables: exact, in units in the last place, or mixed absolute and
// relative.
#pragma once
#include <string>

#include "conformance/json_arrays.h"

namespace anadrome::conformance {

/// How close an element must come to the expected one.
struct Rule {
  enum class Unit {
    bits,   // equal; NaN matches NaN
    ulps,   // |got - want| <= bound * ulp(want)
    mixed,  // |got - want| <= bound * u * max(1, |want|)
  };
  Unit unit = Unit::bits;
  double bound = 0;
  /// Under `bits`: whether 0 and -0 differ. Derivatives may differ in the sign of zero.
  bool zero_has_sign = true;
  /// The table counts subnormal numbers as zero: where it says 0, a subnormal result is right too.
  bool flushed = false;
  /// Only the float64 reference counts, where there is one.
  bool reference_only = false;
};

/// Empty when `got` has the type of `want` and every element is close enough to it (or to `reference`, the
/// float64 values at the same inputs, where that is given); otherwise the first difference.
std::string difference(const Array& got, const Json& want, const Rule& rule, const Json* reference = nullptr);

}  // namespace anadrome::conformance

// Derivatives of a function as functions, and the laws they must obey.
#pragma once
#include <functional>
#include <random>
#include <string>

#include "anadrome/detail/functional.h"
#include "support/values.h"

namespace anadrome::testing {

using functional::Function;
using functional::Mask;

/// (x..., a tangent per active argument) to the tangents of the float outputs: by jvp, or by linearize.
Function tangent_by_jvp(const Function& f, const Mask& active);
Function tangent_by_linearize(const Function& f, const Mask& active);
/// (x..., a cotangent per float output) to the cotangents of the active arguments.
Function gradient_of(const Function& f, const Mask& active);

/// The derivative of f at x in direction t (empty: not moved), of the float outputs, by a fourth-order
/// difference.
Arrays finite_difference(const Function& f, const Arrays& x, const Arrays& t);

/// How a function that may stand inside a named vmap is run on its arguments.
using Run = std::function<Arrays(const Function&, const Arrays&)>;

struct Laws {
  Run run;
  double tolerance, exact_tolerance;
  std::function<void(const std::string&)> fail;

  /// jvp against finite differences.
  void check_tangent(const Function& f, const Arrays& x, const Mask& active, std::mt19937& random) const;
  /// linearize against jvp.
  void check_pushed(const Function& f, const Arrays& x, const Mask& active, std::mt19937& random) const;
  /// That, and the dot-product law of the pullback.
  void check_linear(const Function& f, const Arrays& x, const Mask& active, std::mt19937& random) const;
  /// The pullback against finite differences, for functions without a forward derivative.
  void check_pulled(const Function& f, const Arrays& x, const Mask& active, std::mt19937& random) const;
};

/// The outputs that carry derivatives.
Arrays float_outputs(const Arrays& y);
/// Fails unless both lists agree within the tolerance; integers and bits exactly.
void compare(const Arrays& got, const Arrays& want, double tolerance, const std::string& what,
             const std::function<void(const std::string&)>& fail);
/// Random tangents for the active arguments.
Arrays random_like(const Arrays& x, const Mask& active, std::mt19937& random);
Arrays joined(Arrays a, const Arrays& b);

}  // namespace anadrome::testing

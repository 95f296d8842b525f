// A loop beside the same steps written out: values, derivatives, batches and compiled forms of both agree.
#pragma once
#include <string>

#include "anadrome/control.h"
#include "support/derivatives.h"

namespace anadrome::testing {

/// The scan of a body on lists of arrays (the carries, then the slices) as its steps one after the other.
Arrays written_out(const Function& body, const Arrays& init, const Arrays& xs, const ScanOptions& options);

/// Which forms are compared; the more, the more programs are compiled.
enum class Forms : std::uint8_t {
  few,      // value, tangent, gradient, one batch
  all,      // batches over each argument, derivatives of derivatives, gradients of batches
  forward,  // all that need no gradient
  backward, // all that need no forward derivative of the function itself
};
/// Compares `loop` with `steps` at x (float64, integers beside them), on `eval` and on `native`; tangents with finite
/// differences too. Failures begin with `name`.
void expect_same(const std::string& name, const Function& loop, const Function& steps, const Arrays& x, Forms forms = Forms::all);

/// f64 numbers in [lo, hi], the same for the same seed.
Array random_values(const Shape& shape, std::uint32_t seed, double lo = -1, double hi = 1);

}  // namespace anadrome::testing

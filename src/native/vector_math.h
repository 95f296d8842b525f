// Mathematical functions for generated code: whole vectors at a time where that is accurate enough, one number at a
// time otherwise. Which function comes from where, its errors and times: docs/vector-math.md.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "anadrome/dtype.h"

namespace anadrome {

/// A compiled function to call by address. `symbol` names it, the same in every process.
struct MathFunction {
  std::string symbol;
  void* address = nullptr;
  int operands = 1;
};

/// The function that computes the primitive (by name: "sin") on `lanes` numbers of dtype f32 or f64, passed and
/// returned as vectors (<8 x float> in ymm0, ymm1). Empty where there is none that is at least as accurate as JAX's
/// and right at NaN, infinities, zeros and subnormal numbers, or where this machine cannot run it: then
/// scalar_function serves. The result in a lane depends on the operands in that lane alone. 256 and 512 bits are
/// served: lanes 8 and 16 (f32), 4 and 8 (f64).
///
///   const auto f = vector_function("sin", f32, 8);  // __m256 (*)(__m256)
std::optional<MathFunction> vector_function(std::string_view primitive, DType dtype, int lanes);

/// The function that gives the sines and the cosines of `lanes` numbers of dtype f32 or f64 in less time than both
/// calls: it returns the sines and writes the cosines to memory, which needs no alignment. Errors and special values are
/// those of "sin" and "cos"; the last bit of a float may differ from theirs. Lanes as for vector_function.
///
///   const auto f = sine_cosine_function(f32, 8);  // __m256 (*)(__m256, float*)
std::optional<MathFunction> sine_cosine_function(DType dtype, int lanes);

/// The function that computes the primitive on one number of dtype f32 or f64, with exactly the arithmetic of the
/// primitive's `eval`: float (*)(float, ...) or double (*)(double, ...), of one to three operands. Empty for
/// primitives that have none. Two names beside those of primitives: "pow_i32" (the exponent is an int32) and
/// "integer_pow" (the exponent is an int64).
std::optional<MathFunction> scalar_function(std::string_view primitive, DType dtype);

}  // namespace anadrome

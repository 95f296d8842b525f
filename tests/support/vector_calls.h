// Calls vector functions, which take and return whole registers, on arrays.
#pragma once
#include <cstddef>

#include "native/vector_math.h"

namespace anadrome::testing {

/// y[i] = f(a[i]) or f(a[i], b[i]) for i < n, n a multiple of `lanes`; arrays of float or double as `dtype` says.
void call_vector(const MathFunction& f, DType dtype, int lanes, const void* a, const void* b, void* y, std::size_t n);

/// The same for sine_cosine_function: sines[i] = sin(x[i]), cosines[i] = cos(x[i]).
void call_sine_cosine(const MathFunction& f, DType dtype, int lanes, const void* x, void* sines, void* cosines,
                      std::size_t n);

/// call_vector, one number a call.
void call_scalar(const MathFunction& f, DType dtype, const void* a, const void* b, void* y, std::size_t n);

}  // namespace anadrome::testing

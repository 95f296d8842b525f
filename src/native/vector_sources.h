// Where vector functions come from, each source on its own: for vector_math.cpp, which chooses, and for the tests and
// measurements that justify the choice.
#pragma once
#include <optional>
#include <span>

#include "native/vector_math.h"

namespace anadrome {

/// One of our own vector functions; "sincos" is the pair of sine_cosine_function.
struct OwnFunction {
  const char* primitive;
  DType dtype;
  int operands;
  void* address;
};

/// Our own functions on 256 and 512 bits. Calling one needs a machine with that instruction set.
std::span<const OwnFunction> own_functions_avx2();
std::span<const OwnFunction> own_functions_avx512();

enum class VectorSource { own, libmvec, sleef };

/// The function of one source, whether or not it is good enough; empty where this machine or the source has none.
std::optional<MathFunction> vector_function_from(VectorSource source, std::string_view primitive, DType dtype,
                                                 int lanes);

}  // namespace anadrome

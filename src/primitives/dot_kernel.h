// Matrix products on one core: register tiles for matrices, streaming loops for vectors and outer products.
#pragma once
#include <cstdint>

namespace anadrome::contraction {

/// A matrix in memory; strides count elements and may be anything.
template <class T> struct Matrix {
  const T* data;
  std::int64_t row, column;
};

/// Elements of working memory that `multiply` needs.
std::int64_t packed_elements(std::int64_t m, std::int64_t n, std::int64_t k);

/// c (row-major [m][n]) = a [m][k] b [k][n]. The order of the sums depends on the shape and layout alone. For
/// float, double and unsigned integers (which wrap).
template <class T>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<T> a, Matrix<T> b, T* c, T* packed);

}  // namespace anadrome::contraction

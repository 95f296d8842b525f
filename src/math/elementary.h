#pragma once

// Functions of floats that are short formulas over the standard library's.

#include <cmath>
#include <cstdint>

namespace anadrome::math {

/// log(e^a + e^b), without overflow.
template <class T> T logaddexp(T a, T b) {
  const T difference = a - b;
  if (difference != difference) return a + b;  // equal infinities, or NaN
  return (a > b ? a : b) + std::log1p(std::exp(-std::fabs(difference)));
}

/// 1 / (1 + e^-x).
template <class T> T logistic(T x) {
  const T small = std::exp(-std::fabs(x));  // never overflows, so that both tails are accurate
  return (x >= 0 ? T{1} : small) / (1 + small);
}

/// x log(y), and 0 where x is 0.
template <class T> T xlogy(T x, T y) {
  return x == 0 ? T{0} : x * std::log(y);
}

/// x^n by squaring. Float is multiplied in double, so that it is rounded once; x^2 and 1 / x are rounded once in
/// double too. Otherwise within 1 ulp (float), |n| ulp (double).
template <class T> T integer_pow(T x, std::int64_t n) {
  if (n == 2) return x * x;
  if (n == -1) return 1 / x;
  double base = static_cast<double>(x), power = 1;
  for (auto rest = n < 0 ? ~static_cast<std::uint64_t>(n) + 1 : static_cast<std::uint64_t>(n); rest; rest >>= 1) {
    if (rest & 1) power *= base;
    base *= base;
  }
  return static_cast<T>(n < 0 ? 1 / power : power);
}

}  // namespace anadrome::math

// Vector functions against the scalar ones: special values, all exponents, and independence of the lanes. Largest
// errors are measured in tests/slow_vector_math.
#include "native/vector_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <sstream>
#include <vector>

#include "native/vector_sources.h"
#include "support/vector_calls.h"

namespace anadrome::testing {
namespace {

constexpr const char* primitives[] = {"exp",  "exp2", "expm1", "log",  "log2",  "log10", "log1p", "logistic", "cbrt",
                                      "sin",  "cos",  "tan",   "asin", "acos",  "atan",  "sinh",  "cosh",     "tanh",
                                      "asinh", "acosh", "atanh", "erf", "erfc", "atan2", "pow",   "hypot"};

template <class T> struct Case {
  static constexpr DType dtype = sizeof(T) == 4 ? f32 : f64;
  std::string name;
  MathFunction vector, scalar;
  int lanes;
  bool of_pair = false;  // a half of sine_cosine_function

  void call(const T* a, const T* b, T* y, std::size_t n) const {
    if (!of_pair) return call_vector(vector, dtype, lanes, a, b, y, n);
    std::vector<T> other(n);
    const bool sine = name == "sin";
    call_sine_cosine(vector, dtype, lanes, a, sine ? y : other.data(), sine ? other.data() : y, n);
  }
};

/// Every vector function of T that this machine has.
template <class T> std::vector<Case<T>> cases() {
  std::vector<Case<T>> out;
  for (const char* name : primitives)
    for (int bits : {256, 512}) {
      const int lanes = bits / (8 * static_cast<int>(sizeof(T)));
      if (const auto f = vector_function(name, Case<T>::dtype, lanes))
        out.push_back({name, *f, scalar_function(name, Case<T>::dtype).value(), lanes});
    }
  for (const char* name : {"sin", "cos"})
    for (int bits : {256, 512}) {
      const int lanes = bits / (8 * static_cast<int>(sizeof(T)));
      if (const auto f = sine_cosine_function(Case<T>::dtype, lanes))
        out.push_back({name, *f, scalar_function(name, Case<T>::dtype).value(), lanes, true});
    }
  return out;
}

/// Numbers where functions change their formula, overflow, or are not defined; with both signs.
template <class T> std::vector<T> special_values() {
  using limits = std::numeric_limits<T>;
  std::vector<T> out;
  for (double x : {0.0, 1.0, 0.5, 2.0, 3.0, 0.25, 1.5, 10.0, 88.0, 88.72, 88.73, 103.9, 104.0, 126.0, 127.0, 127.9, 128.0,
                   149.0, 150.0, 709.7, 709.79, 710.4, 745.1, 746.0, 1023.0, 1024.0, 1074.0, 1075.0, 1e4, 1e5, 1e9,
                   1.1e9, 1e10, 1e20, 1e-3, 1e-5, 1e-8, 1e-10, 1e-17, 1e-30, 6.0, 9.0, 9.2, 18.0, 20.0, 26.0, 27.3})
    out.push_back(static_cast<T>(x));
  for (T x : {limits::min(), limits::min() / 2, limits::denorm_min(), limits::max(), limits::max() / 2,
              std::nextafter(T{1}, T{0}), std::nextafter(T{1}, T{2}), std::nextafter(T{0.5}, T{0}), limits::infinity(),
              limits::quiet_NaN()})
    out.push_back(x);
  const std::size_t n = out.size();
  for (std::size_t i = 0; i < n; ++i) out.push_back(-out[i]);
  return out;
}

/// The difference in units in the last place of `want`; 0 for two NaN and equal infinities; zeros have signs.
template <class T> double distance(T got, T want) {
  constexpr double far = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : far;
  if (got == want) return std::signbit(got) == std::signbit(want) ? 0 : far;
  if (std::isinf(got) || std::isinf(want)) return far;
  const T size = std::max(std::fabs(want), std::numeric_limits<T>::min());
  const T unit = std::nextafter(size, std::numeric_limits<T>::infinity()) - size;
  return std::fabs(static_cast<double>((got - want) / unit));
}

/// How far a function may be from the scalar one, which has an error of its own.
constexpr double allowed = 7;

template <class T> std::string text(T x) {
  std::ostringstream out;
  out.precision(17);
  out << x;
  return out.str();
}

/// Compares the two functions on pairs (a[i], b[i]).
template <class T> void expect_same(const Case<T>& c, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> got(a.size()), want(a.size());
  c.call(a.data(), b.data(), got.data(), a.size());
  call_scalar(c.scalar, Case<T>::dtype, a.data(), b.data(), want.data(), a.size());
  int shown = 0;
  for (std::size_t i = 0; i < a.size() && shown < 3; ++i) {
    if (distance(got[i], want[i]) <= allowed) continue;
    ++shown;
    ADD_FAILURE() << c.vector.symbol << "(" << text(a[i]) << (c.vector.operands == 2 ? ", " + text(b[i]) : "")
                  << ") is " << text(got[i]) << ", not " << text(want[i]);
  }
}

template <class T> class VectorMath : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(VectorMath, Types);

TYPED_TEST(VectorMath, SpecialValuesAreThoseOfTheScalarFunctions) {
  const std::vector<TypeParam> values = special_values<TypeParam>();
  for (const auto& c : cases<TypeParam>()) {
    std::vector<TypeParam> a, b;
    for (TypeParam x : values)
      for (TypeParam y : c.vector.operands == 2 ? values : std::vector<TypeParam>{0}) {
        a.push_back(x);
        b.push_back(y);
      }
    a.resize((a.size() + 15) / 16 * 16, 1);
    b.resize(a.size(), 1);
    expect_same(c, a, b);
  }
}

/// Any bit pattern is as likely as any other: all exponents, subnormal numbers, NaN.
template <class T> T any_bits(std::mt19937_64& random) {
  const std::uint64_t word = random();
  T out;
  std::memcpy(&out, &word, sizeof out);
  return out;
}

TYPED_TEST(VectorMath, NumbersOfAllExponentsAreThoseOfTheScalarFunctions) {
  using T = TypeParam;
  for (const auto& c : cases<T>()) {
    std::mt19937_64 random(1);
    std::vector<T> a(1 << 15), b(a.size());
    for (T& x : a) x = any_bits<T>(random);
    for (T& x : b) x = any_bits<T>(random);
    for (std::size_t i = 0; i < a.size() / 2; ++i) {  // half of them near 1, where more functions are finite
      a[i] = static_cast<T>(std::ldexp(static_cast<double>(random() >> 11), -50) - 4);
      b[i] = static_cast<T>(std::ldexp(static_cast<double>(random() >> 11), -50) - 4);
    }
    expect_same(c, a, b);
  }
}

TYPED_TEST(VectorMath, ALaneDoesNotDependOnItsNeighboursOrItsPlace) {
  using T = TypeParam;
  const std::vector<T> values = special_values<T>();
  for (const auto& c : cases<T>()) {
    const auto lanes = static_cast<std::size_t>(c.lanes);
    const auto run = [&](const std::vector<T>& a) {
      const std::vector<T> b(lanes, T{0.75});
      std::vector<T> y(lanes);
      c.call(a.data(), b.data(), y.data(), lanes);
      return y;
    };
    const T quiet = run(std::vector<T>(lanes, T{0.7}))[0];
    for (T x : values) {
      const T alone = run(std::vector<T>(lanes, x))[0];
      for (std::size_t at = 0; at < lanes; ++at) {
        std::vector<T> a(lanes, T{0.7});
        a[at] = x;
        const std::vector<T> y = run(a);
        for (std::size_t i = 0; i < lanes; ++i) {
          const T want = i == at ? alone : quiet;
          if (std::isnan(want) && std::isnan(y[i])) continue;
          ASSERT_EQ(std::memcmp(&y[i], &want, sizeof(T)), 0)
              << c.vector.symbol << " of " << text(x) << " in lane " << at << ": lane " << i << " is " << text(y[i])
              << ", not " << text(want);
        }
      }
    }
  }
}

TYPED_TEST(VectorMath, APairIsWhatTheTwoFunctionsGive) {
  using T = TypeParam;
  const double most = sizeof(T) == 4 ? 1 : 0;  // polynomials of other intervals: floats may round to a neighbour
  std::vector<T> x = special_values<T>();
  std::mt19937_64 random(3);
  while (x.size() % 16 || x.size() < 1 << 15) {
    x.push_back(static_cast<T>(std::ldexp(static_cast<double>(random() >> 11), -43) - 512));
    x.push_back(any_bits<T>(random));
  }
  for (const Case<T>& c : cases<T>()) {
    if (!c.of_pair) continue;
    std::vector<T> got(x.size()), want(x.size());
    c.call(x.data(), x.data(), got.data(), x.size());
    call_vector(vector_function(c.name, c.dtype, c.lanes).value(), c.dtype, c.lanes, x.data(), x.data(), want.data(),
                x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(distance(got[i], want[i]), most) << c.name << " of " << text(x[i]) << ", " << c.lanes << " lanes";
  }
}

TEST(VectorMath, OnlyWholeVectorsOfFloatsAreServed) {
  EXPECT_FALSE(vector_function("sin", f32, 3));
  EXPECT_FALSE(vector_function("sin", i32, 8));
  EXPECT_FALSE(sine_cosine_function(f32, 3));
  EXPECT_FALSE(sine_cosine_function(f16, 8));
  EXPECT_FALSE(vector_function("no_such_function", f32, 8));
  EXPECT_FALSE(scalar_function("no_such_function", f32));
  EXPECT_FALSE(scalar_function("sin", bf16));
}

TEST(VectorMath, SymbolsAreUnique) {
  std::set<std::string> seen;
  for (const char* name : primitives)
    for (auto [dtype, lanes] : {std::pair(f32, 8), {f32, 16}, {f64, 4}, {f64, 8}})
      if (const auto f = vector_function(name, dtype, lanes)) {
        EXPECT_TRUE(seen.insert(f->symbol).second) << f->symbol;
      }
  for (auto [dtype, lanes] : {std::pair(f32, 8), {f32, 16}, {f64, 4}, {f64, 8}})
    if (const auto f = sine_cosine_function(dtype, lanes)) {
      EXPECT_TRUE(seen.insert(f->symbol).second) << f->symbol;
    }
  for (const char* name : primitives)
    for (DType dtype : {f32, f64})
      EXPECT_TRUE(seen.insert(scalar_function(name, dtype).value().symbol).second) << name;
}

}  // namespace
}  // namespace anadrome::testing

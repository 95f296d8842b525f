// The largest error of each vector function on 2^20 points of each range, against JAX's. Prints the tables of
// docs/vector-math.md when asked:
//   ANADROME_TABLE=1 build/release/tests/test_slow_vector_math
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "native/vector_sources.h"
#include "support/vector_calls.h"

namespace anadrome::testing {
namespace {

constexpr std::size_t points = 1 << 20;

/// How numbers are drawn from [low, high]: uniform, uniform in the logarithm, or that with both signs.
enum class Draw : std::uint8_t { uniform, logarithmic, both_signs };
struct Range {
  Draw draw;
  double low, high;
};
/// Errors of JAX 0.12 on 2^20 points of a range; 0: not measured.
struct Row {
  const char* name;
  std::vector<Range> operands;
  double jax_f32, jax_f64;
};

constexpr Range uniform(double low, double high) {
  return {Draw::uniform, low, high};
}
constexpr Range logarithmic(double low, double high) {
  return {Draw::logarithmic, low, high};
}
constexpr Range both(double low, double high) {
  return {Draw::both_signs, low, high};
}

const Row rows[] = {
    {"exp", {uniform(-87, 88)}, 0.986, 1.66},
    {"exp", {uniform(-1, 1)}, 0.858, 1.59},
    {"exp2", {uniform(-126, 127.9)}, 67.4, 89.8},
    {"expm1", {uniform(-17, 88)}, 0.707, 0.870},
    {"expm1", {both(1e-30, 1)}, 0.712, 0.885},
    {"log", {logarithmic(1e-37, 1e38)}, 1.09, 0.504},
    {"log", {uniform(0.5, 2)}, 1.19, 0.517},
    {"log2", {logarithmic(1e-37, 1e38)}, 2.1, 1.31},
    {"log2", {uniform(0.5, 2)}, 2.3, 1.35},
    {"log10", {logarithmic(1e-37, 1e38)}, 2.43, 1.57},
    {"log10", {uniform(0.5, 2)}, 2.67, 1.58},
    {"log1p", {uniform(-0.999, 3)}, 2.52, 1.91},
    {"log1p", {both(1e-30, 0.9)}, 2.36, 2.12},
    {"log1p", {logarithmic(1, 1e30)}, 1.73, 1.48},
    {"cbrt", {both(1e-37, 1e38)}, 0.948, 3.36},
    {"sin", {uniform(-3.14159, 3.14159)}, 0.560, 0.515},
    {"sin", {uniform(-100, 100)}, 0.560, 0.515},
    {"sin", {uniform(-1e5, 1e5)}, 0.560, 0.515},
    {"sin", {both(1e5, 1e38)}, 0.560, 0.515},
    {"cos", {uniform(-3.14159, 3.14159)}, 0.560, 0.514},
    {"cos", {uniform(-100, 100)}, 0.560, 0.516},
    {"cos", {uniform(-1e5, 1e5)}, 0.560, 0.515},
    {"cos", {both(1e5, 1e38)}, 0.560, 0.515},
    {"tan", {uniform(-1.5, 1.5)}, 0.845, 0.543},
    {"tan", {uniform(-100, 100)}, 1.22, 0.570},
    {"tan", {uniform(-1e5, 1e5)}, 1.26, 0.556},
    {"tan", {both(1e5, 1e38)}, 1.07, 0.557},
    {"asin", {uniform(-1, 1)}, 2.24, 1.20},
    {"asin", {both(1e-30, 1)}, 2.06, 1.70},
    {"acos", {uniform(-1, 1)}, 2.02, 1.25},
    {"atan", {uniform(-10, 10)}, 3.20, 3.53},
    {"atan", {both(1e-30, 1e30)}, 2.78, 2.85},
    {"sinh", {uniform(-88, 88)}, 24.5, 17.3},
    {"sinh", {both(1e-30, 1)}, 2.46, 2.60},
    {"cosh", {uniform(-88, 88)}, 24.5, 17.3},
    {"tanh", {uniform(-10, 10)}, 4.86, 5.80},
    {"tanh", {both(1e-30, 1)}, 4.09, 3.35},
    {"asinh", {uniform(-10, 10)}, 2.9, 2.51},
    {"asinh", {both(1e-30, 1e30)}, 2.67, 2.33},
    {"acosh", {uniform(1, 10)}, 3.88, 4.01},
    {"acosh", {logarithmic(1, 1e30)}, 3.94, 2.96},
    {"atanh", {uniform(-0.999999, 0.999999)}, 2.92, 1.94},
    {"atanh", {both(1e-30, 0.9)}, 2.65, 2.45},
    {"logistic", {uniform(-20, 20)}, 2.43, 2.05},
    {"logistic", {uniform(-87, -20)}, 1.49, 2.41},
    {"erf", {uniform(-4, 4)}, 5.92, 0.981},
    {"erf", {both(1e-30, 1)}, 3.42, 0.997},
    {"erfc", {uniform(-4, 4)}, 11.0, 12.0},
    {"erfc", {uniform(4, 9)}, 65.8, 66.6},
    {"pow", {logarithmic(1e-4, 1e4), uniform(-9, 9)}, 0.503, 0.506},
    {"pow", {uniform(0.9, 1.1), uniform(-700, 700)}, 0.660, 0.505},
    {"atan2", {uniform(-10, 10), uniform(-10, 10)}, 1.44, 0.517},
    {"atan2", {both(1e-10, 1e10), both(1e-10, 1e10)}, 1.39, 0.518},
    {"hypot", {both(1e-10, 1e10), both(1e-10, 1e10)}, 1.15, 1.19},
};

/// Functions of float64 that have no vector form: the standard library's, which are that close to JAX's.
bool is_scalar_with_more_error(const Row& row, DType dtype) {
  const std::string_view name = row.name;
  return dtype == f64 && (name == "erf" || name == "atan2");
}

using Extended = long double;

/// The value in a wider type: double for float, long double for double.
Extended reference(std::string_view name, Extended x, Extended y) {
  if (name == "exp") return std::exp(x);
  if (name == "exp2") return std::exp2(x);
  if (name == "expm1") return std::expm1(x);
  if (name == "log") return std::log(x);
  if (name == "log2") return std::log2(x);
  if (name == "log10") return std::log10(x);
  if (name == "log1p") return std::log1p(x);
  if (name == "cbrt") return std::cbrt(x);
  if (name == "sin") return std::sin(x);
  if (name == "cos") return std::cos(x);
  if (name == "tan") return std::tan(x);
  if (name == "asin") return std::asin(x);
  if (name == "acos") return std::acos(x);
  if (name == "atan") return std::atan(x);
  if (name == "sinh") return std::sinh(x);
  if (name == "cosh") return std::cosh(x);
  if (name == "tanh") return std::tanh(x);
  if (name == "asinh") return std::asinh(x);
  if (name == "acosh") return std::acosh(x);
  if (name == "atanh") return std::atanh(x);
  if (name == "logistic") return 1 / (1 + std::exp(-x));
  if (name == "erf") return std::erf(x);
  if (name == "erfc") return std::erfc(x);
  if (name == "pow") return std::pow(x, y);
  if (name == "atan2") return std::atan2(x, y);
  return std::hypot(x, y);
}

double draw(const Range& r, std::mt19937_64& random) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  if (r.draw == Draw::uniform) return r.low + (r.high - r.low) * unit;
  const double x = std::exp(std::log(r.low) + (std::log(r.high) - std::log(r.low)) * unit);
  return r.draw == Draw::both_signs && (random() & 1) ? -x : x;
}

/// Error and time of one source; no error where it lacks the function.
struct Measured {
  double error = -1, nanoseconds = 0;
};

template <class T> class Range1M {
 public:
  explicit Range1M(const Row& row) : row_(row), a_(points), b_(points), want_(points), unit_(points) {
    std::mt19937_64 random(7);
    const bool two = row.operands.size() == 2;
    for (std::size_t i = 0; i < points; ++i) {
      a_[i] = static_cast<T>(draw(row.operands[0], random));
      if (two) b_[i] = static_cast<T>(draw(row.operands[1], random));
      want_[i] = reference(row.name, a_[i], b_[i]);
      int exponent = 0;
      std::frexp(want_[i], &exponent);
      const bool normal = exponent > std::numeric_limits<T>::min_exponent &&
                          exponent < std::numeric_limits<T>::max_exponent && std::isfinite(want_[i]);
      unit_[i] = normal ? std::ldexp(Extended{1}, exponent - std::numeric_limits<T>::digits) : 0;
    }
  }
  static constexpr DType dtype = sizeof(T) == 4 ? f32 : f64;

  template <class Call> Measured measure(Call call) const {
    Measured out{0, 1e9};
    std::vector<T> y(points);
    for (int run = 0; run < 3; ++run) {
      const auto start = std::chrono::steady_clock::now();
      call(a_.data(), b_.data(), y.data());
      const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
      out.nanoseconds = std::min(out.nanoseconds, time.count() / static_cast<double>(points));
    }
    for (std::size_t i = 0; i < points; ++i) {
      if (unit_[i] == 0) continue;
      const auto error = static_cast<double>(std::fabs(y[i] - want_[i]) / unit_[i]);
      if (!(error <= out.error)) out.error = std::isnan(error) ? INFINITY : error;
    }
    return out;
  }
  Measured vector(const std::optional<MathFunction>& f, int lanes) const {
    if (!f) return {};
    return measure([&](const T* a, const T* b, T* y) { call_vector(*f, dtype, lanes, a, b, y, points); });
  }
  /// One half of the pair; the time is that of both.
  Measured pair(const MathFunction& f, int lanes) const {
    std::vector<T> other(points);
    const bool sine = std::string_view(row_.name) == "sin";
    return measure([&](const T* a, const T*, T* y) {
      call_sine_cosine(f, dtype, lanes, a, sine ? y : other.data(), sine ? other.data() : y, points);
    });
  }
  Measured scalar() const {
    const MathFunction f = scalar_function(row_.name, dtype).value();
    return measure([&](const T* a, const T* b, T* y) { call_scalar(f, dtype, a, b, y, points); });
  }

 private:
  const Row& row_;
  std::vector<T> a_, b_;
  std::vector<Extended> want_, unit_;
};

std::string range_text(const Row& row) {
  std::string out;
  for (const Range& r : row.operands) {
    char text[80];
    std::snprintf(text, sizeof text, "%s%s%g..%g", out.empty() ? "" : "; ",
                  r.draw == Draw::uniform ? "" : r.draw == Draw::logarithmic ? "log " : "± log ", r.low, r.high);
    out += text;
  }
  return out;
}

void print_cell(const Measured& m) {
  if (m.error < 0) std::printf(" – |");
  else std::printf(" %.3g (%.2f ns) |", m.error, m.nanoseconds);
}

double jax_error(const Row& row, DType dtype) {
  return dtype == f32 ? row.jax_f32 : row.jax_f64;
}
/// 2 % and the last digit: the largest of a million errors is itself a random number.
double bound(const Row& row, DType dtype) {
  return (is_scalar_with_more_error(row, dtype) ? 1.08 : 1.02) * jax_error(row, dtype) + 0.003;
}

/// Measures the row of a sine or cosine with the function that gives both.
template <class T> void check_pair(const Range1M<T>& range, const Row& row, int lanes) {
  const DType dtype = Range1M<T>::dtype;
  const auto f = sine_cosine_function(dtype, lanes);
  const std::string_view name = row.name;
  if (!f || (name != "sin" && name != "cos")) return;
  const Measured m = range.pair(*f, lanes);
  EXPECT_LE(m.error, bound(row, dtype)) << row.name << " of the pair " << tag(dtype) << ", " << range_text(row);
  if (!std::getenv("ANADROME_TABLE")) return;
  std::printf("| %s of both | %s | own |", row.name, range_text(row).c_str());
  print_cell(m);
  std::printf(" %.3g | – | – | – |\n", jax_error(row, dtype));
}

template <class T> void print(const Range1M<T>& range, const Row& row, int lanes, const Measured& ours,
                              const Measured& scalar) {
  const DType dtype = Range1M<T>::dtype;
  const auto chosen = vector_function(row.name, dtype, lanes);
  const char* source = !chosen ? "scalar" : chosen->symbol.starts_with("anadrome") ? "own" : "libmvec";
  if (chosen && chosen->symbol.starts_with("Sleef")) source = "SLEEF";
  std::printf("| %s | %s | %s |", row.name, range_text(row).c_str(), source);
  print_cell(ours);
  std::printf(" %.3g |", jax_error(row, dtype));
  print_cell(range.vector(vector_function_from(VectorSource::libmvec, row.name, dtype, lanes), lanes));
  print_cell(range.vector(vector_function_from(VectorSource::sleef, row.name, dtype, lanes), lanes));
  print_cell(scalar);
  std::printf("\n");
}

/// Measures one row and checks it; prints it on request.
template <class T> void check(const Row& row, int bits) {
  const Range1M<T> range(row);
  const DType dtype = Range1M<T>::dtype;
  const int lanes = bits / (8 * static_cast<int>(sizeof(T)));
  const auto chosen = vector_function(row.name, dtype, lanes);
  const Measured scalar = range.scalar(), ours = chosen ? range.vector(chosen, lanes) : scalar;
  EXPECT_LE(ours.error, bound(row, dtype)) << row.name << " " << tag(dtype) << ", " << range_text(row);
  if (std::getenv("ANADROME_TABLE")) print(range, row, lanes, ours, scalar);
  check_pair(range, row, lanes);
}

template <class T> void check_all(int bits) {
  const int lanes = bits / (8 * static_cast<int>(sizeof(T)));
  if (!vector_function("exp", Range1M<T>::dtype, lanes)) GTEST_SKIP() << "no vectors of " << bits << " bits here";
  if (std::getenv("ANADROME_TABLE"))
    std::printf("\n%s, vectors of %d bits\n\n| function | range | source | largest error, time | JAX | libmvec | SLEEF "
                "| scalar |\n|---|---|---|---|---|---|---|---|\n",
                std::string(tag(Range1M<T>::dtype)).c_str(), bits);
  for (const Row& row : rows) check<T>(row, bits);
}

TEST(VectorMathAccuracy, Float32In256BitsIsNoWorseThanJax) { check_all<float>(256); }
TEST(VectorMathAccuracy, Float64In256BitsIsNoWorseThanJax) { check_all<double>(256); }
TEST(VectorMathAccuracy, Float32In512BitsIsNoWorseThanJax) { check_all<float>(512); }
TEST(VectorMathAccuracy, Float64In512BitsIsNoWorseThanJax) { check_all<double>(512); }

}  // namespace
}  // namespace anadrome::testing

// Kernels with the sine and the cosine of the same numbers: one call gives both.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "anadrome/compile.h"
#include "native/kernels.h"
#include "native/vector_math.h"
#include "support/values.h"

namespace anadrome {
namespace {

using testing::difference;
using testing::make_array;
using testing::numbers;
using testing::Numbers;

struct Kind {
  const char* name;
  DType dtype;
  double bound;
};
const Kind kinds[] = {{"f32", f32, 2e-7}, {"f64", f64, 4e-16}, {"f16", f16, 1e-3}, {"bf16", bf16, 8e-3}};

ProgramPtr program(const std::string& text) { return std::make_shared<const Program>(parse_program(text)); }

std::string type_text(const Kind& kind, const Shape& shape) { return to_string(Type{kind.dtype, shape}); }

/// Angles of all sizes, and what is not an angle.
Numbers angles(std::int64_t n) {
  const Numbers some = {0.5, -0.0, 2.5, -1e-3, 30, -700.25, 0.0, 65504, std::numeric_limits<double>::infinity(), 1.5707964,
                        -std::numeric_limits<double>::infinity(), 3.1415927, std::numeric_limits<double>::quiet_NaN(), 5e9,
                        -1e30, 6e-8, -2e9};
  Numbers out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(some[static_cast<std::size_t>(i) % some.size()] * (i < 40 ? 1 : 1.01));
  return out;
}

/// Runs the program on both backends, each argument with `angles`.
void compare(const std::string& text, double bound) {
  const ProgramPtr p = program(text);
  Arrays x;
  for (VarId v : p->inputs) x.push_back(make_array(p->type(v), angles(p->type(v).elements())));
  const auto native = compile(p, {.backend = "native"}), eval = compile(p, {.backend = "eval"});
  const std::vector<Array> got = native->run(x), want = eval->run(x);
  for (std::size_t k = 0; k < want.size(); ++k) EXPECT_LE(difference(got[k], want[k]), bound) << text << "\n" << native->text();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

struct Calls {
  std::size_t pairs, sines, cosines;
  friend bool operator==(const Calls&, const Calls&) = default;
  friend void PrintTo(const Calls& c, std::ostream* out) { *out << c.pairs << " pairs, " << c.sines << " sines, " << c.cosines << " cosines"; }
};
Calls calls(const std::string& text) {
  const std::string ir = kernel_ir(parse_program(text));
  std::string called;
  for (std::size_t at = ir.find(" = call "); at != ir.npos; at = ir.find(" = call ", at + 1)) called += ir.substr(at, ir.find('(', at) - at) + "\n";
  return {count(called, "@anadrome_sincos_"), count(called, "@anadrome_sin_"), count(called, "@anadrome_cos_")};
}
bool has_pairs() { return sine_cosine_function(f32, 8) && sine_cosine_function(f64, 4); }

/// (sin(2 a), cos(2 a)), or with the cosine before the sine.
std::string both(const std::string& type, bool cosine_first = false) {
  const std::string first = cosine_first ? "cos" : "sin", second = cosine_first ? "sin" : "cos";
  return "{ lambda ; a:" + type + " . let b:" + type + " = add a a c:" + type + " = " + first + " b d:" + type + " = " + second +
         " b in (c, d) }";
}

TEST(SineCosine, OneCallGivesBoth) {
  if (!has_pairs()) GTEST_SKIP() << "no vector functions here";
  for (const Kind& kind : kinds)
    for (const bool cosine_first : {false, true}) {
      const std::string type = type_text(kind, {kind.dtype == f64 ? 4 : 8});
      EXPECT_EQ(calls(both(type, cosine_first)), (Calls{1, 0, 0})) << kernel_ir(parse_program(both(type, cosine_first)));
    }
}

TEST(SineCosine, KernelsWithOneOfThemCallThatOne) {
  if (!has_pairs()) GTEST_SKIP() << "no vector functions here";
  EXPECT_EQ(calls("{ lambda ; a:f32[8] . let b:f32[8] = sin a in (b) }"), (Calls{0, 1, 0}));
  EXPECT_EQ(calls("{ lambda ; a:f64[4] . let b:f64[4] = cos a in (b) }"), (Calls{0, 0, 1}));
  EXPECT_EQ(calls("{ lambda ; a:f32[8] . let b:f32[8] = sin a c:f32[8] = cos b in (b, c) }"), (Calls{0, 1, 1}));  // of another number
}

TEST(SineCosine, AgreesWithTheReferenceForAllSizes) {
  for (const Kind& kind : kinds)
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 1003})
      for (const bool cosine_first : {false, true}) compare(both(type_text(kind, {n}), cosine_first), kind.bound);
  compare(both("f32[]"), 2e-7);
  compare(both("f64[]"), 4e-16);
}

TEST(SineCosine, ZerosKeepTheirSigns) {
  for (const Kind& kind : {kinds[0], kinds[1]}) {
    const auto run = compile(program(both(type_text(kind, {11}))));
    const Numbers x = {0.0, -0.0, 0.0, 0.0, -0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.0};
    const std::vector<Array> y = run->run(Arrays{make_array({kind.dtype, {11}}, x)});
    const Numbers sines = numbers(y[0]), cosines = numbers(y[1]);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(sines[i], 0);
      EXPECT_EQ(std::signbit(sines[i]), std::signbit(x[i]));
      EXPECT_EQ(cosines[i], 1);
    }
  }
}

/// x = sin(x) * 1.01 + 0.3, `steps` times; the second result adds up all cos(x).
std::string chain(const std::string& type, const Kind& kind, int steps) {
  const std::string dtype = kind.name;
  std::string text = "{ lambda ; x0:" + type + " . let t0:" + type + " = neg x0 ", x = "x0", total = "t0";
  for (int i = 1; i <= steps; ++i) {
    const std::string k = std::to_string(i);
    text += "s" + k + ":" + type + " = sin " + x + " c" + k + ":" + type + " = cos " + x + " m" + k + ":" + type + " = mul s" + k +
            " 1.01:" + dtype + " x" + k + ":" + type + " = add m" + k + " 0.3:" + dtype + " t" + k + ":" + type + " = add " + total +
            " c" + k + " ";
    x = "x" + k, total = "t" + k;
  }
  return text + "in (" + x + ", " + total + ") }";
}

TEST(SineCosine, ChainsOfTwoVectorsAgreeWithTheReference) {
  for (const Kind& kind : {kinds[0], kinds[1]})
    for (const std::int64_t n : {3, 32, 64, 100, 128, 130, 1001})
      for (const int steps : {2, 12}) compare(chain(type_text(kind, {n}), kind, steps), steps * kind.bound * 4);
  if (has_pairs()) {
    EXPECT_EQ(calls(chain("f32[512]", kinds[0], 12)), (Calls{24, 0, 0}));
  }
}

TEST(SineCosine, VectorsInPiecesAndOfTwoTypes) {
  // The lanes are those of the narrow type: vectors of the wide one are computed in pieces.
  for (const std::int64_t n : {5, 16, 37, 1003}) {
    const std::string k = "[" + std::to_string(n) + "]";
    compare("{ lambda ; a:f32" + k + " . let b:f64" + k + " = convert[dtype=f64, shape=()] a c:f64" + k + " = sin b d:f64" + k + " = cos b e:f32" + k +
                " = sin a f:f32" + k + " = cos a in (c, d, e, f) }",
            2e-7);
    compare("{ lambda ; a:f16" + k + " . let b:f32" + k + " = convert[dtype=f32, shape=()] a c:f32" + k + " = sin b d:f32" + k + " = cos b e:f16" + k +
                " = cos a f:f16" + k + " = sin a in (c, d, e, f) }",
            1e-3);
  }
}

TEST(SineCosine, AnglesThatAreKnownWhileTheKernelIsWritten) {
  for (const Kind& kind : {kinds[0], kinds[1]})
    for (const std::int64_t n : {7, 33, 100}) {
      const std::string all = type_text(kind, {9, n}), shape = "(9," + std::to_string(n) + ")";
      const std::string text = "{ lambda ; a:" + all + " . let i:" + all + " = iota[dtype=" + kind.name + ", shape=" + shape + ", axis=1] s:" +
                               all + " = sin i c:" + all + " = cos i p:" + all + " = mul s c q:" + all + " = add p s ";
      const std::string rows = type_text(kind, {n}), columns = type_text(kind, {9});
      compare(text + "in (q) }", 4 * kind.bound);
      compare(text + "r:" + rows + " = reduce_sum[axes=(0)] q in (r) }", 9 * kind.bound);
      compare(text + "r:" + columns + " = reduce_sum[axes=(1)] q in (r) }", static_cast<double>(n) * kind.bound);
    }
}

TEST(SineCosine, OfSomeOfTheNumbers) {
  for (const Kind& kind : kinds)
    for (const std::int64_t n : {7, 33, 100}) {
      const std::string all = type_text(kind, {n}), part = type_text(kind, {n - 3});
      const auto slice = [&](std::int64_t from) {
        return " = slice[start=(" + std::to_string(from) + "), limit=(" + std::to_string(from + n - 3) + "), strides=(1)] ";
      };
      compare("{ lambda ; a:" + all + " . let s:" + all + " = sin a c:" + all + " = cos a d:" + part + slice(3) + "c e:" + part + slice(1) +
                  "s f:" + part + " = mul d e in (f) }",
              2 * kind.bound);
    }
}

}  // namespace
}  // namespace anadrome

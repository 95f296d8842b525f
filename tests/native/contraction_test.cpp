// When a * b + c is rounded once: in products of matrices always, anywhere else never.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "anadrome/compile.h"
#include "core/node.h"
#include "support/values.h"

namespace anadrome {
namespace {

using testing::identical;
using testing::make_array;
using testing::numbers;
using testing::random_array;

ProgramPtr program(std::string text, const std::string& dtype, int n) {
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  };
  replace("V", dtype + "[" + std::to_string(n) + "]");
  replace("S", dtype + "[]");
  replace("K", dtype);
  return std::make_shared<const Program>(parse_program(text));
}

Arrays run(const ProgramPtr& p, const char* backend, const Arrays& x) { return compile(p, {.backend = backend})->run(x); }

Arrays random_arguments(const Program& p) {
  std::mt19937 random(11);
  Arrays x;
  for (const Type& t : p.input_types()) x.push_back(random_array(t, random));
  return x;
}

/// Sums of products in every arrangement that a processor could fuse.
const char* const chains[] = {
    "{ lambda ; a:V b:V c:V . let d:V = mul a b e:V = add d c in (e) }",
    "{ lambda ; a:V b:V c:V . let d:V = mul a b e:V = add c d in (e) }",
    "{ lambda ; a:V b:V c:V . let d:V = mul a b e:V = sub d c in (e) }",
    "{ lambda ; a:V b:V c:V . let d:V = mul a b e:V = sub c d in (e) }",
    "{ lambda ; a:V b:V c:V . let d:V = mul a b e:V = neg d f:V = sub e c in (f) }",
    "{ lambda ; a:V b:V c:V . let d:V = mul a 1.1:K e:V = add d -0.3:K f:V = mul e b g:V = add f c in (g) }",
    "{ lambda ; a:V b:V c:V . let d:V = mul a b e:V = mul b c f:V = sub d e g:V = add d e h:V = mul f g in (f, g, h) }",
    "{ lambda ; a:V b:V c:V . let d:V = integer_pow[exponent=2] a e:V = add d b f:V = sqrt e g:V = mul f c h:V = "
    "sub g d in (h) }",
    "{ lambda ; a:V b:V c:S . let d:V = broadcast_in_dim[shape=N, dims=()] c e:V = mul a d f:V = add e b in (f) }",
};

TEST(Contraction, ElementwiseChainsRoundEveryOperation) {
  for (std::string text : chains)
    for (const char* dtype : {"f32", "f64", "f16", "bf16"})
      for (int n : {1, 7, 1000}) {
        if (const std::size_t at = text.find("=N"); at != text.npos) text.replace(at, 2, "=(" + std::to_string(n) + ")");
        else if (const std::size_t old = text.find("shape=("); old != text.npos)
          text.replace(old, text.find(')', old) - old, "shape=(" + std::to_string(n));
        const ProgramPtr p = program(text, dtype, n);
        const Arrays x = random_arguments(*p), native = run(p, "native", x), eval = run(p, "eval", x);
        for (std::size_t k = 0; k < eval.size(); ++k) EXPECT_TRUE(identical(native[k], eval[k])) << *p;
      }
}

TEST(Contraction, ResultsDoNotDependOnWhatIsFused) {
  // The same operations with every value in memory between them.
  const ProgramPtr whole = program("{ lambda ; a:V b:V c:V . let d:V = mul a b e:V = add d c f:V = mul e a g:V = sub f b in (g) }", "f32", 1003);
  const Arrays x = random_arguments(*whole);
  const auto step = [&](const char* prim, const Array& u, const Array& v) {
    return run(program(std::string("{ lambda ; a:V b:V . let c:V = ") + prim + " a b in (c) }", "f32", 1003), "native", {u, v})[0];
  };
  const Array apart = step("sub", step("mul", step("add", step("mul", x[0], x[1]), x[2]), x[0]), x[1]);
  EXPECT_TRUE(identical(run(whole, "native", x)[0], apart));
}

TEST(Contraction, SumsOfProductsRoundTheProducts) {
  for (const char* dtype : {"f32", "f64"})
    for (int n : {9, 1003, 200'003}) {
      const ProgramPtr fused = program("{ lambda ; a:V b:V . let c:V = mul a b d:S = reduce_sum[axes=(0)] c in (d) }", dtype, n);
      const ProgramPtr sum = program("{ lambda ; a:V . let b:S = reduce_sum[axes=(0)] a in (b) }", dtype, n);
      const ProgramPtr product = program("{ lambda ; a:V b:V . let c:V = mul a b in (c) }", dtype, n);
      const Arrays x = random_arguments(*fused);
      EXPECT_TRUE(identical(run(fused, "native", x)[0], run(sum, "native", run(product, "native", x))[0])) << dtype << " " << n;
    }
}

TEST(Contraction, ProductsOfMatricesRoundOncePerTerm) {
  // Two terms: x y + z w rounded once is not the sum of rounded products.
  const auto p = std::make_shared<const Program>(parse_program(
      "{ lambda ; a:f64[40,2] b:f64[2,50] . let c:f64[40,50] = "
      "dot_general[contract_lhs=(1), contract_rhs=(0), batch_lhs=(), batch_rhs=()] a b in (c) }"));
  const Arrays x = random_arguments(*p);
  const testing::Numbers a = numbers(x[0]), b = numbers(x[1]);
  testing::Numbers once;
  int differ = 0;
  for (std::size_t i = 0; i < 40; ++i)
    for (std::size_t j = 0; j < 50; ++j) {
      once.push_back(std::fma(a[2 * i + 1], b[50 + j], a[2 * i] * b[j]));
      differ += once.back() != a[2 * i] * b[j] + a[2 * i + 1] * b[50 + j];
    }
  ASSERT_GT(differ, 100);
  for (const char* backend : {"native", "precompiled", "eval"})
    EXPECT_EQ(numbers(run(p, backend, x)[0]), once) << backend;
}

TEST(Contraction, SmallProductsInsideLoopsRoundOncePerTermToo) {
  const auto p = std::make_shared<const Program>(parse_program(
      "{ lambda ; a:f64[300,2] b:f64[300,2] . let c:f64[300] = "
      "dot_general[contract_lhs=(1), contract_rhs=(1), batch_lhs=(0), batch_rhs=(0)] a b in (c) }"));
  const Arrays x = random_arguments(*p);
  const testing::Numbers a = numbers(x[0]), b = numbers(x[1]), got = numbers(run(p, "native", x)[0]);
  for (std::size_t i = 0; i < 300; ++i)
    EXPECT_EQ(got[i], std::fma(a[2 * i + 1], b[2 * i + 1], a[2 * i] * b[2 * i])) << i;
}

/// Numbers beside those in the middle between two of 16 bits, where rounding to float first would decide.
testing::Numbers near_ties(DType from) {
  std::mt19937 random(5);
  testing::Numbers out{0, -0.0, 1e-300, -1e-300, 65519.999999, 65520, 3.4028235677973366e38, 1e300, INFINITY, -INFINITY, NAN};
  while (out.size() < 1003) {
    const int bits = random() % 2 ? 11 : 8;  // of f16, bf16
    const double middle = std::ldexp(1 + 2 * static_cast<double>(random() % (1u << bits)) + (1 << (bits + 1)), -bits - 1);
    const double scale = std::ldexp(1.0, static_cast<int>(random() % (is_float(from) ? 30 : 20)) + (is_float(from) ? -20 : 40));
    out.push_back((random() % 2 ? 1 : -1) * (middle + (static_cast<int>(random() % 3) - 1) * 0x1p-40) * scale);
  }
  return out;
}

TEST(Contraction, ConversionsToSixteenBitsAreRoundedOnce) {
  for (const DType from : {f64, f32, i64, u64, i32, u32, i16, u8})
    for (const char* to : {"f16", "bf16"}) {
      testing::Numbers values = near_ties(from);
      for (double& v : values) {
        if (is_float(from)) continue;
        if (!std::isfinite(v)) v = 0;
        if (item_size(from) < 8) v = std::fmod(std::trunc(v), std::ldexp(1.0, 8 * static_cast<int>(item_size(from)) - 1));
        if (!is_signed(from)) v = std::fabs(v);
      }
      const Array x = make_array({from, {static_cast<std::int64_t>(values.size())}}, values);
      const std::string type = std::string(tag(from)) + "[1003]", result = std::string(to) + "[1003]";
      const ProgramPtr p = program("{ lambda ; a:" + type + " . let b:" + result + " = convert[dtype=" + to + ", shape=()] a in (b) }", "f32", 1);
      EXPECT_TRUE(identical(run(p, "native", {x})[0], run(p, "eval", {x})[0])) << type << " to " << to;
    }
}

}  // namespace
}  // namespace anadrome

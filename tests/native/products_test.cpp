// Products: every kernel against plain loops in long double; cuts, threads and instruction sets bit by bit.
#include <anadrome/threads.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "native/products/product.h"
#include "primitives/dispatch.h"

namespace anadrome {
namespace {

using products::KernelSet;
using products::plan_product;
using products::Product;
using products::ProductPlan;
using Strides64 = std::vector<std::int64_t>;

struct Threads {
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
  int before = num_threads();
};

std::unique_ptr<char, void (*)(void*)> aligned(std::size_t bytes) {
  return {static_cast<char*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64)), std::free};
}

/// A product and its operands. `first` is where an operand begins in its memory: not 0 with negative strides.
template <class T> struct Case {
  DotAttr dims;
  Shape lhs_shape, rhs_shape;
  Strides64 lhs_view, rhs_view, out_view;  // empty: row-major
  std::size_t lhs_first = 0, rhs_first = 0;
  std::vector<T> lhs, rhs, start;  // start: what is in the result before
  bool accumulate = false;

  static DType dtype() {
    if constexpr (std::is_same_v<T, float>)
      return f32;
    else if constexpr (std::is_same_v<T, double>)
      return f64;
    else if constexpr (std::is_same_v<T, math::BFloat16>)
      return bf16;
    else
      return f16;
  }
  std::optional<Product> plan(const KernelSet* kernels = nullptr) const {
    ProductPlan p;
    p.lhs_view = lhs_view, p.rhs_view = rhs_view, p.out_view = out_view;
    p.accumulate = accumulate, p.kernels = kernels;
    return plan_product(dims, {dtype(), lhs_shape}, {dtype(), rhs_shape}, p);
  }
  std::vector<T> run(const Product& p, int threads) const {
    std::vector<T> out = start;
    const auto scratch = aligned(p.scratch_bytes(threads));
    p.run(lhs.data() + lhs_first, rhs.data() + rhs_first, out.data(), scratch.get(), threads);
    return out;
  }
  /// In pieces of `rows` rows, last first.
  std::vector<T> run_pieces(const Product& p, std::int64_t rows) const {
    std::vector<T> out = start;
    const auto prepared = aligned(p.prepared_bytes()), workspace = aligned(p.workspace_bytes());
    p.prepare(lhs.data() + lhs_first, rhs.data() + rhs_first, prepared.get());
    for (std::int64_t begin = (p.rows() - 1) / rows * rows; begin >= 0; begin -= rows)
      p.run_rows(lhs.data() + lhs_first, rhs.data() + rhs_first, prepared.get(), out.data(), workspace.get(),
                 begin, std::min(begin + rows, p.rows()));
    return out;
  }
};

Strides64 row_major_strides(const Shape& shape) {
  Strides64 s(shape.size());
  std::int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) s[static_cast<std::size_t>(i)] = step, step *= shape[i];
  return s;
}

struct Axis {
  std::int64_t extent, lhs, rhs, out;
};
/// Calls f with the offsets of all positions along the axes.
template <class F>
void for_each_position(const std::vector<Axis>& axes, const F& f, std::size_t from = 0,
                       Axis at = {0, 0, 0, 0}) {
  if (from == axes.size()) return f(at);
  const Axis& a = axes[from];
  for (std::int64_t i = 0; i < a.extent; ++i)
    for_each_position(axes, f, from + 1, {0, at.lhs + i * a.lhs, at.rhs + i * a.rhs, at.out + i * a.out});
}

/// Sums in long double, and a bound for the error of a sum of rounded products in any order.
template <class T> struct Reference {
  std::vector<Axis> free, contracted;
  struct Value {
    std::size_t at;
    long double sum, bound;
  };
  std::vector<Value> values;

  explicit Reference(const Case<T>& c) {
    set_axes(c);
    for_each_position(free, [&](Axis at) { values.push_back(value_at(c, at)); });
  }

  void set_axes(const Case<T>& c) {
    const auto left = c.lhs_view.empty() ? row_major_strides(c.lhs_shape) : c.lhs_view;
    const auto right = c.rhs_view.empty() ? row_major_strides(c.rhs_shape) : c.rhs_view;
    const DotAttr& d = c.dims;
    const auto stride = [](const Strides64& s, std::int64_t axis) {
      return s[static_cast<std::size_t>(axis)];
    };
    const auto is_free = [](std::int64_t axis, const Ints& a, const Ints& b) {
      return std::find(a.begin(), a.end(), axis) == a.end() && std::find(b.begin(), b.end(), axis) == b.end();
    };
    for (int i = 0; i < d.batch_lhs.rank(); ++i)
      free.push_back(
          {c.lhs_shape[d.batch_lhs[i]], stride(left, d.batch_lhs[i]), stride(right, d.batch_rhs[i]), 0});
    for (int a = 0; a < c.lhs_shape.rank(); ++a)
      if (is_free(a, d.contract_lhs, d.batch_lhs)) free.push_back({c.lhs_shape[a], stride(left, a), 0, 0});
    for (int a = 0; a < c.rhs_shape.rank(); ++a)
      if (is_free(a, d.contract_rhs, d.batch_rhs)) free.push_back({c.rhs_shape[a], 0, stride(right, a), 0});
    Shape out;
    for (const Axis& a : free) out.push_back(a.extent);
    const auto result = c.out_view.empty() ? row_major_strides(out) : c.out_view;
    for (std::size_t i = 0; i < free.size(); ++i) free[i].out = result[i];
    for (int i = 0; i < d.contract_lhs.rank(); ++i)
      contracted.push_back({c.lhs_shape[d.contract_lhs[i]], stride(left, d.contract_lhs[i]),
                            stride(right, d.contract_rhs[i]), 0});
  }

  Value value_at(const Case<T>& c, Axis at) const {
    using C = Compute<T>;
    const auto o = static_cast<std::size_t>(at.out);
    const T *lhs = c.lhs.data() + c.lhs_first + at.lhs, *rhs = c.rhs.data() + c.rhs_first + at.rhs;
    long double sum = c.accumulate ? static_cast<long double>(static_cast<C>(c.start[o])) : 0,
                size = std::fabs(sum);
    std::int64_t terms = 1;
    for_each_position(contracted, [&](Axis p) {
      const long double product =
          static_cast<long double>(static_cast<C>(lhs[p.lhs])) * static_cast<C>(rhs[p.rhs]);
      sum += product, size += std::fabs(product), ++terms;
    });
    return {o, sum,
            static_cast<long double>(terms) * std::numeric_limits<C>::epsilon() * size +
                static_cast<long double>(static_cast<C>(std::numeric_limits<T>::epsilon())) * std::fabs(sum)};
  }

  void check(const std::vector<T>& got, const std::string& what) const {
    for (const Value& v : values) {
      const long double value = static_cast<Compute<T>>(got[v.at]);
      ASSERT_LE(std::fabs(value - v.sum), v.bound)
          << what << " at " << v.at << ": " << value << ", not " << v.sum;
    }
  }
};

template <class T> bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// All kernel sets, thread counts and cuts.
template <class T> void check(const Case<T>& c) {
  const Reference<T> reference(c);
  for (auto set = products::all_kernels(); *set; ++set) {
    const std::optional<Product> p = c.plan(*set);
    ASSERT_TRUE(p);
    const std::string what = p->text() + " " + to_string(c.lhs_shape) + to_string(c.rhs_shape);
    const std::vector<T> whole = c.run(*p, 1);
    reference.check(whole, what);
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_TRUE(same_bits(whole, c.run(*p, 3))) << what;
    for (std::int64_t rows : {1, 5, 16, 100})
      if (rows < p->rows() && p->rows() / rows < 24) {
        EXPECT_TRUE(same_bits(whole, c.run_pieces(*p, rows))) << what << " " << rows;
      }
  }
}

template <class T> void fill(std::vector<T>& v, std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  v.resize(n);
  for (T& x : v) x = static_cast<T>(static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 512.0f);
}

/// m x n x k; layout bit 0: lhs is stored by columns, bit 1: rhs is.
template <class T>
Case<T> matrices(std::int64_t m, std::int64_t n, std::int64_t k, int layout, bool accumulate = false) {
  Case<T> c;
  const bool left = layout & 1, right = layout & 2;
  c.dims = {{left ? 0 : 1}, {right ? 1 : 0}, {}, {}};
  c.lhs_shape = left ? Shape{k, m} : Shape{m, k};
  c.rhs_shape = right ? Shape{n, k} : Shape{k, n};
  fill(c.lhs, static_cast<std::size_t>(m * k), 1);
  fill(c.rhs, static_cast<std::size_t>(k * n), 2);
  fill(c.start, static_cast<std::size_t>(m * n), 3);
  c.accumulate = accumulate;
  return c;
}

template <class T> class Products : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(Products, Elements);

TYPED_TEST(Products, SizesAroundTheEdgesOfTiles) {
  for (std::int64_t m : {1, 2, 4, 6, 7, 13, 25})
    for (std::int64_t n : {1, 2, 3, 7, 8, 17, 24, 65})
      for (std::int64_t k : {1, 2, 33})
        for (int layout = 0; layout < 4; ++layout)
          check(matrices<TypeParam>(m, n, k, layout, (m + n + k) % 3 == 0));
}

TYPED_TEST(Products, DeepAndLargeOnes) {
  const Threads limit(3);
  const std::int64_t sizes[][3] = {{3, 5, 300},   {5, 130, 513}, {50, 300, 300}, {64, 270, 260},
                                   {1, 700, 600}, {700, 1, 600}, {2, 9, 5000},   {9, 2, 5000},
                                   {1, 1, 9000},  {8, 40, 200},  {150, 140, 20}, {1, 3000, 40}};
  for (const auto& [m, n, k] : sizes)
    for (int layout = 0; layout < 4; ++layout) check(matrices<TypeParam>(m, n, k, layout, layout == 1));
}

TYPED_TEST(Products, NothingToComputeAndNothingToSum) {
  for (bool accumulate : {false, true}) {
    check(matrices<TypeParam>(3, 4, 0, 0, accumulate));
    for (const auto& [m, n, k] : {std::array{0, 3, 2}, std::array{3, 0, 2}, std::array{0, 0, 0}}) {
      const auto c = matrices<TypeParam>(m, n, k, 0, accumulate);
      const auto p = c.plan();
      ASSERT_TRUE(p);
      EXPECT_EQ(p->rows(), 0);
      EXPECT_TRUE(c.run(*p, 2).empty());
    }
  }
}

TYPED_TEST(Products, AccumulatingIsAddingAfterwards) {
  for (const auto& [m, n, k] : {std::array{7, 19, 50}, std::array{64, 64, 256}, std::array{1, 40, 30}})
    for (int layout = 0; layout < 4; ++layout) {
      const auto c = matrices<TypeParam>(m, n, k, layout), added = matrices<TypeParam>(m, n, k, layout, true);
      std::vector<TypeParam> want = c.run(*c.plan(), 1);
      for (std::size_t i = 0; i < want.size(); ++i) want[i] = c.start[i] + want[i];
      EXPECT_TRUE(same_bits(added.run(*added.plan(), 1), want)) << c.plan()->text();
    }
}

TYPED_TEST(Products, TilesGiveTheSameBitsInEveryInstructionSet) {
  for (const auto& [m, n, k] : {std::array{13, 37, 300}, std::array{100, 300, 300}, std::array{5, 16, 3}}) {
    const auto c = matrices<TypeParam>(m, n, k, 0);
    const auto want = c.run(*c.plan(&products::generic_kernels), 1);
    for (auto set = products::all_kernels(); *set; ++set)
      EXPECT_TRUE(same_bits(c.run(*c.plan(*set), 1), want)) << (*set)->name;
  }
}

TYPED_TEST(Products, BatchesOfSmallOnes) {
  const Threads limit(3);
  for (std::int64_t n : {1, 2, 3, 4, 8, 16}) {
    Case<TypeParam> c;
    c.dims = {{2}, {1}, {0}, {0}};
    c.lhs_shape = {200, n, n}, c.rhs_shape = {200, n, n};
    for (auto* v : {&c.lhs, &c.rhs, &c.start}) fill(*v, static_cast<std::size_t>(200 * n * n), 5);
    check(c);
    c.dims = {{1}, {2}, {0}, {0}};
    check(c);
  }
}

TYPED_TEST(Products, AxesOfEveryKindAnywhere) {
  Case<TypeParam> c;
  fill(c.lhs, 3 * 4 * 5 * 6, 1);
  fill(c.rhs, 4 * 6 * 7 * 3, 2);
  c.lhs_shape = {3, 4, 5, 6}, c.rhs_shape = {4, 6, 7, 3};
  fill(c.start, 3 * 4 * 5 * 7, 3);
  c.dims = {{3}, {1}, {0, 1}, {3, 0}};  // two batch axes, in different orders
  check(c);
  fill(c.start, 3 * 5 * 7 * 3, 3);
  c.dims = {{1, 3}, {0, 1}, {}, {}};  // two contracted, which do not run on in lhs; rows do not either
  check(c);
  fill(c.start, 5 * 7, 3);
  c.dims = {{3, 0, 1}, {1, 3, 0}, {}, {}};
  check(c);
  fill(c.start, 3 * 4 * 5 * 4 * 7 * 3, 3);
  c.dims = {{3}, {1}, {}, {}};  // columns that do not run on
  check(c);
  fill(c.start, 3 * 4 * 5 * 6 * 4 * 6 * 7 * 3, 3);
  c.dims = {};
  check(c);
  Case<TypeParam> scalar;
  for (auto* v : {&scalar.lhs, &scalar.rhs, &scalar.start}) fill(*v, 1, 9);
  check(scalar);
}

TYPED_TEST(Products, ViewsOfOperandsAndResult) {
  for (const auto& [m, n, k] :
       {std::array{7, 19, 20}, std::array{60, 40, 300}, std::array{40, 1, 9}, std::array{1, 40, 9}}) {
    const auto M = std::int64_t{m}, N = std::int64_t{n}, K = std::int64_t{k};
    Case<TypeParam> c = matrices<TypeParam>(m, n, k, 0);
    c.out_view = {1, M};  // transposed
    check(c);
    EXPECT_EQ(c.plan()->counts_columns(), m > 1 && n > 1);
    c.out_view = {2 * N, 2};  // every second column
    fill(c.start, static_cast<std::size_t>(2 * M * N), 4);
    check(c);
    c = matrices<TypeParam>(m, n, k, 0);
    c.lhs_view = {-K, 1}, c.lhs_first = static_cast<std::size_t>((M - 1) * K);  // rows upside down
    c.rhs_view = {N, -1}, c.rhs_first = static_cast<std::size_t>(N - 1);        // columns reversed
    check(c);
    c = matrices<TypeParam>(m, n, k, 0);
    c.lhs_view = {0, 1}, c.rhs_view = {0, 1};  // one row again and again
    check(c);
  }
}

/// Zeros filled in at edges must not meet infinities, and what is beside an operand must not be read into a
/// sum.
TYPED_TEST(Products, NaNAndInfinityStayWhereTheyBelong) {
  const auto infinity = std::numeric_limits<TypeParam>::infinity();
  for (const auto& [m, n, k] :
       {std::array{7, 19, 21}, std::array{40, 300, 260}, std::array{1, 21, 9}, std::array{21, 1, 9}})
    for (int layout = 0; layout < 4; ++layout)
      for (auto set = products::all_kernels(); *set; ++set) {
        auto c = matrices<TypeParam>(m, n, k, layout);
        for (TypeParam& x : c.lhs) x = 1;
        for (TypeParam& x : c.rhs) x = 1;
        c.lhs[layout & 1 ? static_cast<std::size_t>(m - 1) : static_cast<std::size_t>((m - 1) * k)] =
            infinity;
        c.rhs[0] = std::numeric_limits<TypeParam>::quiet_NaN();
        const auto out = c.run(*c.plan(*set), 1);
        for (int i = 0; i < m; ++i)
          for (int j = 0; j < n; ++j) {
            const TypeParam y = out[static_cast<std::size_t>(i * n + j)];
            if (j == 0)
              EXPECT_TRUE(std::isnan(y));
            else
              EXPECT_EQ(y, i == m - 1 ? infinity : static_cast<TypeParam>(k)) << i << " " << j;
          }
      }
}

TEST(HalfProducts, AreSummedInFloat) {
  for (const auto& [m, n, k] :
       {std::array{7, 19, 20}, std::array{60, 140, 300}, std::array{1, 40, 9}, std::array{40, 1, 70}})
    for (int layout = 0; layout < 4; ++layout)
      for (bool accumulate : {false, true}) {
        check(matrices<math::BFloat16>(m, n, k, layout, accumulate));
        check(matrices<math::Float16>(m, n, k, layout, accumulate));
      }
}

TEST(ProductPlans, AreForFloats) {
  EXPECT_FALSE(plan_product({{1}, {0}, {}, {}}, {i32, {2, 3}}, {i32, {3, 4}}));
  const auto p = plan_product({{1}, {0}, {}, {}}, {f32, {64, 64}}, {f32, {64, 64}});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->scratch_bytes(2), 0U);
  EXPECT_EQ(p->rows(), 64);
  EXPECT_NE(p->text().find("64x64x64"), std::string::npos) << p->text();
}

}  // namespace
}  // namespace anadrome

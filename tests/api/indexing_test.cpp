// Indexing against values worked out by hand: placement of axes, wrapping, clamping, updates, errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "anadrome/ops/gather.h"
#include "core/builder.h"
#include "core/eval.h"

namespace anadrome {
namespace {

template <class T> Array make(const Shape& shape, const std::vector<T>& values) {
  Array a = uninitialized({dtype_of<T>, shape, false});
  std::copy(values.begin(), values.end(), static_cast<T*>(mutable_data(a)));
  return a;
}
/// 0, 1, 2, ... as f32.
Array counting(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), 0.0f);
  return make(shape, values);
}
Array ints(const std::vector<std::int32_t>& values) {
  return make({values.size()}, values);
}
Array scalar(std::int32_t value) {
  return make<std::int32_t>({}, {value});
}

using Floats = std::vector<float>;
Floats values(const Array& a) {
  return a.to_vector<float>();
}

template <class E, class F> std::string message(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another error: ") + e.what();
  }
  return "no error";
}
#define EXPECT_ERROR(type, text, expression)                                          \
  EXPECT_NE(message<type>([&] { (void)(expression); }).find(text), std::string::npos) \
      << message<type>([&] { (void)(expression); })

TEST(Indexing, IntegersAndSlices) {
  const Array x = counting({3, 4});
  EXPECT_EQ(values(x[1]), (Floats{4, 5, 6, 7}));
  EXPECT_EQ(values(x[-1]), (Floats{8, 9, 10, 11}));
  EXPECT_EQ(values(x[{1, -1}]), (Floats{7}));
  EXPECT_EQ((x[{1, -1}]).rank(), 0);
  EXPECT_EQ(values(x[{all, 1}]), (Floats{1, 5, 9}));
  EXPECT_EQ(values(x[{slice(1, 9), slice(-2, 4)}]), (Floats{6, 7, 10, 11}));
  EXPECT_EQ(values(x[{0, every(-1)}]), (Floats{3, 2, 1, 0}));
  EXPECT_EQ(values(x[{every(2), slice(3, 0, -2)}]), (Floats{3, 1, 11, 9}));
  EXPECT_EQ((x[{slice(2, 2)}]).shape(), (Shape{0, 4}));
  EXPECT_EQ((x[{from(5), until(-9)}]).shape(), (Shape{0, 0}));
}

TEST(Indexing, NewAxisAndEllipsis) {
  const Array x = counting({2, 3, 4});
  EXPECT_EQ((x[{ellipsis, newaxis, -1}]).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ((x[{newaxis, 0, ellipsis}]).shape(), (Shape{1, 3, 4}));
  EXPECT_EQ(values(x[{1, ellipsis, 0}]), (Floats{12, 16, 20}));
  EXPECT_EQ((x[{all, ints({0, 1}), newaxis}]).shape(), (Shape{2, 2, 1, 4}));
}

TEST(Indexing, PlacesOfIndexArrays) {
  const Array x = counting({2, 3, 4});
  const Array i = ints({1, 0, 1}), column = make<std::int64_t>({2, 1}, {0, -1});
  EXPECT_EQ((x[i]).shape(), (Shape{3, 3, 4}));
  EXPECT_EQ((x[{all, column}]).shape(), (Shape{2, 2, 1, 4}));
  EXPECT_EQ(values(x[{i, i, i}]), (Floats{17, 0, 17}));
  EXPECT_EQ((x[{column, i}]).shape(), (Shape{2, 3, 4}));
  // Separated by a slice: the block goes to the front, an integer counts as an index array.
  EXPECT_EQ((x[{i, all, i}]).shape(), (Shape{3, 3}));
  EXPECT_EQ((x[{0, all, i}]).shape(), (Shape{3, 3}));
  EXPECT_EQ(values(x[{0, slice(1, 3), i}]), (Floats{5, 9, 4, 8, 5, 9}));
  EXPECT_EQ(values(x[{1, i, 0}]), (Floats{16, 12, 16}));
  EXPECT_EQ(values(x[{i, every(-2), 0}]), (Floats{20, 12, 8, 0, 20, 12}));
}

TEST(Indexing, ComputedIndicesWrapOnceThenClamp) {
  const Array x = counting({4});
  EXPECT_EQ(values(x[ints({-1, -4, 9, -9})]), (Floats{3, 0, 3, 0}));
  EXPECT_EQ(values(x[scalar(-1)]), (Floats{3}));
  EXPECT_EQ(values(x[scalar(7)]), (Floats{3}));
  EXPECT_EQ(values(x[scalar(-7)]), (Floats{0}));
  EXPECT_EQ(values(x[make<std::uint8_t>({}, {200})]), (Floats{3}));
  EXPECT_EQ(values(x[dslice(scalar(3), 2)]), (Floats{2, 3}));
  EXPECT_EQ(values(x[dslice(scalar(-3), 2)]), (Floats{1, 2}));
  EXPECT_EQ((x[make<std::int32_t>({0}, {})]).shape(), (Shape{0}));
}

TEST(Indexing, Updates) {
  const Array x = counting({4});
  EXPECT_EQ(values(x.at(1).set(9)), (Floats{0, 9, 2, 3}));
  EXPECT_EQ(values(x.at(slice(1, 3)).add(10)), (Floats{0, 11, 12, 3}));
  EXPECT_EQ(values(x.at(every(-2)).add(make<float>({2}, {10, 20}))), (Floats{0, 21, 2, 13}));
  EXPECT_EQ(values(x.at(every(2)).set(make<float>({2}, {8, 9}))), (Floats{8, 1, 9, 3}));
  EXPECT_EQ(values(x.at(from(2)).multiply(3)), (Floats{0, 1, 6, 9}));
  EXPECT_EQ(values(x.at(ints({1, 1, 3})).add(1)), (Floats{0, 3, 2, 4}));
  EXPECT_EQ(values(x.at(ints({1, 1})).set(make<float>({2}, {7, 8}))), (Floats{0, 8, 2, 3}));
  EXPECT_EQ(values(x.at(ints({0, 3})).max(2)), (Floats{2, 1, 2, 3}));
  EXPECT_EQ(values(x.at(all).min(1)), (Floats{0, 1, 1, 1}));
  EXPECT_EQ(values(x.at(dslice(scalar(3), 2)).set(5)), (Floats{0, 1, 5, 5}));
  EXPECT_EQ(values(x), (Floats{0, 1, 2, 3}));
}

TEST(Indexing, UpdatesDropWhatIsOutside) {
  const Array x = counting({4});
  EXPECT_EQ(values(x.at(ints({4, -1, -5})).set(9)), (Floats{0, 1, 2, 9}));
  EXPECT_EQ(values(x.at(ints({4, -5})).set(9, OutOfBounds::clip)), (Floats{9, 1, 2, 9}));
  EXPECT_EQ(values(x.at(scalar(4)).set(9)), (Floats{0, 1, 2, 3}));
  EXPECT_EQ(values(x.at(scalar(4)).set(9, OutOfBounds::clip)), (Floats{0, 1, 2, 9}));
  // A dynamic slice beside an index array still moves into the array.
  const Array y = counting({2, 3});
  EXPECT_EQ(values(y.at({ints({1, 2}), dslice(scalar(9), 2)}).set(7)), (Floats{0, 1, 2, 3, 7, 7}));
}

TEST(Indexing, IntegerIsDynamicSliceWithLiteralStart) {
  Builder b("f");
  const Array x = b.input({f32, {3, 4}, false});
  Array y;
  {
    const EnterScope scope({&b});
    y = x[1];
  }
  const Program p = *b.finish({&y, 1}).program;
  EXPECT_EQ(p.count("dynamic_slice"), 1);
  EXPECT_FALSE(p.equations[0].operands[1].is_var());
  EXPECT_EQ(p.equations[0].operands[1].literal.as_integer(), 1);
}

TEST(Indexing, Errors) {
  const Array x = counting({2, 3});
  EXPECT_ERROR(IndexError, "index: 2 is outside [-2, 2) of axis 0 of f32[2,3]", x[2]);
  EXPECT_ERROR(IndexError, "indexing_test.cpp:", (x[{0, -4}]));
  EXPECT_ERROR(IndexError, "3 indices for an array of 2 axes", (x[{0, 0, 0}]));
  Array mask = uninitialized({b1, {2}, false});
  std::memset(mutable_data(mask), 0, 2);
  EXPECT_ERROR(TypeError, "Use where(mask, a, b)", x[mask]);
  EXPECT_ERROR(TypeError, "indices are integers", x[x]);
  EXPECT_ERROR(TypeError, "ellipses", (x[{ellipsis, ellipsis}]));
  EXPECT_ERROR(TypeError, "step 0", (x[slice(0, 2, 0)]));
  EXPECT_ERROR(TypeError, "do not broadcast", x.at(0).set(counting({2})));
  EXPECT_ERROR(TypeError, "Convert", ints({1, 2}).at(0).set(counting({})));
  EXPECT_ERROR(TypeError, "dslice of 4", x[dslice(scalar(0), 4)]);
  EXPECT_ERROR(IndexError, "no elements", counting({0, 2})[ints({0})]);
}

TEST(Take, Modes) {
  const Array x = counting({4});
  const Array i = ints({-1, -5, 4});
  const Floats filled = values(take(x, i, 0));
  EXPECT_EQ(filled[0], 3);
  EXPECT_TRUE(std::isnan(filled[1]) && std::isnan(filled[2]));
  EXPECT_EQ(values(take(x, i, 0, TakeMode::clip)), (Floats{0, 0, 3}));
  EXPECT_EQ(values(take(x, i, -1, TakeMode::wrap)), (Floats{3, 3, 0}));
  EXPECT_EQ(take(ints({1}), ints({1}), 0).to_vector<std::int32_t>()[0],
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(take(make<std::uint8_t>({1}, {1}), ints({1}), 0).to_vector<std::uint8_t>()[0], 255);
  EXPECT_EQ(values(take(counting({2, 2}), ints({3, 0}))), (Floats{3, 0}));
  EXPECT_EQ(values(take_along_axis(counting({2, 3}), make<std::int32_t>({2, 1}, {2, -3}), 1)),
            (Floats{2, 3}));
}

TEST(Search, BothMethodsAgree) {
  for (int n : {1, 5, 32, 33, 64, 100}) {
    std::vector<float> sorted;
    for (int k = 0; k < n; ++k) sorted.push_back(static_cast<float>(k / 2));
    sorted.back() = std::numeric_limits<float>::quiet_NaN();
    const Array a = make({n}, sorted);
    const Array q = make<float>({2, 2}, {-1, 7, 1e9f, std::numeric_limits<float>::quiet_NaN()});
    const int below = std::min(14, n - 1), upto = std::min(16, n - 1);
    using Counts = std::vector<std::int32_t>;
    EXPECT_EQ(searchsorted(a, q).to_vector<std::int32_t>(), (Counts{0, below, n - 1, n - 1}));
    EXPECT_EQ(searchsorted(a, q, Side::right).to_vector<std::int32_t>(), (Counts{0, upto, n - 1, n}));
  }
}

TEST(Search, Interpolation) {
  const Array xp = make<float>({3}, {0, 1, 3}), fp = make<float>({3}, {0, 10, 20});
  EXPECT_EQ(values(interp(make<float>({5}, {-1, 0.5f, 1, 2, 9}), xp, fp)), (Floats{0, 5, 10, 15, 20}));
  EXPECT_EQ(values(interp(make<float>({2}, {1, 2}), make<float>({1}, {0}), make<float>({1}, {4}))),
            (Floats{4, 4}));
}

TEST(Segments, SumLeavesOutIdsOutside) {
  const Array x = counting({4, 2});
  EXPECT_EQ(values(segment_sum(x, ints({1, 0, 1, -1}), 2)), (Floats{2, 3, 4, 6}));
  EXPECT_ERROR(TypeError, "one id", segment_sum(x, ints({1}), 2));
}

}  // namespace
}  // namespace anadrome

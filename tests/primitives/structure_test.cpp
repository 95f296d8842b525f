// Primitives and public operations that make and move elements: values, empty arrays, rank 0, cuts, messages.
#include <anadrome/ops/shape.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/eval.h"
#include "primitives/op.h"
#include "primitives/strided.h"

namespace anadrome {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int32_t>;

Array counting(const Shape& shape) {
  return reshape(arange(shape.elements(), f32), shape);
}
Floats floats(const Array& a) {
  return a.to_vector<float>();
}
Integers integers(const Array& a) {
  return a.to_vector<std::int32_t>();
}

/// The text of the TypeError that `f` throws.
template <class F> std::string type_error(F f) {
  try {
    f();
  } catch (const TypeError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Make, BracesNestToAnyDepth) {
  EXPECT_EQ(array({1, 2.5, 3}).shape(), (Shape{3}));
  EXPECT_EQ(floats(array({1, 2.5, 3})), (Floats{1, 2.5, 3}));
  EXPECT_EQ(array({{1}, {2}}).shape(), (Shape{2, 1}));
  EXPECT_EQ(array({{1, 2}, {3, 4}, {5, 6}}).shape(), (Shape{3, 2}));
  EXPECT_EQ(array({{{1}}, {{2}}}).shape(), (Shape{2, 1, 1}));
  EXPECT_EQ(integers(array({{1, 2}, {3, 4}}, i32)), (Integers{1, 2, 3, 4}));
  EXPECT_EQ(array({}).shape(), (Shape{0}));
  EXPECT_EQ(array({{}, {}}).shape(), (Shape{2, 0}));
  EXPECT_NE(type_error([] { (void)array({{1, 2}, {3}}); }).find("structure_test.cpp:"), std::string::npos);
  EXPECT_THROW((void)array({1, {2}}), TypeError);
  EXPECT_THROW((void)array({1.5}, i32), TypeError);
  EXPECT_THROW((void)array({300}, u8), TypeError);
  EXPECT_EQ(array({18446744073709551615u}, u64).to_vector<std::uint64_t>()[0], ~std::uint64_t{0});
}

TEST(Make, FromMemory) {
  alignas(64) float memory[4] = {1, 2, 3, 4};
  const Array shared = borrow(std::span<const float>(memory), {2, 2});
  EXPECT_EQ(shared.span<float>().data(), memory);
  const Array copy = array(std::span<const float>(memory), {4});
  EXPECT_NE(copy.span<float>().data(), memory);
  EXPECT_EQ(array(std::vector<double>{1, 2, 3, 4}, {2, 2}).type(), (Type{f64, {2, 2}}));
  EXPECT_EQ(array(std::vector<bool>{true, false}).dtype(), b1);
  EXPECT_THROW((void)array(std::vector<int>{1, 2}, {3}), TypeError);
}

TEST(Make, Ranges) {
  EXPECT_EQ(integers(arange(4)), (Integers{0, 1, 2, 3}));
  EXPECT_EQ(integers(arange(5, 0, -2)), (Integers{5, 3, 1}));
  EXPECT_EQ(floats(arange(1, 10, 3, f32)), (Floats{1, 4, 7}));
  EXPECT_EQ(arange(3, 3).size(), 0);
  EXPECT_THROW((void)arange(std::int64_t{1} << 31, (std::int64_t{1} << 31) + 2), TypeError);
  EXPECT_EQ(floats(linspace(0, 1, 5)), (Floats{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(floats(linspace(0, 1, 4, false)), (Floats{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(linspace(0, 1, 0).size(), 0);
  EXPECT_EQ(integers(eye(2, 3, 1, i32)), (Integers{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(floats(eye(2)), (Floats{1, 0, 0, 1}));
  EXPECT_EQ(integers(iota(i32, {2, 3}, 0)), (Integers{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(integers(iota(i32, {2, 3}, -1)), (Integers{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(iota(bf16, {3, 0}, 1).size(), 0);
  EXPECT_EQ(scalar(2.5).item<float>(), 2.5f);
  EXPECT_EQ(zeros({}).item<float>(), 0);
  EXPECT_EQ(floats(full({2}, 7)), (Floats{7, 7}));
}

TEST(Move, ReshapeAndTranspose) {
  EXPECT_EQ(reshape(counting({2, 6}), {3, -1}).shape(), (Shape{3, 4}));
  EXPECT_EQ(reshape(scalar(3), {1, 1}).shape(), (Shape{1, 1}));
  EXPECT_EQ(reshape(zeros({2, 0, 3}), {0}).shape(), (Shape{0}));
  EXPECT_THROW((void)reshape(zeros({0}), {0, -1}), TypeError);
  EXPECT_THROW((void)reshape(counting({4}), {3}), TypeError);
  EXPECT_EQ(floats(transpose(counting({2, 3}))), (Floats{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(transpose(scalar(1)).shape(), Shape{});
  EXPECT_EQ(transpose(zeros({2, 0})).shape(), (Shape{0, 2}));
  EXPECT_THROW((void)transpose(counting({2, 3}), {0, 0}), TypeError);
  EXPECT_EQ(moveaxis(zeros({2, 3, 4}), 0, -1).shape(), (Shape{3, 4, 2}));
  EXPECT_EQ(swapaxes(zeros({2, 3, 4}), 0, -1).shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(expand_dims(zeros({2, 3}), {0, 2}).shape(), (Shape{1, 2, 1, 3}));
  EXPECT_EQ(expand_dims(zeros({2, 3}), -1).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(squeeze(zeros({1, 3, 1}), {0}).shape(), (Shape{3, 1}));
  EXPECT_EQ(squeeze(zeros({1, 3, 1})).shape(), (Shape{3}));
  EXPECT_THROW((void)squeeze(zeros({1, 3, 1}), 1), TypeError);
}

/// Every permutation of a shape large enough for the tiled loops, against plain index arithmetic.
TEST(Move, EveryPermutation) {
  const Shape shape{5, 18, 7, 20};
  const Array x = counting(shape);
  const Strides strides = row_major(shape);
  Ints perm{0, 1, 2, 3};
  do {
    const Floats y = floats(op::transpose(x, perm));
    std::size_t at = 0;
    for (int a = 0; a < shape[perm[0]]; ++a)
      for (int b = 0; b < shape[perm[1]]; ++b)
        for (int c = 0; c < shape[perm[2]]; ++c)
          for (int d = 0; d < shape[perm[3]]; ++d)
            ASSERT_EQ(y[at++], static_cast<float>(a * strides[perm[0]] + b * strides[perm[1]] +
                                                  c * strides[perm[2]] + d * strides[perm[3]]));
  } while (std::next_permutation(perm.begin(), perm.end()));
}

TEST(Move, BroadcastAndReverse) {
  EXPECT_EQ(floats(op::broadcast_in_dim(array({1, 2}), {2, 3}, {0})), (Floats{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(floats(op::broadcast_in_dim(array({1, 2}), {2, 2}, {1})), (Floats{1, 2, 1, 2}));
  EXPECT_EQ(floats(op::broadcast_in_dim(array({{1}, {2}}), {2, 2}, {0, 1})), (Floats{1, 1, 2, 2}));
  EXPECT_EQ(broadcast_to(zeros({1, 0}), {5, 0}).shape(), (Shape{5, 0}));
  EXPECT_THROW((void)broadcast_to(zeros({3}), {4}), TypeError);
  EXPECT_EQ(floats(flip(counting({2, 3}))), (Floats{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(floats(rev(counting({2, 3}), {0})), (Floats{3, 4, 5, 0, 1, 2}));
  EXPECT_EQ(floats(rev(counting({2, 3}), {-1})), (Floats{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(flip(zeros({0, 2})).shape(), (Shape{0, 2}));
  EXPECT_EQ(floats(roll(counting({5}), 2, 0)), (Floats{3, 4, 0, 1, 2}));
  EXPECT_EQ(floats(roll(counting({2, 2}), 5)), (Floats{3, 0, 1, 2}));
  EXPECT_EQ(roll(zeros({0}), 1, 0).size(), 0);
}

TEST(Move, Pad) {
  const Array x = array({1, 2, 3, 4});
  const auto padded = [&](Dim low, Dim high, Dim interior) {
    return floats(pad(x, 9, {{low, high, interior}}));
  };
  EXPECT_EQ(padded(1, 2, 0), (Floats{9, 1, 2, 3, 4, 9, 9}));
  EXPECT_EQ(padded(-1, 2, 0), (Floats{2, 3, 4, 9, 9}));
  EXPECT_EQ(padded(-1, -2, 0), (Floats{2}));
  EXPECT_EQ(padded(0, 0, 2), (Floats{1, 9, 9, 2, 9, 9, 3, 9, 9, 4}));
  EXPECT_EQ(padded(1, -1, 1), (Floats{9, 1, 9, 2, 9, 3, 9}));
  EXPECT_EQ(padded(-1, 1, 1), (Floats{9, 2, 9, 3, 9, 4, 9}));
  EXPECT_EQ(padded(-2, -2, 1), (Floats{2, 9, 3}));
  EXPECT_EQ(padded(-4, 0, 0), Floats{});
  EXPECT_EQ(padded(-6, 4, 0), (Floats{9, 9}));
  EXPECT_EQ(padded(4, -6, 0), (Floats{9, 9}));
  EXPECT_EQ(floats(pad(zeros({0}), 5, {{2, 1}})), (Floats{5, 5, 5}));
  EXPECT_EQ(floats(pad(counting({2, 2}), 9, {{0, 0, 1}, {1, 0}})), (Floats{9, 0, 1, 9, 9, 9, 9, 2, 3}));
  EXPECT_THROW((void)padded(-5, 0, 0), TypeError);
  EXPECT_THROW((void)pad(x, 0, {}), TypeError);
}

TEST(Move, JoinAndSplit) {
  const Array x = counting({2, 3});
  EXPECT_EQ(floats(concatenate({x, x}, 1)), (Floats{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(concatenate({zeros({0, 3}), x}).shape(), (Shape{2, 3}));
  EXPECT_EQ(concatenate({arange(2), array({1.5})}).dtype(), f32);
  const std::string message = type_error([&] { (void)concatenate({x, zeros({2, 4})}, 0); });
  EXPECT_NE(message.find("axis 1 of part 0 has 3, of part 1 has 4 (f32[2,3], f32[2,4])"), std::string::npos)
      << message;
  EXPECT_EQ(stack({x, x}, -1).shape(), (Shape{2, 3, 2}));
  EXPECT_THROW((void)stack({}), TypeError);
  const auto pieces = split(counting({2, 5}), {1, 3}, 1);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(floats(pieces[1]), (Floats{1, 2, 6, 7}));
  EXPECT_EQ(split(counting({6}), 3).size(), 3u);
  EXPECT_THROW((void)split(counting({6}), 4), TypeError);
  EXPECT_EQ(floats(tile(counting({2}), {2, 2})), (Floats{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(floats(repeat(counting({2, 2}), 2, 1)), (Floats{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(repeat(counting({2, 2}), 3).shape(), (Shape{12}));
}

TEST(Move, Slices) {
  const Array x = counting({4, 6});
  EXPECT_EQ(floats(static_slice(x, {1, 0}, {3, 6}, {1, 2})), (Floats{6, 8, 10, 12, 14, 16}));
  EXPECT_EQ(static_slice(x, {1, 2}, {1, 6}).shape(), (Shape{0, 4}));
  EXPECT_THROW((void)static_slice(x, {1, 0}, {5, 6}), TypeError);
  EXPECT_THROW((void)static_slice(x, {1}, {2}), TypeError);
  const Array sum = op::add_slice(zeros({5}), array({1, 2}), {1}, {2});
  EXPECT_EQ(floats(sum), (Floats{0, 1, 0, 2, 0}));
  EXPECT_EQ(floats(dynamic_slice(counting({7}), {-2}, {3})), (Floats{4, 5, 6}));
  EXPECT_EQ(floats(dynamic_slice(counting({7}), {scalar(-5, i32)}, {3})), (Floats{2, 3, 4}));
  EXPECT_EQ(floats(dynamic_slice(counting({7}), {scalar(250, u8)}, {3})), (Floats{4, 5, 6}));
  EXPECT_EQ(floats(dynamic_slice(counting({7}), {-100}, {3})), (Floats{0, 1, 2}));
  EXPECT_EQ(dynamic_slice(x, {1, 1}, {0, 3}).shape(), (Shape{0, 3}));
  EXPECT_THROW((void)dynamic_slice(x, {1, 1}, {5, 3}), TypeError);
  EXPECT_EQ(floats(dynamic_update_slice(zeros({4}), array({1, 2}), {9})), (Floats{0, 0, 1, 2}));
  EXPECT_EQ(dynamic_update_slice(scalar(1), scalar(2), {}).item<float>(), 2);
  const Array start = op::number(-3, i32);
  EXPECT_EQ(floats(op::dynamic_add_slice(ones({3}), array({1}), std::span(&start, 1))), (Floats{2, 1, 1}));
}

TEST(Move, Matrices) {
  const Array x = counting({3, 4});
  EXPECT_EQ(floats(tril(x, -1)), (Floats{0, 0, 0, 0, 4, 0, 0, 0, 8, 9, 0, 0}));
  EXPECT_EQ(floats(triu(x, 1)), (Floats{0, 1, 2, 3, 0, 0, 6, 7, 0, 0, 0, 11}));
  EXPECT_EQ(floats(diag(x)), (Floats{0, 5, 10}));
  EXPECT_EQ(floats(diag(x, 2)), (Floats{2, 7}));
  EXPECT_EQ(floats(diag(x, -2)), (Floats{8}));
  EXPECT_EQ(diag(x, 9).size(), 0);
  EXPECT_EQ(floats(diag(array({1, 2}), -1)), (Floats{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  EXPECT_EQ(diag(zeros({0})).shape(), (Shape{0, 0}));
  EXPECT_EQ(diagonal(zeros({2, 3, 4}), 0, 2, 0).shape(), (Shape{3, 2}));
  EXPECT_EQ(trace(x).item<float>(), 15);
  EXPECT_EQ(floats(one_hot(array({1, 7}, i32), 3)), (Floats{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(one_hot(arange(5), 4, f32, 0).shape(), (Shape{4, 5}));
  EXPECT_THROW((void)one_hot(x, 3), TypeError);
}

TEST(Structure, ThreefryKnownAnswers) {
  const auto words = [](std::initializer_list<std::uint32_t> v) {
    return array(std::vector<std::uint32_t>(v));
  };
  const Array zero = op::number(0, u32);
  const Arrays y = op::threefry2x32(zero, zero, words({0}), words({0}));
  EXPECT_EQ(y[0].to_vector<std::uint32_t>()[0], 0x6b200159u);
  EXPECT_EQ(y[1].to_vector<std::uint32_t>()[0], 0x99ba4efeu);
  const Arrays z = op::threefry2x32(words({0, 0x13198a2e}), words({0, 0x03707344}), words({0, 0x243f6a88}),
                                    words({0, 0x85a308d3}));
  EXPECT_EQ(z[0].to_vector<std::uint32_t>(), (std::vector<std::uint32_t>{0x6b200159u, 0xc4923a9cu}));
  EXPECT_EQ(z[1].to_vector<std::uint32_t>(), (std::vector<std::uint32_t>{0x99ba4efeu, 0x483df7a0u}));
}

TEST(Structure, CollectivesNeedTheirAxis) {
  try {
    (void)op::psum(scalar(1), "batch", 4);
    FAIL();
  } catch (const TraceError& e) {
    EXPECT_NE(std::string(e.what()).find("'batch'"), std::string::npos);
  }
  EXPECT_THROW((void)op::axis_index("batch", 4), TraceError);
  EXPECT_EQ(floats(op::stop_gradient(array({1, 2}))), (Floats{1, 2}));
  EXPECT_EQ(floats(op::zero_tangent(Type{f32, {2}})), (Floats{0, 0}));
}

TEST(Structure, RegistryKnowsEveryName) {
  for (const Prim* p : all_primitives()) EXPECT_EQ(find_primitive(p->name), p) << p->name;
  EXPECT_EQ(find_primitive("no such thing"), nullptr);
  try {
    need<&Prim::transpose>(prim::stop_gradient);
    FAIL();
  } catch (const RuleError& e) {
    EXPECT_EQ(std::string(e.what()).rfind("stop_gradient has no transpose rule: ", 0), 0u) << e.what();
  }
}

}  // namespace
}  // namespace anadrome

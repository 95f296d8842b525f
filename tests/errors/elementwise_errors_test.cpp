// Errors of elementwise operations: shapes, dtypes, numbers that do not fit, values that are none.
#include "anadrome/anadrome.h"
#include "support/messages.h"

namespace anadrome {
namespace {

using testing::expect_contains;
using testing::expect_error;
using testing::message;
using testing::this_file;

const std::string here = this_file();

TEST(ElementwiseErrors, ShapesThatDoNotBroadcast) {
  const Array a = ones({2, 3}), b = ones({4}), row = ones({3});
  expect_error<TypeError>([&] { return a + b; }, {"add", "[2,3]", "[4]", "Reshape", here},
                          [&] { return a + row; });
  expect_error<TypeError>([&] { return where(a > 0, a, b); }, {"where", "[2,3]", "[4]", here},
                          [&] { return where(a > 0, a, row); });
  expect_error<TypeError>([&] { return max(b, a); }, {"max", "[4]", "[2,3]", here},
                          [&] { return max(row, a); });
}

TEST(ElementwiseErrors, AnIntegerNumberThatDoesNotFit) {
  const Array a = array({1, 2}, u8);
  expect_error<TypeError>([&] { return a + 300; }, {"add", "300", "u8", "wider", here},
                          [&] { return a + 200; });
  expect_error<TypeError>([&] { return a - (-1); }, {"sub", "-1", "u8", here},
                          [&] { return convert(a, i16) - (-1); });
}

TEST(ElementwiseErrors, U64WithASignedInteger) {
  const Array u = array({1}, u64), i = array({1}, i32);
  expect_error<TypeError>([&] { return u + i; }, {"u64", "i32", "Convert", here},
                          [&] { return u + convert(i, u64); });
  expect_error<TypeError>(
      [&] {
        return concatenate({u, i});
      },
      {"u64", "i32", here},
      [&] {
        return concatenate({u, u});
      });
}

TEST(ElementwiseErrors, AnEmptyArray) {
  const Array nothing;
  expect_error<TypeError>([&] { return nothing + 1; }, {"add", "empty Array", "zeros", here},
                          [] { return zeros({2}) + 1; });
  expect_error<TypeError>([&] { return sin(nothing); }, {"sin", "empty Array", here},
                          [] { return sin(zeros({2})); });
  expect_error<TypeError>([&] { return nothing.shape(); }, {"empty Array"},
                          [] { return zeros({2}).shape(); });
  expect_error<TypeError>([&] { return nothing.item<float>(); }, {"empty Array", here},
                          [] { return zeros({}).item<float>(); });
}

TEST(ElementwiseErrors, ANoGradientValueInArithmetic) {
  const Array g = Array::no_gradient({3});
  expect_error<TypeError>([&] { return g * 2; }, {"mul", "no_gradient", "[3]", here},
                          [] { return ones({3}) * 2; });
  expect_error<TypeError>([&] { return sum(g); }, {"no_gradient", "[3]", here},
                          [] { return sum(ones({3})); });
  expect_error<TypeError>([&] { return g.to_vector<float>(); }, {"no_gradient", here},
                          [] { return ones({3}).to_vector<float>(); });
}

TEST(ElementwiseErrors, AnAbstractArrayHasNoNumbers) {
  const Array a = abstract(f32, {3});
  expect_error<TypeError>([&] { return a + 1; }, {"f32[3]", "abstract", "lower", here},
                          [] { return jit([](const Array& x) { return x + 1; }).lower(abstract(f32, {3})); });
}

TEST(ElementwiseErrors, ReadingElementsAsAnotherType) {
  const Array a = ones({3});
  expect_error<TypeError>([&] { return a.to_vector<double>(); }, {"f32[3]", "f64", "convert", here},
                          [&] { return a.to_vector<float>(); });
  expect_error<TypeError>([&] { return a.span<int>(); }, {"f32[3]", "i32", here},
                          [&] { return a.span<float>(); });
  expect_error<TypeError>([&] { return a.item<float>(); }, {"item", "3 elements", "f32[3]", here},
                          [&] { return a[0].item<float>(); });
}

TEST(ElementwiseErrors, DtypesThatAnOperationDoesNotTake) {
  const Array x = ones({2}), i = array({1, 2}, i32);
  expect_error<TypeError>([&] { return x & x; }, {"f32[2]", "convert", here}, [&] { return i & i; });
  expect_error<TypeError>([&] { return shift_left(x, 1); }, {"shift_left", "f32[2]", here},
                          [&] { return shift_left(i, 1); });
  expect_error<TypeError>([&] { return population_count(x); }, {"population_count", "f32[2]", here},
                          [&] { return population_count(i); });
  expect_error<TypeError>([&] { return integer_pow(i, -1); }, {"integer_pow", "i32[2]", "-1", "float", here},
                          [&] { return integer_pow(x, -1); });
  expect_error<TypeError>([&] { return bitcast(x, f64); }, {"bitcast", "f32[2]", "f64", "same size", here},
                          [&] { return bitcast(x, i32); });
  expect_error<TypeError>([&] { return bitcast(x > 0, u8); }, {"bitcast", "b1", "convert", here},
                          [&] { return convert(x > 0, u8); });
  expect_error<TypeError>([&] { return reduce_precision(x, 0, 3); },
                          {"reduce_precision", "0 exponent bits", here},
                          [&] { return reduce_precision(x, 5, 3); });
}

TEST(ElementwiseErrors, SelectingAmongCases) {
  const Array x = ones({2}), which = array({0, 1}, i32);
  expect_error<TypeError>([&] { return select_n(which, {}); }, {"select_n", "no cases", here},
                          [&] {
                            return select_n(which, {x, x});
                          });
  expect_error<TypeError>(
      [&] {
        return select_n(x, {x, x});
      },
      {"select_n", "f32[2]", here},
      [&] {
        return select_n(x > 0, {x, x});
      });
  expect_error<TypeError>(
      [&] {
        return select_n(x > 0, {x, x, x});
      },
      {"select_n", "3 cases", here},
      [&] {
        return select_n(which, {x, x, x});
      });
}

TEST(ElementwiseErrors, AMissingDerivativeNamesThePrimitiveAndTheLine) {
  const auto f = [](const Array& x) { return nextafter(x, 2); };
  expect_error<RuleError>([&] { return grad(f)(scalar(1.0)); }, {"nextafter", "jvp", here},
                          [&] { return f(scalar(1.0)); });
  const auto g = [](const Array& n) { return polygamma(n, 2.5); };
  expect_error<RuleError>([&] { return grad(g)(scalar(1.0)); }, {"polygamma", "stop_gradient", here},
                          [] { return grad([](const Array& x) { return polygamma(1, x); })(scalar(2.5)); });
}

}  // namespace
}  // namespace anadrome

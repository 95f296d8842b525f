// Rows of equations that are solved: custom_root, linear_solve.
#include <cmath>

#include "anadrome/implicit.h"
#include "anadrome/ops.h"
#include "rules/arguments.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;

/// The positive root r of r^3 + a r = b, from a start, by Newton steps written out.
Array cubic_root(const Array& a, const Array& b, const Array& start) {
  const auto f = [&](const Array& r) { return (r * r + a) * r - b; };
  const auto solve = [&](const auto& g, const Array& from) {
    Array r = from;
    for (int i = 0; i < 12; ++i) r = r - g(r) / (3 * r * r + a);
    return r;
  };
  const auto tangent_solve = [](const auto& g, const Array& side) { return side / g(ones_like(side)); };
  return custom_root(f, start, solve, tangent_solve);
}

Case cubic(const Shape& shape) {
  const auto n = static_cast<double>(shape.elements());
  Case c{"cubic " + to_string(shape), [](A x) { return Arrays{cubic_root(x[0], x[1], x[2])}; },
         {real(shape, 0.5, 2), real(shape, 1, 3), real(shape, 0.8, 1.2)}, {12 * 9 * n, 0}};
  c.arguments[2].order = 0;  // where the search begins does not matter
  c.value = [](A x) {
    const Numbers a = numbers(x[0]), b = numbers(x[1]);
    Numbers out = numbers(x[2]);
    for (std::size_t i = 0; i < out.size(); ++i)
      for (int k = 0; k < 60; ++k) out[i] -= ((out[i] * out[i] + a[i]) * out[i] - b[i]) / (3 * out[i] * out[i] + a[i]);
    return std::vector<Numbers>{out};
  };
  c.exact_tolerance = 1e-9;
  return c;
}

/// The solution of a 2 by 2 system, from what the linear function does to the unit vectors.
Array solved(const std::function<Array(const Array&)>& g, const Array& b) {
  const Array first = g(array({1.0, 0.0}, f64)), second = g(array({0.0, 1.0}, f64));
  const Array determinant = first[0] * second[1] - second[0] * first[1];
  return stack(std::vector<Array>{b[0] * second[1] - second[0] * b[1], first[0] * b[1] - b[0] * first[1]}) / determinant;
}

Case system() {
  Case c{"two unknowns", [](A x) {
           const auto map = [&](const Array& v) { return matmul(x[0], v) + x[1] * v; };
           return Arrays{custom_linear_solve(map, x[2], solved)};
         },
         {real({2, 2}, -0.5, 0.5), real({2}, 1.5, 2), real({2})}, {2 * 12 + 11, 0}};
  c.value = [](A x) {
    const Numbers m = numbers(x[0]), d = numbers(x[1]), b = numbers(x[2]);
    const double p = m[0] + d[0], q = m[1], r = m[2], s = m[3] + d[1], determinant = p * s - q * r;
    return std::vector<Numbers>{{(b[0] * s - q * b[1]) / determinant, (p * b[1] - b[0] * r) / determinant}};
  };
  return c;
}

}  // namespace

std::vector<Row> implicit_rows() {
  Row root{&prim::custom_root, {}}, solve{&prim::linear_solve, {}};
  for (const Shape& shape : {Shape{}, Shape{2, 3}, Shape{0}}) root.cases.push_back(cubic(shape));
  solve.cases.push_back(system());
  return {root, solve};
}

}  // namespace anadrome::testing

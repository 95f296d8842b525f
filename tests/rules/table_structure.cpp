// Rows of the structural primitives: stop_gradient, zero_tangent, psum, axis_index, call. And the whole
// table.
#include <algorithm>
#include <cmath>

#include "core/builder.h"
#include "rules/arguments.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;

Row stop_gradient_row() {
  Row row{&prim::stop_gradient, {}, "its derivative is zero by definition"};
  for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{1}, Shape{33}, Shape{0}})
    row.cases.push_back(with_value(one_result("stop_gradient " + to_string(shape), {real(shape, -2, 2, 0)},
                                              [](A x) { return op::stop_gradient(x[0]); }),
                                   [](A x) { return numbers(x[0]); }));
  row.cases.push_back(one_result("stop_gradient of integers", {whole(i32, {5}, -9, 9)},
                                 [](A x) { return op::stop_gradient(x[0]); }));
  return row;
}

Row zero_tangent_row() {
  Row row{&prim::zero_tangent,
          {},
          "the walks know sources of zero tangents themselves",
          "zeros stay zeros",
          "the walks know sources of zero tangents themselves, and vmap leaves what has no operands"};
  for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{0}})
    row.cases.push_back(
        with_value(one_result("zero_tangent " + to_string(shape), {real(shape)},
                              [shape](A x) {
                                return op::add(x[0], bind1(prim::zero_tangent, {}, TypeAttr{f64, shape}));
                              }),
                   [](A x) { return numbers(x[0]); }));
  return row;
}

constexpr std::int64_t axis_size = 4;
constexpr const char* no_value = "outside the vmap of its axis it throws";

/// The sum over the leading axis, in every part.
Numbers summed(const Array& x) {
  const Numbers v = numbers(x);
  const std::size_t part = v.size() / axis_size;
  Numbers out(part, 0);
  for (std::size_t i = 0; i < v.size(); ++i) out[i % part] += v[i];
  for (std::size_t i = part; i < v.size(); ++i) out.push_back(out[i % part]);
  return out;
}

Case in_axis(Case c) {
  c.axis_name = "i";
  return c;
}

Row psum_row() {
  Row row{&prim::psum, {}, nullptr, no_value};
  for (const Shape& shape : {Shape{4, 3}, Shape{4}, Shape{4, 1}, Shape{4, 2, 3}, Shape{4, 0}, Shape{4, 33}}) {
    row.cases.push_back(in_axis(one_result(
        "psum " + to_string(shape), {real(shape)}, [](A x) { return op::psum(x[0], "i", axis_size); },
        static_cast<double>(shape.elements() / 4))));
    if (shape.elements()) row.cases.back() = with_value(row.cases.back(), [](A x) { return summed(x[0]); });
  }
  row.cases.push_back(with_value(in_axis(one_result(
                                     "psum of integers", {whole(i32, {4, 5}, -9, 9)},
                                     [](A x) { return op::psum(x[0], "i", axis_size); }, 5)),
                                 [](A x) { return summed(x[0]); }));
  row.cases.push_back(
      with_value(in_axis(one_result(
                     "psum of a number", {real({4, 3})},
                     [](A x) { return op::add(x[0], op::psum(op::number(1.5, f64), "i", axis_size)); }, 1)),
                 [](A x) {
                   Numbers v = numbers(x[0]);
                   for (double& d : v) d += 6;
                   return v;
                 }));
  return row;
}

Row axis_index_row() {
  return {
      &prim::axis_index,
      {with_value(in_axis(one_result("axis_index", {real({4}, -2, 2, 0)},
                                     [](A) { return op::axis_index("i", axis_size); })),
                  [](A) {
                    return Numbers{0, 1, 2, 3};
                  }),
       with_value(in_axis(one_result(
                      "axis_index beside numbers", {real({4, 2})},
                      [](A x) { return op::mul(x[0], op::convert(op::axis_index("i", axis_size), f64)); })),
                  [](A x) {
                    Numbers v = numbers(x[0]);
                    for (std::size_t i = 0; i < v.size(); ++i) v[i] *= static_cast<double>(i / 2);
                    return v;
                  })},
      nullptr,
      no_value};
}

Arrays called(const Function& body, A x) {
  return functional::call_recorded(functional::record_for_jit(body, x, {"body", {}, {}}), x, "body");
}

Row call_row() {
  const Function body = [](A x) { return Arrays{op::mul(op::sin(x[0]), x[1]), op::add(x[0], x[1])}; };
  const Function nested = [body](A x) { return called(body, {op::mul(x[0], x[0]), x[1]}); };
  Row row{&prim::call, {}};
  for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{1}, Shape{33}, Shape{0}}) {
    const auto n = static_cast<double>(shape.elements());
    row.cases.push_back({"call " + to_string(shape),
                         [body](A x) { return called(body, x); },
                         {real(shape), real(shape)},
                         {2 * n, n}});
    row.cases.back().value = [](A x) {
      const Numbers a = numbers(x[0]), b = numbers(x[1]);
      std::vector<Numbers> out(2);
      for (std::size_t i = 0; i < a.size(); ++i)
        out[0].push_back(std::sin(a[i]) * b[i]), out[1].push_back(a[i] + b[i]);
      return out;
    };
    row.cases.push_back({"nested call " + to_string(shape),
                         [nested](A x) { return called(nested, x); },
                         {real(shape), real(shape)},
                         {3 * n, n}});
  }
  row.cases.push_back(
      {"call of a result without derivative",
       [](A x) {
         return called([](A y) { return Arrays{op::lt(y[0], y[1]), op::mul(y[0], y[0]), y[1]}; }, x);
       },
       {real({3}), real({3})},
       {6, 0}});
  row.cases.push_back({"call of integers",
                       [](A x) { return called([](A y) { return Arrays{op::add(y[0], y[0])}; }, x); },
                       {whole(i32, {5}, -9, 9)},
                       {5, 0}});
  return row;
}

}  // namespace

std::vector<Row> structure_rows() {
  return {stop_gradient_row(), zero_tangent_row(), psum_row(), axis_index_row(), call_row()};
}

const std::vector<Row>& table() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
    for (auto part : {arithmetic_rows, function_rows, integer_rows, movement_rows, indexing_rows,
                      reduction_rows, structure_rows, control_rows, custom_rows, implicit_rows, rewind_rows})
      for (Row& r : part()) all.push_back(std::move(r));
    const auto place = [](const Row& r) {
      const auto prims = all_primitives();
      return std::find(prims.begin(), prims.end(), r.prim) - prims.begin();
    };
    std::stable_sort(all.begin(), all.end(), [&](const Row& a, const Row& b) { return place(a) < place(b); });
    return all;
  }();
  return rows;
}

const Row* find_row(std::string_view primitive) {
  for (const Row& r : table())
    if (r.prim->name == primitive) return &r;
  return nullptr;
}

}  // namespace anadrome::testing

// Rows of reductions, scans, sorting and contraction.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "rules/arguments.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;
using Reduce = Array (*)(const Array&, const Ints&);

struct Axes {
  Shape shape;
  Ints axes;
  double flops;
};
/// Shapes, axes, and n - 1 operations for each result.
std::vector<Axes> reductions() {
  return {{{12}, {0}, 11},      {{3, 4}, {0}, 8},    {{3, 4}, {1}, 9},    {{2, 3, 4}, {0, 2}, 21},
          {{2, 3, 4}, {1}, 16}, {{2, 3}, {0, 1}, 5}, {{1}, {0}, 0},       {{7}, {0}, 6},
          {{33}, {0}, 32},      {{3, 0}, {0}, 0},    {{5, 1, 2}, {1}, 0}, {{2, 33}, {1}, 64}};
}

Row reduce_row(const Prim& prim, Reduce f, double lo, double hi, bool of_nothing,
               double (*combine)(double, double)) {
  Row row{&prim, {}};
  const std::string name(prim.name);
  for (const Axes& r : reductions())
    row.cases.push_back(one_result(
        name + " " + to_string(r.shape) + to_string(r.axes), {real(r.shape, lo, hi)},
        [f, axes = r.axes](A x) { return f(x[0], axes); }, r.flops));
  const auto fold = [combine](A x) {
    const Numbers v = numbers(x[0]);
    return Numbers{std::accumulate(v.begin() + 1, v.end(), v[0], combine)};
  };
  row.cases[0] = with_value(row.cases[0], fold);
  // The extremum of nothing is infinite, where differences say nothing.
  row.cases.push_back(one_result(name + " of nothing", {real({0, 3}, lo, hi, of_nothing ? 2 : 0)},
                                 [f](A x) { return f(x[0], {0}); }));
  for (DType t : {i32, i8, u16})
    row.cases.push_back(one_result(
        name + " of integers", {whole(t, {3, 4}, is_signed(t) ? -3 : 0, 3)},
        [f](A x) { return f(x[0], {1}); }, 9));
  row.cases.push_back(
      with_value(one_result(
                     name + " of i32", {whole(i32, {5}, -3, 3)}, [f](A x) { return f(x[0], {0}); }, 4),
                 fold));
  return row;
}

Row reduce_bits_row(const Prim& prim, Reduce f, double (*combine)(double, double)) {
  Row row{&prim, {}, "truth values and integers carry no derivative"};
  for (DType t : {b1, i32, u8})
    for (const Axes& r : reductions()) {
      row.cases.push_back(one_result(
          std::string(prim.name) + " " + to_string(r.shape), {whole(t, r.shape, 0, is_bool(t) ? 1 : 9)},
          [f, axes = r.axes](A x) { return f(x[0], axes); }, r.flops));
      if (r.shape.rank() == 1)
        row.cases.back() = with_value(row.cases.back(), [combine](A x) {
          const Numbers v = numbers(x[0]);
          return Numbers{std::accumulate(v.begin() + 1, v.end(), v[0], combine)};
        });
    }
  return row;
}

Row arg_row(const Prim& prim, Array (*f)(const Array&, std::int64_t), bool largest) {
  Row row{&prim, {}, "an index carries no derivative"};
  for (const Axes& r : {Axes{{12}, {0}, 11},
                        {{3, 4}, {0}, 8},
                        {{3, 4}, {1}, 9},
                        {{2, 3, 4}, {1}, 16},
                        {{1}, {0}, 0},
                        {{33}, {0}, 32},
                        {{3, 0}, {0}, 0}})
    for (const Argument& x : {real(r.shape, -2, 2, 1), whole(i32, r.shape, -9, 9)}) {
      row.cases.push_back(one_result(
          std::string(prim.name) + " " + to_string(r.shape) + to_string(r.axes), {x},
          [f, axis = r.axes[0]](A a) { return f(a[0], axis); }, r.flops));
      if (r.shape.rank() != 1) continue;
      row.cases.back() = with_value(row.cases.back(), [largest](A a) {
        const Numbers v = numbers(a[0]);
        const auto at = largest ? std::max_element(v.begin(), v.end()) : std::min_element(v.begin(), v.end());
        return Numbers{static_cast<double>(at - v.begin())};
      });
    }
  return row;
}

using Scan = Array (*)(const Array&, std::int64_t, bool);

/// `transcendentals`: for each step of the scan.
Row scan_row(const Prim& prim, Scan f, double lo, double hi, double (*combine)(double, double),
             double transcendentals = 0) {
  Row row{&prim, {}};
  for (const Axes& r : {Axes{{7}, {0}, 6},
                        {{3, 4}, {0}, 8},
                        {{3, 4}, {1}, 9},
                        {{2, 3, 4}, {1}, 16},
                        {{1}, {0}, 0},
                        {{33}, {0}, 32},
                        {{0, 3}, {0}, 0},
                        {{3, 0}, {0}, 0}})
    for (bool reverse : {false, true}) {
      row.cases.push_back(one_result(
          std::string(prim.name) + " " + to_string(r.shape) + (reverse ? " reverse" : ""),
          {real(r.shape, lo, hi)}, [f, reverse, axis = r.axes[0]](A x) { return f(x[0], axis, reverse); },
          r.flops, transcendentals * r.flops));
      if (r.shape.rank() != 1) continue;
      row.cases.back() = with_value(row.cases.back(), [combine, reverse](A x) {
        Numbers v = numbers(x[0]);
        if (reverse) std::reverse(v.begin(), v.end());
        std::partial_sum(v.begin(), v.end(), v.begin(), combine);
        if (reverse) std::reverse(v.begin(), v.end());
        return v;
      });
    }
  if (transcendentals == 0)
    row.cases.push_back(one_result(
        std::string(prim.name) + " of integers", {whole(i32, {3, 4}, -3, 3)},
        [f](A x) { return f(x[0], 1, false); }, 9));
  return row;
}

Case several(std::string name, std::vector<Argument> arguments, Function f, double flops) {
  return {std::move(name), std::move(f), std::move(arguments), {flops, 0}};
}

Row sort_row() {
  const auto by = [](std::int64_t axis, std::int64_t keys) {
    return [=](const Arrays& x) { return op::sort(x, axis, keys); };
  };
  // n ceil(log2 n) comparisons a lane.
  Row row{
      &prim::sort,
      {several("sort [7]", {real({7})}, by(0, 1), 21), several("sort axis 0", {real({3, 4})}, by(0, 1), 24),
       several("sort axis 1", {real({3, 4})}, by(1, 1), 24), several("sort [1]", {real({1})}, by(0, 1), 0),
       several("sort [33]", {real({33})}, by(0, 1), 198),
       several("sort of nothing", {real({0, 2})}, by(0, 1), 0),
       several("sort with a payload", {real({3, 4}), real({3, 4})}, by(1, 1), 24),
       several("sort with integers", {real({5}), whole(i32, {5}, 0, 9)}, by(0, 1), 15),
       several("sort by two keys", {whole(i32, {8}, 0, 2), real({8}), real({8})}, by(0, 2), 24),
       several("sort of integers", {whole(u8, {8}, 0, 5)}, by(0, 1), 24)}};
  row.cases[0] = with_value(row.cases[0], [](A x) {
    Numbers v = numbers(x[0]);
    std::sort(v.begin(), v.end());
    return v;
  });
  return row;
}

Row top_k_row() {
  const auto best = [](const Argument& x, std::int64_t k) {
    return several(
        "top_k " + std::to_string(k) + " of " + to_string(x.type), {x},
        [k](const Arrays& a) { return op::top_k(a[0], k); }, static_cast<double>(x.type.elements()));
  };
  Row row{&prim::top_k,
          {best(real({7}), 3), best(real({3, 5}), 2), best(real({2, 3, 4}), 4), best(real({1}), 1),
           best(real({5}), 0), best(real({0, 4}), 2), best(real({100}), 70), best(whole(i32, {9}, 0, 4), 3)}};
  row.cases[0].value = [](A x) {
    const Numbers v = numbers(x[0]);
    std::vector<int> order(v.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return v[static_cast<std::size_t>(a)] > v[static_cast<std::size_t>(b)]; });
    std::vector<Numbers> out(2);
    for (std::size_t i = 0; i < 3; ++i)
      out[0].push_back(v[static_cast<std::size_t>(order[i])]), out[1].push_back(order[i]);
    return out;
  };
  return row;
}

Row window_row(const Prim& prim, Array (*f)(const Array&, const ReduceWindowAttr&),
               double (*combine)(double, double)) {
  struct Window {
    Shape shape;
    ReduceWindowAttr attr;
    double flops;
  };
  Row row{&prim, {}};
  for (const Window& w : {Window{{7}, {{3}, {1}, {0}, {0}}, 10},
                          {{7}, {{2}, {2}, {1}, {1}}, 4},
                          {{6, 5}, {{2, 3}, {1, 1}, {0, 0}, {0, 0}}, 75},
                          {{6, 5}, {{2, 3}, {2, 2}, {1, 0}, {0, 1}}, 30},
                          {{2, 3, 4}, {{1, 2, 2}, {1, 1, 2}, {0, 0, 0}, {0, 0, 0}}, 24},
                          {{1}, {{1}, {1}, {0}, {0}}, 0},
                          {{33}, {{5}, {3}, {2}, {2}}, 44},
                          {{2}, {{3}, {1}, {0}, {0}}, 0},
                          {{3, 0}, {{1, 1}, {1, 1}, {0, 0}, {0, 0}}, 0}})
    row.cases.push_back(one_result(
        std::string(prim.name) + " " + to_string(w.shape) + to_string(w.attr.window), {real(w.shape)},
        [f, attr = w.attr](A x) { return f(x[0], attr); }, w.flops));
  row.cases[0] = with_value(row.cases[0], [combine](A x) {
    const Numbers v = numbers(x[0]);
    Numbers out;
    for (std::size_t i = 0; i < 5; ++i) out.push_back(combine(combine(v[i], v[i + 1]), v[i + 2]));
    return out;
  });
  row.cases.push_back(one_result(
      std::string(prim.name) + " of integers", {whole(i32, {7}, -9, 9)},
      [f](A x) {
        return f(x[0], {{2}, {1}, {0}, {0}});
      },
      6));
  return row;
}

Row dot_row() {
  struct Product {
    Shape left, right;
    DotAttr dims;
    double flops;
  };
  Row row{&prim::dot_general, {}};
  for (const Product& p : {Product{{3, 4}, {4, 5}, {{1}, {0}, {}, {}}, 120},
                           {{4, 3}, {5, 4}, {{0}, {1}, {}, {}}, 120},
                           {{7}, {7}, {{0}, {0}, {}, {}}, 14},
                           {{3}, {4}, {{}, {}, {}, {}}, 24},
                           {{2, 3, 4}, {2, 4, 5}, {{2}, {1}, {0}, {0}}, 240},
                           {{3, 2, 4}, {4, 5, 2}, {{1, 2}, {2, 0}, {}, {}}, 240},
                           {{4, 3, 2}, {5, 3, 2}, {{1}, {1}, {2}, {2}}, 240},
                           {{2, 3, 2}, {3, 2, 2}, {{1}, {0}, {0, 2}, {2, 1}}, 24},
                           {{2, 0}, {0, 3}, {{1}, {0}, {}, {}}, 0},
                           {{0, 3}, {3, 2}, {{1}, {0}, {}, {}}, 0},
                           {{1, 33}, {33, 1}, {{1}, {0}, {}, {}}, 66},
                           {{5}, {5}, {{}, {}, {0}, {0}}, 10}})
    row.cases.push_back(one_result(
        "dot_general " + to_string(p.left) + to_string(p.right), {real(p.left), real(p.right)},
        [dims = p.dims](A x) { return op::dot_general(x[0], x[1], dims); }, p.flops));
  row.cases[0] = with_value(row.cases[0], [](A x) {
    const Numbers a = numbers(x[0]), b = numbers(x[1]);
    Numbers out(15, 0);
    for (std::size_t i = 0; i < 15; ++i)
      for (std::size_t k = 0; k < 4; ++k) out[i] += a[i / 5 * 4 + k] * b[k * 5 + i % 5];
    return out;
  });
  const DotAttr matrices{{1}, {0}, {}, {}};
  row.cases.push_back(one_result(
      "dot_general of itself", {real({3, 3})}, [=](A x) { return op::dot_general(x[0], x[0], matrices); },
      54));
  row.cases.push_back(one_result(
      "dot_general of integers", {whole(i32, {2, 3}, -9, 9), whole(i32, {3, 2}, -9, 9)},
      [=](A x) { return op::dot_general(x[0], x[1], matrices); }, 24));
  return row;
}

double larger(double a, double b) {
  return a > b ? a : b;
}
double smaller(double a, double b) {
  return a < b ? a : b;
}
double sum(double a, double b) {
  return a + b;
}
double product(double a, double b) {
  return a * b;
}
double log_of_sum(double a, double b) {
  return std::log(std::exp(a) + std::exp(b));
}

}  // namespace

std::vector<Row> reduction_rows() {
  const auto both = [](double a, double b) {
    return static_cast<double>(static_cast<int>(a) & static_cast<int>(b));
  };
  const auto either = [](double a, double b) {
    return static_cast<double>(static_cast<int>(a) | static_cast<int>(b));
  };
  return {reduce_row(prim::reduce_sum, op::reduce_sum, -2, 2, true, sum),
          reduce_row(prim::reduce_prod, op::reduce_prod, 0.7, 1.4, true, product),
          reduce_row(prim::reduce_max, op::reduce_max, -2, 2, false, larger),
          reduce_row(prim::reduce_min, op::reduce_min, -2, 2, false, smaller),
          reduce_bits_row(prim::reduce_and, op::reduce_and, both),
          reduce_bits_row(prim::reduce_or, op::reduce_or, either),
          arg_row(prim::argmax, op::argmax, true),
          arg_row(prim::argmin, op::argmin, false),
          scan_row(prim::cumsum, op::cumsum, -2, 2, sum),
          scan_row(prim::cumprod, op::cumprod, 0.7, 1.4, product),
          scan_row(prim::cummax, op::cummax, -2, 2, larger),
          scan_row(prim::cummin, op::cummin, -2, 2, smaller),
          scan_row(prim::cumlogsumexp, op::cumlogsumexp, -2, 2, log_of_sum, 2),
          sort_row(),
          top_k_row(),
          window_row(prim::reduce_window_sum, op::reduce_window_sum, sum),
          window_row(prim::reduce_window_max, op::reduce_window_max, larger),
          window_row(prim::reduce_window_min, op::reduce_window_min, smaller),
          dot_row()};
}

}  // namespace anadrome::testing

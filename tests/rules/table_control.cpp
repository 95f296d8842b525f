// Rows of loops and conditionals: scan, cond, while_loop.
#include <algorithm>
#include <cmath>

#include "anadrome/ops/shape.h"
#include "rules/arguments.h"
#include "rules/recorded.h"
#include "support/derivatives.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;

Arrays slices_of(A stacks) {
  Arrays out;
  for (const Array& x : stacks) {
    Shape shape = x.shape();
    shape.erase(0);
    out.push_back(abstract(x.dtype(), shape));
  }
  return out;
}

/// One scan equation; `body` takes the carries, then the slices.
Arrays scanned(const Function& body, A init, A xs, std::int64_t length, bool reverse = false) {
  const Recorded r = recorded(body, joined(init, slices_of(xs)));
  const ScanAttr attr{r.program, length, r.count(),
                      static_cast<std::int64_t>(init.size()), reverse};
  return op::scan(attr, joined(joined(r.captures, init), xs));
}

/// One cond equation; every branch takes the operands.
Arrays chosen(const Array& index, const std::vector<Function>& branches, A operands) {
  CondAttr attr;
  for (const Function& f : branches) attr.branches.push_back(recorded(f, operands).program);
  return op::cond(attr, joined({index}, operands));
}

Arrays looped(const Function& condition, const Function& body, A init, std::int64_t max_steps = -1) {
  const Recorded test = recorded(condition, init), step = recorded(body, init);
  const WhileAttr attr{test.program, step.program, test.count(),
                       step.count(), max_steps};
  return op::while_loop(attr, joined(joined(test.captures, step.captures), init));
}

Shape stack_shape(std::int64_t length, Shape shape) {
  shape.insert(0, length);
  return shape;
}

// ---- scan

/// c' = sin(c) x, y = c + x: of numbers at each place.
std::vector<Numbers> loop_of_sines(A x, std::int64_t length, bool reverse) {
  Numbers c = numbers(x[0]);
  const Numbers xs = numbers(x[1]);
  Numbers y(xs.size());
  for (std::int64_t step = 0; step < length; ++step) {
    const auto first = static_cast<std::size_t>(reverse ? length - 1 - step : step) * c.size();
    for (std::size_t i = 0; i < c.size(); ++i) {
      y[first + i] = c[i] + xs[first + i];
      c[i] = std::sin(c[i]) * xs[first + i];
    }
  }
  return {c, y};
}

Case sines(const Shape& shape, std::int64_t length, bool reverse) {
  const Function body = [](A v) {
    return Arrays{op::mul(op::sin(v[0]), v[1]), op::add(v[0], v[1])};
  };
  const double n = static_cast<double>(shape.elements() * length);
  Case c{"sines " + to_string(shape) + " " + std::to_string(length) + (reverse ? " backwards" : ""),
         [=](A x) { return scanned(body, {x[0]}, {x[1]}, length, reverse); },
         {real(shape), real(stack_shape(length, shape))},
         {2 * n, n}};
  c.value = [=](A x) { return loop_of_sines(x, length, reverse); };
  return c;
}

/// A recurrent layer that captures its weights, and a function of the weights alone.
Case recurrent(std::int64_t length) {
  Case c{"recurrent " + std::to_string(length),
         [=](A x) {
           const Function body = [&](A v) {
             const Array h = op::tanh(op::add(op::mul(op::exp(x[2]), v[0]), v[1]));
             return Arrays{h, op::mul(h, x[2])};
           };
           return scanned(body, {x[0]}, {x[1]}, length);
         },
         {real({2}), real({length, 2}), real({2})},
         {6.0 * static_cast<double>(length), 4.0 * static_cast<double>(length)}};
  c.value = [=](A x) {
    Numbers h = numbers(x[0]), y;
    const Numbers xs = numbers(x[1]), w = numbers(x[2]);
    for (std::size_t i = 0; i < xs.size(); ++i) {
      h[i % 2] = std::tanh(std::exp(w[i % 2]) * h[i % 2] + xs[i]);
      y.push_back(h[i % 2] * w[i % 2]);
    }
    return std::vector<Numbers>{h, y};
  };
  return c;
}

/// Carries that change places, several slices, results that are slices, carries and numbers.
Case many(bool reverse) {
  return {std::string("several carries and slices") + (reverse ? " backwards" : ""),
          [=](A x) {
            const Function body = [](A v) {
              return Arrays{op::mul(op::sin(v[1]), v[2]), op::add(v[0], v[3]), op::mul(v[0], v[1]), v[2], v[0],
                            op::number(0.5, f64)};
            };
            return scanned(body, {x[0], x[1]}, {x[2], x[3]}, 3, reverse);
          },
          {real({}), real({}), real({3}), real({3})},
          {9, 3}};
}

/// A counter beside a float carry, which it scales.
Case counted() {
  Case c{"an integer carry",
         [](A x) {
           const Function body = [](A v) {
             const Array n = op::convert(v[0], f64);
             return Arrays{op::add(v[0], op::number(1, i32)), op::add(op::mul(op::sin(v[1]), n), v[2]), v[0]};
           };
           return scanned(body, {x[0], x[1]}, {x[2]}, 5);
         },
         {whole(i32, {}, -2, 2), real({2}), real({5, 2})},
         {25, 10}};
  c.value = [](A x) {
    double i = numbers(x[0])[0];
    Numbers v = numbers(x[1]), y;
    const Numbers xs = numbers(x[2]);
    for (std::size_t k = 0; k < 5; ++k, i += 1) {
      for (std::size_t j = 0; j < 2; ++j) v[j] = std::sin(v[j]) * i + xs[2 * k + j];
      y.push_back(i);
    }
    return std::vector<Numbers>{{i}, v, y};
  };
  return c;
}

Case nested() {
  return {"a scan in a scan",
          [](A x) {
            const Function outer = [&](A v) {
              const Function inner = [&](A u) {
                return Arrays{op::sin(op::add(op::mul(u[0], x[2]), u[1])), op::mul(u[0], v[0])};
              };
              const Arrays r = scanned(inner, {v[0]}, {v[1]}, 3, true);
              return Arrays{r[0], r[1]};
            };
            return scanned(outer, {x[0]}, {x[1]}, 2);
          },
          {real({}), real({2, 3}), real({})},
          {18, 6}};
}

std::vector<Case> plain_scans() {
  const Function square = [](A v) { return Arrays{op::mul(v[0], op::sin(v[0]))}; };
  std::vector<Case> out;
  out.push_back({"no carries", [=](A x) { return scanned(square, {}, {x[0]}, 4); }, {real({4, 2})}, {8, 8}});
  out.push_back({"no slices", [=](A x) { return scanned(square, {x[0]}, {}, 2); }, {real({2})}, {4, 4}});
  out.push_back({"constants alone",
                 [](A x) { return scanned([&](A) { return Arrays{op::sin(x[0])}; }, {}, {}, 3); },
                 {real({2})},
                 {0, 6}});
  out.push_back({"a carry that stays and one that is dropped",
                 [](A x) {
                   const Function body = [](A v) { return Arrays{v[0], op::sin(v[2]), op::mul(v[0], v[2])}; };
                   return scanned(body, {x[0], x[1]}, {x[2]}, 3);
                 },
                 {real({}), real({}), real({3})},
                 {3, 3}});
  out.push_back({"a carry that begins as a number",
                 [](A x) {
                   const Function body = [](A v) { return Arrays{op::add(op::mul(v[0], v[1]), v[1])}; };
                   return scanned(body, {op::number(0, f64)}, {x[0]}, 4);
                 },
                 {real({4})},
                 {8, 0}});
  out.push_back({"carries that change places",
                 [](A x) { return scanned([](A v) { return Arrays{v[1], v[0]}; }, {x[0], x[1]}, {}, 5); },
                 {real({2}), real({2})},
                 {0, 0}});
  out.push_back({"a result without derivative",
                 [](A x) {
                   const Function body = [](A v) { return Arrays{op::mul(v[0], v[1]), op::lt(v[0], v[1])}; };
                   return scanned(body, {x[0]}, {x[1]}, 3);
                 },
                 {real({2}), real({3, 2})},
                 {12, 0}});
  out.push_back({"integers",
                 [](A x) {
                   const Function body = [](A v) { return Arrays{op::add(v[0], v[1]), op::mul(v[0], v[1])}; };
                   return scanned(body, {x[0]}, {x[1]}, 4);
                 },
                 {whole(i32, {}, -9, 9), whole(i32, {4}, -9, 9)},
                 {8, 0}});
  return out;
}

Row scan_row() {
  Row row{&prim::scan, {}};
  for (std::int64_t length : {0, 1, 5})
    for (bool reverse : {false, true}) row.cases.push_back(sines({2}, length, reverse));
  for (const Shape& shape : {Shape{}, Shape{2, 3}, Shape{0}}) row.cases.push_back(sines(shape, 3, false));
  for (std::int64_t length : {0, 1, 4}) row.cases.push_back(recurrent(length));
  row.cases.push_back(many(false));
  row.cases.push_back(many(true));
  row.cases.push_back(counted());
  row.cases.push_back(nested());
  for (Case& c : plain_scans()) row.cases.push_back(std::move(c));
  return row;
}

// ---- cond

Function branch(int which) {
  return [which](A v) {
    if (which == 0) return Arrays{op::mul(op::sin(v[0]), v[1]), v[1]};
    if (which == 1) return Arrays{op::add(v[0], v[1]), op::mul(v[0], v[0])};
    return Arrays{v[1], op::number(0.5, f64)};
  };
}
std::vector<Numbers> branch_values(A x, int count) {
  const int which = std::clamp(static_cast<int>(numbers(x[0])[0]), 0, count - 1);
  const Numbers a = numbers(x[1]), b = numbers(x[2]);
  std::vector<Numbers> out(2);
  for (std::size_t i = 0; i < a.size(); ++i) {
    out[0].push_back(which == 0 ? std::sin(a[i]) * b[i] : which == 1 ? a[i] + b[i] : b[i]);
    out[1].push_back(which == 0 ? b[i] : which == 1 ? a[i] * a[i] : 0.5);
  }
  return out;
}

Case branches(int count, const Shape& shape, double lo, double hi) {
  std::vector<Function> all;
  for (int b = 0; b < count; ++b) all.push_back(branch(b));
  const auto n = static_cast<double>(shape.elements());
  Case c{std::to_string(count) + " branches " + to_string(shape) + " from " + std::to_string(static_cast<int>(lo)) +
             " to " + std::to_string(static_cast<int>(hi)),
         [=](A x) {
           return chosen(x[0], all, {x[1], x[2]});
         },
         {whole(i32, {}, lo, hi), real(shape), real(shape)},
         {2 * n, n}};
  if (count < 2) c.cost.flops = n;
  c.value = [=](A x) { return branch_values(x, count); };
  return c;
}

Row cond_row() {
  Row row{&prim::cond, {}};
  for (const Shape& shape : {Shape{}, Shape{2, 3}, Shape{0}}) row.cases.push_back(branches(2, shape, 0, 1));
  for (double index : {-7, 0, 1, 2, 9}) row.cases.push_back(branches(3, {}, index, index));
  row.cases.push_back(branches(1, {2}, -1, 1));
  row.cases.push_back(branches(2, {3}, -3, 4));
  row.cases.push_back({"a cond in a cond",
                       [](A x) {
                         const Function inner = [](A v) {
                           return chosen(v[0], {branch(1), branch(0)}, {v[1], v[2]});
                         };
                         const Function other = [](A v) { return Arrays{v[1], op::mul(v[1], v[2])}; };
                         return chosen(x[0], {inner, other}, {x[1], x[2], x[3]});
                       },
                       {whole(i32, {}, 0, 0), whole(i32, {}, 0, 1), real({2}), real({2})},
                       {4, 2}});
  row.cases.push_back({"a result without derivative",
                       [](A x) {
                         const Function one = [](A v) { return Arrays{op::lt(v[0], v[1]), op::mul(v[0], v[1])}; };
                         const Function other = [](A v) { return Arrays{op::gt(v[0], v[1]), v[0]}; };
                         return chosen(x[0], {one, other}, {x[1], x[2]});
                       },
                       {whole(i32, {}, 0, 1), real({3}), real({3})},
                       {6, 0}});
  row.cases.push_back({"integers",
                       [](A x) {
                         const Function one = [](A v) { return Arrays{op::add(v[0], v[0])}; };
                         const Function other = [](A v) { return Arrays{v[0]}; };
                         return chosen(x[0], {one, other}, {x[1]});
                       },
                       {whole(i32, {}, 0, 1), whole(i32, {5}, -9, 9)},
                       {5, 0}});
  return row;
}

// ---- while_loop

Case forward(Case c) {
  c.forward_only = true;
  return c;
}

/// Halves a counter until it is 0, and moves a value at each step. With a limit it has a gradient.
Case halving(double lo, double hi, const Shape& shape, std::int64_t max_steps = -1) {
  const auto n = static_cast<double>(shape.elements());
  Case c{"halving from " + std::to_string(static_cast<int>(lo)) + " " + to_string(shape) + (max_steps < 0 ? "" : " in " + std::to_string(max_steps)),
         [max_steps](A x) {
           const Function more = [](A v) { return Arrays{op::gt(v[0], op::number(0, i32))}; };
           const Function body = [&](A v) {
             return Arrays{op::shift_right_arithmetic(v[0], op::number(1, i32)), op::mul(op::sin(v[1]), x[2])};
           };
           return looped(more, body, {x[0], x[1]}, max_steps);
         },
         {whole(i32, {}, lo, hi), real(shape), real(shape)},
         {n + 2, n}};
  c.value = [](A x) {
    int left = static_cast<int>(numbers(x[0])[0]);
    Numbers v = numbers(x[1]);
    const Numbers w = numbers(x[2]);
    for (; left > 0; left /= 2)
      for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::sin(v[i]) * w[i];
    return std::vector<Numbers>{{static_cast<double>(left)}, v};
  };
  return max_steps < 0 ? forward(std::move(c)) : c;
}

Row while_row() {
  Row row{&prim::while_loop, {}};
  for (const Shape& shape : {Shape{}, Shape{2, 3}, Shape{0}}) row.cases.push_back(halving(1, 15, shape));
  row.cases.push_back(halving(-3, 0, {2}));
  for (const Shape& shape : {Shape{}, Shape{2, 3}, Shape{0}}) row.cases.push_back(halving(1, 15, shape, 4));
  row.cases.push_back(halving(1, 3, {2}, 6));
  row.cases.push_back(halving(-3, 0, {2}, 0));
  row.cases.push_back(forward({"until a captured bound",
                               [](A x) {
                                 const Function more = [&](A v) { return Arrays{op::lt(v[0], x[1])}; };
                                 const Function body = [&](A v) {
                                   return Arrays{op::add(op::mul(v[0], op::number(1.5, f64)), x[2]), v[0]};
                                 };
                                 return looped(more, body, {x[0], x[0]});
                               },
                               {real({}, 0.5, 1), real({}, 5, 6), real({}, 0.1, 0.2)},
                               {3, 0}}));
  row.cases.push_back(forward({"of integers",
                               [](A x) {
                                 const Function more = [](A v) { return Arrays{op::lt(v[0], op::number(20, i32))}; };
                                 const Function body = [](A v) { return Arrays{op::add(v[0], v[0])}; };
                                 return looped(more, body, {x[0]});
                               },
                               {whole(i32, {}, 1, 9)},
                               {2, 0}}));
  return row;
}

}  // namespace

std::vector<Row> control_rows() { return {scan_row(), cond_row(), while_row()}; }

}  // namespace anadrome::testing

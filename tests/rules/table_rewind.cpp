// Rows of what reversible loops are made of: reversible_scan, loop_tangent, rewound, rewind_missed, verify_rewind.
#include <algorithm>
#include <cmath>

#include "anadrome/ops/shape.h"
#include "rules/arguments.h"
#include "support/derivatives.h"
#include "transforms/backward.h"
#include "transforms/linearize.h"
#include "transforms/reversible_scan.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;

/// One reversible_scan: c' = c w + x, y = sin(c), of numbers at each place.
struct Loop {
  Shape shape;
  std::int64_t length, anchors;
  bool reverse = false;

  Arrays operator()(A x) const {
    const std::vector<Type> types{{f64, shape}, {f64, shape}, {f64, shape}};
    const ProgramPtr body = build_program("body", types, nullptr, [](A v) {
      return Arrays{op::add(op::mul(v[1], v[0]), v[2]), op::sin(v[1])};
    });
    const ScanAttr attr{{body, nullptr}, length, 1, 1, reverse};
    const std::vector<Type> operands{{f64, shape}, {f64, shape}, {f64, stacked_shape()}};
    return op::reversible_scan({loop_program(attr, operands), anchors, {1e-3}}, x);
  }
  Shape stacked_shape() const {
    Shape out = shape;
    out.insert(0, length);
    return out;
  }
  std::string name() const {
    return to_string(shape) + " " + std::to_string(length) + " anchors " + std::to_string(anchors) + (reverse ? " backwards" : "");
  }
  std::vector<Argument> arguments() const { return {real(shape, 0.5, 1.5), real(shape), real(stacked_shape())}; }
  ProgramPtr program() const {
    return closed(functional::record_for_jit(*this, {abstract(f64, shape), abstract(f64, shape), abstract(f64, stacked_shape())}, {"loop", {}, {}}).program);
  }
};

std::vector<Numbers> steps(const Loop& loop, A x) {
  const Numbers w = numbers(x[0]), xs = numbers(x[2]);
  Numbers c = numbers(x[1]), y(xs.size());
  for (std::int64_t step = 0; step < loop.length; ++step) {
    const auto first = static_cast<std::size_t>(loop.reverse ? loop.length - 1 - step : step) * c.size();
    for (std::size_t i = 0; i < c.size(); ++i) {
      y[first + i] = std::sin(c[i]);
      c[i] = c[i] * w[i] + xs[first + i];
    }
  }
  return {c, y};
}

std::vector<Loop> loops() {
  return {{{2}, 5, -1}, {{2}, 4, 0}, {{}, 7, 2, true}, {{2}, 1, -1}, {{2}, 0, -1}, {{0}, 3, 1}};
}

Row scan_row() {
  Row row{&prim::reversible_scan, {}};
  for (const Loop& loop : loops()) {
    const auto n = static_cast<double>(loop.shape.elements() * loop.length);
    row.cases.push_back({loop.name(), loop, loop.arguments(), {2 * n, n}});
    row.cases.back().value = [loop](A x) { return steps(loop, x); };
  }
  return row;
}

/// The results of the loop and its tangents.
Row tangent_row() {
  Row row{&prim::loop_tangent, {}};
  for (const Loop& loop : {Loop{{2}, 5, -1}, Loop{{}, 3, 0}}) {
    std::vector<Argument> arguments = loop.arguments();
    for (int i = 0; i < 3; ++i) arguments.push_back(arguments[static_cast<std::size_t>(i)]);
    const auto n = static_cast<double>(loop.shape.elements() * loop.length);
    row.cases.push_back({loop.name(),
                         [loop](A x) {
                           const auto lin = linearize_program(loop.program(), {1, 1, 1});
                           const Arrays at(x.begin(), x.begin() + 3), r = inline_program(*lin->primal, {}, at);
                           return inline_program(*lin->tangent, lin->residual_values(at, r), std::span(x).subspan(3));
                         },
                         arguments,
                         // c' = c w + x with its tangent 5, of sin and cos 3
                         {7 * n, 2 * n}});
  }
  return row;
}

/// The gradient of the sum of the results times cotangents.
Row rewound_row() {
  Row row{&prim::rewound, {}};
  // Of a step 14 flops and 2 cosines: 4 undo it, 10 are its derivative; 16 compare the states. With an anchor that is counted
  // again for what may be done again, with one step of the loop that leads there.
  for (const auto& [loop, cost] : {std::pair{Loop{{2}, 4, 0}, Cost{72, 8}}, {Loop{{2}, 5, 1, true}, Cost{198, 20}}}) {
    std::vector<Argument> arguments{real(loop.shape, 0.8, 1.2), real(loop.shape, -1, 1), real(loop.stacked_shape(), -1, 1)};
    arguments.push_back(real(loop.shape));
    arguments.push_back(real(loop.stacked_shape()));
    row.cases.push_back({loop.name(),
                         [loop = loop](A x) {
                           const auto lin = linearize_program(loop.program(), {1, 1, 1});
                           const Arrays at(x.begin(), x.begin() + 3), r = inline_program(*lin->primal, {}, at);
                           Arrays known = lin->residual_values(at, r);
                           anadrome::Mask linear(known.size(), 0);
                           linear.insert(linear.end(), {1, 1, 1});
                           known.resize(linear.size());
                           const Arrays g = backward(*lin->tangent, linear, linear, known, std::span(x).subspan(3));
                           return Arrays(g.end() - 3, g.end());
                         },
                         arguments, cost});
  }
  return row;
}

Row missed_row() {
  Row row{&prim::rewind_missed, {}};
  for (const double lo : {0.0, 2.0}) {
    const auto f = [](A x) { return op::rewind_missed(x[0], 1.5); };
    row.cases.push_back(with_value(one_result("errors from " + std::to_string(static_cast<int>(lo)), {whole(f32, {}, lo, lo + 1)}, f),
                                   [lo](A) { return Numbers{lo > 1 ? 1.0 : 0.0}; }));
  }
  row.silent_jvp = "a decision has no derivative";
  return row;
}

Row verify_row() {
  Row row{&prim::verify_rewind, {}};
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{0}})
    row.cases.push_back(with_value(one_result(to_string(shape), {whole(f32, {}, 0, 1), whole(i32, {}, 0, 3), real(shape)},
                                              [](A x) { return op::verify_rewind(x[0], x[1], x[2], {2, {0.5}, {1.5}, true}); }),
                                   [](A x) { return numbers(x[2]); }));
  return row;
}

Row schedule_row() {
  Row row{&prim::checkpoint_schedule, {}};
  for (const std::int64_t slots : {0, 1, 3}) {
    Case c{"3 steps, " + std::to_string(slots) + " slots", [slots](A) { return Arrays{op::checkpoint_schedule(3, slots)}; }, {}, {0, 0}};
    c.value = [slots](A) -> std::vector<Numbers> {
      if (slots == 0) return {{0, 0, 2, -1, 0, 0, 1, -1, 0, 0, 0, -1}};
      if (slots == 1) return {{0, 0, 1, 1, 1, 1, 1, -1, 1, 1, 0, -1, 0, 0, 0, -1}};
      return {{0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 0, -1, 1, 1, 0, -1, 0, 0, 0, -1}};
    };
    row.cases.push_back(std::move(c));
  }
  row.silent_jvp = "it has no operands";
  return row;
}

}  // namespace

std::vector<Row> rewind_rows() { return {scan_row(), tangent_row(), rewound_row(), missed_row(), verify_row(), schedule_row()}; }

}  // namespace anadrome::testing

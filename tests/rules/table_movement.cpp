// Rows of what makes, repeats and moves elements.
#include "rules/arguments.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;

Row iota_row() {
  Row row{&prim::iota, {}};
  for (DType t : {i32, u8, f32, f64})
    for (const auto& [shape, axis] :
         {std::pair{Shape{5}, 0}, {Shape{3, 4}, 0}, {Shape{3, 4}, 1}, {Shape{0}, 0}}) {
      const Shape s = shape;
      const int k = axis;
      row.cases.push_back(with_value(
          one_result("iota " + std::string(tag(t)) + to_string(s), {}, [=](A) { return op::iota(t, s, k); }),
          [=](A) {
            Numbers v;
            const std::int64_t last = s.back();
            for (std::int64_t i = 0; i < s.elements(); ++i)
              v.push_back(static_cast<double>(k + 1 == s.rank() ? i % last : i / last));
            return v;
          }));
    }
  return row;
}

Row identity_row() {
  Row row{&prim::identity, {}};
  for (DType t : {f64, f32, i32, b1})
    for (std::int64_t n : {0, 1, 7})
      row.cases.push_back(with_value(
          one_result("identity " + std::to_string(n), {}, [=](A) { return op::identity(t, n); }), [=](A) {
            Numbers v;
            for (std::int64_t i = 0; i < n * n; ++i) v.push_back(i / std::max<std::int64_t>(n, 1) == i % n);
            return v;
          }));
  return row;
}

Row broadcast_row() {
  const auto repeat = [](const Shape& from, const Shape& to, const Ints& dims) {
    return one_result("broadcast_in_dim " + to_string(from) + to_string(to), {real(from)},
                      [=](A x) { return op::broadcast_in_dim(x[0], to, dims); });
  };
  Row row{&prim::broadcast_in_dim,
          {repeat({}, {3, 4}, {}), repeat({3}, {3, 4}, {0}), repeat({4}, {3, 4}, {1}),
           repeat({3, 1}, {3, 2, 4}, {0, 2}), repeat({1}, {7}, {0}), repeat({3}, {0, 3}, {1}),
           repeat({0}, {0, 33}, {0}), repeat({2, 3}, {2, 1, 3, 1}, {0, 2})}};
  row.cases[0] = with_value(row.cases[0], [](A x) { return Numbers(12, numbers(x[0])[0]); });
  row.cases.push_back(one_result("broadcast_in_dim of integers", {whole(i16, {3}, -9, 9)}, [](A x) {
    return op::broadcast_in_dim(x[0], {3, 2}, {0});
  }));
  return row;
}

Row reshape_row() {
  Row row{&prim::reshape, {}};
  for (const auto& [from, to] : {std::pair{Shape{2, 6}, Shape{3, 4}},
                                 {Shape{12}, Shape{2, 2, 3}},
                                 {Shape{1}, Shape{}},
                                 {Shape{}, Shape{1, 1}},
                                 {Shape{0, 3}, Shape{5, 0}},
                                 {Shape{33}, Shape{3, 11}}})
    row.cases.push_back(with_value(one_result("reshape " + to_string(from), {real(from)},
                                              [to = to](A x) { return op::reshape(x[0], to); }),
                                   [](A x) { return numbers(x[0]); }));
  row.cases.push_back(one_result("reshape of truth values", {whole(b1, {2, 3}, 0, 1)},
                                 [](A x) { return op::reshape(x[0], {6}); }));
  return row;
}

Row transpose_row() {
  Row row{&prim::transpose, {}};
  for (const auto& [shape, perm] : {std::pair{Shape{3, 4}, Ints{1, 0}},
                                    {Shape{2, 3, 4}, Ints{2, 0, 1}},
                                    {Shape{2, 3, 4}, Ints{1, 0, 2}},
                                    {Shape{0, 3}, Ints{1, 0}},
                                    {Shape{1, 7}, Ints{1, 0}}})
    row.cases.push_back(one_result("transpose " + to_string(perm), {real(shape)},
                                   [perm = perm](A x) { return op::transpose(x[0], perm); }));
  row.cases[0] = with_value(row.cases[0], [](A x) {
    const Numbers v = numbers(x[0]);
    Numbers out;
    for (std::size_t i = 0; i < 12; ++i) out.push_back(v[i % 3 * 4 + i / 3]);
    return out;
  });
  row.cases.push_back(one_result("transpose of integers", {whole(u8, {3, 2}, 0, 200)}, [](A x) {
    return op::transpose(x[0], {1, 0});
  }));
  return row;
}

Row rev_row() {
  Row row{&prim::rev, {}};
  for (const auto& [shape, axes] : {std::pair{Shape{7}, Ints{0}},
                                    {Shape{3, 4}, Ints{0}},
                                    {Shape{3, 4}, Ints{1}},
                                    {Shape{2, 3, 4}, Ints{0, 2}},
                                    {Shape{0, 2}, Ints{1}},
                                    {Shape{1}, Ints{0}}})
    row.cases.push_back(one_result("rev " + to_string(axes), {real(shape)},
                                   [axes = axes](A x) { return op::rev(x[0], axes); }));
  row.cases[0] = with_value(row.cases[0], [](A x) {
    const Numbers v = numbers(x[0]);
    return Numbers(v.rbegin(), v.rend());
  });
  row.cases.push_back(
      one_result("rev of integers", {whole(i32, {5}, -9, 9)}, [](A x) { return op::rev(x[0], {0}); }));
  return row;
}

Row pad_row() {
  struct Padding {
    Shape shape;
    Ints low, high, interior;
  };
  Row row{&prim::pad, {}};
  for (const Padding& p : {Padding{{3}, {1}, {2}, {0}},
                           {{3}, {0}, {0}, {2}},
                           {{3, 2}, {1, -1}, {-1, 2}, {2, 1}},
                           {{4}, {-1}, {-2}, {0}},
                           {{3}, {-5}, {4}, {1}},
                           {{0, 2}, {1, 0}, {1, 0}, {0, 0}},
                           {{33}, {1}, {1}, {0}},
                           {{2, 3}, {0, 0}, {0, 2}, {0, 1}}})
    row.cases.push_back(one_result("pad " + to_string(p.shape) + to_string(p.low), {real(p.shape), real({})},
                                   [p](A x) { return op::pad(x[0], x[1], p.low, p.high, p.interior); }));
  row.cases[0] = with_value(row.cases[0], [](A x) {
    const Numbers v = numbers(x[0]);
    const double p = numbers(x[1])[0];
    return Numbers{p, v[0], v[1], v[2], p, p};
  });
  row.cases.push_back(one_result("pad with a number", {real({2, 2})}, [](A x) {
    return op::pad(x[0], op::number(3, f64), {1, 0}, {0, 1}, {0, 0});
  }));
  row.cases.push_back(one_result("pad of integers", {whole(i32, {3}, -9, 9), whole(i32, {}, -9, 9)},
                                 [](A x) { return op::pad(x[0], x[1], {1}, {1}, {1}); }));
  return row;
}

Row concatenate_row() {
  const auto join = [](const std::vector<Shape>& shapes, int axis) {
    std::vector<Argument> arguments;
    for (const Shape& s : shapes) arguments.push_back(real(s));
    return one_result("concatenate of " + std::to_string(shapes.size()), arguments,
                      [axis](A x) { return op::concatenate(x, axis); });
  };
  Row row{&prim::concatenate,
          {join({{3}, {2}}, 0), join({{2, 3}, {1, 3}, {4, 3}}, 0), join({{2, 3}, {2, 1}}, 1),
           join({{0, 3}, {2, 3}}, 0), join({{2, 0}, {2, 0}}, 1), join({{1}, {7}, {33}}, 0)}};
  row.cases[0] = with_value(row.cases[0], [](A x) {
    Numbers v = numbers(x[0]);
    for (double d : numbers(x[1])) v.push_back(d);
    return v;
  });
  row.cases.push_back(one_result("concatenate of itself", {real({2, 3})}, [](A x) {
    return op::concatenate(Arrays{x[0], x[0]}, 1);
  }));
  row.cases.push_back(one_result("concatenate of integers", {whole(i8, {3}, -9, 9), whole(i8, {2}, -9, 9)},
                                 [](A x) { return op::concatenate(x, 0); }));
  return row;
}

Row slice_row() {
  struct Box {
    Shape shape;
    Ints start, limit, strides;
  };
  Row row{&prim::slice, {}};
  for (const Box& b : {Box{{7}, {1}, {6}, {2}},
                       {{5, 4}, {1, 0}, {5, 4}, {2, 1}},
                       {{5, 4}, {0, 1}, {3, 3}, {1, 1}},
                       {{5}, {2}, {2}, {1}},
                       {{3, 0}, {1, 0}, {3, 0}, {1, 1}},
                       {{33}, {0}, {33}, {7}},
                       {{2, 3, 4}, {0, 2, 1}, {2, 3, 4}, {1, 1, 3}}})
    row.cases.push_back(one_result("slice " + to_string(b.shape) + to_string(b.start), {real(b.shape)},
                                   [b](A x) { return op::slice(x[0], b.start, b.limit, b.strides); }));
  row.cases[0] = with_value(row.cases[0], [](A x) {
    const Numbers v = numbers(x[0]);
    return Numbers{v[1], v[3], v[5]};
  });
  row.cases.push_back(one_result("slice of truth values", {whole(b1, {5}, 0, 1)},
                                 [](A x) { return op::slice(x[0], {1}, {4}, {1}); }));
  return row;
}

Row add_slice_row() {
  struct Place {
    Shape shape, update;
    Ints start, strides;
  };
  Row row{&prim::add_slice, {}};
  for (const Place& p : {Place{{7}, {3}, {1}, {2}},
                         {{5, 4}, {2, 2}, {1, 0}, {3, 2}},
                         {{5, 4}, {5, 4}, {0, 0}, {1, 1}},
                         {{5}, {0}, {2}, {1}},
                         {{3, 0}, {2, 0}, {1, 0}, {1, 1}},
                         {{33}, {33}, {0}, {1}}})
    row.cases.push_back(one_result(
        "add_slice " + to_string(p.shape), {real(p.shape), real(p.update)},
        [p](A x) { return op::add_slice(x[0], x[1], p.start, p.strides); },
        static_cast<double>(p.update.elements())));
  row.cases[0] = with_value(row.cases[0], [](A x) {
    Numbers v = numbers(x[0]);
    const Numbers u = numbers(x[1]);
    for (std::size_t i = 0; i < 3; ++i) v[1 + 2 * i] += u[i];
    return v;
  });
  row.cases.push_back(one_result(
      "add_slice of itself", {real({5})}, [](A x) { return op::add_slice(x[0], x[0], {0}, {1}); }, 5));
  row.cases.push_back(one_result(
      "add_slice of integers", {whole(i32, {5}, -9, 9), whole(i32, {2}, -9, 9)},
      [](A x) { return op::add_slice(x[0], x[1], {1}, {2}); }, 2));
  return row;
}

}  // namespace

std::vector<Row> movement_rows() {
  return {iota_row(), identity_row(), broadcast_row(),   reshape_row(), transpose_row(),
          rev_row(),  pad_row(),      concatenate_row(), slice_row(),   add_slice_row()};
}

}  // namespace anadrome::testing

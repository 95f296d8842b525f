// Rows of dynamic slices, gather and the scatters.
#include "core/text.h"
#include "rules/arguments.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;

Arrays starts(A x, std::size_t first) {
  return {x.begin() + static_cast<std::ptrdiff_t>(first), x.end()};
}
double clamped(double start, double last) {
  return std::min(std::max(start, 0.0), last);
}

// ---- windows with starts; some starts lie outside

Row dynamic_slice_row() {
  const auto window = [](const Shape& shape, const Ints& sizes, DType start) {
    std::vector<Argument> arguments{real(shape)};
    for (int k = 0; k < shape.rank(); ++k)
      arguments.push_back(whole(start, {}, is_signed(start) ? -2 : 0, 5));
    return one_result("dynamic_slice " + to_string(shape) + to_string(sizes), arguments,
                      [sizes](A x) { return op::dynamic_slice(x[0], starts(x, 1), sizes); });
  };
  Row row{&prim::dynamic_slice,
          {window({7}, {3}, i32), window({5, 4}, {2, 3}, i32), window({5, 4}, {1, 4}, i64),
           window({5, 4}, {5, 1}, u8), window({5}, {0}, i32), window({33}, {32}, u64),
           window({2, 3, 4}, {1, 2, 2}, i8)}};
  row.cases[0] = with_value(row.cases[0], [](A x) {
    const Numbers v = numbers(x[0]);
    const auto s = static_cast<std::ptrdiff_t>(clamped(numbers(x[1])[0], 4));
    return Numbers(v.begin() + s, v.begin() + s + 3);
  });
  row.cases.push_back(one_result("dynamic_slice of integers", {whole(i16, {7}, -9, 9), whole(i32, {}, -2, 7)},
                                 [](A x) { return op::dynamic_slice(x[0], starts(x, 1), {2}); }));
  row.cases.push_back(one_result("dynamic_slice at a number", {real({7})}, [](A x) {
    return op::dynamic_slice(x[0], Arrays{op::number(3, i32)}, {2});
  }));
  return row;
}

using Update = Array (*)(const Array&, const Array&, std::span<const Array>);

Row update_row(const Prim& prim, Update f, bool adds) {
  const auto window = [&](const Shape& shape, const Shape& update, DType start) {
    std::vector<Argument> arguments{real(shape), real(update)};
    for (int k = 0; k < shape.rank(); ++k)
      arguments.push_back(whole(start, {}, is_signed(start) ? -2 : 0, 5));
    return one_result(
        std::string(prim.name) + " " + to_string(shape) + to_string(update), arguments,
        [f](A x) { return f(x[0], x[1], starts(x, 2)); }, adds ? static_cast<double>(update.elements()) : 0);
  };
  Row row{&prim,
          {window({7}, {3}, i32), window({5, 4}, {2, 3}, i32), window({5, 4}, {5, 4}, i64),
           window({5, 4}, {1, 1}, u8), window({5}, {0}, i32), window({33}, {32}, u64),
           window({2, 3, 4}, {1, 2, 2}, i8)}};
  row.cases[0] = with_value(row.cases[0], [adds](A x) {
    Numbers v = numbers(x[0]);
    const Numbers u = numbers(x[1]);
    const auto s = static_cast<std::size_t>(clamped(numbers(x[2])[0], 4));
    for (std::size_t i = 0; i < 3; ++i) v[s + i] = (adds ? v[s + i] : 0) + u[i];
    return v;
  });
  row.cases.push_back(one_result(
      std::string(prim.name) + " of integers",
      {whole(i32, {7}, -9, 9), whole(i32, {2}, -9, 9), whole(i32, {}, -2, 7)},
      [f](A x) { return f(x[0], x[1], starts(x, 2)); }, adds ? 2 : 0));
  return row;
}

// ---- gather and scatter

/// Dimension numbers with the shapes they go with.
struct Layout {
  const char* name;
  Shape x, indices, windowed;
  Ints window, collapsed, map, operand_batching, indices_batching, sizes;
  double last = 0;  // the largest index that fits
};
std::vector<Layout> layouts() {
  return {{"rows", {5, 3}, {4, 1}, {4, 3}, {1}, {0}, {0}, {}, {}, {1, 3}, 4},
          {"elements", {7}, {2, 3, 1}, {2, 3}, {}, {0}, {0}, {}, {}, {1}, 6},
          {"one row", {5, 3}, {1}, {3}, {0}, {0}, {0}, {}, {}, {1, 3}, 4},
          {"columns", {3, 5}, {4, 1}, {3, 4}, {0}, {1}, {1}, {}, {}, {3, 1}, 4},
          {"windows", {5, 4}, {2, 3, 2}, {2, 3, 2, 2}, {2, 3}, {}, {1, 0}, {}, {}, {2, 2}, 2},
          {"batching", {3, 5}, {3, 2, 1}, {3, 2}, {}, {1}, {1}, {0}, {0}, {1, 1}, 4},
          {"nothing read", {5, 3}, {0, 1}, {0, 3}, {1}, {0}, {0}, {}, {}, {1, 3}, 4},
          {"many", {7}, {33, 1}, {33}, {}, {0}, {0}, {}, {}, {1}, 6}};
}

/// The modes in which indices outside give the same derivatives as those of the transpose.
bool may_miss(IndexMode mode) {
  return mode == IndexMode::clip || mode == IndexMode::zero_or_drop;
}
constexpr IndexMode modes[] = {IndexMode::clip, IndexMode::fill_or_drop, IndexMode::zero_or_drop,
                               IndexMode::clip_or_drop};

Row gather_row() {
  Row row{&prim::gather, {}};
  for (const Layout& l : layouts())
    for (IndexMode mode : modes) {
      const GatherAttr dims{l.window,           l.collapsed, l.map, l.operand_batching,
                            l.indices_batching, l.sizes,     mode};
      const double beyond = may_miss(mode) ? 2 : 0;
      row.cases.push_back(one_result(
          "gather " + std::string(l.name) + " " + std::string(tag(mode)),
          {real(l.x), whole(mode == IndexMode::clip ? i64 : i32, l.indices, -beyond, l.last + beyond)},
          [dims](A x) { return op::gather(x[0], x[1], dims); }));
    }
  row.cases[0] = with_value(row.cases[0], [](A x) {
    const Numbers v = numbers(x[0]), at = numbers(x[1]);
    Numbers out;
    for (double i : at)
      for (std::size_t k = 0; k < 3; ++k) out.push_back(v[static_cast<std::size_t>(clamped(i, 4)) * 3 + k]);
    return out;
  });
  row.cases.push_back(
      one_result("gather of integers", {whole(u16, {7}, 0, 99), whole(u8, {4, 1}, 0, 9)}, [](A x) {
        return op::gather(x[0], x[1], {{}, {0}, {0}, {}, {}, {1}, IndexMode::fill_or_drop});
      }));
  return row;
}

using Scatter = Array (*)(const Array&, const Array&, const Array&, const ScatterAttr&);

/// `combine`: old and new element to the result, for the values of the first case.
Row scatter_row(const Prim& prim, Scatter f, double lo, double hi, double (*combine)(double, double),
                bool free = false) {
  Row row{&prim, {}};
  const std::string name(prim.name);
  for (const Layout& l : layouts())
    for (IndexMode mode : modes) {
      const ScatterAttr dims{l.window, l.collapsed, l.map, l.operand_batching, l.indices_batching, mode};
      row.cases.push_back(one_result(
          name + " " + l.name + " " + std::string(tag(mode)),
          {real(l.x, lo, hi), whole(mode == IndexMode::clip ? i64 : i32, l.indices, -2, l.last + 2),
           real(l.windowed, lo, hi)},
          [dims, f](A x) { return f(x[0], x[1], x[2], dims); },
          free ? 0 : static_cast<double>(l.windowed.elements())));
    }
  for (Case& c : row.cases) c.exact_tolerance = 1e-10;
  row.cases[0] = with_value(row.cases[0], [combine](A x) {
    Numbers v = numbers(x[0]);
    const Numbers at = numbers(x[1]), u = numbers(x[2]);
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        double& place = v[static_cast<std::size_t>(clamped(at[i], 4)) * 3 + k];
        place = combine(place, u[i * 3 + k]);
      }
    return v;
  });
  row.cases.push_back(one_result(
      name + " of integers", {whole(i32, {7}, -9, 9), whole(i32, {4, 1}, -2, 9), whole(i32, {4}, -9, 9)},
      [f](A x) {
        return f(x[0], x[1], x[2], {{}, {0}, {0}, {}, {}, IndexMode::fill_or_drop});
      },
      free ? 0 : 4));
  return row;
}

}  // namespace

std::vector<Row> indexing_rows() {
  return {dynamic_slice_row(),
          update_row(prim::dynamic_update_slice, op::dynamic_update_slice, false),
          update_row(prim::dynamic_add_slice, op::dynamic_add_slice, true),
          gather_row(),
          scatter_row(
              prim::scatter, op::scatter, -2, 2, [](double, double b) { return b; }, true),
          scatter_row(prim::scatter_add, op::scatter_add, -2, 2, [](double a, double b) { return a + b; }),
          scatter_row(prim::scatter_mul, op::scatter_mul, 0.7, 1.4, [](double a, double b) { return a * b; }),
          scatter_row(prim::scatter_min, op::scatter_min, -2, 2,
                      [](double a, double b) { return a < b ? a : b; }),
          scatter_row(prim::scatter_max, op::scatter_max, -2, 2,
                      [](double a, double b) { return a > b ? a : b; })};
}

}  // namespace anadrome::testing

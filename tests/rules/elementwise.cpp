// Cases of elementwise primitives.
#include "rules/elementwise.h"

#include <algorithm>

namespace anadrome::testing {
namespace {

Argument argument(const Range& r, const Shape& shape) {
  return {{r.dtype, shape},
          r.lo,
          r.hi,
          is_float(r.dtype) ? r.order : 0,
          is_float(r.dtype) ? r.fill : Fill::whole};
}

/// The results for arrays that may be of rank 0, element by element.
std::vector<Numbers> values_of(const Value& value, const Arrays& x, DType result) {
  std::vector<Numbers> in;
  std::int64_t n = 1;
  for (const Array& a : x) {
    in.push_back(numbers(a));
    if (a.rank() > 0) n = a.size();
  }
  Numbers out;
  for (std::int64_t i = 0; i < n; ++i) {
    double operands[8] = {};
    for (std::size_t k = 0; k < x.size(); ++k)
      operands[k] = in[k][x[k].rank() > 0 ? static_cast<std::size_t>(i) : 0];
    const double v = value(operands);
    out.push_back(is_integer(result) ? wrapped(static_cast<std::int64_t>(v), result) : v);
  }
  return {out};
}

Case case_of(const Elementwise& e, const std::string& name, const std::vector<Shape>& shapes) {
  Case c{e.name + " " + name, {}, {}, {}};
  c.f = [f = e.f](const Arrays& x) { return Arrays{f(x)}; };
  Shape whole;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    c.arguments.push_back(argument(e.ranges[i], shapes[i]));
    if (shapes[i].rank() > 0) whole = shapes[i];
  }
  const auto n = static_cast<double>(whole.elements());
  c.cost = {e.cost.flops * n, e.cost.transcendentals * n};
  if (e.value) c.value = [e](const Arrays& x) { return values_of(e.value, x, e.result); };
  c.tolerance = e.tolerance;
  c.exact_tolerance = e.exact_tolerance;
  return c;
}

/// Operand `at` is a number of the program.
Case with_literal(const Elementwise& e, std::size_t at) {
  const Range& r = e.ranges[at];
  const double number = is_float(r.dtype) && r.fill != Fill::whole ? r.lo + 0.3 * (r.hi - r.lo) : r.hi;
  const Shape shape{2, 3};
  Case c = case_of(e, "number as operand " + std::to_string(at), std::vector<Shape>(e.ranges.size(), shape));
  c.arguments.erase(c.arguments.begin() + static_cast<std::ptrdiff_t>(at));
  const auto whole = [=, dtype = r.dtype](Arrays x) {
    x.insert(x.begin() + static_cast<std::ptrdiff_t>(at), op::number(number, dtype));
    return x;
  };
  c.f = [f = e.f, whole](const Arrays& x) { return Arrays{f(whole(x))}; };
  if (e.value) c.value = [e, whole](const Arrays& x) { return values_of(e.value, whole(x), e.result); };
  return c;
}

Case with_itself(const Elementwise& e) {
  Case c = case_of(e, "of the same operand twice", {{2, 3}, {2, 3}});
  c.arguments.pop_back();
  c.f = [f = e.f](const Arrays& x) { return Arrays{f({x[0], x[0]})}; };
  if (e.value) c.value = [e](const Arrays& x) { return values_of(e.value, {x[0], x[0]}, e.result); };
  return c;
}

/// Values in a narrower float; its derivatives would say nothing new.
Case narrow_case(Elementwise e, DType dtype) {
  for (Range& r : e.ranges)
    if (r.dtype == f64) r.dtype = dtype, r.order = 0;
  if (e.result == f64) e.result = dtype;
  e.exact_tolerance = dtype == f32 ? 1e-6 : dtype == f16 ? 2e-3 : 2e-2;
  return case_of(e, std::string(tag(dtype)), std::vector<Shape>(e.ranges.size(), Shape{7}));
}

bool same_range(const Range& a, const Range& b) {
  return a.lo == b.lo && a.hi == b.hi && a.dtype == b.dtype;
}

}  // namespace

double wrapped(std::int64_t v, DType dtype) {
  switch (dtype) {
    case DType::i8:
      return static_cast<std::int8_t>(v);
    case DType::i16:
      return static_cast<std::int16_t>(v);
    case DType::i32:
      return static_cast<std::int32_t>(v);
    case DType::u8:
      return static_cast<std::uint8_t>(v);
    case DType::u16:
      return static_cast<std::uint16_t>(v);
    case DType::u32:
      return static_cast<std::uint32_t>(v);
    case DType::u64:
      return static_cast<double>(static_cast<std::uint64_t>(v));
    default:
      return static_cast<double>(v);
  }
}

std::vector<Case> elementwise_cases(const Elementwise& e) {
  const std::size_t n = e.ranges.size();
  std::vector<Case> out;
  for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{1}, Shape{7}, Shape{33}, Shape{0}, Shape{2, 0, 3}})
    out.push_back(case_of(e, to_string(shape), std::vector<Shape>(n, shape)));
  const auto real = [](const Range& r) { return r.dtype == f64; };
  if (e.narrow && std::any_of(e.ranges.begin(), e.ranges.end(), real))
    for (DType t : {f32, f16, bf16}) out.push_back(narrow_case(e, t));
  if (n < 2) return out;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<Shape> one(n, Shape{2, 3}), others(n, Shape{});
    one[i] = {};
    others[i] = {2, 3};
    out.push_back(case_of(e, "rank 0 as operand " + std::to_string(i), one));
    if (n > 2) out.push_back(case_of(e, "rank 0 but operand " + std::to_string(i), others));
    out.push_back(with_literal(e, i));
  }
  if (n == 2 && e.twice && same_range(e.ranges[0], e.ranges[1])) out.push_back(with_itself(e));
  return out;
}

Row unary_row(const Prim& prim, Array (*f)(const Array&), Range range, Cost cost, double (*value)(double)) {
  Elementwise e{std::string(prim.name), [f](const Arrays& x) { return f(x[0]); }, {range}, cost};
  if (value) e.value = [value](const double* x) { return value(x[0]); };
  return {&prim, elementwise_cases(e)};
}

Row binary_row(const Prim& prim, Array (*f)(const Array&, const Array&), Range a, Range b, Cost cost,
               double (*value)(double, double)) {
  Elementwise e{std::string(prim.name), [f](const Arrays& x) { return f(x[0], x[1]); }, {a, b}, cost};
  if (value) e.value = [value](const double* x) { return value(x[0], x[1]); };
  return {&prim, elementwise_cases(e)};
}

void add_integer_cases(Row& row, const std::vector<DType>& dtypes,
                       const std::function<Array(const Arrays&)>& f, std::vector<Range> ranges,
                       const Value& value) {
  for (DType t : dtypes) {
    for (Range& r : ranges) {
      r.dtype = t;
      if (!is_signed(t)) r.lo = std::max(r.lo, 0.0);
      if (is_bool(t)) r.hi = 1;
    }
    const Elementwise e{
        std::string(row.prim->name) + " " + std::string(tag(t)), f, ranges, one_flop, value, t};
    row.cases.push_back(case_of(e, "[5]", std::vector<Shape>(ranges.size(), Shape{5})));
    row.cases.push_back(case_of(e, "[]", std::vector<Shape>(ranges.size(), Shape{})));
    if (ranges.size() > 1) {
      row.cases.push_back(case_of(e, "rank 0 first", {Shape{}, Shape{3, 7}}));
      row.cases.push_back(case_of(e, "rank 0 second", {Shape{3, 7}, Shape{}}));
    }
  }
}

}  // namespace anadrome::testing

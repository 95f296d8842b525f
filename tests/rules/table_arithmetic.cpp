// Rows of arithmetic, rounding, conversion and choice.
#include <cmath>

#include "rules/elementwise.h"

namespace anadrome::testing {
namespace {

const std::vector<DType> integers = {i8, i16, i32, i64, u8, u16, u32, u64};
constexpr Range two{-2, 2}, off{-3, 3, 2, Fill::off_integers};
constexpr const char* flat = "the result is locally constant";

using Operands = const Arrays&;

Row neg_row() {
  Row row = unary_row(prim::neg, op::neg, two, one_flop, [](double x) { return -x; });
  add_integer_cases(
      row, integers, [](Operands x) { return op::neg(x[0]); }, {{-100, 100}},
      [](const double* x) { return -x[0]; });
  return row;
}
Row abs_row() {
  Row row = unary_row(prim::abs, op::abs, off, one_flop, [](double x) { return x < 0 ? -x : x; });
  add_integer_cases(
      row, integers, [](Operands x) { return op::abs(x[0]); }, {{-100, 100}},
      [](const double* x) { return x[0] < 0 ? -x[0] : x[0]; });
  return row;
}
Row sign_row() {
  const auto value = [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
  Row row = unary_row(prim::sign, op::sign, off, one_flop, value);
  add_integer_cases(
      row, integers, [](Operands x) { return op::sign(x[0]); }, {{-2, 2}},
      [value](const double* x) { return value(x[0]); });
  row.silent_jvp = flat;
  return row;
}

using Binary = Array (*)(const Array&, const Array&);

Row with_integers(Row row, Binary f, std::vector<Range> ranges, double (*value)(double, double)) {
  add_integer_cases(
      row, integers, [f](Operands x) { return f(x[0], x[1]); }, std::move(ranges),
      [value](const double* x) { return value(x[0], x[1]); });
  return row;
}

std::vector<Row> sums_and_products() {
  const auto sum = [](double a, double b) { return a + b; };
  const auto rest = [](double a, double b) { return a - b; };
  const auto product = [](double a, double b) { return a * b; };
  return {with_integers(binary_row(prim::add, op::add, two, two, one_flop, sum), op::add,
                        {{-100, 100}, {-100, 100}}, sum),
          with_integers(binary_row(prim::sub, op::sub, two, two, one_flop, rest), op::sub,
                        {{-100, 100}, {-100, 100}}, rest),
          with_integers(binary_row(prim::mul, op::mul, two, two, one_flop, product), op::mul,
                        {{-100, 100}, {-100, 100}}, product)};
}

std::vector<Row> quotients() {
  const auto quotient = [](double a, double b) { return b == 0 ? -1 : std::trunc(a / b); };
  const auto remainder = [](double a, double b) { return b == 0 ? a : std::fmod(a, b); };
  Row div = binary_row(prim::div, op::div, two, {0.5, 2}, one_flop, [](double a, double b) { return a / b; });
  div = with_integers(std::move(div), op::div, {{-100, 100}, {-4, 4}}, quotient);
  Row rem = binary_row(prim::rem, op::rem, {5.2, 5.8}, {1.6, 1.7}, one_flop, std::fmod);
  for (Case& c : binary_row(prim::rem, op::rem, {-5.8, -5.2}, {1.6, 1.7}, one_flop, std::fmod).cases)
    rem.cases.push_back(std::move(c));
  rem = with_integers(std::move(rem), op::rem, {{-100, 100}, {-4, 4}}, remainder);
  return {div, rem};
}

std::vector<Row> extrema() {
  const auto larger = [](double a, double b) { return a > b ? a : b; };
  const auto smaller = [](double a, double b) { return a < b ? a : b; };
  Row max = with_integers(binary_row(prim::max, op::max, two, two, one_flop, larger), op::max,
                          {{-3, 3}, {-3, 3}}, larger);
  Row min = with_integers(binary_row(prim::min, op::min, two, two, one_flop, smaller), op::min,
                          {{-3, 3}, {-3, 3}}, smaller);
  const Value cut = [](const double* x) { return std::min(std::max(x[0], x[1]), x[2]); };
  const auto f = [](Operands x) { return op::clamp(x[0], x[1], x[2]); };
  Row clamp{&prim::clamp,
            elementwise_cases(
                {"clamp", f, {{-1.1, -0.9}, {-2, 2, 2, Fill::off_integers}, {0.9, 1.1}}, one_flop, cut})};
  const std::vector<Range> ints{
      {0, 2, 0, Fill::whole, i32}, {-5, 9, 0, Fill::whole, i32}, {3, 6, 0, Fill::whole, i32}};
  for (Case& c : elementwise_cases({"clamp i32", f, ints, one_flop, cut, i32}))
    clamp.cases.push_back(std::move(c));
  return {max, min, clamp};
}

std::vector<Row> roundings() {
  std::vector<Row> rows = {unary_row(prim::floor, op::floor, off, one_flop, std::floor),
                           unary_row(prim::ceil, op::ceil, off, one_flop, std::ceil),
                           unary_row(prim::round, op::round, {0.6, 1.4}, one_flop, std::round),
                           unary_row(prim::rint, op::rint, {-1.4, -0.6}, one_flop, std::rint),
                           unary_row(prim::trunc, op::trunc, off, one_flop, std::trunc)};
  for (Row& r : rows) r.silent_jvp = flat;
  const Range still{-2, 2, 0};
  rows.push_back(binary_row(prim::nextafter, op::nextafter, still, still, one_flop, std::nextafter));
  const auto finite = [](Operands x) { return op::is_finite(x[0]); };
  rows.push_back(
      {&prim::is_finite,
       elementwise_cases({"is_finite", finite, {two}, one_flop, [](const double*) { return 1; }, b1}),
       "truth values carry no derivative"});
  const auto quotient = [](Operands x) { return op::is_finite(op::div(x[0], x[1])); };
  const Range small{0, 1, 0, Fill::whole};
  for (Case& c : elementwise_cases({"is_finite of a quotient",
                                    quotient,
                                    {small, small},
                                    one_flop,
                                    [](const double* x) { return x[1] != 0; },
                                    b1}))
    rows.back().cases.push_back(std::move(c));
  const auto same = [](Operands x) { return op::reduce_precision(x[0], 11, 52); };
  const auto single = [](Operands x) { return op::reduce_precision(x[0], 8, 23); };
  Row reduced{
      &prim::reduce_precision,
      elementwise_cases({"reduce_precision", same, {two}, one_flop, [](const double* x) { return x[0]; }})};
  for (Case& c :
       elementwise_cases({"reduce_precision to single", single, {still}, one_flop, [](const double* x) {
                            return static_cast<double>(static_cast<float>(x[0]));
                          }}))
    reduced.cases.push_back(std::move(c));
  rows.push_back(std::move(reduced));
  return rows;
}

Row convert_row() {
  struct Kind {
    DType from, to;
    Value value;
  };
  const Value same = [](const double*x) { return x[0]; },
              whole = [](const double*x) { return std::trunc(x[0]); };
  const Value truth = [](const double* x) { return x[0] != 0; };
  Row row{&prim::convert, {}};
  for (const Kind& k : {Kind{f64, f32, same}, Kind{f32, f64, same}, Kind{f64, i32, whole},
                        Kind{f64, b1, truth}, Kind{i32, f64, same}, Kind{i8, i64, same}, Kind{b1, f64, same},
                        Kind{i64, u8, same}, Kind{f64, bf16, same}, Kind{f64, f16, same}}) {
    const bool narrow = is_float(k.from) && is_float(k.to) && (k.from == f32 || k.to == f32);
    Range range{-3, 3, narrow ? 2 : 0, Fill::off_integers, k.from};
    if (is_bool(k.from)) range = {0, 1, 0, Fill::whole, k.from};
    Elementwise e{"convert " + std::string(tag(k.from)) + " to " + std::string(tag(k.to)),
                  [to = k.to](Operands x) { return op::convert(x[0], to); },
                  {range},
                  free_of_cost,
                  k.value,
                  k.to};
    e.tolerance = 2e-3, e.exact_tolerance = 1e-6, e.narrow = false;
    for (Case& c : elementwise_cases(e)) row.cases.push_back(std::move(c));
  }
  return row;
}

Row bitcast_row() {
  Row row{&prim::bitcast, {}, "bits have no derivative"};
  for (const auto& [from, to] : {std::pair{f64, i64}, {f32, u32}, {i16, bf16}, {u8, i8}, {f64, f64}}) {
    const Range range{is_float(from) ? -2.0 : 0.0, 9, from == to ? 0 : 1, Fill::apart, from};
    Elementwise e{"bitcast " + std::string(tag(from)) + " to " + std::string(tag(to)),
                  [to = to](Operands x) { return op::bitcast(x[0], to); },
                  {range},
                  free_of_cost};
    if (from == u8 || from == to) e.value = [](const double* x) { return x[0]; };
    e.result = to, e.narrow = false;
    for (Case& c : elementwise_cases(e)) row.cases.push_back(std::move(c));
  }
  return row;
}

Row select_row() {
  const auto f = [](Operands x) { return op::select_n(x[0], std::span(x).subspan(1)); };
  const Range mask{0, 1, 0, Fill::whole, b1}, which{-1, 4, 0, Fill::whole, i32},
      ints{-9, 9, 0, Fill::whole, i16};
  const Value two_cases = [](const double* x) { return x[0] > 0 ? x[2] : x[1]; };
  const Value three_cases = [](const double* x) {
    return x[1 + static_cast<int>(std::min(2.0, std::max(0.0, x[0])))];
  };
  Row row{&prim::select_n, elementwise_cases({"select_n b1", f, {mask, two, two}, one_flop, two_cases})};
  for (const Elementwise& e :
       {Elementwise{"select_n i32", f, {which, two, two, two}, one_flop, three_cases},
        Elementwise{"select_n i32 of two", f, {which, two, two}, one_flop, two_cases},
        Elementwise{"select_n of one", f, {which, two}, one_flop, [](const double* x) { return x[1]; }},
        Elementwise{"select_n of integers", f, {mask, ints, ints}, one_flop, two_cases, i16}})
    for (Case& c : elementwise_cases(e)) row.cases.push_back(std::move(c));
  return row;
}

void append(std::vector<Row>& rows, std::vector<Row> more) {
  for (Row& r : more) rows.push_back(std::move(r));
}

}  // namespace

std::vector<Row> arithmetic_rows() {
  std::vector<Row> rows = {neg_row(), abs_row(), sign_row(), convert_row(), bitcast_row(), select_row()};
  append(rows, sums_and_products());
  append(rows, quotients());
  append(rows, extrema());
  append(rows, roundings());
  return rows;
}

}  // namespace anadrome::testing

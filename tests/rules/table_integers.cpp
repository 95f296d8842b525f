// Rows of comparisons, bits and random bits.
#include <bit>
#include <cmath>

#include "rules/elementwise.h"

namespace anadrome::testing {
namespace {

const std::vector<DType> integers = {i8, i16, i32, i64, u8, u16, u32, u64};
const std::vector<DType> bits = {b1, i8, i16, i32, i64, u8, u16, u32, u64};

using Binary = Array (*)(const Array&, const Array&);
using Whole = std::int64_t;

Row comparison(const Prim& prim, Binary f, bool (*value)(double, double)) {
  const auto call = [f](const Arrays& x) { return f(x[0], x[1]); };
  const Value expected = [value](const double* x) { return value(x[0], x[1]); };
  const Range real{-2, 2, 1}, tied{-2, 2, 0, Fill::whole};
  const std::string name(prim.name);
  Row row{&prim, {}, "truth values carry no derivative"};
  for (const Range& r : {real, tied})
    for (Case& c : elementwise_cases({name, call, {r, r}, one_flop, expected, b1}))
      row.cases.push_back(std::move(c));
  for (DType t : bits) {
    Range r{is_signed(t) ? -2.0 : 0.0, is_bool(t) ? 1.0 : 2.0, 0, Fill::whole, t};
    for (Case& c :
         elementwise_cases({name + " " + std::string(tag(t)), call, {r, r}, one_flop, expected, b1}))
      if (c.arguments[0].type.elements() > 6) row.cases.push_back(std::move(c));
  }
  return row;
}

Row bits_row(const Prim& prim, Binary f, Whole (*value)(Whole, Whole)) {
  Row row{&prim, {}};
  add_integer_cases(
      row, bits, [f](const Arrays& x) { return f(x[0], x[1]); }, {{-100, 100}, {-100, 100}},
      [value](const double* x) {
        return static_cast<double>(value(static_cast<Whole>(x[0]), static_cast<Whole>(x[1])));
      });
  return row;
}

Row shift_row(const Prim& prim, Binary f, double (*value)(double, double, DType)) {
  Row row{&prim, {}};
  for (DType t : integers)
    add_integer_cases(
        row, {t}, [f](const Arrays& x) { return f(x[0], x[1]); }, {{-100, 100}, {0, 7}},
        [value, t](const double* x) { return value(x[0], x[1], t); });
  return row;
}

Row count_row(const Prim& prim, Array (*f)(const Array&), int (*value)(std::uint64_t bits, int width)) {
  Row row{&prim, {}};
  for (DType t : integers) {
    const int width = static_cast<int>(8 * item_size(t));
    add_integer_cases(
        row, {t}, [f](const Arrays& x) { return f(x[0]); }, {{-100, 100}},
        [value, width](const double* x) -> double {
          const auto all = static_cast<std::uint64_t>(static_cast<Whole>(x[0]));
          return value(width == 64 ? all : all & ((std::uint64_t{1} << width) - 1), width);
        });
  }
  return row;
}

/// x0, x1 after 20 rounds, written as the specification has it: a table of rotations and a key schedule.
std::vector<Numbers> threefry(const Arrays& x) {
  constexpr int rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  std::vector<Numbers> in, out(2);
  std::size_t n = 1;
  for (const Array& a : x) {
    in.push_back(numbers(a));
    if (a.rank()) n = in.back().size();
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t w[4];
    for (std::size_t k = 0; k < 4; ++k) w[k] = static_cast<std::uint32_t>(in[k][x[k].rank() ? i : 0]);
    const std::uint32_t key[3] = {w[0], w[1], w[0] ^ w[1] ^ 0x1BD11BDAu};
    std::uint32_t a = w[2] + key[0], b = w[3] + key[1];
    for (unsigned round = 0; round < 20; ++round) {
      a += b;
      b = std::rotl(b, rotations[round % 8]) ^ a;
      if (round % 4 != 3) continue;
      const unsigned block = round / 4 + 1;
      a += key[block % 3];
      b += key[(block + 1) % 3] + block;
    }
    out[0].push_back(a);
    out[1].push_back(b);
  }
  return out;
}

Row threefry_row() {
  Row row{&prim::threefry2x32, {}};
  const Shape none, five{5}, grid{2, 3};
  for (const std::vector<Shape>& shapes : {std::vector{none, none, none, none},
                                           {five, five, five, five},
                                           {none, none, five, five},
                                           {none, none, none, grid},
                                           {none, none, grid, none},
                                           {none, grid, grid, grid},
                                           {grid, none, none, none},
                                           {Shape{0}, none, none, Shape{0}}}) {
    Case c{"threefry2x32",
           [](const Arrays& x) { return op::threefry2x32(x[0], x[1], x[2], x[3]); },
           {},
           {},
           threefry};
    Shape whole;
    for (const Shape& s : shapes) {
      c.name += " " + to_string(s);
      c.arguments.push_back({{u32, s}, 0, 4e9, 0, Fill::whole});
      if (s.rank()) whole = s;
    }
    c.cost.flops = 2.0 * static_cast<double>(whole.elements());
    row.cases.push_back(std::move(c));
  }
  return row;
}

Row bit_not_row() {
  Row row{&prim::bit_not, {}};
  const auto f = [](const Arrays& x) { return op::bit_not(x[0]); };
  add_integer_cases(row, {b1}, f, {{0, 1}}, [](const double* x) { return x[0] == 0; });
  add_integer_cases(row, integers, f, {{-100, 100}}, [](const double* x) { return -1 - x[0]; });
  return row;
}

}  // namespace

std::vector<Row> integer_rows() {
  const auto left = [](double a, double b, DType) { return std::ldexp(a, static_cast<int>(b)); };
  const auto arithmetic = [](double a, double b, DType) {
    return std::floor(std::ldexp(a, -static_cast<int>(b)));
  };
  const auto logical = [](double a, double b, DType t) {
    const auto all = static_cast<std::uint64_t>(static_cast<Whole>(a));
    const auto width = 8 * item_size(t);
    const std::uint64_t own = width == 64 ? all : all & ((std::uint64_t{1} << width) - 1);
    return b == 0 ? a : static_cast<double>(own >> static_cast<unsigned>(b));
  };
  return {comparison(prim::eq, op::eq, [](double a, double b) { return a == b; }),
          comparison(prim::ne, op::ne, [](double a, double b) { return a != b; }),
          comparison(prim::lt, op::lt, [](double a, double b) { return a < b; }),
          comparison(prim::le, op::le, [](double a, double b) { return a <= b; }),
          comparison(prim::gt, op::gt, [](double a, double b) { return a > b; }),
          comparison(prim::ge, op::ge, [](double a, double b) { return a >= b; }),
          bit_not_row(),
          bits_row(prim::bit_and, op::bit_and, [](Whole a, Whole b) { return a & b; }),
          bits_row(prim::bit_or, op::bit_or, [](Whole a, Whole b) { return a | b; }),
          bits_row(prim::bit_xor, op::bit_xor, [](Whole a, Whole b) { return a ^ b; }),
          shift_row(prim::shift_left, op::shift_left, left),
          shift_row(prim::shift_right_arithmetic, op::shift_right_arithmetic, arithmetic),
          shift_row(prim::shift_right_logical, op::shift_right_logical, logical),
          count_row(prim::population_count, op::population_count,
                    [](std::uint64_t v, int) { return std::popcount(v); }),
          count_row(prim::clz, op::clz,
                    [](std::uint64_t v, int width) { return std::countl_zero(v) - (64 - width); }),
          threefry_row()};
}

}  // namespace anadrome::testing

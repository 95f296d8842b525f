// Cases of elementwise primitives: all shapes, rank-0 operands and numbers beside arrays, one operand twice.
#pragma once
#include "primitives/op.h"
#include "rules/table.h"

namespace anadrome::testing {

/// The numbers of one operand.
struct Range {
  double lo, hi;
  int order = 2;
  Fill fill = Fill::apart;
  DType dtype = f64;
};
/// The result for the operands of one element.
using Value = std::function<double(const double*)>;

struct Elementwise {
  std::string name;
  std::function<Array(const Arrays&)> f;
  std::vector<Range> ranges;
  Cost cost;  // for one element
  Value value = {};
  DType result = f64;
  bool twice = true;   // op(x, x) is smooth too
  bool narrow = true;  // takes f32, bf16 and f16 where it takes f64
  double tolerance = 1e-7, exact_tolerance = 1e-11;
};

inline constexpr Cost one_flop{1, 0}, one_transcendental{0, 1}, free_of_cost{0, 0};

/// Every shape and mixture.
std::vector<Case> elementwise_cases(const Elementwise& e);
/// A row for op(x) or op(a, b).
Row unary_row(const Prim& prim, Array (*f)(const Array&), Range range, Cost cost, double (*value)(double));
Row binary_row(const Prim& prim, Array (*f)(const Array&, const Array&), Range a, Range b, Cost cost,
               double (*value)(double, double));
/// Adds cases with integers of these dtypes, from lo to hi (from 0 for unsigned ones).
void add_integer_cases(Row& row, const std::vector<DType>& dtypes,
                       const std::function<Array(const Arrays&)>& f, std::vector<Range> ranges,
                       const Value& value);

/// An integer value as one of the dtype, wrapped around.
double wrapped(std::int64_t value, DType dtype);

}  // namespace anadrome::testing

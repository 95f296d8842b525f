// The table of primitives: one row each, with the cases that every standard check (checks.h) runs on.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "anadrome/detail/functional.h"
#include "core/prim.h"
#include "support/values.h"

namespace anadrome::testing {

using functional::Function;

/// How the numbers of an argument are chosen.
enum class Fill : std::uint8_t {
  apart,         // all numbers of a call differ: no ties
  off_integers,  // at least 0.2 away from every integer: no kinks of rounding, none at 0
  whole          // integers from lo to hi, ties included
};

struct Argument {
  Type type;
  double lo = -1, hi = 1;
  int order = 2;  // how often the primitive is differentiated in it; 0 for integers and bits
  Fill fill = Fill::apart;
};

/// One way to call a primitive. The function records exactly one equation of it.
struct Case {
  std::string name;
  Function f;
  std::vector<Argument> arguments;
  Cost cost;
  /// Expected results, computed without the library; absent where other checks must do.
  std::function<std::vector<Numbers>(const Arrays&)> value = {};
  double tolerance = 1e-7;         // beside finite differences, relative
  double exact_tolerance = 1e-11;  // between two ways that agree but for rounding
  /// Runs inside a vmap with this axis name: arguments then have a leading axis of that vmap.
  std::string axis_name = {};
  bool forward_only = false;  // no reverse derivative
  bool reverse_only = false;  // no forward derivative
  /// Where the transpose is all there is: from the arguments without derivative and cotangents of the results to cotangents
  /// of the others, which come last. The checks then need no more than it.
  Function transposed = {};
};

struct Row {
  const Prim* prim;
  std::vector<Case> cases;
  /// Why the jvp rule contributes nothing: a changed rule would be the same rule.
  const char* silent_jvp = nullptr;
  /// Why eval has nothing to get wrong.
  const char* silent_eval = nullptr;
  /// Why no transform ever calls a rule of this primitive.
  const char* unreached = nullptr;
};

/// All rows, in the order of primitives/list.inc.
const std::vector<Row>& table();
/// The row of a primitive, or null.
const Row* find_row(std::string_view primitive);

// The parts of the table.
std::vector<Row> arithmetic_rows();
std::vector<Row> function_rows();
std::vector<Row> integer_rows();
std::vector<Row> movement_rows();
std::vector<Row> indexing_rows();
std::vector<Row> reduction_rows();
std::vector<Row> structure_rows();
std::vector<Row> control_rows();
std::vector<Row> custom_rows();
std::vector<Row> rewind_rows();
std::vector<Row> implicit_rows();

}  // namespace anadrome::testing

// The standard checks of a primitive's rules, each on one case of the table.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "rules/table.h"

namespace anadrome::testing {

enum class Check : std::uint8_t {
  rules,     // each rule is there, or says why not
  value,     // results against numbers computed without the library
  jvp,       // tangents against finite differences
  linear,    // linearize = jvp; the transpose by the law <ct, J t> = <J^T ct, t>
  vmap,      // against a loop over the parts, of the function and of its derivatives
  second,    // the same laws for the tangent and for the gradient, as functions
  compiled,  // native = eval = eager, bit for bit
  cost,      // what the table states
  text       // parse(print) is the same program; every program passes verify
};
inline constexpr std::array all_checks = {Check::rules,    Check::value, Check::jvp,
                                          Check::linear,   Check::vmap,  Check::second,
                                          Check::compiled, Check::cost,  Check::text};
std::string_view name(Check check);

/// What is wrong; empty when the check passes.
using Failures = std::vector<std::string>;
Failures run_check(const Row& row, const Case& c, Check check);

}  // namespace anadrome::testing

// Comparing results, and the derivatives of functions of one array, for the tests of cases from the field.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include "anadrome/anadrome.h"
#include "support/messages.h"

namespace anadrome::cases {

/// A function of one array. Derivatives of these are compiled once, in near.cpp.
using Fn = std::function<Array(const Array&)>;

/// A number and a vector, f64.
Array number(double value);
Array vec(const std::vector<double>& values);

/// The gradient of a function with one number as value, by reverse mode.
Fn reverse(Fn f);
/// The derivative along ones, by forward mode.
Fn forward(Fn f);
Fn batched(Fn f);
Fn jitted(Fn f);
/// x -> sum(f(x)).
Fn summed(Fn f);
/// Both ways to differentiate a function of a number, and a name for messages.
struct Mode {
  std::string name;
  Fn (*derivative)(Fn);
};
const std::vector<Mode>& modes();
/// The Hessian in all four nestings: forward over reverse, reverse over reverse, forward over forward,
/// reverse over forward.
std::vector<Array> hessians(const Fn& f, const Array& x);

/// Checks f64 elements: equal, both NaN, or within `relative` of the wanted value (of 1 where 0 is wanted).
void expect_values(const Array& got, const std::vector<double>& want, double relative = 1e-12,
                   std::source_location line = std::source_location::current());

using testing::expect_contains;
using testing::message;

}  // namespace anadrome::cases

// Random functions: closures over the values so far, the same for the same seed.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "core/node.h"

namespace anadrome::testing {

/// A function of f64 arrays with results of order 1, as a list of steps.
class Recipe {
 public:
  /// `smooth`: without maxima, sorting and choices, whose derivatives jump.
  Recipe(std::uint32_t seed, int steps, bool smooth);

  /// The outputs for these inputs: arrays, or values of a program being recorded.
  Arrays operator()(const Arrays& inputs) const;
  const std::vector<Type>& inputs() const { return inputs_; }
  /// For failures: "seed 7, 12 steps".
  std::string name() const;

  /// One value from those before it.
  using Step = std::function<Array(const Arrays& values)>;

 private:
  std::uint32_t seed_;
  std::vector<Type> inputs_;
  std::vector<Step> steps_;
  std::vector<std::size_t> outputs_;
};

}  // namespace anadrome::testing

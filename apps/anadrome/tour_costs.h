// `anadrome tour costs`: which direction of differentiation costs what, by the library's own count.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "anadrome/shape.h"
#include "training.h"

/// Floating-point operations for one width of f(x) = sum(tanh(x @ W)); plain unless the name says otherwise.
struct WidthCosts {
  std::int64_t n, forward, grad, jacfwd, jacrev, jacfwd_structured;
};
/// The same for a map from 4 numbers to 256.
struct WideCosts {
  std::int64_t forward, jacfwd, jacrev;
  anadrome::Shape shape;  // of the Jacobian
};
/// What a backward pass through `depth` layers has to keep.
struct Residuals {
  int depth;
  std::int64_t count, bytes;
};

struct CostTour {
  std::vector<WidthCosts> widths;
  WideCosts wide;
  std::vector<Residuals> residuals;
  std::string linearized;  // the program of depth 2
  std::vector<EpochResult> training;
};

/// Makes every figure by calls to the library.
CostTour tour_costs(const Digits& digits, const TrainingOptions& options, const Progress& progress);

/// Tables for people.
void print_text(std::ostream& out, const CostTour& tour, const TrainingOptions& options);
/// One JSON object with the members widths, wide, residuals, training.
void print_json(std::ostream& out, const CostTour& tour);

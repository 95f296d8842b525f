// `anadrome tour rewind`: gradients of deep nets without the memory of their layers, and what rounding makes of that.
#pragma once
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "training.h"

/// The gradient of a net 256 wide at one depth: planned and measured bytes beside arguments and results, and its time.
struct MemoryPoint {
  std::string mode;
  int depth = 0;
  double temp_bytes = 0, measured_bytes = 0, run_ms = 0;
};
/// A net 64 wide: the relative error that a rewind of all layers is predicted to make and makes, cosines of rewound gradients to
/// the stored one, and what the anchors did.
struct CliffPoint {
  double mu = 0;
  int depth = 0;
  double predicted = 0, reconstruction = 0, plain_cosine = 0, anchored_cosine = 0;
  std::int64_t anchors = 0, rerun = 0;
};
/// Relative error of the state after so many layers were undone, and what 1/mu alone predicts.
struct GrowthPoint {
  int undone = 0;
  double error = 0, predicted = 0;
};
/// Test accuracies after training on the digits, 0...1.
struct RewindTraining {
  int seed = 0;
  double stored_accuracy = 0, rewound_accuracy = 0, plain_accuracy = 0;
  std::vector<double> stored_curve, rewound_curve;  // by epoch
};

struct RewindTour {
  std::vector<MemoryPoint> memory;
  std::vector<CliffPoint> cliff;
  std::vector<GrowthPoint> growth;
  std::vector<RewindTraining> training;
};
struct RewindOptions {
  std::vector<int> depths = {8, 32, 128, 512};
  TrainingOptions training = {15, 5};
};

/// Makes every figure by calls to the library; each gradient of the memory table in a process of its own.
RewindTour tour_rewind(const Digits& digits, const RewindOptions& options, const Progress& progress);
/// Measures one gradient in this process.
MemoryPoint measure_memory(const std::string& mode, int depth);

void print_text(std::ostream& out, const RewindTour& tour);
/// One JSON object with the members memory, cliff, training; what is no number is null.
void print_json(std::ostream& out, const RewindTour& tour);
/// One self-contained page with the plots.
std::string rewind_page(const RewindTour& tour);

// A two-layer tanh classifier of handwritten digits, trained by the gradient of its loss.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "anadrome/array.h"

/// Images as f32 [rows, pixels] in 0...1 and labels as i32 [rows].
struct Examples {
  anadrome::Array images, labels;
};
/// Every fifth row, from the fifth on, is for testing; the others train.
struct Digits {
  Examples train, test;
};
/// Reads an array [rows, pixels + 1] whose last column is the label 0...9. Throws InputError when it is anything else.
Digits load_digits(const std::filesystem::path& path);

struct TrainingOptions {
  int epochs = 12;
  int seeds = 5;
};
/// After an epoch: mean loss of its minibatches, and the share (0...1) of test rows classified right.
struct EpochResult {
  int epoch;
  double loss, accuracy;
};
/// Called with a line for the user about what is done now.
using Progress = std::function<void(const std::string&)>;

/// Trains once per seed from 0 on and returns the means over the seeds, one per epoch.
std::vector<EpochResult> train_classifier(const Digits& digits, const TrainingOptions& options,
                                          const Progress& progress);

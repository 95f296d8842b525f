// Runs the programs of programs.json.
#pragma once
#include <filesystem>

#include "conformance/json_arrays.h"
#include "conformance/report.h"

namespace anadrome::conformance {

/// Runs every program of `programs` in float64 and float32 and reports each. `path` is where the table came
/// from.
void run_programs(const Json& programs, const std::filesystem::path& path, const Options& options,
                  Report& report);

}  // namespace anadrome::conformance

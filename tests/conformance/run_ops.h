// Runs the cases of ops.json.
#pragma once
#include <filesystem>

#include "conformance/json_arrays.h"
#include "conformance/report.h"

namespace anadrome::conformance {

/// Runs every case of `cases` and reports it. `path` is where the table came from.
void run_ops(const Json& cases, const std::filesystem::path& path, const Options& options, Report& report);

}  // namespace anadrome::conformance

// Runs the built program `anadrome` and keeps what it prints.
#pragma once
#include <string>
#include <vector>

namespace anadrome::testing {

struct Finished {
  int exit_code;  // -1 when it was ended by a signal
  std::string out, err;
};
/// Runs build/.../bin/anadrome with these arguments; its stdin is empty.
Finished run_program(const std::vector<std::string>& arguments);

/// Writes a file into the folder of temporary files and returns its path.
std::string temporary_file(const std::string& name, const std::string& bytes);

}  // namespace anadrome::testing

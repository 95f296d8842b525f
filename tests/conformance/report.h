// Counts of cases, and the line printed for each that failed.
#pragma once
#include <iostream>
#include <string>

namespace anadrome::conformance {

/// What the command line asks for.
struct Options {
  std::string backend = "native";
  std::string filter;  // only cases whose id contains it
};

/// Prints one line per failing case and counts the rest.
class Report {
 public:
  void passed() { ++passed_; }
  void skipped() { ++skipped_; }
  void failed(const std::string& id, const std::string& why) {
    ++failed_;
    std::cout << "FAIL " << id << ": " << why << '\n';
  }
  /// The last line of the output. Returns the exit code.
  int close() const {
    std::cout << passed_ << " passed, " << failed_ << " failed, " << skipped_ << " skipped" << std::endl;
    return failed_ == 0 ? 0 : 1;
  }

 private:
  int passed_ = 0, failed_ = 0, skipped_ = 0;
};

/// A text on one line: what an exception says may have several.
inline std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

}  // namespace anadrome::conformance

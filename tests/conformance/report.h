// Counts of cases, and the line printed for each that failed.
#pragma once
#include <iostream>
#include <set>
#include <string>
#include <utility>

namespace anadrome::conformance {

/// What the command line asks for.
struct Options {
  std::string backend = "native";
  std::string filter;  // only cases whose id contains it
  std::set<std::string> known;
};

/// Prints one line per failing case and counts the rest.
class Report {
 public:
  /// `known`: ids of cases that are expected to fail.
  explicit Report(std::set<std::string> known = {}) : known_(std::move(known)) {}
  void passed() { ++passed_; }
  void skipped() { ++skipped_; }
  void failed(const std::string& id, const std::string& why) {
    ++failed_;
    surprises_ += known_.erase(id) == 0;
    std::cout << "FAIL " << id << ": " << why << '\n';
  }
  /// The last line of the output. Returns the exit code: 0 when just the known cases failed.
  int close() const {
    for (const std::string& id : known_) std::cout << "NOW PASSES " << id << ": take it off the list\n";
    std::cout << passed_ << " passed, " << failed_ << " failed, " << skipped_ << " skipped" << std::endl;
    return surprises_ == 0 && known_.empty() ? 0 : 1;
  }

 private:
  std::set<std::string> known_;
  int passed_ = 0, failed_ = 0, skipped_ = 0, surprises_ = 0;
};

/// A text on one line: what an exception says may have several.
inline std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

}  // namespace anadrome::conformance

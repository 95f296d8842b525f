// What a call throws, for tests of error messages.
#pragma once
#include <gtest/gtest.h>

#include <source_location>
#include <string>
#include <typeinfo>
#include <vector>

#include "anadrome/error.h"

namespace anadrome::testing {

/// The text of the error of class E (exactly) that `f` throws; another outcome is told in words.
template <class E, class F> std::string message(F f) {
  try {
    (void)f();
  } catch (const E& e) {
    return typeid(e) == typeid(E) ? e.what() : std::string("an error of a derived class: ") + e.what();
  } catch (const std::exception& e) {
    return std::string("an error of another class: ") + e.what();
  }
  return "no error";
}
/// Checks that a text contains all parts.
inline void expect_contains(const std::string& text, const std::vector<std::string>& parts,
                            std::source_location line = std::source_location::current()) {
  for (const std::string& part : parts)
    if (text.find(part) == std::string::npos)
      ADD_FAILURE_AT(line.file_name(), static_cast<int>(line.line()))
          << "'" << part << "' is not in: " << text;
}
/// The name of the calling file and a colon: as a source line starts in messages.
inline std::string this_file(std::source_location line = std::source_location::current()) {
  const std::string path = line.file_name();
  return path.substr(path.rfind('/') + 1) + ":";
}
/// Checks that `bad` throws exactly E with all parts in its text, and that `good` throws nothing.
template <class E, class Bad, class Good>
void expect_error(Bad bad, const std::vector<std::string>& parts, Good good,
                  std::source_location line = std::source_location::current()) {
  expect_contains(message<E>(bad), parts, line);
  try {
    (void)good();
  } catch (const std::exception& e) {
    ADD_FAILURE_AT(line.file_name(), static_cast<int>(line.line())) << "the right call throws: " << e.what();
  }
}

}  // namespace anadrome::testing

// The words that the printer and the parser of programs share.
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/attrs.h"

namespace anadrome {

/// Words of the language; a variable of that name is printed with a `_` behind it.
inline constexpr std::array<std::string_view, 7> reserved_words = {"lambda", "let", "in", "true",
                                                                   "false",  "inf", "nan"};
constexpr bool is_reserved(std::string_view word) {
  return std::find(reserved_words.begin(), reserved_words.end(), word) != reserved_words.end();
}
/// Reserved words that are numbers.
constexpr bool is_number_word(std::string_view word) {
  return word == "true" || word == "false" || word == "inf" || word == "nan";
}

/// The word of an enumerator; empty for a number that is none.
constexpr std::string_view tag(IndexMode mode) {
  switch (mode) {
    case IndexMode::clip:
      return "clip";
    case IndexMode::fill_or_drop:
      return "fill_or_drop";
    case IndexMode::zero_or_drop:
      return "zero_or_drop";
    case IndexMode::clip_or_drop:
      return "clip_or_drop";
  }
  return "";
}

constexpr std::string_view tag(Save save) {
  switch (save) {
    case Save::nothing:
      return "nothing";
    case Save::everything:
      return "everything";
    case Save::dots:
      return "dots";
    case Save::names:
      return "names";
  }
  return "";
}

/// "2.0:f32", "-inf:f64", "3:i32", "true:b1": the shortest text that reads back to the same bits.
std::string to_string(const Literal& literal);
/// One equation for an error message; sub-programs are left out. Prints invalid equations as far as it can.
std::string equation_text(const Program& program, const Equation& equation);

}  // namespace anadrome

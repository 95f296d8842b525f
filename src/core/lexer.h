// Tokens of the text of programs.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace anadrome {

struct Token {
  enum class Kind : unsigned char { word, number, quoted, mark, end };
  Kind kind;
  std::string text;  // of a quoted token: what is between the quotes, escapes replaced
  int line, column;

  bool is(std::string_view mark) const { return kind == Kind::mark && text == mark; }
  bool is_word(std::string_view word) const { return kind == Kind::word && text == word; }
};

/// Splits the text; the last token is the end. `#` starts a comment up to the end of the line. Throws
/// ParseError.
std::vector<Token> tokenize(std::string_view text);

/// Throws ParseError "line 3, column 7: expected a dtype, found 'f33'".
[[noreturn]] void throw_expected(const Token& found, std::string_view expected);

}  // namespace anadrome

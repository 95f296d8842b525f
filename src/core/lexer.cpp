// Splits the text of programs into tokens.
#include "core/lexer.h"

#include "anadrome/error.h"

namespace anadrome {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  std::vector<Token> run() {
    std::vector<Token> tokens;
    do tokens.push_back(next());
    while (tokens.back().kind != Token::Kind::end);
    return tokens;
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool done() const { return at_ == text_.size(); }
  char take() {
    const char c = text_[at_++];
    if (c == '\n')
      ++line_, column_ = 1;
    else
      ++column_;
    return c;
  }
  void skip_blanks() {
    while (!done()) {
      if (peek() == '#') {
        while (!done() && peek() != '\n') take();
      } else if (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') {
        take();
      } else {
        return;
      }
    }
  }
  Token next() {
    skip_blanks();
    Token token{Token::Kind::end, "", line_, column_};
    if (done()) return token;
    const char c = peek();
    if (is_digit(c) || (c == '-' && in_word(peek(1))))
      read_number(token);
    else if (c == '"')
      read_quoted(token);
    else if (in_word(c))
      read_word(token);
    else if (std::string_view("{}[]();:.,=@&*").find(c) != std::string_view::npos) {
      token.kind = Token::Kind::mark;
      token.text = take();
    } else {
      token.kind = Token::Kind::mark;
      token.text = c;
      throw_expected(token, "a word, a number or a mark of the language");
    }
    return token;
  }
  void read_word(Token& token) {
    token.kind = Token::Kind::word;
    while (in_word(peek())) token.text += take();
  }
  /// Digits with a point and an exponent, or -inf, -nan; whether it is a number is seen when it is converted.
  void read_number(Token& token) {
    token.kind = Token::Kind::number;
    token.text = take();
    while (in_word(peek()) || peek() == '.' || is_exponent_sign(token.text)) token.text += take();
  }
  bool is_exponent_sign(std::string_view before) const {
    return (peek() == '+' || peek() == '-') && before.back() == 'e';
  }
  void read_quoted(Token& token) {
    token.kind = Token::Kind::quoted;
    take();
    while (!done() && peek() != '"') {
      char c = take();
      if (c == '\\' && !done()) {
        c = take();
        if (c == 'n') c = '\n';
      }
      token.text += c;
    }
    if (done()) throw_expected({Token::Kind::end, "", line_, column_}, "the closing '\"' of a text");
    take();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1, column_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  return Lexer(text).run();
}

void throw_expected(const Token& found, std::string_view expected) {
  const bool end = found.kind == Token::Kind::end;
  throw ParseError("parse_program: line " + std::to_string(found.line) + ", column " +
                   std::to_string(found.column) + ": expected " + std::string(expected) + ", found " +
                   (end ? "the end of the text" : "'" + found.text + "'") + ".");
}

}  // namespace anadrome

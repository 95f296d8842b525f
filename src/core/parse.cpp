// Reads the text of programs: the inverse of core/print.cpp.
//
//   program   { lambda BINDER... ; BINDER... . let EQUATION... in (ATOM, ...) }
//   binder    NAME:TYPE
//   equation  BINDER... = PRIMITIVE[@REGION][[NAME=VALUE, ...]] ATOM...
//   value     INTEGER | true | false | WORD | "TEXT" | (VALUE, ...) | [&LABEL] PROGRAM | *LABEL
//   atom      NAME | NUMBER:DTYPE
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "anadrome/detail/fields.h"
#include "anadrome/error.h"
#include "core/intern.h"
#include "core/lexer.h"
#include "core/text.h"

namespace anadrome {
namespace {

template <class T> std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The enumerator of this word; enumerators are numbered from 0.
template <class Enum> std::optional<Enum> from_tag(std::string_view word, int count) {
  for (int i = 0; i < count; ++i)
    if (tag(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  return std::nullopt;
}
std::optional<DType> dtype_from(std::string_view word) {
  return from_tag<DType>(word, static_cast<int>(DType::c128) + 1);
}

// ---- attributes
// ----------------------------------------------------------------------------------------------

/// The value of an attribute before it is known what type the field has.
struct Value {
  const Token* token;
  bool is_list = false;
  std::vector<Value> list;
  SubProgram program;
};

void read(const Value& value, std::int64_t& out) {
  const auto integer = value.token->kind == Token::Kind::number ? number<std::int64_t>(value.token->text)
                                                                : std::optional<std::int64_t>();
  if (!integer) throw_expected(*value.token, "an integer");
  out = *integer;
}
void read(const Value& value, Real& out) {
  const bool is_number = value.token->kind == Token::Kind::number || is_number_word(value.token->text);
  const auto real = is_number ? number<double>(value.token->text) : std::optional<double>();
  if (!real) throw_expected(*value.token, "a number");
  out = {*real};
}
void read(const Value& value, bool& out) {
  if (!value.token->is_word("true") && !value.token->is_word("false"))
    throw_expected(*value.token, "'true' or 'false'");
  out = value.token->text == "true";
}
void read(const Value& value, DType& out) {
  const auto dtype = dtype_from(value.token->text);
  if (!dtype || value.token->kind != Token::Kind::word) throw_expected(*value.token, "a dtype");
  out = *dtype;
}
void read(const Value& value, IndexMode& out) {
  const auto mode = from_tag<IndexMode>(value.token->text, 16);
  if (!mode || value.token->kind != Token::Kind::word)
    throw_expected(*value.token, "what to do with an index outside (clip, fill_or_drop ...)");
  out = *mode;
}
void read(const Value& value, std::string& out) {
  if (value.token->kind != Token::Kind::quoted) throw_expected(*value.token, "a text in quotes");
  out = value.token->text;
}
void read(const Value& value, Save& out) {
  const auto save = from_tag<Save>(value.token->text, 4);
  if (!save || value.token->kind != Token::Kind::word)
    throw_expected(*value.token, "what a checkpoint saves (nothing, everything, dots, names)");
  out = *save;
}
void read(const Value& value, SubProgram& out) {
  if (!value.program.program && !value.token->is_word("none")) throw_expected(*value.token, "a program, or 'none'");
  out = value.program;
}
void read(const Value& value, LateRuleRef& out) {
  if (!value.token->is_word("none"))
    throw_expected(*value.token, "'none': a derivative rule that is recorded late has no text");
  out = {};
}
template <class List>
requires requires(List& list) {
  list.push_back(list[0]);
}
void read(const Value& value, List& out) {
  if (!value.is_list) throw_expected(*value.token, "a list in parentheses");
  for (const Value& v : value.list) {
    typename List::value_type element{};
    read(v, element);
    out.push_back(element);
  }
}

struct NamedValue {
  std::string name;
  Value value;
};

template <class T> bool read_alternative(const std::vector<NamedValue>& fields, Attrs& out) {
  constexpr auto& names = detail::field_names<T>;
  if (!std::equal(names.begin(), names.end(), fields.begin(), fields.end(),
                  [](std::string_view name, const NamedValue& field) { return name == field.name; }))
    return false;
  T value{};
  std::size_t i = 0;
  detail::for_each_field(value, [&](auto& field) { read(fields[i++].value, field); });
  out = Attrs(value);
  return true;
}
template <class... T>
bool read_any(const std::vector<NamedValue>& fields, Attrs& out, const std::variant<T...>*) {
  return (read_alternative<T>(fields, out) || ...);
}
/// The alternative is the one whose fields have these names. Kept out of line: its frame holds one of each
/// alternative, and its caller recurses.
[[gnu::noinline]] Attrs read_attrs(const std::vector<NamedValue>& fields, const Token& open) {
  Attrs out;
  if (!read_any(fields, out, static_cast<const AttrsVariant*>(nullptr)))
    throw_expected(open, "the attributes of a primitive, by name and in order");
  return out;
}

// ---- literals
// ------------------------------------------------------------------------------------------------

/// The number and whether there is one. A narrow float is read as one, so that it is rounded once.
std::pair<double, bool> real_number(std::string_view text, DType dtype) {
  if (dtype == DType::f32 || dtype == DType::c64) {
    const std::optional<float> value = number<float>(text);
    return {value.value_or(0.0f), value.has_value()};
  }
  const std::optional<double> value = number<double>(text);
  return {value.value_or(0.0), value.has_value()};
}
Literal real_literal(const Token& token, DType dtype) {
  const auto [value, is_number] = real_number(token.text, dtype);
  const Literal literal = Literal::of(value, dtype);
  if (!is_number || std::isinf(value) != std::isinf(literal.as_double()))
    throw_expected(token, "a number that " + std::string(tag(dtype)) + " can hold");
  return literal;
}
Literal integer_literal(const Token& token, DType dtype) {
  std::optional<std::int64_t> value = number<std::int64_t>(token.text);
  if (const auto large = number<std::uint64_t>(token.text); large && dtype == DType::u64)
    value = static_cast<std::int64_t>(*large);
  else if (dtype == DType::u64)
    value.reset();
  if (!value || Literal::of_integer(*value, dtype).as_integer() != *value)
    throw_expected(token, "an integer that " + std::string(tag(dtype)) + " can hold");
  return Literal::of_integer(*value, dtype);
}
Literal read_literal(const Token& token, DType dtype) {
  const bool truth = token.is_word("true") || token.is_word("false");
  if (truth != (dtype == DType::b1)) throw_expected(token, truth ? "a number" : "'true' or 'false'");
  if (truth) return Literal::of_integer(token.text == "true", dtype);
  return is_integer(dtype) ? integer_literal(token, dtype) : real_literal(token, dtype);
}

// ---- programs
// ------------------------------------------------------------------------------------------------

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(tokenize(text)) {}
  Program run() {
    Program program = read_program();
    if (peek().kind != Token::Kind::end) throw_expected(peek(), "the end of the text");
    return program;
  }

 private:
  struct Scope {
    Program program;
    std::unordered_map<std::string_view, VarId> names;
  };

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() {
    const Token& token = peek();
    ++at_;
    return token;
  }
  bool accept(std::string_view mark) {
    if (!peek().is(mark)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view mark) {
    if (!accept(mark)) throw_expected(peek(), "'" + std::string(mark) + "'");
  }
  void expect_word(std::string_view word) {
    if (!peek().is_word(word)) throw_expected(peek(), "'" + std::string(word) + "'");
    ++at_;
  }
  const Token& word(std::string_view what) {
    if (peek().kind != Token::Kind::word) throw_expected(peek(), what);
    return take();
  }
  std::int64_t integer(std::string_view what, std::int64_t smallest, std::int64_t largest) {
    const auto value = peek().kind == Token::Kind::number ? number<std::int64_t>(peek().text)
                                                          : std::optional<std::int64_t>();
    if (!value || *value < smallest || *value > largest) throw_expected(peek(), what);
    ++at_;
    return *value;
  }
  /// Items up to `close`, with commas between them.
  template <class Item> void list(std::string_view close, Item item) {
    if (accept(close)) return;
    do item();
    while (accept(","));
    if (!accept(close)) throw_expected(peek(), "',' or '" + std::string(close) + "'");
  }

  DType read_dtype() {
    const Token& token = word("a dtype");
    const auto dtype = dtype_from(token.text);
    if (!dtype) throw_expected(token, "a dtype");
    return *dtype;
  }
  Type read_type() {
    if (peek().is_word("Ref") && peek(1).is("{")) {
      at_ += 2;
      Type type = read_type();
      type.is_ref = true;
      expect("}");
      return type;
    }
    Type type{read_dtype(), {}, false};
    expect("[");
    list("]",
         [&] { type.shape.push_back(integer("an extent", 0, std::numeric_limits<std::int64_t>::max())); });
    return type;
  }

  bool at_binder() const {
    return peek().kind == Token::Kind::word && !is_number_word(peek().text) && peek(1).is(":");
  }
  VarId read_binder(Scope& scope) {
    const Token& name = take();
    expect(":");
    if (is_reserved(name.text)) throw_expected(name, "a name that is no word of the language");
    const VarId id = static_cast<VarId>(scope.program.types.size());
    if (!scope.names.emplace(name.text, id).second) throw_expected(name, "a name that is not defined yet");
    scope.program.types.push_back(read_type());
    return id;
  }

  bool at_atom() const {
    const Token& token = peek();
    if (token.kind == Token::Kind::number) return true;
    return token.kind == Token::Kind::word && !token.is_word("in") && !at_binder();
  }
  Atom read_atom(const Scope& scope) {
    const Token& token = take();
    if (token.kind == Token::Kind::number ||
        (token.kind == Token::Kind::word && is_number_word(token.text))) {
      expect(":");
      return Atom::number(read_literal(token, read_dtype()));
    }
    const auto known = token.kind == Token::Kind::word ? scope.names.find(token.text) : scope.names.end();
    if (known == scope.names.end()) throw_expected(token, "a variable that is defined before, or a number");
    return Atom::variable(known->second);
  }

  SubProgram read_sub_program() {
    if (accept("*")) {
      const Token& token = peek();
      const auto known = labelled_.find(integer("a label", 1, max_label));
      if (known == labelled_.end()) throw_expected(token, "the label of a program before this one");
      return {known->second, nullptr};
    }
    const bool labelled = accept("&");
    const std::int64_t label = labelled ? integer("a label", 1, max_label) : 0;
    ProgramPtr program = intern(read_program());
    if (labelled) labelled_[label] = program;
    return {program, nullptr};
  }
  Value read_value() {
    Value value{&peek(), false, {}, {}};
    if (peek().is("{") || peek().is("&") || peek().is("*")) {
      value.program = read_sub_program();
    } else if (accept("(")) {
      value.is_list = true;
      const Nesting nesting(*this);
      list(")", [&] { value.list.push_back(read_value()); });
    } else if (peek().kind == Token::Kind::end || peek().kind == Token::Kind::mark) {
      throw_expected(peek(), "the value of an attribute");
    } else {
      take();
    }
    return value;
  }
  Attrs read_attributes() {
    const Token& open = peek();
    if (!accept("[")) return {};
    std::vector<NamedValue> fields;
    list("]", [&] {
      const Token& name = word("the name of an attribute");
      expect("=");
      fields.push_back({name.text, read_value()});
    });
    return read_attrs(fields, open);
  }

  void read_equation(Scope& scope) {
    Equation e;
    std::vector<std::pair<const Token*, Type>> results;
    const std::size_t start = at_;
    skip_binders();
    expect("=");
    const Token& name = word("the name of a primitive");
    e.prim = find_primitive(name.text);
    if (!e.prim) throw_expected(name, "the name of a primitive");
    if (accept("@")) e.region = static_cast<std::uint32_t>(integer("a region", 0, Atom::no_var));
    e.attrs = read_attributes();
    while (at_atom()) e.operands.push_back(read_atom(scope));
    const std::size_t end = at_;
    at_ =
        start;  // the results are defined after the operands are read: an equation cannot use its own results
    while (at_binder()) e.results.push_back(read_binder(scope));
    at_ = end;
    scope.program.equations.push_back(std::move(e));
  }
  void skip_binders() {
    while (at_binder()) {
      at_ += 2;
      read_type();
    }
  }

  Program read_program() {
    const Nesting nesting(*this);
    Scope scope;
    expect("{");
    expect_word("lambda");
    while (at_binder()) scope.program.captures.push_back(read_binder(scope));
    expect(";");
    while (at_binder()) scope.program.inputs.push_back(read_binder(scope));
    expect(".");
    expect_word("let");
    while (at_binder() || peek().is("=")) read_equation(scope);
    if (!peek().is_word("in")) throw_expected(peek(), "an equation or 'in'");
    ++at_;
    expect("(");
    list(")", [&] { scope.program.outputs.push_back(read_atom(scope)); });
    expect("}");
    canonicalize(scope.program);
    return std::move(scope.program);
  }

  /// Bounds the recursion: texts come from outside.
  struct Nesting {
    explicit Nesting(Parser& p) : parser(p) {
      if (++parser.depth_ > max_depth)
        throw_expected(parser.peek(), "at most 250 programs inside one another");
    }
    ~Nesting() { --parser.depth_; }
    Nesting(const Nesting&) = delete;
    Parser& parser;
  };
  static constexpr int max_depth = 250;
  static constexpr std::int64_t max_label = std::numeric_limits<std::int64_t>::max();

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::map<std::int64_t, ProgramPtr> labelled_;
};

}  // namespace

Program parse_program(std::string_view text) {
  return Parser(text).run();
}

}  // namespace anadrome

// The text of programs. core/parse.cpp reads it back.
#include <charconv>
#include <cmath>
#include <map>
#include <ostream>

#include "core/intern.h"
#include "core/prim.h"
#include "core/text.h"

namespace anadrome {
namespace {

// ---- numbers
// -------------------------------------------------------------------------------------------------

template <class T, class... Precision> std::string digits(T value, Precision... precision) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, precision...).ptr;
  return std::string(buffer, end);
}

/// As few digits as still round to the same 16-bit float.
std::string short_digits(double value, DType dtype) {
  for (int precision = 1; precision < 9; ++precision) {
    const std::string text = digits(value, std::chars_format::general, precision);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    if (Literal::of(back, dtype).as_double() == value) return text;
  }
  return digits(value);
}

std::string real_text(double value, DType dtype) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text;
  if (dtype == DType::bf16 || dtype == DType::f16)
    text = short_digits(value, dtype);
  else if (dtype == DType::f32 || dtype == DType::c64)
    text = digits(static_cast<float>(value));
  else
    text = digits(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string value_text(const Literal& l) {
  if (l.dtype == DType::b1) return l.bits ? "true" : "false";
  if (is_unsigned(l.dtype)) return std::to_string(l.bits);
  if (is_signed(l.dtype)) return std::to_string(l.as_integer());
  return real_text(l.as_double(), l.dtype);
}

// ---- names
// ---------------------------------------------------------------------------------------------------

/// a ... z, aa, ab ...
std::string nth_name(std::size_t n) {
  std::string name;
  for (++n; n > 0; n = (n - 1) / 26) name.insert(name.begin(), static_cast<char>('a' + (n - 1) % 26));
  return is_reserved(name) ? name + '_' : name;
}

/// Names by order of definition.
class Names {
 public:
  explicit Names(const Program& program) : program_(program), names_(program.types.size()) {
    for (VarId v : program.captures) define(v);
    for (VarId v : program.inputs) define(v);
    for (const Equation& e : program.equations)
      for (VarId v : e.results) define(v);
  }
  std::string of(const Atom& a) const { return a.is_var() ? of(a.var) : to_string(a.literal); }
  std::string of(VarId v) const {
    return v < names_.size() && !names_[v].empty() ? names_[v] : '?' + std::to_string(v);
  }
  /// "a:f32[2]"
  std::string binder(VarId v) const {
    return of(v) + ':' + (v < program_.types.size() ? to_string(program_.types[v]) : "?");
  }

 private:
  void define(VarId v) {
    if (v < names_.size()) names_[v] = nth_name(count_++);
  }
  const Program& program_;
  std::vector<std::string> names_;
  std::size_t count_ = 0;
};

using PrintSub = std::function<std::string(const SubProgram&)>;

std::string equation_line(const Names& names, const Equation& e, const PrintSub& print_sub) {
  std::string out;
  for (VarId v : e.results) out += names.binder(v) + ' ';
  out += "= ";
  out += e.prim ? e.prim->name : "?";
  if (e.region) out += '@' + std::to_string(e.region);
  out += to_string(e.attrs, print_sub);
  for (const Atom& a : e.operands) out += ' ' + names.of(a);
  return out;
}

// ---- programs
// ------------------------------------------------------------------------------------------------

/// Prints programs. A sub-program that occurs several times is written once, as `&1 { ... }`, and then named
/// `*1`, so that the text grows with the number of different sub-programs, not with the number of calls.
class Printer {
 public:
  explicit Printer(bool with_source) : with_source_(with_source) {}
  std::string print(const Program& program, const SourceTable* sources) {
    count_uses(program);
    return text(program, sources, 0);
  }

 private:
  struct Shared {
    int uses = 0, label = 0;
  };
  using Key = std::pair<const Program*, const SourceTable*>;

  Shared& shared(const SubProgram& sub) {
    ProgramPtr& same = interned_[sub.program.get()];
    if (!same) same = intern(sub.program);
    return shared_[Key(same.get(), with_source_ ? sub.sources.get() : nullptr)];
  }
  void count_uses(const Program& program) {
    for (const Equation& e : program.equations)
      for (const SubProgram* sub : sub_programs(e.attrs))
        if (shared(*sub).uses++ == 0) count_uses(**sub);
  }
  std::string sub_text(const SubProgram& sub, int indent) {
    Shared& s = shared(sub);
    if (s.label) return '*' + std::to_string(s.label);
    std::string prefix;
    if (s.uses > 1) {
      s.label = ++labels_;
      prefix = '&' + std::to_string(s.label) + ' ';
    }
    return prefix + text(*sub, sub.sources.get(), indent);
  }
  std::string source_comment(const Equation& e, const SourceTable* sources) const {
    if (!with_source_ || !sources || e.origin >= sources->size()) return "";
    const std::source_location& at = (*sources)[e.origin];
    if (at.line() == 0) return "";
    return "  # " + std::string(at.file_name()) + ':' + std::to_string(at.line());
  }
  std::string text(const Program& program, const SourceTable* sources, int indent) {
    const Names names(program);
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    std::string out = "{ lambda ";
    for (VarId v : program.captures) out += names.binder(v) + ' ';
    out += "; ";
    for (VarId v : program.inputs) out += names.binder(v) + ' ';
    out += ". let\n";
    const PrintSub print_sub = [&](const SubProgram& sub) { return sub_text(sub, indent + 4); };
    for (const Equation& e : program.equations)
      out += margin + "    " + equation_line(names, e, print_sub) + source_comment(e, sources) + '\n';
    out += margin + "  in (";
    for (std::size_t i = 0; i < program.outputs.size(); ++i)
      out += (i ? ", " : "") + names.of(program.outputs[i]);
    return out + ") }";
  }

  bool with_source_;
  std::map<const Program*, ProgramPtr> interned_;
  std::map<Key, Shared> shared_;
  int labels_ = 0;
};

}  // namespace

std::string to_string(const Literal& literal) {
  return value_text(literal) + ':' + std::string(tag(literal.dtype));
}

std::string equation_text(const Program& program, const Equation& equation) {
  return equation_line(Names(program), equation, [](const SubProgram&) { return std::string("{...}"); });
}

std::string to_string(const Program& program, bool with_source) {
  return Printer(with_source).print(program, program.sources.get());
}

std::ostream& operator<<(std::ostream& out, const Program& program) {
  return out << to_string(program);
}

}  // namespace anadrome

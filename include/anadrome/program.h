// Program: what a recorded function is. Immutable data that every transform takes and returns.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "anadrome/detail/inline_vector.h"
#include "anadrome/shape.h"

namespace anadrome {

struct Prim;     // a primitive: its name and all its rules
struct Program;  // below
struct AttrsBox;
using ProgramPtr = std::shared_ptr<const Program>;

/// A number written into a program. Equal when dtype and bits are equal: -0.0 differs from 0.0, NaN equals itself.
struct Literal {
  DType dtype = DType::f32;
  std::uint64_t bits = 0;  // the value as a double for floats, as a (sign-extended) 64-bit integer otherwise

  /// Rounds `value` to `dtype`.
  static Literal of(double value, DType dtype);
  static Literal of_integer(std::int64_t value, DType dtype);
  double as_double() const;
  std::int64_t as_integer() const;
  /// Writes the element, item_size(dtype) bytes.
  void store(void* out) const;
  /// Reads an element.
  static Literal load(DType dtype, const void* in);
  friend bool operator==(const Literal&, const Literal&) = default;
};

/// Names a value inside one program: an index into `Program::types`.
using VarId = std::uint32_t;

/// What an equation reads: a variable or a scalar literal.
struct Atom {
  static constexpr VarId no_var = ~VarId{0};
  VarId var = no_var;
  Literal literal;
  bool is_var() const { return var != no_var; }
  static Atom variable(VarId id) { return {id, {}}; }
  static Atom number(Literal l) { return {no_var, l}; }
  friend bool operator==(const Atom&, const Atom&) = default;
};

/// Attributes of an equation: one of a closed set of plain aggregates (src/core/attrs.h), shared and compared by value.
class Attrs {
 public:
  Attrs() = default;
  explicit Attrs(std::shared_ptr<const AttrsBox> box) : box_(std::move(box)) {}
  template <class T>
  Attrs(const T& value);  // any alternative of the set; defined in core/attrs.h
  template <class T>
  const T& as() const;
  const AttrsBox* box() const { return box_.get(); }
  friend bool operator==(const Attrs& a, const Attrs& b);

 private:
  std::shared_ptr<const AttrsBox> box_;
};

/// `results = primitive[attributes] operands`.
struct Equation {
  const Prim* prim = nullptr;
  Attrs attrs;
  detail::InlineVector<Atom, 3> operands;
  detail::InlineVector<VarId, 2> results;
  /// 0 for the primal; a fresh number for what is recomputed. Equations of different regions are never merged.
  std::uint32_t region = 0;
  /// Index of the C++ line in the source table of the function this was recorded from.
  std::uint32_t origin = 0;
  template <class T>
  const T& as() const {
    return attrs.as<T>();
  }
};

/// The C++ lines of a recorded function, by `Equation::origin`. Kept beside the structure, so that two functions that
/// share a structure keep their own lines.
using SourceTable = std::vector<std::source_location>;

/// `{ lambda captures ; inputs . let equations in (outputs) }`. Variables are numbered captures first, then inputs, then
/// results in order of definition.
struct Program {
  std::vector<Type> types;  // by VarId
  std::vector<VarId> captures, inputs;
  std::vector<Equation> equations;
  std::vector<Atom> outputs;
  std::uint64_t hash = 0;  // structural; set when the program is closed
  std::shared_ptr<const SourceTable> sources;  // may be null; not part of the structure

  const Type& type(VarId v) const { return types[v]; }
  Type type(const Atom& a) const { return a.is_var() ? types[a.var] : Type{a.literal.dtype, {}, false}; }
  std::vector<Type> input_types() const;
  std::vector<Type> capture_types() const;
  std::vector<Type> output_types() const;
  /// Number of equations of the primitive `name`, sub-programs included.
  std::int64_t count(std::string_view name) const;
};

/// The text of a program, with stable names: `{ lambda a:f32[3] ; b:f32[] . let c:f32[3] = mul a b in (c) }`.
/// `with_source` adds the C++ line of each equation.
std::string to_string(const Program& program, bool with_source = false);
std::ostream& operator<<(std::ostream& out, const Program& program);
/// Reads the text back. Throws ParseError with line, column and what was expected.
Program parse_program(std::string_view text);
/// Checks every type, that each variable is defined once and before use, and the rules on references.
/// Throws InternalError naming the equation that is wrong.
void verify(const Program& program);
/// True if two programs have the same structure: names, sources and origins do not matter.
bool same_structure(const Program& a, const Program& b);

}  // namespace anadrome

// Builder: records equations into a program. Scopes: which builder an operation goes to.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/prim.h"

namespace anadrome {

/// A closed program and the values of its captures in the enclosing scope.
struct Recording {
  std::shared_ptr<Program> program;  // of this recording alone: may be moved from
  Arrays captures;
};

/// Records one function. Operands that belong to an ancestor become captures; anything else is an error.
class Builder {
 public:
  /// `parent`: the builder of the enclosing function, or null: then concrete arrays are captured here.
  explicit Builder(std::string name, Builder* parent = nullptr);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  Array input(const Type& type);
  /// The atom for a value; records a capture where it comes from outside.
  Atom import(const Array& a);
  /// Appends an equation and returns its results.
  Arrays record(const Prim& prim, std::span<const Array> operands, const Attrs& attrs);
  Array record1(const Prim& prim, std::span<const Array> operands, const Attrs& attrs);
  bool owns(const Array& a) const { return is_variable(a) && a.node()->tag == tag_; }
  bool is_ancestor(const Builder* other) const;
  /// Closes the builder: afterwards its variables are leaked tracers. The program is renumbered and hashed.
  Recording finish(std::span<const Array> outputs);
  void close() { tag_->builder = nullptr; }

  const std::string& name() const { return tag_->name; }
  Builder* parent() const { return parent_; }
  const Program& program() const { return program_; }
  const Arrays& captures() const { return captures_; }
  /// The value of capture or input `id` in the enclosing scope, or an empty Array. Inputs have one where the transform
  /// knows them (grad, vjp, jvp on concrete arguments); item() evaluates from these.
  Array outer_value(VarId id) const;
  void bind_inputs(Arrays values) { bound_ = std::move(values); }

  std::uint32_t region = 0;  // stamped on new equations
  /// Set by transforms while they walk: new equations carry the origin of the equation they come from, not a line.
  std::optional<std::uint32_t> origin;
  /// For item(): values computed so far, by variable, and how many equations have been evaluated.
  std::vector<Array> known;
  std::size_t evaluated = 0;

 private:
  Array variable(VarId id, const Type& type);
  VarId new_var(const Type& type);
  VarId capture(const Array& a);
  Equation& append(const Prim& prim, std::span<const Array> operands, const Attrs& attrs);
  Types result_types(const Prim& prim, std::span<const Array> operands, const Attrs& attrs);
  [[noreturn]] void throw_foreign(const Array& a) const;

  std::shared_ptr<BuilderTag> tag_;
  Builder* parent_;
  Program program_;
  std::shared_ptr<SourceTable> sources_;
  Arrays captures_, bound_;
  std::map<std::pair<const void*, VarId>, VarId> capture_of_;
};

/// Where operations go. `tangent` is set only while a linearize walk runs: an operation goes there exactly when one of
/// its operands belongs there.
struct Scope {
  Builder* primal;
  Builder* tangent = nullptr;
};
/// Pushes a scope for its lifetime.
class EnterScope {
 public:
  explicit EnterScope(Scope scope);
  ~EnterScope();
  EnterScope(const EnterScope&) = delete;
};
/// The innermost scope, or null outside every recorded function.
const Scope* current_scope();
/// The innermost builder, or null.
inline Builder* current_builder() {
  const Scope* s = current_scope();
  return s ? s->primal : nullptr;
}
/// Hides all scopes for its lifetime: operations on concrete arrays run at once.
class LeaveScopes {
 public:
  LeaveScopes();
  ~LeaveScopes();
  LeaveScopes(const LeaveScopes&) = delete;

 private:
  std::vector<Scope> saved_;
};

/// Applies a primitive: records it in the scope it belongs to, or runs it at once outside every scope.
Arrays bind_all(const Prim& prim, std::span<const Array> operands, const Attrs& attrs = {});
/// The same for a primitive with one result.
Array bind1(const Prim& prim, std::span<const Array> operands, const Attrs& attrs = {});
inline Array bind1(const Prim& prim, std::initializer_list<Array> operands, const Attrs& attrs = {}) {
  return bind1(prim, std::span<const Array>(operands.begin(), operands.size()), attrs);
}

/// The user's line for what is recorded next on this thread. The outermost call on a thread wins, so that an operation
/// made of others keeps the user's line.
class AtSource {
 public:
  explicit AtSource(const std::source_location& source);
  ~AtSource();
  AtSource(const AtSource&) = delete;

 private:
  bool outermost_;
};
/// The line for what is recorded in its lifetime, whatever was set before: for replaying equations.
class SetSource {
 public:
  explicit SetSource(const std::source_location& source);
  ~SetSource();
  SetSource(const SetSource&) = delete;

 private:
  std::source_location saved_;
  bool was_known_;
};
std::source_location current_source();
/// " at train.cpp:41", or "" where no line is known.
std::string at_source(const std::source_location& source);
std::string at_current_source();

/// A region number not used before on this thread.
std::uint32_t fresh_region();
/// From the regions of a replayed program to fresh ones: recomputed work stays apart when a program is replayed twice.
using RegionMap = std::unordered_map<std::uint32_t, std::uint32_t>;
/// Stamps the region that replaces `region` on what is recorded in its lifetime (0 keeps the current one).
class AtRegion {
 public:
  AtRegion(RegionMap& regions, std::uint32_t region);
  ~AtRegion();
  AtRegion(const AtRegion&) = delete;

 private:
  std::array<Builder*, 2> builders_{};
  std::array<std::uint32_t, 2> saved_{};
};

/// Replays the equations of a program in the current scope (or at once) on the given captures and inputs.
Arrays inline_program(const Program& program, std::span<const Array> captures, std::span<const Array> inputs,
                      const SourceTable* sources = nullptr);

}  // namespace anadrome

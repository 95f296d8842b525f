// Axes of values through loops: which ones stand for the same rows. Like AxisClasses, but through the bodies of scans, and for the
// question whether rows ever mix.
#pragma once
#include <memory>
#include <vector>

#include "core/prim.h"

namespace anadrome {

/// A program and the bodies of its scans. Each occurrence of a body is a scope of its own.
struct RowScope {
  const Program* program = nullptr;
  std::vector<int> first;                                // by variable: the slot of its axis 0
  std::vector<std::unique_ptr<RowScope>> bodies;         // by equation; null where it is no scan
};

class RowAxes {
 public:
  explicit RowAxes(const Program& program);
  const RowScope& root() const { return root_; }

  /// A class of axes, by one of them.
  int class_of(const RowScope& scope, VarId v, int axis) const { return find(scope.first[v] + axis); }
  /// True where some equation mixes the elements along the axes of the class, other than by adding them all up.
  bool mixes(int of) const { return mixed_[static_cast<std::size_t>(of)] != 0; }
  /// The axis of a value that is in the class: -1 where there is none, -2 where there are several.
  int axis_in(int of, const RowScope& scope, VarId v) const;

 private:
  RowScope scope_of(const Program& program);
  int find(int slot) const;
  void join(const RowScope& s, VarId a, int axis_a, const RowScope& t, VarId b, int axis_b);
  void mix(const RowScope& s, VarId v, int axis) { mixed_[static_cast<std::size_t>(find(s.first[v] + axis))] = 1; }
  void mix_all(const RowScope& s, const Equation& e);
  void relate(const RowScope& s);
  void relate(const RowScope& s, const Equation& e);
  bool relate_movement(const RowScope& s, const Equation& e);
  void relate_product(const RowScope& s, const Equation& e);
  void relate_sum(const RowScope& s, const Equation& e);
  void relate_reshape(const RowScope& s, const Equation& e);
  void relate_window(const RowScope& s, VarId whole, VarId part);
  void relate_scan(const RowScope& s, const Equation& e, const RowScope& body);

  mutable std::vector<int> parent_;
  std::vector<char> mixed_;  // by slot, gathered at roots
  RowScope root_;
};

}  // namespace anadrome

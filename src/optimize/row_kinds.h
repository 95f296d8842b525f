// What becomes of each value of a program when its rows are taken block by block.
#pragma once
#include <map>
#include <optional>

#include "optimize/row_axes.h"

namespace anadrome {

enum class RowKind : std::uint8_t {
  plain,  // the same for all blocks
  row,    // has rows
  sum,    // a sum over rows: those of the blocks add up to it
  total,  // what a loop adds sums to
  after   // computed from sums, when all blocks are done
};

/// The kinds of a program's values for one class of axes, through the bodies of its scans.
class RowKinds {
 public:
  /// Nothing where the rows cannot be taken block by block.
  static std::optional<RowKinds> of(const RowAxes& axes, int rows);

  RowKind kind(const RowScope& scope, VarId v) const { return kinds_.at(&scope)[v]; }
  RowKind kind(const RowScope& scope, const Atom& a) const { return a.is_var() ? kind(scope, a.var) : RowKind::plain; }
  int axis(const RowScope& scope, VarId v) const { return axes_->axis_in(rows_, scope, v); }
  /// True where an equation has rows, or sums over them.
  bool works_on_rows(const RowScope& scope, std::size_t equation) const;

 private:
  RowKinds(const RowAxes& axes, int rows) : axes_(&axes), rows_(rows) {}

  bool walk(const RowScope& scope, bool outermost);
  bool walk_equation(const RowScope& scope, const Equation& e, bool outermost);
  bool walk_scan(const RowScope& scope, const Equation& e, const RowScope& body, bool outermost);
  std::optional<RowKind> combined(const RowScope& scope, const Equation& e) const;
  std::optional<RowKind> total_from(const RowScope& scope, const Atom& init, bool outermost) const;
  bool is_sum(const RowScope& scope, const Equation& e) const;

  const RowAxes* axes_;
  int rows_;
  std::map<const RowScope*, std::vector<RowKind>> kinds_;
};

}  // namespace anadrome

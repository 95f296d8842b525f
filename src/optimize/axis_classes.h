// Axis classes: axes of different values that run together, because an equation takes them to each other unchanged.
// Fusion makes one loop of a class.
#pragma once
#include <optional>
#include <vector>

#include "core/prim.h"

namespace anadrome {

/// True for the reductions that a loop kernel can do.
bool is_reduction(const Prim& prim);
/// Axes that a reduction removes.
const Ints& reduced_axes(const Equation& e);
/// Starts of the dynamic_* equation `e` when all of them are numbers of the program; empty otherwise. They are clamped
/// so that the window fits.
std::optional<Ints> literal_starts(const Program& program, const Equation& e);
/// The axes of both operands of a dot_general that are neither contracted nor batch axes.
struct FreeAxes {
  Ints lhs, rhs;
};
FreeAxes free_axes(const DotAttr& dims, int lhs_rank, int rhs_rank);
FreeAxes free_axes(const Program& program, const Equation& e);

/// Axes of the result of a gather: of each axis of the indices but the last, and of each axis of the array (-1: the
/// place along it is computed).
struct GatherAxes {
  std::vector<int> of_indices, of_array;
};
GatherAxes gather_axes(const Program& program, const Equation& e);

/// Runs of axes of two shapes with equal products: how a reshape takes axes to axes.
struct AxisGroup {
  int from_begin, from_end, to_begin, to_end;
};
std::vector<AxisGroup> reshape_groups(const Shape& from, const Shape& to);
/// The one axis of [begin, end) longer than 1: -1 where there is none, -2 where there are several.
int only_long_axis(const Shape& shape, int begin, int end);

class AxisClasses {
 public:
  static constexpr int none = -1;
  /// Extents up to this are unrolled where an equation mixes the elements along an axis.
  static constexpr std::int64_t most_unrolled = 16;

  explicit AxisClasses(const Program& program);
  /// The class of an axis; `none` for an axis of extent 1.
  int of(VarId v, int axis) const;
  /// True when the elements along the axis are separate values of a kernel: the axis is short, and some equation
  /// mixes them (a slice, a short sum).
  bool unrolled(VarId v, int axis) const;
  /// True when the only equations that mix them are slices: a loop could run along the axis too.
  bool only_sliced(VarId v, int axis) const;

 private:
  int slot(VarId v, int axis) const { return first_[v] + axis; }
  int root(int slot) const;
  void join(VarId a, int axis_a, VarId b, int axis_b);
  void mix(VarId v, int axis) { mark(mixed_, v, axis); }
  void mark(std::vector<bool>& marks, VarId v, int axis) { marks[static_cast<std::size_t>(root(slot(v, axis)))] = true; }
  void relate(const Equation& e);
  void relate_elementwise(const Equation& e);
  void relate_window(VarId whole, VarId part, std::vector<bool>& marks);
  void relate_reshape(const Equation& e);
  void relate_concatenate(const Equation& e);
  void relate_reduction(const Equation& e);
  void relate_dot(const Equation& e);
  void relate_gather(const Equation& e);
  bool relate_movement(const Equation& e);

  const Program& program_;
  std::vector<int> first_;  // by variable: its first slot
  mutable std::vector<int> parent_;
  std::vector<bool> mixed_, sliced_;  // by slot, gathered at roots
};

}  // namespace anadrome

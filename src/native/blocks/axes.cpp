// kernel_axes, product_axes, shared_axes.
#include "native/blocks/axes.h"

#include <algorithm>
#include <numeric>

#include "native/run_kernel.h"
#include "optimize/fuse.h"
#include "primitives/prims.h"

namespace anadrome::blocks {
namespace {

/// True for equations that compute each element from those at the same place along every axis that loops run along.
bool keeps_places(const Equation& e) {
  const Prim* p = e.prim;
  return p->work == Work::elementwise || is_reduction(*p) || p == &prim::broadcast_in_dim || p == &prim::transpose ||
         p == &prim::reshape || p == &prim::iota || p == &prim::stop_gradient || p == &prim::dot_general;
}

/// The axis of v that has the class, or whole; nothing where several have.
std::optional<int> axis_of(const Program& body, const AxisClasses& classes, VarId v, int wanted) {
  int found = whole;
  for (int k = 0; k < body.type(v).rank(); ++k) {
    if (classes.of(v, k) != wanted) continue;
    if (found != whole) return std::nullopt;
    found = k;
  }
  return found;
}

struct RangedAxis {
  VarId value;
  int axis;
  std::int64_t points;  // of the axis and those behind it that the loop runs through
};
/// The outermost axis that the ranged loop runs through, of the first result.
std::optional<RangedAxis> ranged_axis(const LoopNest& nest) {
  const NestRoot& r = nest.roots[0];
  for (std::size_t k = 0; k < r.axes.size(); ++k) {
    if (r.axes[k].loop != nest.ranged() || r.axes[k].merged) continue;
    RangedAxis out{r.value, static_cast<int>(k), r.axes[k].extent};
    for (std::size_t j = k; j-- > 0 && (r.axes[j].merged || r.axes[j].extent == 1);)
      if (r.axes[j].merged) out.axis = static_cast<int>(j), out.points *= r.axes[j].extent;
    return out;
  }
  return std::nullopt;
}

}  // namespace

std::optional<StepAxes> kernel_axes(const Program& body, const LoopNest& nest) {
  if (nest.loops.empty()) return std::nullopt;
  const int d = nest.ranged();
  const Loop& loop = nest.loops[static_cast<std::size_t>(d)];
  if (loop.reduced) return std::nullopt;
  if (!std::all_of(body.equations.begin(), body.equations.end(), keeps_places)) return std::nullopt;
  const auto ranged = ranged_axis(nest);
  if (!ranged || ranged->points != loop.extent) return std::nullopt;
  const AxisClasses classes(body);
  const int wanted = classes.of(ranged->value, ranged->axis);
  if (wanted == AxisClasses::none) return std::nullopt;
  StepAxes out;
  out.extent = body.type(ranged->value).shape[ranged->axis];
  out.per_index = loop.extent / out.extent;
  // The last of vectors that overlap begins at a place of the whole loop, within the last range if that is long enough.
  const bool overlaps = nest.overlaps && (d == nest.lane || d == nest.tile);
  if (overlaps) out.least = (nest.lanes * nest.copies + out.per_index - 1) / out.per_index;
  out.counts = overlaps || std::any_of(body.equations.begin(), body.equations.end(), [](const Equation& e) {
    return e.prim == &prim::iota || e.prim == &prim::reshape;
  });
  out.multiple = range_step(nest) / std::gcd(range_step(nest), out.per_index);
  for (const auto& e : body.equations)
    for (VarId v : e.results)
      if (!axis_of(body, classes, v, wanted)) return std::nullopt;
  const auto add = [&](VarId v, std::vector<int>& list) {
    const auto axis = axis_of(body, classes, v, wanted);
    if (axis) list.push_back(*axis);
    return axis.has_value();
  };
  for (VarId v : body.inputs)
    if (!add(v, out.operands)) return std::nullopt;
  for (const Atom& a : body.outputs)
    if (!add(a.var, out.results) || out.results.back() == whole) return std::nullopt;
  return out;
}

ProductAxes product_of(const Program& program, const Equation& product) {
  ProductAxes out;
  const Program* body = product.prim == &prim::dot_general ? nullptr : product.as<CallAttr>().body.program.get();
  out.dims = (body ? body->equations[0] : product).as<DotAttr>();
  if (body && body->equations[1].prim == &prim::transpose) {
    out.perm = body->equations[1].as<PermutationAttr>().perm;
    return out;
  }
  for (int k = 0; k < program.type(product.results[0]).rank(); ++k) out.perm.push_back(k);
  return out;
}

Strides product_view(const ProductAxes& p, const Shape& result) {
  const Strides steps = row_major(result);
  Strides out{};
  for (int k = 0; k < p.perm.rank(); ++k) out[static_cast<std::size_t>(p.perm[k])] = steps[static_cast<std::size_t>(k)];
  return out;
}

StepAxes product_axes(const Program& program, const Equation& product, int axis) {
  const ProductAxes p = product_of(program, product);
  StepAxes out;
  out.extent = program.type(product.results[0]).shape[axis];
  out.results = {axis};
  const FreeAxes free = free_axes(p.dims, program.type(product.operands[0]).rank(), program.type(product.operands[1]).rank());
  const std::int64_t batch = p.dims.batch_lhs.rank(), rows = free.lhs.rank();
  const std::int64_t k = p.perm[axis];
  if (k < batch) out.operands = {static_cast<int>(p.dims.batch_lhs[static_cast<int>(k)]), static_cast<int>(p.dims.batch_rhs[static_cast<int>(k)])};
  else if (k < batch + rows) out.operands = {static_cast<int>(free.lhs[static_cast<int>(k - batch)]), whole};
  else out.operands = {whole, static_cast<int>(free.rhs[static_cast<int>(k - batch - rows)])};
  return out;
}

namespace {

/// Axes of values that one equation makes and another reads.
class Shared {
 public:
  explicit Shared(const Program& body, const std::vector<const LoopNest*>& nests)
      : body_(body), nests_(nests), made_(body.types.size()), axis_(body.types.size()), out_(body.equations.size()) {
    for (const Equation& e : body.equations)
      for (VarId v : e.results) made_[v] = true;
  }

  std::optional<std::vector<StepAxes>> run() {
    for (std::size_t i = 0; i < out_.size(); ++i) {
      if (!nests_[i]) continue;
      auto axes = kernel_axes(*body_.equations[i].as<CallAttr>().body, *nests_[i]);
      if (!axes || !agree(i, *axes)) return std::nullopt;
    }
    for (std::size_t i = 0; i < out_.size(); ++i)
      if (!nests_[i] && !cut_product(i)) return std::nullopt;
    return std::move(out_);
  }

 private:
  /// Takes the axes of equation i if they fit those of the others.
  bool agree(std::size_t i, const StepAxes& axes) {
    const Equation& e = body_.equations[i];
    if (extent_ && extent_ != axes.extent) return false;
    extent_ = axes.extent;
    const auto set = [&](VarId v, int axis) {
      if (!made_[v]) return true;
      if (axis == whole || (axis_[v] && *axis_[v] != axis)) return false;
      axis_[v] = axis;
      return true;
    };
    for (std::size_t k = 0; k < e.operands.size(); ++k)
      if (e.operands[k].is_var() && !set(e.operands[k].var, axes.operands[k])) return false;
    for (std::size_t k = 0; k < e.results.size(); ++k)
      if (!set(e.results[k], axes.results[k])) return false;
    out_[i] = axes;
    return true;
  }
  /// A product is cut as what reads it is, or as what it reads is.
  bool cut_product(std::size_t i) {
    const Equation& e = body_.equations[i];
    const VarId y = e.results[0];
    for (int a = 0; a < body_.type(y).rank(); ++a) {
      if (axis_[y] && *axis_[y] != a) continue;
      const StepAxes axes = product_axes(body_, e, a);
      bool fits = axes.extent == extent_;
      for (std::size_t k = 0; k < 2; ++k)
        if (const Atom& x = e.operands[k]; x.is_var() && made_[x.var]) fits &= axes.operands[k] != whole && axis_[x.var] == axes.operands[k];
      if (fits) return agree(i, axes);
    }
    return false;
  }

  const Program& body_;
  const std::vector<const LoopNest*>& nests_;
  std::vector<bool> made_;                 // by variable
  std::vector<std::optional<int>> axis_;   // by variable
  std::optional<std::int64_t> extent_;
  std::vector<StepAxes> out_;
};

}  // namespace

std::optional<std::vector<StepAxes>> shared_axes(const Program& body, const std::vector<const LoopNest*>& nests) {
  return Shared(body, nests).run();
}

}  // namespace anadrome::blocks

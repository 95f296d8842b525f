#include "optimize/row_axes.h"

#include <algorithm>

#include "optimize/axis_classes.h"
#include "primitives/prims.h"

namespace anadrome {

RowAxes::RowAxes(const Program& program) : root_(scope_of(program)) {
  mixed_.assign(parent_.size(), 0);
  relate(root_);
}

RowScope RowAxes::scope_of(const Program& program) {
  RowScope out;
  out.program = &program;
  for (const Type& t : program.types) {
    out.first.push_back(static_cast<int>(parent_.size()));
    for (int k = 0; k < t.rank(); ++k) parent_.push_back(static_cast<int>(parent_.size()));
  }
  for (const Equation& e : program.equations)
    out.bodies.push_back(e.prim == &prim::scan ? std::make_unique<RowScope>(scope_of(*e.as<ScanAttr>().body)) : nullptr);
  return out;
}

int RowAxes::find(int slot) const {
  while (parent_[static_cast<std::size_t>(slot)] != slot) {
    int& up = parent_[static_cast<std::size_t>(slot)];
    slot = up = parent_[static_cast<std::size_t>(up)];
  }
  return slot;
}

void RowAxes::join(const RowScope& s, VarId a, int axis_a, const RowScope& t, VarId b, int axis_b) {
  const int x = find(s.first[a] + axis_a), y = find(t.first[b] + axis_b);
  if (x == y || s.program->type(a).shape[axis_a] != t.program->type(b).shape[axis_b]) return;
  parent_[static_cast<std::size_t>(y)] = x;
  mixed_[static_cast<std::size_t>(x)] |= mixed_[static_cast<std::size_t>(y)];
}

int RowAxes::axis_in(int of, const RowScope& scope, VarId v) const {
  int out = -1;
  for (int k = 0; k < scope.program->type(v).rank(); ++k)
    if (find(scope.first[v] + k) == of) out = out == -1 ? k : -2;
  return out;
}

void RowAxes::mix_all(const RowScope& s, const Equation& e) {
  const auto mix_axes = [&](VarId v) {
    for (int k = 0; k < s.program->type(v).rank(); ++k) mix(s, v, k);
  };
  for (const Atom& a : e.operands)
    if (a.is_var()) mix_axes(a.var);
  for (VarId v : e.results) mix_axes(v);
}

void RowAxes::relate(const RowScope& s) {
  for (std::size_t i = 0; i < s.program->equations.size(); ++i) {
    const Equation& e = s.program->equations[i];
    if (s.bodies[i]) {
      relate(*s.bodies[i]);
      relate_scan(s, e, *s.bodies[i]);
    } else {
      relate(s, e);
    }
  }
}

void RowAxes::relate(const RowScope& s, const Equation& e) {
  if (e.prim->work == Work::elementwise || e.prim == &prim::stop_gradient) {
    const VarId y = e.results[0];
    for (const Atom& a : e.operands)
      if (a.is_var() && s.program->type(a.var).rank() == s.program->type(y).rank())
        for (int k = 0; k < s.program->type(y).rank(); ++k) join(s, y, k, s, a.var, k);
  } else if (e.prim == &prim::dot_general) {
    relate_product(s, e);
  } else if (is_reduction(*e.prim)) {
    relate_sum(s, e);
  } else if (!relate_movement(s, e)) {
    mix_all(s, e);
  }
}

void RowAxes::relate_product(const RowScope& s, const Equation& e) {
  if (!e.operands[0].is_var() || !e.operands[1].is_var()) return mix_all(s, e);
  const auto& d = e.as<DotAttr>();
  const VarId a = e.operands[0].var, b = e.operands[1].var, y = e.results[0];
  const FreeAxes free = free_axes(*s.program, e);
  int k = 0;
  for (std::size_t i = 0; i < d.batch_lhs.size(); ++i, ++k) {
    join(s, y, k, s, a, static_cast<int>(d.batch_lhs[i]));
    join(s, y, k, s, b, static_cast<int>(d.batch_rhs[i]));
  }
  for (std::int64_t i : free.lhs) join(s, y, k++, s, a, static_cast<int>(i));
  for (std::int64_t i : free.rhs) join(s, y, k++, s, b, static_cast<int>(i));
  for (std::size_t i = 0; i < d.contract_lhs.size(); ++i)
    join(s, a, static_cast<int>(d.contract_lhs[i]), s, b, static_cast<int>(d.contract_rhs[i]));
}

void RowAxes::relate_sum(const RowScope& s, const Equation& e) {
  if (!e.operands[0].is_var()) return;
  const VarId x = e.operands[0].var, y = e.results[0];
  const Ints& axes = reduced_axes(e);
  int kept = 0;
  for (int k = 0; k < s.program->type(x).rank(); ++k) {
    if (std::find(axes.begin(), axes.end(), k) == axes.end()) join(s, x, k, s, y, kept++);
    else if (e.prim != &prim::reduce_sum) mix(s, x, k);
  }
}

/// Axes along which `part` is less than `whole` are mixed.
void RowAxes::relate_window(const RowScope& s, VarId whole, VarId part) {
  for (int k = 0; k < s.program->type(whole).rank(); ++k) {
    if (s.program->type(whole).shape[k] == s.program->type(part).shape[k]) join(s, whole, k, s, part, k);
    else mix(s, whole, k), mix(s, part, k);
  }
}

void RowAxes::relate_reshape(const RowScope& s, const Equation& e) {
  const VarId x = e.operands[0].var, y = e.results[0];
  const Shape &from = s.program->type(x).shape, &to = s.program->type(y).shape;
  for (const AxisGroup& g : reshape_groups(from, to)) {
    const int a = only_long_axis(from, g.from_begin, g.from_end), b = only_long_axis(to, g.to_begin, g.to_end);
    if (a >= 0 && b >= 0) {
      join(s, x, a, s, y, b);
      continue;
    }
    for (int k = g.from_begin; k < g.from_end; ++k) mix(s, x, k);
    for (int k = g.to_begin; k < g.to_end; ++k) mix(s, y, k);
  }
}

bool RowAxes::relate_movement(const RowScope& s, const Equation& e) {
  const VarId y = e.results[0];
  const Atom& first = e.operands.empty() ? Atom() : e.operands[0];
  if (e.prim == &prim::broadcast_in_dim) {
    const Ints& dims = e.as<BroadcastAttr>().dims;
    for (std::size_t k = 0; first.is_var() && k < dims.size(); ++k) join(s, y, static_cast<int>(dims[k]), s, first.var, static_cast<int>(k));
  } else if (e.prim == &prim::transpose) {
    const Ints& perm = e.as<PermutationAttr>().perm;
    for (std::size_t k = 0; k < perm.size(); ++k) join(s, y, static_cast<int>(k), s, first.var, static_cast<int>(perm[k]));
  } else if (e.prim == &prim::reshape) {
    relate_reshape(s, e);
  } else if (e.prim == &prim::slice) {
    relate_window(s, first.var, y);
  } else if (e.prim == &prim::iota) {
    mix(s, y, static_cast<int>(e.as<IotaAttr>().axis));
  } else if (e.prim == &prim::concatenate) {
    const auto axis = static_cast<int>(e.as<AxisAttr>().axis);
    for (const Atom& a : e.operands) {
      if (!a.is_var()) continue;
      for (int k = 0; k < s.program->type(y).rank(); ++k)
        if (k != axis) join(s, y, k, s, a.var, k);
      mix(s, a.var, axis);
    }
    mix(s, y, axis);
  } else {
    return false;
  }
  return true;
}

void RowAxes::relate_scan(const RowScope& s, const Equation& e, const RowScope& body) {
  const ScanAttr& a = e.as<ScanAttr>();
  const auto firsts = static_cast<std::size_t>(a.consts + a.carries), carries = static_cast<std::size_t>(a.carries);
  // Along the axis of the steps, values of one step are taken from many.
  const auto relate_value = [&](VarId outer, VarId inner, bool slices) {
    if (slices) mix(s, outer, 0);
    for (int k = 0; k < body.program->type(inner).rank(); ++k) join(s, outer, k + slices, body, inner, k);
  };
  for (std::size_t i = 0; i < e.operands.size(); ++i)
    if (e.operands[i].is_var()) relate_value(e.operands[i].var, body.program->inputs[i], i >= firsts);
  for (std::size_t k = 0; k < e.results.size(); ++k) {
    const Atom& y = body.program->outputs[k];
    if (y.is_var()) relate_value(e.results[k], y.var, k >= carries);
    if (k < carries) relate_value(e.results[k], body.program->inputs[static_cast<std::size_t>(a.consts) + k], false);
  }
}

}  // namespace anadrome

#include "optimize/row_kinds.h"

#include <algorithm>

#include "optimize/axis_classes.h"
#include "primitives/prims.h"

namespace anadrome {
namespace {

/// Which outputs of a loop body depend on marked inputs, through the carries.
std::vector<char> dependent_outputs(const Program& body, const ScanAttr& a, std::vector<char> inputs) {
  for (;;) {
    std::vector<char> marks(body.types.size(), 0), out;
    for (std::size_t i = 0; i < inputs.size(); ++i) marks[body.inputs[i]] = inputs[i];
    for (const Equation& e : body.equations)
      if (std::any_of(e.operands.begin(), e.operands.end(), [&](const Atom& x) { return x.is_var() && marks[x.var]; }))
        for (VarId v : e.results) marks[v] = 1;
    for (const Atom& y : body.outputs) out.push_back(y.is_var() && marks[y.var]);
    bool grew = false;
    for (std::size_t k = 0; k < static_cast<std::size_t>(a.carries); ++k) {
      char& in = inputs[static_cast<std::size_t>(a.consts) + k];
      if (out[k] && !in) in = 1, grew = true;
    }
    if (!grew) return out;
  }
}

/// True for a number 0, or an array filled with it.
bool is_zero(const Program& p, const Atom& a) {
  if (!a.is_var()) return a.literal.as_double() == 0;
  for (const Equation& e : p.equations)
    if (e.results[0] == a.var) return e.prim == &prim::broadcast_in_dim && !e.operands[0].is_var() && e.operands[0].literal.as_double() == 0;
  return false;
}

}  // namespace

std::optional<RowKinds> RowKinds::of(const RowAxes& axes, int rows) {
  RowKinds out(axes, rows);
  const RowScope& root = axes.root();
  auto& kinds = out.kinds_[&root];
  kinds.assign(root.program->types.size(), RowKind::plain);
  for (const auto* list : {&root.program->captures, &root.program->inputs})
    for (VarId v : *list) {
      if (out.axis(root, v) == -2) return std::nullopt;
      if (out.axis(root, v) >= 0) kinds[v] = RowKind::row;
    }
  if (axes.mixes(rows) || !out.walk(root, true)) return std::nullopt;
  return out;
}

bool RowKinds::works_on_rows(const RowScope& scope, std::size_t equation) const {
  const Equation& e = scope.program->equations[equation];
  const auto has = [&](RowKind k) { return k == RowKind::row || k == RowKind::sum || k == RowKind::total; };
  return std::any_of(e.results.begin(), e.results.end(), [&](VarId v) { return has(kind(scope, v)); }) ||
         std::any_of(e.operands.begin(), e.operands.end(), [&](const Atom& a) { return kind(scope, a) == RowKind::row; });
}

bool RowKinds::walk(const RowScope& scope, bool outermost) {
  for (const Type& t : scope.program->types)
    if (t.is_ref) return false;
  for (std::size_t i = 0; i < scope.program->equations.size(); ++i) {
    const Equation& e = scope.program->equations[i];
    for (VarId v : e.results)
      if (axis(scope, v) == -2) return false;
    const bool fits = scope.bodies[i] ? walk_scan(scope, e, *scope.bodies[i], outermost) : walk_equation(scope, e, outermost);
    if (!fits) return false;
  }
  return true;
}

bool RowKinds::is_sum(const RowScope& scope, const Equation& e) const {
  const auto rows_among = [&](const Atom& x, const Ints& axes) {
    return x.is_var() && std::find(axes.begin(), axes.end(), axis(scope, x.var)) != axes.end();
  };
  if (e.prim == &prim::reduce_sum) return rows_among(e.operands[0], reduced_axes(e));
  return e.prim == &prim::dot_general && rows_among(e.operands[0], e.as<DotAttr>().contract_lhs);
}

/// The kind of what a loop body computes from sums: still a sum where that is linear.
std::optional<RowKind> RowKinds::combined(const RowScope& scope, const Equation& e) const {
  std::size_t sums = 0, totals = 0;
  for (const Atom& a : e.operands) {
    const RowKind k = kind(scope, a);
    if (k == RowKind::row || k == RowKind::after) return std::nullopt;
    sums += k == RowKind::sum;
    totals += k == RowKind::total;
  }
  if (e.prim == &prim::add && sums + totals == 2 && totals <= 1) return totals ? RowKind::total : RowKind::sum;
  if (totals) return std::nullopt;
  if (e.prim == &prim::sub && sums == 2) return RowKind::sum;
  const bool product = e.prim == &prim::mul || e.prim == &prim::dot_general;
  const bool linear = e.prim == &prim::neg || e.prim == &prim::transpose || e.prim == &prim::reshape || e.prim == &prim::broadcast_in_dim ||
                      e.prim == &prim::reduce_sum || product || (e.prim == &prim::div && kind(scope, e.operands[0]) == RowKind::sum);
  return linear && sums == 1 ? std::optional(RowKind::sum) : std::nullopt;
}

bool RowKinds::walk_equation(const RowScope& scope, const Equation& e, bool outermost) {
  bool rows = false, sums = false;
  for (const Atom& a : e.operands) {
    const RowKind k = kind(scope, a);
    rows |= k == RowKind::row;
    sums |= k == RowKind::sum || k == RowKind::total || k == RowKind::after;
  }
  const bool gives_rows = std::any_of(e.results.begin(), e.results.end(), [&](VarId v) { return axis(scope, v) >= 0; });
  std::optional<RowKind> out;
  if (sums) out = gives_rows || rows ? std::nullopt : outermost ? std::optional(RowKind::after) : combined(scope, e);
  else if (is_sum(scope, e)) out = gives_rows || !is_float(scope.program->type(e.results[0]).dtype) ? std::nullopt : std::optional(RowKind::sum);
  else if (gives_rows) out = e.results.size() == 1 ? std::optional(RowKind::row) : std::nullopt;
  else if (!rows) out = RowKind::plain;
  if (!out) return false;
  for (VarId v : e.results) kinds_[&scope][v] = *out;
  return true;
}

/// What a loop gives that adds sums to `init`.
std::optional<RowKind> RowKinds::total_from(const RowScope& scope, const Atom& init, bool outermost) const {
  const RowKind k = kind(scope, init);
  if (k == RowKind::total) return RowKind::total;
  if (k == RowKind::plain && (outermost || is_zero(*scope.program, init))) return RowKind::sum;
  return std::nullopt;
}

bool RowKinds::walk_scan(const RowScope& scope, const Equation& e, const RowScope& body, bool outermost) {
  const ScanAttr& a = e.as<ScanAttr>();
  const Program& p = *body.program;
  const auto consts = static_cast<std::size_t>(a.consts), carries = static_cast<std::size_t>(a.carries);
  const bool after = std::any_of(e.operands.begin(), e.operands.end(), [&](const Atom& x) {
    const RowKind k = kind(scope, x);
    return k == RowKind::after || (outermost && k == RowKind::sum);
  });
  std::vector<char> has_rows;
  auto& kinds = kinds_[&body];
  kinds.assign(p.types.size(), RowKind::plain);
  for (std::size_t i = 0; i < p.inputs.size(); ++i) {
    const RowKind given = kind(scope, e.operands[i]);
    const bool carry = i >= consts && i < consts + carries;
    has_rows.push_back(axis(body, p.inputs[i]) >= 0);
    if (has_rows.back()) kinds[p.inputs[i]] = RowKind::row;
    else if (given == RowKind::row || (given == RowKind::sum && !after) || (given == RowKind::total && !carry)) return false;
  }
  const bool any_rows = std::find(has_rows.begin(), has_rows.end(), 1) != has_rows.end();
  if (after) {
    for (VarId v : e.results) kinds_[&scope][v] = RowKind::after;
    return !any_rows;
  }
  const std::vector<char> depends = dependent_outputs(p, a, has_rows);
  for (std::size_t k = 0; k < carries; ++k)
    if (depends[k] && !has_rows[consts + k]) kinds[p.inputs[consts + k]] = RowKind::total;
  if (!walk(body, false)) return false;
  for (std::size_t k = 0; k < e.results.size(); ++k) {
    const RowKind made = kind(body, p.outputs[k]);
    RowKind out = made;
    if (k < carries) {
      if (made != kinds_[&body][p.inputs[consts + k]]) return false;
      if (made == RowKind::total) {
        const auto total = total_from(scope, e.operands[consts + k], outermost);
        if (!total) return false;
        out = *total;
      }
    } else if (made == RowKind::total || made == RowKind::after) {
      return false;
    }
    if ((out == RowKind::row) != (axis(scope, e.results[k]) >= 0)) return false;
    kinds_[&scope][e.results[k]] = out;
  }
  return true;
}

}  // namespace anadrome

// structured_tangents: what the equations of a Jacobian do to the identity matrices they start from.
#include "optimize/diagonal.h"
#include "optimize/identities.h"
#include "optimize/passes.h"

namespace anadrome {
namespace {

class Structure {
 public:
  explicit Structure(const Program& program)
      : r_(program), diagonal_(program.types.size()), made_(program.types.size()) {}

  Program run() {
    for (const Equation& e : r_.from().equations) {
      r_.stamp(e);
      if (auto d = apply(e)) keep(e, std::move(*d));
      else copy(e);
    }
    for (const Atom& a : r_.from().outputs) force(a);
    return r_.finish();
  }

 private:
  using Found = std::optional<Diagonal>;

  const Diagonal* diagonal(const Atom& old) const {
    return old.is_var() && diagonal_[old.var] ? &*diagonal_[old.var] : nullptr;
  }

  void keep(const Equation& e, Diagonal d) {
    const VarId v = e.results[0];
    d = normal(r_, std::move(d));
    if (tied(d).empty()) {
      r_.replace(v, dense(r_, d));
      return;
    }
    made_[v] = &e;
    diagonal_[v] = std::move(d);
  }

  /// Makes the dense array of a diagonal operand, once.
  void force(const Atom& old) {
    const Diagonal* d = diagonal(old);
    if (!d || !made_[old.var]) return;
    r_.stamp(*made_[old.var]);
    r_.replace(old.var, dense(r_, *d));
    made_[old.var] = nullptr;
  }

  void copy(const Equation& e) {
    for (const Atom& a : e.operands) force(a);
    r_.copy(e);
  }

  Found apply(const Equation& e) {
    if (e.prim == &prim::identity) {
      const auto [dtype, n] = e.as<IdentityAttr>();
      if (n < 2) return std::nullopt;
      return Diagonal{{Ints{0}, Ints{0}}, Shape{n}, Atom::number(Literal::of(1, dtype)), {}};
    }
    const bool any = std::any_of(e.operands.begin(), e.operands.end(), [&](const Atom& a) { return diagonal(a); });
    if (!any || e.results.size() != 1 || out(e).elements() == 0) return std::nullopt;
    if (e.prim == &prim::transpose) return transpose(e);
    if (e.prim == &prim::reshape) return reshaped(r_, *diagonal(e.operands[0]), out(e).shape);
    if (e.prim == &prim::broadcast_in_dim) return broadcast(e);
    if (e.prim == &prim::reduce_sum) return reduce_sum(e);
    if (e.prim == &prim::dot_general) return dot(e);
    return elementwise(e);
  }

  const Type& out(const Equation& e) const { return r_.from().type(e.results[0]); }

  Found transpose(const Equation& e) {
    const Diagonal& x = *diagonal(e.operands[0]);
    Diagonal y = x;
    const Ints& perm = e.as<PermutationAttr>().perm;
    for (std::size_t k = 0; k < perm.size(); ++k) y.axes[k] = x.axes[static_cast<std::size_t>(perm[k])];
    return y;
  }

  Found broadcast(const Equation& e) {
    const Diagonal& x = *diagonal(e.operands[0]);
    const auto& [shape, dims] = e.as<BroadcastAttr>();
    Diagonal y{std::vector<Ints>(shape.size()), x.extent, x.value, x.order};
    for (std::size_t k = 0; k < dims.size(); ++k) y.axes[static_cast<std::size_t>(dims[k])] = x.axes[k];
    for (std::size_t k = 0; k < shape.size(); ++k) {
      if (!y.axes[k].empty() || shape[k] == 1) continue;
      y.axes[k].push_back(y.extent.rank());
      y.extent.push_back(shape[k]);
    }
    return y;
  }

  Found reduce_sum(const Equation& e) {
    const Diagonal& x = *diagonal(e.operands[0]);
    const Ints& axes = e.as<AxesAttr>().axes;
    std::vector<Ints> kept, gone;
    for (std::size_t k = 0; k < x.axes.size(); ++k)
      (has(axes, static_cast<std::int64_t>(k)) ? gone : kept).push_back(x.axes[k]);
    const Ints stays = flattened(kept);
    Ints summed;
    for (std::int64_t f : flattened(gone)) {
      if (has(stays, f)) continue;
      if (!has(x.order, f)) return std::nullopt;  // a sum of equal numbers
      if (!has(summed, f)) summed.push_back(f);
    }
    const Spread value = sum({x.value, x.order}, summed);
    return Diagonal{kept, x.extent, value.value, value.order};
  }

  /// Sums over the factors of `over` that `x` has.
  Spread sum(const Spread& x, const Ints& over) {
    Ints axes, order;
    for (std::size_t k = 0; k < x.order.size(); ++k)
      if (has(over, x.order[k])) axes.push_back(static_cast<std::int64_t>(k));
      else order.push_back(x.order[k]);
    if (axes.empty()) return x;
    return {r_.emit(prim::reduce_sum, AxesAttr{axes}, {x.value}), order};
  }

  // ---- elementwise primitives that give zero where the diagonal operand is zero

  Found elementwise(const Equation& e) {
    const Prim* p = e.prim;
    if (p == &prim::neg || p == &prim::convert) return spread(e, {true});
    if (p == &prim::mul) return spread(e, {diagonal(e.operands[0]) != nullptr, diagonal(e.operands[1]) != nullptr});
    if (p == &prim::div && !diagonal(e.operands[1])) return spread(e, {true, false});
    if (p == &prim::add || p == &prim::sub) return spread(e, {true, true});
    if (p != &prim::select_n || diagonal(e.operands[0])) return std::nullopt;
    std::vector<bool> zero(e.operands.size(), true);
    zero[0] = false;
    return spread(e, zero);
  }

  /// Applies the primitive to the numbers of the diagonal. Operands in `zero` must be zero outside it: diagonals of the
  /// same structure, or filled with zeros.
  Found spread(const Equation& e, const std::vector<bool>& zero) {
    const Diagonal* like = nullptr;
    for (const Atom& a : e.operands)
      if (!like) like = diagonal(a);
    if (shape_of(*like) != out(e).shape) return std::nullopt;
    std::vector<Spread> operands;
    for (std::size_t i = 0; i < e.operands.size(); ++i) {
      const Atom& a = e.operands[i];
      if (const Diagonal* d = diagonal(a)) {
        if (d->axes != like->axes || !(d->extent == like->extent)) return std::nullopt;
        operands.push_back({d->value, d->order});
      } else if (auto part = restricted(r_[a], *like, zero[i])) {
        operands.push_back(*part);
      } else {
        return std::nullopt;
      }
    }
    if (e.prim == &prim::mul) {
      for (int i : {0, 1})
        if (is_one(operands[i].value)) return with(*like, sorted(r_, operands[1 - i]));
    }
    for (Spread& x : operands) x = sorted(r_, x);
    return with(*like, combine(r_, *e.prim, e.attrs, operands, like->extent));
  }

  static Diagonal with(const Diagonal& like, const Spread& x) { return {like.axes, like.extent, x.value, x.order}; }

  /// A dense operand of the shape of `like` (or rank 0), at the places where `like` is not zero: possible when the
  /// operand is broadcast along enough axes.
  std::optional<Spread> restricted(const Atom& a, const Diagonal& like, bool must_be_zero) {
    Atom x = a;
    Ints dims, order;
    if (r_.type(a).rank() != 0) {
      const Equation* d = r_.definition(a);
      if (!d || d->prim != &prim::broadcast_in_dim) return std::nullopt;
      x = d->operands[0];
      dims = d->as<BroadcastAttr>().dims;
    }
    if (must_be_zero && (x.is_var() || x.literal.as_double() != 0)) return std::nullopt;
    const Shape shape = r_.type(x).shape;
    for (std::size_t k = 0; k < dims.size(); ++k)
      if (shape[k] != 1)
        for (std::int64_t f : like.axes[static_cast<std::size_t>(dims[k])]) {
          if (has(order, f)) return std::nullopt;
          order.push_back(f);
        }
    return Spread{r_.reshape(x, extents(like.extent, order)), order};
  }

  // ---- contraction

  /// The dense side of a contraction takes the factors of the axes it meets, and new ones for its own.
  struct Contraction {
    Diagonal result;       // axes and extents; the value is still missing
    std::vector<Ints> w;   // factors of the axes of the dense side
    Ints summed;           // factors that are gone from the result
  };

  Found dot(const Equation& e) {
    const bool left = diagonal(e.operands[0]) != nullptr;
    const Atom& other = e.operands[left ? 1 : 0];
    const Diagonal& x = *diagonal(e.operands[left ? 0 : 1]);
    const auto plan = contraction(e, x, r_.from().type(other).shape, left);
    if (!plan) return std::nullopt;
    force(other);
    r_.stamp(e);
    const Shape& extent = plan->result.extent;
    Spread w{r_[other], flattened(plan->w)};
    w.value = r_.reshape(w.value, extents(extent, w.order));
    w = sorted(r_, w);
    const Spread y = product({x.value, x.order}, w, plan->summed, extent);
    return with(plan->result, y);
  }

  static std::optional<Contraction> contraction(const Equation& e, const Diagonal& x, const Shape& w_shape,
                                                bool left) {
    const DotAttr& a = e.as<DotAttr>();
    const Ints &xc = left ? a.contract_lhs : a.contract_rhs, &wc = left ? a.contract_rhs : a.contract_lhs;
    const Ints &xb = left ? a.batch_lhs : a.batch_rhs, &wb = left ? a.batch_rhs : a.batch_lhs;
    Contraction out{{{}, x.extent, x.value, {}}, std::vector<Ints>(w_shape.size()), {}};
    for (std::size_t i = 0; i < xc.size(); ++i) out.w[wc[i]] = x.axes[static_cast<std::size_t>(xc[i])];
    for (std::size_t i = 0; i < xb.size(); ++i) {
      out.w[wb[i]] = x.axes[static_cast<std::size_t>(xb[i])];
      out.result.axes.push_back(out.w[wb[i]]);
    }
    std::vector<Ints> x_rest, w_rest;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(x.axes.size()); ++k)
      if (!has(xc, k) && !has(xb, k)) x_rest.push_back(x.axes[static_cast<std::size_t>(k)]);
    for (std::int64_t k = 0; k < w_shape.rank(); ++k) {
      if (has(wc, k) || has(wb, k)) continue;
      if (w_shape[k] != 1) {
        out.w[k].push_back(out.result.extent.rank());
        out.result.extent.push_back(w_shape[k]);
      }
      w_rest.push_back(out.w[k]);
    }
    if (!left) std::swap(x_rest, w_rest);
    for (const auto& rest : {x_rest, w_rest})
      out.result.axes.insert(out.result.axes.end(), rest.begin(), rest.end());
    Ints met;
    const Ints stays = flattened(out.result.axes);
    for (std::int64_t f : flattened(out.w)) {
      if (has(met, f)) return std::nullopt;  // the diagonal of the dense side would have to be taken
      met.push_back(f);
      if (!has(stays, f)) out.summed.push_back(f);
    }
    return out;
  }

  /// v * w summed over `summed`.
  Spread product(const Spread& v, const Spread& w, const Ints& summed, const Shape& extent) {
    DotAttr dims;
    Ints batch, v_rest, w_rest;
    const Spread part = sum(w, without(summed, v.order));
    for (std::size_t k = 0; k < v.order.size(); ++k) {
      const std::int64_t f = v.order[k];
      const auto at = std::find(part.order.begin(), part.order.end(), f);
      if (at == part.order.end()) {
        v_rest.push_back(f);
      } else {
        const bool contract = has(summed, f);
        (contract ? dims.contract_lhs : dims.batch_lhs).push_back(static_cast<std::int64_t>(k));
        (contract ? dims.contract_rhs : dims.batch_rhs).push_back(at - part.order.begin());
        if (!contract) batch.push_back(f);
      }
    }
    if (is_one(v.value)) return part;
    if (dims.contract_lhs.empty()) {
      const Spread both[] = {v, part};
      return combine(r_, prim::mul, {}, both, extent);
    }
    for (std::int64_t f : part.order)
      if (!has(v.order, f)) w_rest.push_back(f);
    Ints order = batch;
    for (const Ints& rest : {v_rest, w_rest})
      for (std::int64_t f : rest) order.push_back(f);
    return sorted(r_, {r_.emit(prim::dot_general, dims, {v.value, part.value}), order});
  }

  static Ints without(const Ints& list, const Ints& drop) {
    Ints out;
    for (std::int64_t v : list)
      if (!has(drop, v)) out.push_back(v);
    return out;
  }

  Rewriter r_;
  std::vector<Found> diagonal_;           // by old variable
  std::vector<const Equation*> made_;     // the equation of a diagonal that has no dense array yet
};

}  // namespace

Program structured_tangents(const Program& program) { return Structure(program).run(); }

}  // namespace anadrome

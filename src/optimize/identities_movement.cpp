// Identities of primitives that move elements, and of those that mean nothing once every transform has run.
#include <numeric>

#include "optimize/identities.h"

namespace anadrome {
namespace {

using Result = std::optional<Atom>;

Ints axes_of(int rank) {
  Ints axes;
  for (int k = 0; k < rank; ++k) axes.push_back(k);
  return axes;
}

bool all_equal(const Ints& values, std::int64_t value) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == value; });
}

/// Moving an array filled with one number gives one of another shape.
Result of_uniform(const IdentityIn& in) {
  if (const auto scalar = in.uniform(0)) return in.as_result(*scalar);
  return std::nullopt;
}

Result same_shape(const IdentityIn& in) {
  if (in.type(0).shape == in.out.shape) return in.x(0);
  return std::nullopt;
}

Result broadcast(const IdentityIn& in) {
  if (in.type(0).shape == in.out.shape) return in.x(0);
  const Equation* d = in.made_by(0, prim::broadcast_in_dim);
  if (!d) {  // only axes of extent 1 are new; a filled array stays a broadcast, so that its number is seen
    if (in.type(0).rank() == 0 || in.type(0).elements() != in.out.elements()) return std::nullopt;
    return in.r.reshape(in.x(0), in.out.shape);
  }
  const Ints &inner = d->as<BroadcastAttr>().dims, &outer = in.as<BroadcastAttr>().dims;
  Ints dims;
  for (std::int64_t k : inner) dims.push_back(outer[k]);
  const Atom x = d->operands[0];
  return in.r.broadcast(x, in.out.shape, dims);
}

Result reshape(const IdentityIn& in) {
  if (auto same = same_shape(in)) return same;
  if (auto filled = of_uniform(in)) return filled;
  if (const Equation* d = in.made_by(0, prim::reshape)) {
    const Atom x = d->operands[0];
    return in.r.reshape(x, in.out.shape);
  }
  return std::nullopt;
}

Result transpose(const IdentityIn& in) {
  const Ints& outer = in.as<PermutationAttr>().perm;
  if (outer == axes_of(outer.rank())) return in.x(0);
  if (auto filled = of_uniform(in)) return filled;
  if (const Equation* d = in.made_by(0, prim::transpose)) {
    const Ints& inner = d->as<PermutationAttr>().perm;
    Ints perm;
    for (std::int64_t k : outer) perm.push_back(inner[k]);
    const Atom x = d->operands[0];
    return in.r.transpose(x, perm);
  }
  return std::nullopt;
}

Result rev(const IdentityIn& in) {
  if (in.as<AxesAttr>().axes.empty()) return in.x(0);
  return of_uniform(in);
}

Result pad(const IdentityIn& in) {
  const auto& [low, high, interior] = in.as<PadAttr>();
  if (all_equal(low, 0) && all_equal(high, 0)) return same_shape(in);  // interior adds nothing to extents 0 and 1
  return std::nullopt;
}

Result concatenate(const IdentityIn& in) {
  if (in.e.operands.size() == 1) return in.x(0);
  return std::nullopt;
}

/// The starts of a window as numbers, clamped so that it fits.
std::optional<Ints> static_starts(const IdentityIn& in, std::size_t first, const Shape& whole, const Shape& window) {
  Ints starts;
  for (int k = 0; k < whole.rank(); ++k) {
    const std::int64_t room = whole[k] - window[k];
    const Atom& a = in.x(first + static_cast<std::size_t>(k));
    if (room == 0) starts.push_back(0);
    else if (a.is_var()) return std::nullopt;
    else if (a.literal.dtype == u64 && a.literal.as_integer() < 0) starts.push_back(room);
    else starts.push_back(std::clamp<std::int64_t>(a.literal.as_integer(), 0, room));
  }
  return starts;
}

/// A window of an array in which a window was replaced: the replacement, or a window of the array before.
Result slice_of_updated(const IdentityIn& in) {
  constexpr int most_updates = 64;
  const auto& window = in.as<SliceAttr>();
  const Shape whole = in.type(0).shape;
  Atom x = in.x(0);
  for (int n = 0; n < most_updates; ++n) {
    const Equation* d = in.r.definition(x);
    if (!d || d->prim != &prim::dynamic_update_slice) break;
    const Shape part = in.r.type(d->operands[1]).shape;
    const auto starts = static_starts({in.r, *d, in.out}, 2, whole, part);
    if (!starts) break;
    bool same = true, apart = false;
    for (int k = 0; k < whole.rank(); ++k) {
      same &= window.start[k] == (*starts)[k] && window.limit[k] == (*starts)[k] + part[k];
      apart |= window.limit[k] <= (*starts)[k] || (*starts)[k] + part[k] <= window.start[k];
    }
    if (same) return d->operands[1];
    if (!apart) break;
    x = d->operands[0];
  }
  if (x.var == in.x(0).var) return std::nullopt;
  return in.r.emit(prim::slice, window, {x});
}

Result slice(const IdentityIn& in) {
  if (all_equal(in.as<SliceAttr>().strides, 1)) {
    if (auto same = same_shape(in)) return same;
    if (auto before = slice_of_updated(in)) return before;
  }
  return of_uniform(in);
}

Result dynamic_slice(const IdentityIn& in) {
  const Shape whole = in.type(0).shape;
  if (whole == in.out.shape) return in.x(0);
  if (auto filled = of_uniform(in)) return filled;
  const auto starts = static_starts(in, 1, whole, in.out.shape);
  if (!starts) return std::nullopt;
  Ints limit = *starts, ones = *starts;
  for (int k = 0; k < whole.rank(); ++k) {
    limit[k] += in.out.shape[k];
    ones[k] = 1;
  }
  return in.r.emit(prim::slice, SliceAttr{*starts, limit, ones}, {in.x(0)});
}

Result dynamic_update_slice(const IdentityIn& in) {
  if (in.type(1).shape == in.out.shape) return in.x(1);
  return std::nullopt;
}

Result reduce(const IdentityIn& in) {
  if (in.as<AxesAttr>().axes.empty()) return in.x(0);
  return std::nullopt;
}

/// The axes of x as those of the operand of the transpose that makes x; none where the free axes change their order.
std::optional<Ints> untransposed(const Ints& axes, const Ints& perm, const Ints& contracted, const Ints& batch) {
  std::int64_t last = -1;
  for (std::int64_t k = 0; k < perm.rank(); ++k) {
    const auto has = [&](const Ints& list) { return std::find(list.begin(), list.end(), k) != list.end(); };
    if (has(contracted) || has(batch)) continue;
    if (perm[static_cast<int>(k)] < last) return std::nullopt;
    last = perm[static_cast<int>(k)];
  }
  Ints out;
  for (std::int64_t k : axes) out.push_back(perm[static_cast<int>(k)]);
  return out;
}

/// A product reads its operands in any order of axes.
Result dot_general(const IdentityIn& in) {
  DotAttr dot = in.as<DotAttr>();
  for (const std::size_t side : {0, 1}) {
    const Equation* d = in.made_by(side, prim::transpose);
    if (!d) continue;
    Ints& contracted = side ? dot.contract_rhs : dot.contract_lhs;
    Ints& batch = side ? dot.batch_rhs : dot.batch_lhs;
    const Ints perm = d->as<PermutationAttr>().perm;
    const auto contracted_there = untransposed(contracted, perm, contracted, batch);
    if (!contracted_there) continue;
    batch = *untransposed(batch, perm, contracted, batch);
    contracted = *contracted_there;
    const Atom x = d->operands[0];
    return side ? in.r.emit(prim::dot_general, dot, {in.x(0), x}) : in.r.emit(prim::dot_general, dot, {x, in.x(1)});
  }
  return std::nullopt;
}

Result stop_gradient(const IdentityIn& in) { return in.x(0); }
Result checkpoint_name(const IdentityIn& in) { return in.x(0); }

Result zero_tangent(const IdentityIn& in) { return in.as_result(Atom::number(Literal::of(0, in.out.dtype))); }

constexpr std::pair<const Prim*, Identity> table[] = {
    {&prim::broadcast_in_dim, broadcast},
    {&prim::reshape, reshape},
    {&prim::transpose, transpose},
    {&prim::slice, slice},
    {&prim::rev, rev},
    {&prim::pad, pad},
    {&prim::concatenate, concatenate},
    {&prim::dynamic_slice, dynamic_slice},
    {&prim::dynamic_update_slice, dynamic_update_slice},
    {&prim::reduce_sum, reduce},
    {&prim::reduce_prod, reduce},
    {&prim::reduce_max, reduce},
    {&prim::reduce_min, reduce},
    {&prim::reduce_and, reduce},
    {&prim::reduce_or, reduce},
    {&prim::dot_general, dot_general},
    {&prim::stop_gradient, stop_gradient},
    {&prim::checkpoint_name, checkpoint_name},
    {&prim::zero_tangent, zero_tangent},
};

}  // namespace

IdentityTable movement_identities() { return table; }

}  // namespace anadrome

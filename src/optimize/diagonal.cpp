// Diagonal: factors renamed, joined and split; the dense array made by padding.
#include "optimize/diagonal.h"

namespace anadrome {

Ints flattened(const std::vector<Ints>& axes) {
  Ints out;
  for (const Ints& axis : axes)
    for (std::int64_t f : axis) out.push_back(f);
  return out;
}

Ints tied(const Diagonal& d) {
  const Ints all = flattened(d.axes);
  Ints out;
  for (std::int64_t f = 0; f < d.extent.rank(); ++f)
    if (std::count(all.begin(), all.end(), f) > 1) out.push_back(f);
  return out;
}

Shape extents(const Shape& extent, const Ints& factors) {
  Shape out;
  for (std::int64_t f : factors) out.push_back(extent[f]);
  return out;
}

Shape shape_of(const Diagonal& d) {
  Shape out;
  for (const Ints& axis : d.axes) out.push_back(extents(d.extent, axis).elements());
  return out;
}

bool is_one(const Atom& a) {
  return !a.is_var() && (is_float(a.literal.dtype) ? a.literal.as_double() == 1 : a.literal.as_integer() == 1);
}

namespace {

std::int64_t place(const Ints& list, std::int64_t v) { return std::find(list.begin(), list.end(), v) - list.begin(); }

/// Joins factor f + 1 into f. The value's axes of both, if any, stand side by side.
void join(Rewriter& r, Diagonal& d, std::int64_t f) {
  for (Ints& axis : d.axes) {
    Ints kept;
    for (std::int64_t g : axis)
      if (g != f + 1) kept.push_back(g > f ? g - 1 : g);
    axis = kept;
  }
  d.extent[f] *= d.extent[f + 1];
  d.extent.erase(static_cast<std::size_t>(f + 1));
  Ints order;
  for (std::int64_t g : d.order)
    if (g != f + 1) order.push_back(g > f ? g - 1 : g);
  d.order = order;
  if (d.value.is_var()) d.value = r.reshape(d.value, extents(d.extent, order));
}

/// Factors f and f + 1 stand together wherever one of them stands, within one axis each time.
bool inseparable(const Diagonal& d, std::int64_t f) {
  if (has(d.order, f) != has(d.order, f + 1)) return false;
  for (const Ints& axis : d.axes)
    for (std::size_t k = 0; k < axis.size(); ++k) {
      if (axis[k] == f && (k + 1 == axis.size() || axis[k + 1] != f + 1)) return false;
      if (axis[k] == f + 1 && (k == 0 || axis[k - 1] != f)) return false;
    }
  return true;
}

/// Splits factor f into f (outer) and f + 1.
void split(Rewriter& r, Diagonal& d, std::int64_t f, std::int64_t outer) {
  auto divided = [&](const Ints& list) {
    Ints out;
    for (std::int64_t g : list) {
      out.push_back(g > f ? g + 1 : g);
      if (g == f) out.push_back(f + 1);
    }
    return out;
  };
  for (Ints& axis : d.axes) axis = divided(axis);
  d.order = divided(d.order);
  const std::int64_t inner = d.extent[f] / outer;
  d.extent[f] = outer;
  d.extent.insert(static_cast<std::size_t>(f + 1), inner);
  if (d.value.is_var()) d.value = r.reshape(d.value, extents(d.extent, d.order));
}

struct Cut {
  std::int64_t factor = -1, outer = 0;
};

/// Deals `factors` out to the axes of `shape`. False when that is impossible; asks for a cut when one is needed first.
bool deal(const Ints& factors, const Shape& extent, const Shape& shape, std::vector<Ints>& axes, Cut& cut) {
  std::size_t next = 0;
  axes.clear();
  for (std::int64_t n : shape) {
    Ints& axis = axes.emplace_back();
    for (std::int64_t filled = 1; filled < n;) {
      if (next == factors.size() || n % filled != 0) return false;
      const std::int64_t f = factors[next], need = n / filled;
      if (need % extent[f] == 0) {
        axis.push_back(f);
        filled *= extent[f];
        ++next;
      } else {
        if (extent[f] % need != 0) return false;
        cut = {f, need};
        return true;
      }
    }
  }
  return next == factors.size();
}

}  // namespace

Spread sorted(Rewriter& r, const Spread& x) {
  Ints order = x.order;
  std::sort(order.begin(), order.end());
  Ints perm;
  for (std::int64_t f : order) perm.push_back(place(x.order, f));
  return {r.transpose(x.value, perm), order};
}

Atom spread_to(Rewriter& r, const Spread& x, const Ints& order, const Shape& extent) {
  if (x.order.empty()) return x.value;
  Ints dims;
  for (std::int64_t f : x.order) dims.push_back(place(order, f));
  return r.broadcast(x.value, extents(extent, order), dims);
}

Spread combine(Rewriter& r, const Prim& prim, const Attrs& attrs, std::span<const Spread> operands,
               const Shape& extent) {
  Ints order;
  for (const Spread& x : operands)
    for (std::int64_t f : x.order)
      if (!has(order, f)) order.push_back(f);
  std::sort(order.begin(), order.end());
  std::vector<Atom> atoms;
  for (const Spread& x : operands) atoms.push_back(spread_to(r, x, order, extent));
  return {r.emit(prim, attrs, atoms), order};
}

Diagonal normal(Rewriter& r, Diagonal d) {
  const Ints all = flattened(d.axes);
  Ints name(d.extent.begin(), d.extent.end());
  std::fill(name.begin(), name.end(), -1);
  Shape extent;
  for (std::int64_t f : all)
    if (name[f] < 0 && d.extent[f] != 1) {
      name[f] = extent.rank();
      extent.push_back(d.extent[f]);
    }
  for (Ints& axis : d.axes) {
    Ints renamed;
    for (std::int64_t f : axis)
      if (name[f] >= 0) renamed.push_back(name[f]);
    axis = renamed;
  }
  Spread value{d.value, {}};
  for (std::int64_t f : d.order)
    if (name[f] >= 0) value.order.push_back(name[f]);
  value.value = r.reshape(d.value, extents(extent, value.order));  // drops factors of extent 1
  value = sorted(r, value);
  Diagonal out{std::move(d.axes), extent, value.value, value.order};
  for (std::int64_t f = 0; f + 1 < out.extent.rank();)
    if (inseparable(out, f)) join(r, out, f);
    else ++f;
  return out;
}

std::optional<Diagonal> reshaped(Rewriter& r, Diagonal d, const Shape& shape) {
  std::vector<Ints> axes;
  while (true) {
    Cut cut;
    if (!deal(flattened(d.axes), d.extent, shape, axes, cut)) return std::nullopt;
    if (cut.factor < 0) break;
    split(r, d, cut.factor, cut.outer);
  }
  d.axes = axes;
  return normal(r, std::move(d));
}

namespace {

/// `x` with the axis of factor f doubled: the elements where both agree, and zeros.
void double_axis(Rewriter& r, Spread& x, std::int64_t f, const Shape& extent) {
  const auto at = static_cast<std::size_t>(place(x.order, f));
  Shape shape = extents(extent, x.order);
  Ints none = shape, interior;
  std::fill(none.begin(), none.end(), 0);
  interior = none;
  interior[at] = shape[at];  // n zeros between elements: n * n in all, element i at i * n + i
  const Atom zero = Atom::number(Literal::of(0, r.type(x.value).dtype));
  x.value = r.emit(prim::pad, PadAttr{none, none, interior}, {x.value, zero});
  shape.insert(at, shape[at]);
  x.value = r.reshape(x.value, shape);
  x.order.insert(at, f);
}

/// The nonzero part with every tied factor at two places.
Spread doubled(Rewriter& r, const Diagonal& d, const Ints& ties) {
  if (ties.size() == 1 && is_one(d.value)) {
    const IdentityAttr identity{d.value.literal.dtype, d.extent[ties[0]]};
    return {r.emit(prim::identity, identity, {}), {ties[0], ties[0]}};
  }
  Ints order = d.order;
  for (std::int64_t f : ties)
    if (!has(order, f)) order.push_back(f);
  std::sort(order.begin(), order.end());
  Spread x{spread_to(r, {d.value, d.order}, order, d.extent), order};
  if (x.order.size() != static_cast<std::size_t>(r.type(x.value).rank()))
    x.value = r.broadcast(x.value, extents(d.extent, order), {});
  for (std::int64_t f : ties) double_axis(r, x, f, d.extent);
  return x;
}

}  // namespace

Atom dense(Rewriter& r, const Diagonal& d) {
  const Spread x = doubled(r, d, tied(d));
  const Ints all = flattened(d.axes);
  Ints perm, dims, taken;
  for (int at = 0; at < all.rank(); ++at) {
    const auto repeat = std::count(taken.begin(), taken.end(), all[at]);
    taken.push_back(all[at]);
    const std::int64_t from = place(x.order, all[at]) + repeat;
    if (!has(x.order, all[at])) continue;
    perm.push_back(from);
    dims.push_back(at);
  }
  Atom y = r.transpose(x.value, perm);
  y = r.broadcast(y, extents(d.extent, all), dims);
  return r.reshape(y, shape_of(d));
}

}  // namespace anadrome

// Operations of random programs that move, index, reduce, sort and contract.
#include <algorithm>

#include "support/fuzz_maker.h"

namespace anadrome::testing {
namespace {

Ints repeated(int n, std::int64_t value) {
  Ints out;
  for (int k = 0; k < n; ++k) out.push_back(value);
  return out;
}
Ints extents(const Array& x) {
  Ints out;
  for (std::int64_t n : x.shape()) out.push_back(n);
  return out;
}

}  // namespace

Ints FuzzMaker::some_axes(const Array& a) {
  Ints axes;
  for (int k = 0; k < a.rank(); ++k)
    if (chance(55)) axes.push_back(k);
  if (axes.empty() && a.rank() > 0 && chance(90)) axes.push_back(axis_of(a));
  return axes;
}

Array FuzzMaker::broadcast() {
  const Array x = pick([](const Array& a) { return a.rank() < 3; });
  if (!x.defined()) return {};
  // New axes anywhere; an axis of extent 1 may be repeated.
  Shape shape = x.shape();
  Ints dims;
  for (int k = 0; k < x.rank(); ++k) dims.push_back(k);
  for (std::int64_t& n : shape)
    if (n == 1 && chance(50)) n = dimension();
  for (int added = 1 + below(2); added > 0; --added) {
    const int at = below(shape.rank() + 1);
    shape.insert(static_cast<std::size_t>(at), dimension());
    for (std::int64_t& d : dims)
      if (d >= at) ++d;
  }
  return shape.elements() > most_elements ? Array() : op::broadcast_in_dim(x, shape, dims);
}

Array FuzzMaker::shape_change() {
  const Array x = pick_ranked(1);
  if (!x.defined()) return {};
  Ints order;
  for (int k = 0; k < x.rank(); ++k) order.push_back(k);
  switch (below(5)) {
    case 0: case 1: {
      std::shuffle(order.begin(), order.end(), random_);
      return op::transpose(x, order);
    }
    case 2: return op::rev(x, some_axes(x));
    case 3: {  // joins two axes, or splits one
      Shape shape = x.shape();
      if (shape.rank() > 1 && chance(60)) {
        const auto k = static_cast<std::size_t>(below(shape.rank() - 1));
        shape[static_cast<int>(k)] *= shape[static_cast<int>(k) + 1];
        shape.erase(k + 1);
      } else {
        const int k = below(shape.rank());
        for (std::int64_t factor : {2, 3, 4, 5, 8})
          if (shape[k] % factor == 0 && chance(50)) {
            shape[k] /= factor;
            shape.insert(static_cast<std::size_t>(k + below(2)), factor);
            break;
          }
      }
      return op::reshape(x, shape);
    }
    default: {
      Shape shape = x.shape();
      shape.insert(static_cast<std::size_t>(below(shape.rank() + 1)), 1);
      return op::reshape(x, shape);
    }
  }
}

Array FuzzMaker::slicing() {
  const Array x = pick_ranked(1);
  if (!x.defined()) return {};
  Ints start, limit, strides;
  for (std::int64_t n : x.shape()) {
    const std::int64_t low = chance(50) ? 0 : below64(std::min<std::int64_t>(n, 4) + 1);
    start.push_back(std::min(low, n));
    limit.push_back(chance(50) ? n : start.back() + below64(n - start.back() + 1));
    strides.push_back(chance(65) ? 1 : 1 + below(3));
  }
  return op::slice(x, start, limit, strides);
}

Array FuzzMaker::padding() {
  const Array x = pick_ranked(1);
  if (!x.defined() || x.size() > most_elements / 4) return {};
  Ints low, high, interior;
  for (std::int64_t n : x.shape()) {
    const bool padded = chance(50);
    low.push_back(padded ? below(5) - 1 - (chance(10) ? n / 2 : 0) : 0);
    high.push_back(padded ? below(5) - 1 : 0);
    interior.push_back(chance(80) ? 0 : 1 + below(2));
  }
  const Array scalar = pick([&](const Array& v) { return v.rank() == 0 && v.dtype() == x.dtype(); });
  return op::pad(x, scalar.defined() ? scalar : literal_like(x), low, high, interior);
}

Array FuzzMaker::joined() {
  const Array x = pick_ranked(1);
  if (!x.defined()) return {};
  const std::int64_t axis = axis_of(x);
  Arrays parts{x};
  for (int more = 1 + below(3); more > 0; --more) {
    const Array part = pick([&](const Array& v) {
      if (v.dtype() != x.dtype() || v.rank() != x.rank()) return false;
      for (int k = 0; k < v.rank(); ++k)
        if (k != axis && v.shape()[k] != x.shape()[k]) return false;
      return true;
    });
    parts.push_back(part.defined() ? part : x);
  }
  std::shuffle(parts.begin(), parts.end(), random_);
  return op::concatenate(parts, axis);
}

Array FuzzMaker::made() {
  if (chance(10)) return op::identity(main_, dimension());
  const Shape shape = any_shape(1 + below(3));
  if (chance(20)) return op::full(below(5) - 2, Type{main_, shape});
  const DType dtype = chance(40) ? main_ : chance(60) ? i32 : any_dtype();
  return is_bool(dtype) ? Array() : op::iota(dtype, shape, below(shape.rank()));
}

/// Neighbours along an axis: slices that overlap.
Array FuzzMaker::stencil() {
  const Array x = pick([](const Array& a) { return a.rank() > 0 && !is_bool(a.dtype()); });
  if (!x.defined()) return {};
  const int axis = static_cast<int>(axis_of(x));
  const std::int64_t n = x.shape()[axis];
  if (n < 3) return {};
  const auto part = [&](std::int64_t from) {
    Ints start = repeated(x.rank(), 0), limit = extents(x);
    start[axis] = from, limit[axis] = n - 2 + from;
    return op::slice(x, start, limit, repeated(x.rank(), 1));
  };
  const Array inner = op::sub(op::add(part(0), part(2)), op::mul(literal_like(x), part(1)));
  if (chance(60)) return inner;
  // Put back into the array, once or with an overlap.
  if (chance(50)) {
    Ints start = repeated(x.rank(), 0);
    start[axis] = below(3);
    return op::add_slice(x, inner, start, repeated(x.rank(), 1));
  }
  Arrays starts(static_cast<std::size_t>(x.rank()), op::number(0, i32));
  starts[static_cast<std::size_t>(axis)] = op::number(below(3), i32);
  return op::dynamic_update_slice(x, inner, starts);
}

Array FuzzMaker::dynamic_window() {
  const Array x = pick_ranked(1);
  if (!x.defined()) return {};
  Arrays starts;
  Ints sizes;
  for (std::int64_t n : x.shape()) {
    const Array start = pick([](const Array& v) { return v.rank() == 0 && is_integer(v.dtype()); });
    starts.push_back(start.defined() && chance(60) ? start : op::number(below(static_cast<int>(n) + 4) - 2, i32));
    sizes.push_back(chance(40) ? n : below64(n + 1));
  }
  const Array part = op::dynamic_slice(x, starts, sizes);
  if (chance(40)) return part;
  const Array update = is_bool(x.dtype()) ? op::bit_not(part) : op::add(part, literal_like(x));
  for (Array& s : starts)
    if (chance(40)) s = op::number(below(6) - 1, i32);
  return is_bool(x.dtype()) || chance(60) ? op::dynamic_update_slice(x, update, starts)
                                          : op::dynamic_add_slice(x, update, starts);
}

/// Index vectors [batch..., components], from a value or from iota, some out of range.
Array FuzzMaker::indices_for(const Array& x, const Shape& batch, int components) {
  Shape shape = batch;
  shape.push_back(components);
  const Array known = pick([&](const Array& v) { return is_integer(v.dtype()) && v.shape() == shape; });
  if (known.defined() && chance(50)) return known;
  Array i = op::iota(chance(80) ? i32 : i64, shape, below(shape.rank()));
  if (chance(60)) i = op::mul(i, op::number_like(1 + below(3), i));
  if (chance(60)) i = op::add(i, op::number_like(below(4) - 2, i));
  const std::int64_t n = std::max<std::int64_t>(x.shape()[0], 1);
  return chance(60) ? op::rem(i, op::number_like(static_cast<double>(n), i)) : i;
}

Array FuzzMaker::gathered() {
  const Array x = pick_ranked(1);
  if (!x.defined()) return {};
  GatherAttr g{};
  Shape batch;
  for (int k = below(3); k > 0; --k) batch.push_back(dimension());
  std::int64_t elements = batch.elements();
  for (int k = 0; k < x.rank(); ++k) {
    const bool indexed = chance(50) || (k == 0 && x.rank() == 1);
    if (indexed) g.start_index_map.push_back(k);
    const std::int64_t n = x.shape()[k];
    const std::int64_t size = indexed ? (chance(60) ? std::min<std::int64_t>(n, 1) : below64(n + 1)) : n;
    g.slice_sizes.push_back(size);
    elements *= size;
    if (size == 1 && chance(70)) g.collapsed_dims.push_back(k);
    else g.offset_dims.push_back(batch.rank() + g.offset_dims.rank());
  }
  if (elements > most_elements) return {};
  constexpr IndexMode modes[] = {IndexMode::clip, IndexMode::fill_or_drop, IndexMode::zero_or_drop,
                                 IndexMode::clip_or_drop};
  g.mode = modes[below(4)];
  return op::gather(x, indices_for(x, batch, g.start_index_map.rank()), g);
}

Array FuzzMaker::scattered() {
  const Array x = pick_ranked(1);
  if (!x.defined()) return {};
  ScatterAttr s{};
  Shape batch, windows;
  for (int k = below(3); k > 0; --k) batch.push_back(dimension());
  for (int k = 0; k < x.rank(); ++k) {
    const bool indexed = chance(50) || (k == 0 && x.rank() == 1);
    if (indexed) s.scatter_dims.push_back(k);
    const std::int64_t n = x.shape()[k];
    const std::int64_t size = indexed ? (chance(60) ? std::min<std::int64_t>(n, 1) : below64(n + 1)) : n;
    if (size == 1 && chance(70)) {
      s.inserted_dims.push_back(k);
    } else {
      s.update_window_dims.push_back(batch.rank() + s.update_window_dims.rank());
      windows.push_back(size);
    }
  }
  s.mode = chance(50) ? IndexMode::clip : IndexMode::fill_or_drop;
  Shape shape = batch;
  for (std::int64_t n : windows) shape.push_back(n);
  if (shape.elements() > most_elements) return {};
  const Array known = pick([&](const Array& v) { return v.dtype() == x.dtype() && v.shape() == shape; });
  Array updates = known.defined() ? known : op::broadcast_scalar(literal_like(x), shape);
  if (!known.defined() && shape.rank() > 0 && !is_bool(x.dtype()) && chance(80))
    updates = op::iota(x.dtype(), shape, below(shape.rank()));
  const Array indices = indices_for(x, batch, s.scatter_dims.rank());
  switch (is_bool(x.dtype()) ? 0 : below(6)) {
    case 0: return op::scatter(x, indices, updates, s);
    case 1: return op::scatter_mul(x, indices, updates, s);
    case 2: return op::scatter_min(x, indices, updates, s);
    case 3: return op::scatter_max(x, indices, updates, s);
    default: return op::scatter_add(x, indices, updates, s);
  }
}

Array FuzzMaker::reduction() {
  const Array x = pick_ranked(1);
  if (!x.defined()) return {};
  const Ints axes = some_axes(x);
  if (is_bool(x.dtype())) return chance(50) ? op::reduce_and(x, axes) : op::reduce_or(x, axes);
  switch (below(9)) {
    case 0: return op::reduce_prod(x, axes);
    case 1: case 2: return op::reduce_max(x, axes);
    case 3: return op::reduce_min(x, axes);
    case 4: return op::argmax(x, axis_of(x));
    case 5: return chance(50) ? op::argmin(x, axis_of(x)) : op::reduce_sum(op::mul(x, x), axes);
    default: return op::reduce_sum(x, axes);
  }
}

Array FuzzMaker::cumulative() {
  const Array x = pick([](const Array& a) { return a.rank() > 0 && !is_bool(a.dtype()); });
  if (!x.defined()) return {};
  const std::int64_t axis = axis_of(x);
  const bool reverse = chance(40);
  switch (below(6)) {
    case 0: return op::cumprod(x, axis, reverse);
    case 1: return op::cummax(x, axis, reverse);
    case 2: return op::cummin(x, axis, reverse);
    case 3: return is_float(x.dtype()) ? op::cumlogsumexp(x, axis, reverse) : op::cumsum(x, axis, reverse);
    default: return op::cumsum(x, axis, reverse);
  }
}

Array FuzzMaker::sorted() {
  const Array x = pick_ranked(1);
  if (!x.defined()) return {};
  if (chance(30) && !is_bool(x.dtype())) {
    const Arrays best = op::top_k(x, below64(x.shape()[x.rank() - 1] + 1));
    values_.push_back(best[0]);
    return best[1];
  }
  Arrays operands{x};
  for (int more = below(3); more > 0; --more) {
    const Array y = pick([&](const Array& v) { return v.shape() == x.shape(); });
    if (y.defined()) operands.push_back(y);
  }
  const Arrays out = op::sort(operands, axis_of(x), 1 + below(static_cast<int>(operands.size())));
  for (std::size_t i = 1; i < out.size(); ++i) values_.push_back(out[i]);
  return out[0];
}

Array FuzzMaker::windowed() {
  const Array x = pick([](const Array& a) { return a.rank() > 0 && !is_bool(a.dtype()); });
  if (!x.defined()) return {};
  ReduceWindowAttr w;
  for (int k = 0; k < x.rank(); ++k) {
    w.window.push_back(chance(40) ? 1 : 1 + below(4));
    w.strides.push_back(1 + below(2));
    w.low.push_back(below(3));
    w.high.push_back(below(3));
  }
  switch (below(3)) {
    case 0: return op::reduce_window_max(x, w);
    case 1: return op::reduce_window_min(x, w);
    default: return op::reduce_window_sum(x, w);
  }
}

Array FuzzMaker::contraction() {
  const Array x = pick([](const Array& a) { return a.rank() > 0 && !is_bool(a.dtype()); });
  if (!x.defined()) return {};
  const Array y = pick([&](const Array& v) { return v.dtype() == x.dtype() && v.rank() > 0 && v.rank() < 4; });
  if (!y.defined()) return {};
  DotAttr d;
  std::vector<bool> used(static_cast<std::size_t>(y.rank()), false);
  std::int64_t elements = x.size() * y.size();
  for (int i = 0; i < x.rank(); ++i)
    for (int k = 0; k < y.rank(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (used[at] || x.shape()[i] != y.shape()[k] || chance(25)) continue;
      used[at] = true;
      const std::int64_t n = std::max<std::int64_t>(x.shape()[i], 1);
      const bool is_batch = chance(35);
      (is_batch ? d.batch_lhs : d.contract_lhs).push_back(i);
      (is_batch ? d.batch_rhs : d.contract_rhs).push_back(k);
      elements /= is_batch ? n : n * n;
      break;
    }
  return elements > most_elements ? Array() : op::dot_general(x, y, d);
}

}  // namespace anadrome::testing

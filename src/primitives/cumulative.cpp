// Inclusive scans along one axis, forwards or in reverse: cumsum, cumprod, cummax, cummin, cumlogsumexp. NaN
// stays from where it appears on. Sums of floats run in double.
#include <cmath>

#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"
#include "primitives/reduce_kernel.h"

namespace anadrome {

namespace {

Types type_scan(const TypeIn& in, bool allowed, const char* wanted) {
  refuse_complex(in);
  const Type& x = in.x[0];
  const std::int64_t axis = in.as<CumulativeAttr>().axis;
  if (!allowed) refuse(in, std::string("needs ") + wanted + ", got " + to_string(x) + ". Convert it first.");
  if (axis < 0 || axis >= x.rank()) refuse(in, "axis " + std::to_string(axis) + " of " + to_string(x) + ".");
  return {x};
}
Types type_number(const TypeIn& in) {
  return type_scan(in, is_integer(in.x[0].dtype) || is_float(in.x[0].dtype), "integers or floats");
}
Types type_float(const TypeIn& in) {
  return type_scan(in, is_float(in.x[0].dtype), "floats");
}

/// Running value of a scan whose state is the result itself.
template <class Op> struct Running {
  typename Op::Accumulator value = Op::identity;
  template <class T> T next(T x) {
    value = Op::combine(value, reduction::widen<typename Op::Accumulator>(x));
    return reduction::narrow<T>(value);
  }
};
/// log(sum(exp)) so far, as the largest element and the sum scaled by it.
struct RunningLogSum {
  double largest = -INFINITY, sum = 0;
  template <class T> T next(T element) {
    const double x = static_cast<double>(static_cast<Compute<T>>(element));
    if (x > largest) {
      sum = sum * std::exp(largest - x) + 1;
      largest = x;
    } else if (x != largest) {  // also NaN
      sum += std::exp(x - largest);
    } else if (std::isfinite(x)) {
      sum += 1;
    }
    return static_cast<T>(largest + (sum == 0 ? 0 : std::log(sum)));
  }
};

/// Rows that lie behind each other, several at a time: their chains of dependent steps overlap.
template <class T, class State> void scan_rows(const EvalIn& in, std::int64_t n, bool reverse) {
  constexpr std::int64_t together = 4;
  const std::int64_t rows = in.in[0].elements() / n;
  const T* x = static_cast<const T*>(in.x[0]);
  T* y = static_cast<T*>(in.y[0]);
  std::int64_t row = 0;
  for (; row + together <= rows; row += together) {
    State state[together];
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t r = 0; r < together; ++r) {
        const std::int64_t at = (row + r) * n + (reverse ? n - 1 - i : i);
        y[at] = state[r].next(x[at]);
      }
  }
  for (; row < rows; ++row) {
    State state;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t at = row * n + (reverse ? n - 1 - i : i);
      y[at] = state.next(x[at]);
    }
  }
}

template <class T, class State> void scan_columns(const EvalIn& in) {
  constexpr std::int64_t block = 64;
  const Shape& shape = in.in[0].shape;
  const auto [axis, reverse] = in.as<CumulativeAttr>();
  const std::int64_t n = shape[axis], inner = row_major(shape)[axis];
  if (shape.elements() == 0) return;
  const std::int64_t outer = shape.elements() / (n * inner), step = reverse ? -inner : inner;
  if (inner == 1) return scan_rows<T, State>(in, n, reverse);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t c = 0; c < inner; c += block) {
      const std::int64_t first = (o * n + (reverse ? n - 1 : 0)) * inner + c,
                         width = std::min(block, inner - c);
      const T* x = static_cast<const T*>(in.x[0]) + first;
      T* y = static_cast<T*>(in.y[0]) + first;
      State state[block];
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < width; ++j) y[i * step + j] = state[j].next(x[i * step + j]);
    }
}

template <template <class> class Op> void eval_scan(const EvalIn& in) {
  dispatch_number(in.in[0].dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    scan_columns<T, Running<Op<T>>>(in);
  });
}
void eval_log_sum(const EvalIn& in) {
  dispatch_float(in.in[0].dtype,
                 [&](auto t) { scan_columns<typename decltype(t)::type, RunningLogSum>(in); });
}

BatchOut batch_scan(const BatchIn& in) {
  CumulativeAttr attr = in.as<CumulativeAttr>();
  if (attr.axis >= in.axis[0]) ++attr.axis;
  return {bind1(*in.eqn.prim, {in.x[0]}, attr), in.axis[0]};
}

double steps(const CostIn& in) {
  const std::int64_t n = in.in[0].shape[in.as<CumulativeAttr>().axis];
  return n == 0 ? 0 : static_cast<double>(in.in[0].elements() / n * (n - 1));
}
Cost cost_scan(const CostIn& in) {
  return {.flops = steps(in)};
}
Cost cost_log_sum(const CostIn& in) {
  return {.flops = steps(in), .transcendentals = 2 * steps(in)};
}

// ---- tangents: the scan of (value, tangent) pairs
// -------------------------------------------------------------------

struct Pair {
  Array x, t;
};

/// The elements first, first + step, ... below last of one axis.
Array part(const Array& x, std::int64_t axis, std::int64_t first, std::int64_t last, std::int64_t step) {
  Ints start, strides;
  for (int k = 0; k < x.rank(); ++k) start.push_back(0), strides.push_back(1);
  Ints limit = x.shape();
  start[axis] = first, limit[axis] = last, strides[axis] = step;
  return op::slice(x, start, limit, strides);
}
Pair part(const Pair& p, std::int64_t axis, std::int64_t first, std::int64_t last, std::int64_t step) {
  return {part(p.x, axis, first, last, step), part(p.t, axis, first, last, step)};
}
/// even[0], odd[0], even[1], ...
Array interleave(const Array& even, const Array& odd, std::int64_t axis) {
  Ints none;
  for (int k = 0; k < even.rank(); ++k) none.push_back(0);
  const bool longer = even.shape()[axis] > odd.shape()[axis];
  Ints even_high = none, odd_low = none, odd_high = none, interior = none;
  even_high[axis] = !longer, odd_low[axis] = 1, odd_high[axis] = longer, interior[axis] = 1;
  const Array zero = op::number_like(0, even);
  return op::add(op::pad(even, zero, none, even_high, interior),
                 op::pad(odd, zero, odd_low, odd_high, interior));
}

/// The prefixes of an associative operation, in work proportional to the elements: combine neighbours, scan
/// the half as many results (the prefixes at odd places), and combine those with the elements at even places.
template <class Combine> Pair prefixes(const Combine& combine, const Pair& p, std::int64_t axis) {
  const std::int64_t n = p.x.shape()[axis];
  if (n < 2) return p;
  const Pair odd = prefixes(combine, combine(part(p, axis, 0, n - 1, 2), part(p, axis, 1, n, 2)), axis);
  Pair even = part(p, axis, 0, 1, 1);
  if (n > 2) {
    const std::int64_t before = (n - 1) / 2;  // even places after the first
    const Pair left = before == n / 2 ? odd : part(odd, axis, 0, before, 1);
    const Pair rest = combine(left, part(p, axis, 2, n, 2));
    const Array xs[] = {even.x, rest.x}, ts[] = {even.t, rest.t};
    even = {op::concatenate(xs, axis), op::concatenate(ts, axis)};
  }
  return {interleave(even.x, odd.x, axis), interleave(even.t, odd.t, axis)};
}

/// Tangent of a scan by the binary primitive `prim`: pairs are combined by its own jvp rule, so that special
/// values, ties and higher orders follow that rule.
template <class Combine> Arrays jvp_scan(const JvpIn& in, const Prim& prim, Combine value) {
  const auto [axis, reverse] = in.as<CumulativeAttr>();
  Equation eqn;
  eqn.prim = &prim;
  const auto combine = [&](const Pair& a, const Pair& b) -> Pair {
    const Array x[] = {a.x, b.x}, y[] = {value(a.x, b.x)}, t[] = {a.t, b.t};
    const Type type[] = {a.x.type(), b.x.type()};
    return {y[0], need<&Prim::jvp>(prim)({eqn, type, {type, 1}, x, y, t})[0]};
  };
  const auto turned = [axis = axis, reverse = reverse](const Array& a) {
    return reverse ? op::rev(a, {axis}) : a;
  };
  return {turned(prefixes(combine, {turned(in.x[0]), turned(in.t[0])}, axis).t)};
}

constexpr auto not_linear = no_rule("not linear; its tangent is made of linear primitives");

Array cumulate(const Prim& prim, const Array& x, std::int64_t axis, bool reverse) {
  return bind1(prim, {x}, CumulativeAttr{axis, reverse});
}

}  // namespace

constinit const Prim prim::cumsum = {
    .name = "cumsum",
    .type = type_number,
    .eval = eval_scan<reduction::Sum>,
    .jvp = [](const JvpIn& in) -> Arrays {
      return {op::cumsum(in.t[0], in.as<CumulativeAttr>().axis, in.as<CumulativeAttr>().reverse)};
    },
    .transpose =
        [](const TransposeIn& in) {
          const auto [axis, reverse] = in.as<CumulativeAttr>();
          if (in.wants(0)) in.acc[0]->add(op::cumsum(in.ct[0], axis, !reverse));
        },
    .batch = batch_scan,
    .cost = cost_scan};
constinit const Prim prim::cumprod = {
    .name = "cumprod",
    .type = type_number,
    .eval = eval_scan<reduction::Product>,
    .jvp = [](const JvpIn& in) -> Arrays { return jvp_scan(in, prim::mul, op::mul); },
    .transpose = not_linear,
    .batch = batch_scan,
    .cost = cost_scan};
constinit const Prim prim::cummax = {
    .name = "cummax",
    .type = type_number,
    .eval = eval_scan<reduction::Max>,
    .jvp = [](const JvpIn& in) -> Arrays { return jvp_scan(in, prim::max, op::max); },
    .transpose = not_linear,
    .batch = batch_scan,
    .cost = cost_scan};
constinit const Prim prim::cummin = {
    .name = "cummin",
    .type = type_number,
    .eval = eval_scan<reduction::Min>,
    .jvp = [](const JvpIn& in) -> Arrays { return jvp_scan(in, prim::min, op::min); },
    .transpose = not_linear,
    .batch = batch_scan,
    .cost = cost_scan};
constinit const Prim prim::cumlogsumexp = {
    .name = "cumlogsumexp",
    .type = type_float,
    .eval = eval_log_sum,
    .jvp = [](const JvpIn& in) -> Arrays { return jvp_scan(in, prim::logaddexp, op::logaddexp); },
    .transpose = not_linear,
    .batch = batch_scan,
    .cost = cost_log_sum};

Array op::cumsum(const Array& x, std::int64_t axis, bool reverse) {
  return cumulate(prim::cumsum, x, axis, reverse);
}
Array op::cumprod(const Array& x, std::int64_t axis, bool reverse) {
  return cumulate(prim::cumprod, x, axis, reverse);
}
Array op::cummax(const Array& x, std::int64_t axis, bool reverse) {
  return cumulate(prim::cummax, x, axis, reverse);
}
Array op::cummin(const Array& x, std::int64_t axis, bool reverse) {
  return cumulate(prim::cummin, x, axis, reverse);
}
Array op::cumlogsumexp(const Array& x, std::int64_t axis, bool reverse) {
  return cumulate(prim::cumlogsumexp, x, axis, reverse);
}

}  // namespace anadrome

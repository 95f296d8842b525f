// pad: an array with a value before, after and between its elements; negative low and high cut elements off.
#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

/// Extent after the value was put between the elements.
std::int64_t dilated(std::int64_t n, std::int64_t interior) {
  return n == 0 ? 0 : n + (n - 1) * interior;
}

Types type_pad(const TypeIn& in) {
  refuse_complex(in);
  const auto& [low, high, interior] = in.as<PadAttr>();
  const Type& x = in.x[0];
  require_one_dtype(in, 0, 2);
  if (in.x[1].rank() != 0) refuse(in, "the value must be a scalar, not " + to_string(in.x[1]) + ".");
  require_per_axis(in, low, "low");
  require_per_axis(in, high, "high");
  require_per_axis(in, interior, "interior");
  Type y{x.dtype, {}};
  for (int k = 0; k < x.rank(); ++k) {
    const std::int64_t n = low[k] + dilated(x.shape[k], interior[k]) + high[k];
    if (interior[k] < 0) refuse(in, "interior " + to_string(interior) + " must not be negative.");
    if (n < 0)
      refuse(in, "axis " + std::to_string(k) + " of " + to_string(x) + " would have " + std::to_string(n) +
                     " elements with low " + std::to_string(low[k]) + ", high " + std::to_string(high[k]) +
                     ". Cut less.");
    y.shape.push_back(n);
  }
  return {y};
}

/// The elements of one axis that are not cut off, and where the first of them goes.
struct Kept {
  std::int64_t first, count, to;
};
Kept kept_elements(std::int64_t n, std::int64_t low, std::int64_t step, std::int64_t out) {
  const std::int64_t first = low < 0 ? (-low + step - 1) / step : 0;
  const std::int64_t end = std::min(n, out - low <= 0 ? 0 : (out - low - 1) / step + 1);
  return {first, std::max<std::int64_t>(end - first, 0), low + first * step};
}

void eval_pad(const EvalIn& in) {
  const auto& [low, high, interior] = in.as<PadAttr>();
  const Type& y = in.out[0];
  const Shape& x = in.in[0].shape;
  const Strides to = row_major(y.shape), from = row_major(x);
  Loops loops;
  std::int64_t to_start = 0, from_start = 0, copied = 1;
  for (int k = 0; k < x.rank(); ++k) {
    const std::int64_t step = interior[k] + 1;
    const Kept kept = kept_elements(x[k], low[k], step, y.shape[k]);
    loops.add(kept.count, to[k] * step, from[k]);
    to_start += kept.to * to[k];
    from_start += kept.first * from[k];
    copied *= kept.count;
  }
  if (copied != y.elements()) fill_elements(y.dtype, in.y[0], in.x[1], y.elements());
  if (copied == 0) return;
  copy_strided(y.dtype, element(y.dtype, in.y[0], to_start), element(y.dtype, in.x[0], from_start), loops);
}

Ints negated(Ints list) {
  for (std::int64_t& v : list) v = -v;
  return list;
}

/// True where the result holds the value rather than an element of the operand.
Array padding_mask(const Shape& x, const PadAttr& attrs) {
  const Array no = op::full(0, Type{DType::b1, x});
  return op::pad(no, op::number(1, DType::b1), attrs.low, attrs.high, attrs.interior);
}

void transpose_pad(const TransposeIn& in) {
  const PadAttr& attrs = in.as<PadAttr>();
  const Array& ct = in.ct[0];
  const Shape& x = in.in[0].shape;
  if (in.wants(0)) {
    Ints strides = attrs.interior, none(x);
    for (std::int64_t& v : strides) ++v;
    for (std::int64_t& v : none) v = 0;
    const Array inner = op::pad(ct, op::number_like(0, ct), negated(attrs.low), negated(attrs.high), none);
    in.acc[0]->add(op::slice(inner, none, inner.shape(), strides));
  }
  if (in.wants(1)) {
    // A selection rather than a difference of sums: exact, and infinities elsewhere do not matter.
    const Array at_value = op::select(padding_mask(x, attrs), ct, op::zeros(in.out[0]));
    in.acc[1]->add(op::reduce_sum(at_value, axes_between(0, ct.rank())));
  }
}

BatchOut batch_pad(const BatchIn& in) {
  const PadAttr& a = in.as<PadAttr>();
  if (!in.batched(1)) {
    const int at = in.axis[0];
    return {op::pad(in.x[0], in.x[1], inserted(a.low, at, 0), inserted(a.high, at, 0),
                    inserted(a.interior, at, 0)),
            at};
  }
  const Array x = in.front_dense(0);
  const Shape one(x.shape().begin() + 1, x.shape().end());
  const Array padded = op::pad(x, op::number_like(0, x), inserted(a.low, 0, 0), inserted(a.high, 0, 0),
                               inserted(a.interior, 0, 0));
  const Array value = op::broadcast_in_dim(in.x[1], padded.shape(), {0});
  return {op::select(op::broadcast_axis(padding_mask(one, a), 0, in.size), value, padded), 0};
}

}  // namespace

constinit const Prim prim::pad = {.name = "pad",
                                  .work = Work::movement,
                                  .type = type_pad,
                                  .eval = eval_pad,
                                  .jvp = [](const JvpIn& in) -> Arrays {
                                    const auto& [low, high, interior] = in.as<PadAttr>();
                                    return {op::pad(in.dense(0), in.dense(1), low, high, interior)};
                                  },
                                  .transpose = transpose_pad,
                                  .batch = batch_pad,
                                  .cost = cost_free};

Array op::pad(const Array& x, const Array& value, const Ints& low, const Ints& high, const Ints& interior) {
  const auto is_zero = [](std::int64_t v) { return v == 0; };
  const bool same = std::all_of(low.begin(), low.end(), is_zero) &&
                    std::all_of(high.begin(), high.end(), is_zero) &&
                    std::all_of(interior.begin(), interior.end(), is_zero);
  const bool per_axis = low.rank() == x.rank() && high.rank() == x.rank() && interior.rank() == x.rank();
  return same && per_axis ? x : bind1(prim::pad, {x, value}, PadAttr{low, high, interior});
}

}  // namespace anadrome

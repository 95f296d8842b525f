// Discrete distributions: integers, coin flips, categories, permutations, choices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "anadrome/ops/gather.h"
#include "api/operand.h"
#include "api/random_bits.h"
#include "primitives/op.h"

namespace anadrome::random {
namespace {

__extension__ using Int128 = __int128;  // holds the difference of any two 64-bit numbers

[[noreturn]] void refuse(std::string_view what, const std::string& text) {
  throw TypeError(std::string(what) + ": " + text + at_current_source());
}

Array integer(std::int64_t value, DType dtype) {
  return literal(Literal::of_integer(value, dtype));
}

/// Smallest and largest value of an integer dtype.
std::pair<Int128, Int128> range_of(DType dtype) {
  const int bits = 8 * static_cast<int>(item_size(dtype));
  if (is_unsigned(dtype)) return {0, (Int128{1} << bits) - 1};
  return {-(Int128{1} << (bits - 1)), (Int128{1} << (bits - 1)) - 1};
}

Int128 value_of(const Operand& x) {
  return x.literal_kind() == u64 ? Int128{static_cast<std::uint64_t>(x.integer())} : Int128{x.integer()};
}

/// Integers of 8 and 16 bits are drawn as i32.
DType drawn_as(DType dtype) {
  return item_size(dtype) < 4 ? i32 : dtype;
}
DType unsigned_of(DType dtype) {
  return item_size(dtype) == 8 ? u64 : u32;
}

/// 2^bits mod span, in numbers of `bits` bits; a span of 0 stands for 2^bits.
std::uint64_t high_weight(std::uint64_t span, int bits) {
  if (span == 0) return 0;
  const std::uint64_t root = (std::uint64_t{1} << (bits / 2)) % span;
  const std::uint64_t square = root * root;  // wraps for the largest spans, as the construction prescribes
  return (bits == 32 ? square & 0xFFFFFFFFu : square) % span;
}

/// Offsets below a span known now.
Array offsets(const Array& key, const Shape& shape, std::uint64_t span, DType dtype) {
  const auto number = [&](std::uint64_t v) { return integer(static_cast<std::int64_t>(v), dtype); };
  const auto [high_key, low_key] = two_keys(key);
  const std::uint64_t weight = high_weight(span, 8 * static_cast<int>(item_size(dtype)));
  const Array low = bits_of(low_key, shape, dtype);
  if (span == 0) return low;
  const Array low_part = op::rem(low, number(span));
  if (weight == 0) return low_part;
  const Array high_part = op::rem(bits_of(high_key, shape, dtype), number(span));
  return op::rem(op::add(op::mul(high_part, number(weight)), low_part), number(span));
}

/// Offsets below spans that are values of the program.
Array offsets(const Array& key, const Shape& shape, const Array& span, DType dtype) {
  const auto [high_key, low_key] = two_keys(key);
  const int bits = 8 * static_cast<int>(item_size(dtype));
  const Array root = op::rem(integer(std::int64_t{1} << (bits / 2), dtype), span);
  const Array weight = op::rem(op::mul(root, root), span);
  const Array high = op::rem(bits_of(high_key, shape, dtype), span),
              low = op::rem(bits_of(low_key, shape, dtype), span);
  return op::rem(op::add(op::mul(high, weight), low), span);
}

Array randint_between(const Array& key, const Shape& shape, Int128 min, Int128 max, DType dtype) {
  const auto [least, most] = range_of(dtype);
  const Int128 lo = std::clamp(min, least, most), hi = std::clamp(max, least, most + 1);
  const DType wide = drawn_as(dtype), bits = unsigned_of(wide);
  const auto span = static_cast<std::uint64_t>(hi > lo ? hi - lo : 1);
  const std::uint64_t cut = bits == u64 ? span : span & 0xFFFFFFFFu;
  const Array start = integer(static_cast<std::int64_t>(lo), wide);
  const Array y = op::add(op::convert(offsets(key, shape, cut, bits), wide), start);
  return op::convert(y, dtype);
}

/// A bound in the dtype that is drawn, moved into the range of the dtype that is wanted.
Array integer_bound(const Operand& x, const Shape& shape, DType dtype, int above) {
  const DType wide = drawn_as(dtype);
  const Array given = as_array(x, "randint");
  if (!is_integer(given.dtype()))
    refuse("randint", "a bound is " + to_string(given.type()) + "; bounds are integers. Convert it.");
  Array value = as_dtype(x, wide, "randint");
  if (wide != dtype) {
    const auto [least, most] = range_of(dtype);
    value = op::clamp(integer(static_cast<std::int64_t>(least), wide), value,
                      integer(static_cast<std::int64_t>(most) + above, wide));
  }
  return value.rank() == 0 ? value : broadcast_to_shape(value, shape, "randint");
}

/// The numbers 0, ..., n - 1 shuffled: sorted by random keys, often enough that equal keys do not matter.
Array shuffled(Array key, std::int64_t n) {
  Array order = op::iota(i32, {n}, 0);
  if (n <= 1) return order;
  const double digits =
      std::log(static_cast<double>(n)) / std::log(std::numeric_limits<std::uint32_t>::max());
  for (int round = static_cast<int>(std::ceil(3 * digits)); round > 0; --round) {
    const auto [next, now] = two_keys(key);
    const Array operands[] = {bits_of(now, {n}, u32), order};
    order = op::sort(operands, 0, 1)[1];
    key = next;
  }
  return order;
}

void check_count(std::int64_t n, std::string_view what) {
  if (n < 0 || n > std::numeric_limits<std::int32_t>::max())
    refuse(what, "n is " + std::to_string(n) + "; indices are i32, from 0 to n - 1.");
}

Array leading(const Array& x, std::int64_t count, const Shape& shape) {
  return op::reshape(op::slice(x, {0}, {count}, {1}), shape);
}

/// Draws with probabilities: by inverting their cumulative sum, or without repetition by the largest of log
/// probabilities with Gumbel noise.
Array weighted_choice(const Array& key, std::int64_t n, const Shape& shape, bool replace,
                      const Array& weights) {
  if (weights.type() != Type{weights.dtype(), {n}} || !is_float(weights.dtype()))
    refuse("choice", "the weights are " + to_string(weights.type()) + "; they are floats of shape [" +
                         std::to_string(n) + "].");
  if (!replace) {
    const Array noisy = op::add(gumbel_of(key, {n}, weights.dtype()), op::log(weights));
    return op::reshape(op::top_k(noisy, shape.elements())[1], shape);
  }
  const Array sums = op::cumsum(weights, 0, false);
  const Array total = op::reshape(op::slice(sums, {n - 1}, {n}, {1}), {});
  const Array u = uniform_between(key, shape, weights.dtype(), 0, 1);
  return searchsorted(sums, op::mul(total, op::sub(op::number_like(1, u), u)));
}

}  // namespace

Array randint(const Array& key, const Shape& shape, const Operand& min, const Operand& max, DType dtype,
              Source source) {
  AtSource at(source);
  check_draw(key, shape, "randint");
  if (!is_integer(dtype))
    refuse("randint",
           "the dtype is " + std::string(tag(dtype)) + "; it must be an integer. Use uniform for floats.");
  const auto whole = [](const Operand& x) { return x.is_literal() && x.literal_kind() != f64; };
  if (whole(min) && whole(max)) return randint_between(key, shape, value_of(min), value_of(max), dtype);
  const DType wide = drawn_as(dtype), bits = unsigned_of(wide);
  const Array lo = integer_bound(min, shape, dtype, 0), hi = integer_bound(max, shape, dtype, 1);
  const Array span = op::select(op::le(hi, lo), integer(1, bits), op::convert(op::sub(hi, lo), bits));
  const Array y = op::add(lo, op::convert(offsets(key, shape, span, bits), wide));
  return op::convert(y, dtype);
}

Array bernoulli(const Array& key, const Operand& p, const std::optional<Shape>& shape, Source source) {
  AtSource at(source);
  Array chance = as_array(p, "bernoulli");
  chance = p.is_literal() ? as_dtype(p, f32, "bernoulli") : chance;
  if (!is_float(chance.dtype()))
    refuse("bernoulli", "p is " + to_string(chance.type()) + "; it must be a float.");
  const Shape& result = shape ? *shape : chance.shape();
  check_draw(key, result, "bernoulli");
  if (chance.rank() > 0) chance = broadcast_to_shape(chance, result, "bernoulli");
  return op::lt(uniform_between(key, result, chance.dtype(), 0, 1), chance);
}

Array categorical(const Array& key, const Operand& logits, Dim axis) {
  AtSource at(logits.source());
  const Array x = as_array(logits, "categorical");
  check_draw(key, x.shape(), "categorical");
  if (!is_float(x.dtype()))
    refuse("categorical", "the logits are " + to_string(x.type()) + "; they must be floats. Convert them.");
  const int k = normalize_axis(axis.value, x.rank(), "categorical");
  return op::argmax(op::add(gumbel_of(key, x.shape(), x.dtype()), x), k);
}

Array permutation(const Array& key, Dim n, Source source) {
  AtSource at(source);
  check_draw(key, {}, "permutation");
  check_count(n.value, "permutation");
  return shuffled(key, n.value);
}

Array permutation(const Array& key, const Array& rows, Dim axis, Source source) {
  AtSource at(source);
  check_draw(key, {}, "permutation");
  check_usable(rows, "permutation");
  const int k = normalize_axis(axis.value, rows.rank(), "permutation");
  check_count(rows.shape()[k], "permutation");
  if (rows.shape()[k] <= 1) return rows;
  return take(rows, shuffled(key, rows.shape()[k]), k, TakeMode::clip);
}

Array choice(const Array& key, Dim n, const Shape& shape, bool replace, const Array& weights, Source source) {
  AtSource at(source);
  check_draw(key, shape, "choice");
  check_count(n.value, "choice");
  const std::int64_t draws = shape.elements();
  if (n.value == 0 && draws > 0) refuse("choice", "there is nothing to draw from: n is 0.");
  if (!replace && draws > n.value)
    refuse("choice", std::to_string(draws) + " draws without repetition from " + std::to_string(n.value) +
                         ". Draw fewer, or pass replace = true.");
  if (draws == 0) return op::zeros({i32, shape});
  if (weights.defined()) return weighted_choice(key, n.value, shape, replace, weights);
  if (replace) return randint_between(key, shape, 0, n.value, i32);
  return leading(shuffled(key, n.value), draws, shape);
}

Array choice(const Array& key, const Array& rows, const Shape& shape, bool replace, const Array& weights,
             Source source) {
  AtSource at(source);
  check_usable(rows, "choice");
  if (rows.rank() == 0) refuse("choice", to_string(rows.type()) + " has no axis to draw along.");
  const Array drawn = choice(key, rows.shape()[0], shape, replace, weights, source);
  return take(rows, drawn, 0, TakeMode::clip);
}

}  // namespace anadrome::random

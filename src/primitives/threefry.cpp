// threefry2x32: two u32 words of a key encipher two u32 counters, element by element; the source of all
// random bits.
#include "math/threefry.h"

#include "primitives/batching.h"
#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

Types type_threefry(const TypeIn& in) {
  for (const Type& t : in.x)
    if (t.dtype != DType::u32)
      refuse(in, "keys and counters are u32, not " + to_string(t) + ". Convert them.");
  const Type y{DType::u32, elementwise_shape(in)};
  return {y, y};
}

struct Words {
  const std::uint32_t* data;
  std::int64_t step;  // 0 for a scalar
  std::uint32_t at(std::int64_t i) const { return data[i * step]; }
};

void eval_threefry(const EvalIn& in) {
  const std::int64_t n = in.out[0].elements();
  Words w[4];
  for (int k = 0; k < 4; ++k)
    w[k] = {static_cast<const std::uint32_t*>(in.x[k]), in.in[k].rank() == 0 ? 0 : 1};
  auto* y0 = static_cast<std::uint32_t*>(in.y[0]);
  auto* y1 = static_cast<std::uint32_t*>(in.y[1]);
  const auto encipher = [&](auto key, auto high, auto low) {
    for (std::int64_t i = 0; i < n; ++i) {
      const math::Words block = math::threefry2x32(key(i), high(i), low(i));
      y0[i] = block[0];
      y1[i] = block[1];
    }
  };
  const auto low = [x = w[3].data](std::int64_t i) { return x[i]; };
  if (n > 0 && w[0].step == 0 && w[1].step == 0 && w[3].step == 1) {  // one key: loops that vectorise
    const auto key = [k = math::Words{w[0].at(0), w[1].at(0)}](std::int64_t) { return k; };
    if (w[2].step == 0)
      encipher(
          key, [x = w[2].at(0)](std::int64_t) { return x; }, low);
    else
      encipher(
          key, [x = w[2].data](std::int64_t i) { return x[i]; }, low);
    return;
  }
  encipher(
      [&](std::int64_t i) {
        return math::Words{w[0].at(i), w[1].at(i)};
      },
      [&](std::int64_t i) { return w[2].at(i); }, [&](std::int64_t i) { return w[3].at(i); });
}

/// Scalars shared by all examples stay scalars; the others get the shape of the result.
BatchOut batch_threefry(const BatchIn& in) {
  Shape shape;
  for (std::size_t i = 0; i < in.x.size(); ++i) {
    Shape one = in.x[i].shape();
    if (in.batched(i)) one.erase(static_cast<std::size_t>(in.axis[i]));
    if (one.rank() > 0) shape = one;
  }
  shape.insert(0, in.size);
  Arrays x;
  for (std::size_t i = 0; i < in.x.size(); ++i) {
    if (!in.batched(i) && in.rank(i) == 0)
      x.push_back(in.x[i]);
    else if (in.rank(i) == 0)
      x.push_back(op::broadcast_in_dim(in.x[i], shape, {0}));
    else
      x.push_back(in.front_dense(i));
  }
  return {op::threefry2x32(x[0], x[1], x[2], x[3]), 0};
}

}  // namespace

constinit const Prim prim::threefry2x32 = {
    .name = "threefry2x32",
    .work = Work::elementwise,
    .type = type_threefry,
    .eval = eval_threefry,
    .jvp = no_rule("integers have no derivative"),
    .transpose = no_rule("integers have no derivative"),
    .batch = batch_threefry,
    .cost = [](const CostIn& in) { return Cost{.flops = 2.0 * static_cast<double>(in.out[0].elements())}; }};

Arrays op::threefry2x32(const Array& k0, const Array& k1, const Array& x0, const Array& x1) {
  const Array operands[] = {k0, k1, x0, x1};
  return bind_all(prim::threefry2x32, operands);
}

}  // namespace anadrome

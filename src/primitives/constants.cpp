// Numbers and arrays made from nothing: literals, full, iota, identity.
#include <cstring>

#include "primitives/checks.h"
#include "primitives/elementwise.h"

namespace anadrome {

namespace {

constexpr auto no_operands = no_rule("it has no operands");

template <class T> T counted(std::int64_t i) {
  return static_cast<T>(static_cast<Compute<T>>(i));
}

/// Every index of the counted axis fills a run of the later axes; the earlier axes repeat the whole.
void eval_iota(const EvalIn& in) {
  const IotaAttr& attrs = in.as<IotaAttr>();
  std::int64_t run = 1, repeats = 1;
  for (int k = 0; k < attrs.shape.rank(); ++k) (k < attrs.axis ? repeats : run) *= attrs.shape[k];
  const std::int64_t n = attrs.shape[attrs.axis];
  if (n == 0) return;
  run /= n;
  dispatch_number(attrs.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* y = static_cast<T*>(in.y[0]);
    for (std::int64_t r = 0; r < repeats; ++r)
      for (std::int64_t i = 0; i < n; ++i, y += run) std::fill_n(y, run, counted<T>(i));
  });
}

void eval_identity(const EvalIn& in) {
  const std::int64_t n = in.as<IdentityAttr>().size;
  std::memset(in.y[0], 0, in.out[0].bytes());
  dispatch_real(in.out[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* y = static_cast<T*>(in.y[0]);
    for (std::int64_t i = 0; i < n; ++i) y[i * (n + 1)] = counted<T>(1);
  });
}

Types type_iota(const TypeIn& in) {
  const IotaAttr& attrs = in.as<IotaAttr>();
  require_shape(in, attrs.shape);
  if (!is_integer(attrs.dtype) && !is_float(attrs.dtype))
    refuse(in, "counts in integers or floats, not in " + std::string(tag(attrs.dtype)) + ".");
  if (attrs.axis < 0 || attrs.axis >= attrs.shape.rank())
    refuse(in, "axis " + std::to_string(attrs.axis) + " of the shape " + to_string(attrs.shape) + ".");
  return {Type{attrs.dtype, attrs.shape}};
}

Types type_identity(const TypeIn& in) {
  const auto [dtype, size] = in.as<IdentityAttr>();
  if (is_complex(dtype)) refuse(in, "no support for complex numbers.");
  if (size < 0) refuse(in, "negative size " + std::to_string(size) + ".");
  return {Type{dtype, {size, size}}};
}

}  // namespace

// iota: the index along one axis, in every element.
constinit const Prim prim::iota = {.name = "iota",
                                   .work = Work::movement,
                                   .type = type_iota,
                                   .eval = eval_iota,
                                   .jvp = no_operands,
                                   .transpose = no_operands,
                                   .batch = no_operands,
                                   .cost = cost_free};

// identity: ones on the diagonal of a square matrix.
constinit const Prim prim::identity = {.name = "identity",
                                       .work = Work::movement,
                                       .type = type_identity,
                                       .eval = eval_identity,
                                       .jvp = no_operands,
                                       .transpose = no_operands,
                                       .batch = no_operands,
                                       .cost = cost_free};

Array op::number(double value, DType dtype) {
  return literal(Literal::of(value, dtype));
}

Array op::full(double value, const Type& type) {
  return broadcast_scalar(number(value, type.dtype), type.shape);
}

Array op::iota(DType dtype, const Shape& shape, std::int64_t axis) {
  return bind1(prim::iota, {}, IotaAttr{dtype, shape, axis});
}

Array op::identity(DType dtype, std::int64_t size) {
  return bind1(prim::identity, {}, IdentityAttr{dtype, size});
}

}  // namespace anadrome

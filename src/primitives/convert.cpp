// convert and bitcast: the same numbers, or the same bits, in another dtype.
#include <cstring>

#include "core/builder.h"
#include "math/arith.h"
#include "primitives/elementwise.h"

namespace anadrome {
namespace {

template <class To, class From> To converted(From x) {
  if constexpr (std::is_same_v<To, bool>)
    return x != From{0};  // NaN is true
  else if constexpr (math::Integer<To> && std::is_floating_point_v<From>)
    return math::saturating_cast<To>(x);
  else if constexpr (std::is_same_v<From, bool>)
    return static_cast<To>(static_cast<float>(x));
  else
    return static_cast<To>(x);
}

template <class From, class To> void convert_all(const EvalIn& in) {
  const From* x = static_cast<const From*>(in.x[0]);
  To* y = static_cast<To*>(in.y[0]);
  const std::int64_t n = in.out[0].elements();
  for (std::int64_t i = 0; i < n; ++i) y[i] = converted<To>(static_cast<Compute<From>>(x[i]));
}

void eval_convert(const EvalIn& in) {
  dispatch_real(in.in[0].dtype, [&](auto from) {
    dispatch_real(in.out[0].dtype, [&](auto to) {
      convert_all<typename decltype(from)::type, typename decltype(to)::type>(in);
    });
  });
}

Types type_convert(const TypeIn& in) {
  const DType to = in.as<TypeAttr>().dtype;
  check_real(in, in.x[0]);
  check_real(in, Type{to, in.x[0].shape});
  return {Type{to, in.x[0].shape}};
}

Arrays jvp_convert(const JvpIn& in) {
  const DType to = in.as<TypeAttr>().dtype;
  return {is_float(to) ? op::convert(in.t[0], to) : Array()};
}

Types type_bitcast(const TypeIn& in) {
  const DType to = in.as<TypeAttr>().dtype;
  check_real(in, in.x[0]);
  check_real(in, Type{to, in.x[0].shape});
  if (item_size(to) != item_size(in.x[0].dtype))
    throw TypeError("bitcast: " + to_string(in.x[0]) + " to " + std::string(tag(to)) +
                    ": the elements have different sizes. Choose a dtype of the same size." +
                    at_current_source());
  if (to != in.x[0].dtype && (is_bool(to) || is_bool(in.x[0].dtype)))
    throw TypeError("bitcast: " + to_string(in.x[0]) + " to " + std::string(tag(to)) +
                    ": b1 has no bits of its own. Use convert." + at_current_source());
  return {Type{to, in.x[0].shape}};
}

void eval_bitcast(const EvalIn& in) {
  if (in.y[0] != in.x[0]) std::memcpy(in.y[0], in.x[0], in.out[0].bytes());
}

}  // namespace

// convert: floats to integers truncate and saturate (NaN gives 0), integers wrap, to b1: differs from 0.
// Linear between floats.
constinit const Prim prim::convert = {
    .name = "convert",
    .work = Work::elementwise,
    .type = type_convert,
    .eval = eval_convert,
    .jvp = jvp_convert,
    .transpose =
        [](const TransposeIn& in) {
          if (in.wants(0)) in.acc[0]->add(op::convert(in.ct[0], in.in[0].dtype));
        },
    .batch = batch_elementwise,
    .cost = cost_free,
};

// bitcast: the bits of each element read as another dtype of the same size.
constinit const Prim prim::bitcast = {
    .name = "bitcast",
    .work = Work::elementwise,
    .type = type_bitcast,
    .eval = eval_bitcast,
    .jvp = zero_jvp,
    .transpose = nonlinear,
    .batch = batch_elementwise,
    .cost = cost_free,
};

Array op::convert(const Array& x, DType dtype) {
  return x.dtype() == dtype ? x : bind1(prim::convert, {x}, TypeAttr{dtype, {}});
}
Array op::bitcast(const Array& x, DType dtype) {
  return bind1(prim::bitcast, {x}, TypeAttr{dtype, {}});
}

}  // namespace anadrome

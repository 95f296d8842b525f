// What elementwise primitives share: types, evaluation loops, batching, cost.
#pragma once
#include <span>

#include "primitives/dispatch.h"
#include "primitives/op.h"

namespace anadrome {

// ---- type rules: operands have one dtype and one shape (or rank 0); errors name the primitive and both types
Types float_elementwise(const TypeIn& in);       // floats -> same
Types number_elementwise(const TypeIn& in);      // integers and floats -> same
Types real_elementwise(const TypeIn& in);        // b1, integers and floats -> same
Types bits_elementwise(const TypeIn& in);        // b1 and integers -> same
Types integer_elementwise(const TypeIn& in);     // integers -> same
Types compare_elementwise(const TypeIn& in);     // b1, integers and floats -> b1
/// The common shape of elementwise operands; throws TypeError.
Shape elementwise_shape(const TypeIn& in);
/// Throws TypeError for a reference or a complex operand.
void check_real(const TypeIn& in, const Type& x);

// ---- batching and cost
BatchOut batch_elementwise(const BatchIn& in);
Cost cost_flop(const CostIn& in);            // one flop an element
Cost cost_transcendental(const CostIn& in);  // one transcendental an element
Cost cost_free(const CostIn& in);            // movement: nothing

// ---- evaluation: f works on Compute<T>
/// y = f(x), same dtype or a result type that f decides (bool).
template <class T, class F>
void eval_unary(const EvalIn& in, F f) {
  const T* x = static_cast<const T*>(in.x[0]);
  const std::int64_t n = in.out[0].elements();
  using R = decltype(f(Compute<T>{}));
  using Out = std::conditional_t<std::is_same_v<R, Compute<T>>, T, R>;
  Out* y = static_cast<Out*>(in.y[0]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(f(static_cast<Compute<T>>(x[i])));
}
/// y = f(a, b); a rank-0 operand serves every element.
template <class T, class F>
void eval_binary(const EvalIn& in, F f) {
  const T* a = static_cast<const T*>(in.x[0]);
  const T* b = static_cast<const T*>(in.x[1]);
  const std::int64_t n = in.out[0].elements();
  using C = Compute<T>;
  using R = decltype(f(C{}, C{}));
  using Out = std::conditional_t<std::is_same_v<R, C>, T, R>;
  Out* y = static_cast<Out*>(in.y[0]);
  const bool scalar_a = in.in[0].rank() == 0 && in.out[0].rank() != 0;
  const bool scalar_b = in.in[1].rank() == 0 && in.out[0].rank() != 0;
  if (scalar_a && scalar_b) {
    const C va = static_cast<C>(*a), vb = static_cast<C>(*b);
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(f(va, vb));
  } else if (scalar_a) {
    const C va = static_cast<C>(*a);
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(f(va, static_cast<C>(b[i])));
  } else if (scalar_b) {
    const C vb = static_cast<C>(*b);
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(f(static_cast<C>(a[i]), vb));
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(f(static_cast<C>(a[i]), static_cast<C>(b[i])));
  }
}

/// y = f(x) or y = f(a, b) for float dtypes.
template <class F>
void eval_float(const EvalIn& in, F f) {
  dispatch_float(in.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_invocable_v<F, Compute<T>>) eval_unary<T>(in, f);
    else eval_binary<T>(in, f);
  });
}
/// The same for integers and floats.
template <class F>
void eval_number(const EvalIn& in, F f) {
  dispatch_number(in.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_invocable_v<F, Compute<T>>) eval_unary<T>(in, f);
    else eval_binary<T>(in, f);
  });
}
/// Integers as an unsigned type in which arithmetic wraps (and is not done in int); other types as they are.
template <class T>
constexpr auto wide(T x) {
  if constexpr (std::is_integral_v<T>) return static_cast<std::common_type_t<unsigned, std::make_unsigned_t<T>>>(x);
  else return x;
}

// ---- derivatives
inline constexpr NoRule nonlinear = no_rule("it is not linear: its derivative is made of linear primitives");
/// For results that are locally constant, or that carry no derivatives.
inline Arrays zero_jvp(const JvpIn&) { return {Array()}; }
/// The sum of two tangents, each perhaps a symbolic zero.
Array add_tangents(const Array& a, const Array& b);
/// t * coefficient(), where t is not a symbolic zero.
template <class F>
Array scaled(const Array& t, F coefficient) {
  return t.defined() ? op::mul(t, coefficient()) : Array();
}

}  // namespace anadrome

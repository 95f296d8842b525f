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

}  // namespace anadrome

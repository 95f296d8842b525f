// select_n: cases[which], element by element. `which` is b1 (two cases) or i32; every operand may be a
// scalar.
#include <algorithm>

#include "core/builder.h"
#include "primitives/elementwise.h"

namespace anadrome {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw TypeError("select_n: " + text + at_current_source());
}

Types type_select(const TypeIn& in) {
  if (in.x.size() < 2) refuse("no cases. Give `which` and at least one case.");
  const Type& which = in.x[0];
  for (const Type& x : in.x) check_real(in, x);
  if (which.dtype != b1 && which.dtype != i32)
    refuse("`which` is " + to_string(which) + ". It must be b1 or i32: compare or convert it.");
  if (which.dtype == b1 && in.x.size() != 3)
    refuse("a b1 `which` with " + std::to_string(in.x.size() - 1) +
           " cases. Give two cases, or an i32 `which`.");
  for (const Type& x : in.x.subspan(1))
    if (x.dtype != in.x[1].dtype)
      refuse("cases of two dtypes: " + to_string(in.x[1]) + " and " + to_string(x) +
             ". Convert one of them.");
  return {Type{in.x[1].dtype, elementwise_shape(in)}};
}

/// Two cases, U of the size of an element.
template <class U, class Which> void eval_two(const EvalIn& in) {
  const Which* which = static_cast<const Which*>(in.x[0]);
  const U *no = static_cast<const U*>(in.x[1]), *yes = static_cast<const U*>(in.x[2]);
  const std::int64_t step = in.in[0].rank() ? 1 : 0;
  const std::int64_t step_no = in.in[1].rank() ? 1 : 0, step_yes = in.in[2].rank() ? 1 : 0;
  U* y = static_cast<U*>(in.y[0]);
  const std::int64_t n = in.out[0].elements();
  if (step && step_no && step_yes) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = which[i] > 0 ? yes[i] : no[i];
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const U a = no[i * step_no], b = yes[i * step_yes];
    y[i] = which[i * step] > 0 ? b : a;
  }
}

template <class U> void eval_many(const EvalIn& in) {
  const auto* which = static_cast<const std::int32_t*>(in.x[0]);
  const std::int64_t step = in.in[0].rank() ? 1 : 0, n = in.out[0].elements();
  const auto last = static_cast<std::int64_t>(in.x.size()) - 2;
  U* y = static_cast<U*>(in.y[0]);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(std::clamp<std::int64_t>(which[i * step], 0, last)) + 1;
    y[i] = static_cast<const U*>(in.x[k])[in.in[k].rank() ? i : 0];
  }
}

void eval_select(const EvalIn& in) {
  dispatch_size(in.out[0].dtype, [&](auto tag) {
    using U = typename decltype(tag)::type;
    if (in.x.size() != 3)
      eval_many<U>(in);
    else if (in.in[0].dtype == b1)
      eval_two<U, std::uint8_t>(in);
    else
      eval_two<U, std::int32_t>(in);
  });
}

Arrays jvp_select(const JvpIn& in) {
  const Array zero = op::number_like(0, in.x[1]);
  Arrays cases;
  for (std::size_t i = 1; i < in.x.size(); ++i) cases.push_back(in.has(i) ? in.t[i] : zero);
  return {op::select_n(in.x[0], cases)};
}

/// The cotangent where `which` names the case, zero elsewhere.
void transpose_select(const TransposeIn& in) {
  const Array& which = in.x[0];
  const Array zero = op::number(0, in.out[0].dtype);
  const auto last = static_cast<std::int64_t>(in.in.size()) - 2;
  for (std::int64_t k = 0; k <= last; ++k) {
    const auto operand = static_cast<std::size_t>(k + 1);
    if (!in.wants(operand)) continue;
    if (in.in[0].dtype == b1) {
      in.acc[operand]->add(k == 0 ? op::select(which, zero, in.ct[0]) : op::select(which, in.ct[0], zero));
      continue;
    }
    const Array number =
        op::number(static_cast<double>(k), i32);  // an index outside means the first or last case
    const Array chosen = k == 0      ? op::le(which, number)
                         : k == last ? op::ge(which, number)
                                     : op::eq(which, number);
    in.acc[operand]->add(last == 0 ? in.ct[0] : op::select(chosen, in.ct[0], zero));
  }
}

}  // namespace

constinit const Prim prim::select_n = {
    .name = "select_n",
    .work = Work::elementwise,
    .type = type_select,
    .eval = eval_select,
    .jvp = jvp_select,
    .transpose = transpose_select,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

Array op::select_n(const Array& which, std::span<const Array> cases) {
  Arrays operands{which};
  operands.insert(operands.end(), cases.begin(), cases.end());
  return bind1(prim::select_n, operands);
}
Array op::select(const Array& mask, const Array& on_true, const Array& on_false) {
  return bind1(prim::select_n, {mask, on_false, on_true});
}

}  // namespace anadrome

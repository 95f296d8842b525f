// Operations on bits: bit_not, bit_and, bit_or, bit_xor, shifts, population_count, clz.
#include "core/builder.h"
#include "math/arith.h"
#include "primitives/elementwise.h"

namespace anadrome {
namespace {

constexpr NoRule integers = no_rule("integers and b1 carry no derivatives");

template <class F> void eval_integer(const EvalIn& in, F f) {
  dispatch_integer(in.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_invocable_v<F, T>)
      eval_unary<T>(in, f);
    else
      eval_binary<T>(in, f);
  });
}

template <class F> void eval_bits(const EvalIn& in, F f) {
  if (in.in[0].dtype != b1) return eval_integer(in, f);
  if constexpr (std::is_invocable_v<F, bool>)
    eval_unary<bool>(in, f);
  else
    eval_binary<bool>(in, f);
}

template <class T> T flipped(T a) {
  if constexpr (std::is_same_v<T, bool>)
    return !a;
  else
    return static_cast<T>(~a);
}

}  // namespace

// bit_not: all bits flipped; of b1 the negation.
constinit const Prim prim::bit_not = {
    .name = "bit_not",
    .work = Work::elementwise,
    .type = bits_elementwise,
    .eval = [](const EvalIn& in) { eval_bits(in, [](auto a) { return flipped(a); }); },
    .jvp = integers,
    .transpose = integers,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// bit_and: bits set in both.
constinit const Prim prim::bit_and = {
    .name = "bit_and",
    .work = Work::elementwise,
    .type = bits_elementwise,
    .eval =
        [](const EvalIn& in) {
          eval_bits(in, [](auto a, auto b) { return static_cast<decltype(a)>(a & b); });
        },
    .jvp = integers,
    .transpose = integers,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// bit_or: bits set in one or both.
constinit const Prim prim::bit_or = {
    .name = "bit_or",
    .work = Work::elementwise,
    .type = bits_elementwise,
    .eval =
        [](const EvalIn& in) {
          eval_bits(in, [](auto a, auto b) { return static_cast<decltype(a)>(a | b); });
        },
    .jvp = integers,
    .transpose = integers,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// bit_xor: bits that differ.
constinit const Prim prim::bit_xor = {
    .name = "bit_xor",
    .work = Work::elementwise,
    .type = bits_elementwise,
    .eval =
        [](const EvalIn& in) {
          eval_bits(in, [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); });
        },
    .jvp = integers,
    .transpose = integers,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// shift_left: a shifted left by b; 0 when b is at least the width.
constinit const Prim prim::shift_left = {
    .name = "shift_left",
    .work = Work::elementwise,
    .type = integer_elementwise,
    .eval = [](const EvalIn& in) { eval_integer(in, [](auto a, auto b) { return math::shift_left(a, b); }); },
    .jvp = integers,
    .transpose = integers,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// shift_right_arithmetic: a shifted right by b, filled with the sign.
constinit const Prim prim::shift_right_arithmetic = {
    .name = "shift_right_arithmetic",
    .work = Work::elementwise,
    .type = integer_elementwise,
    .eval =
        [](const EvalIn& in) {
          eval_integer(in, [](auto a, auto b) { return math::shift_right_arithmetic(a, b); });
        },
    .jvp = integers,
    .transpose = integers,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// shift_right_logical: a shifted right by b, filled with zeros.
constinit const Prim prim::shift_right_logical = {
    .name = "shift_right_logical",
    .work = Work::elementwise,
    .type = integer_elementwise,
    .eval =
        [](const EvalIn& in) {
          eval_integer(in, [](auto a, auto b) { return math::shift_right_logical(a, b); });
        },
    .jvp = integers,
    .transpose = integers,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// population_count: the number of set bits.
constinit const Prim prim::population_count = {
    .name = "population_count",
    .work = Work::elementwise,
    .type = integer_elementwise,
    .eval = [](const EvalIn& in) { eval_integer(in, [](auto a) { return math::population_count(a); }); },
    .jvp = integers,
    .transpose = integers,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

// clz: the number of leading zeros.
constinit const Prim prim::clz = {
    .name = "clz",
    .work = Work::elementwise,
    .type = integer_elementwise,
    .eval = [](const EvalIn& in) { eval_integer(in, [](auto a) { return math::clz(a); }); },
    .jvp = integers,
    .transpose = integers,
    .batch = batch_elementwise,
    .cost = cost_flop,
};

Array op::bit_not(const Array& x) {
  return bind1(prim::bit_not, {x});
}
Array op::bit_and(const Array& a, const Array& b) {
  return bind1(prim::bit_and, {a, b});
}
Array op::bit_or(const Array& a, const Array& b) {
  return bind1(prim::bit_or, {a, b});
}
Array op::bit_xor(const Array& a, const Array& b) {
  return bind1(prim::bit_xor, {a, b});
}
Array op::shift_left(const Array& a, const Array& b) {
  return bind1(prim::shift_left, {a, b});
}
Array op::shift_right_arithmetic(const Array& a, const Array& b) {
  return bind1(prim::shift_right_arithmetic, {a, b});
}
Array op::shift_right_logical(const Array& a, const Array& b) {
  return bind1(prim::shift_right_logical, {a, b});
}
Array op::population_count(const Array& x) {
  return bind1(prim::population_count, {x});
}
Array op::clz(const Array& x) {
  return bind1(prim::clz, {x});
}

}  // namespace anadrome

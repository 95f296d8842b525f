// One function per primitive: binds exactly one equation. The vocabulary of rules and of the public operations.
// No promotion happens here: operands have one dtype; elementwise operands have one shape, or rank 0.
#pragma once
#include "primitives/prims.h"

namespace anadrome::op {

// ---- constants
/// A scalar literal.
Array number(double value, DType dtype);
/// A scalar literal of the dtype of `like`; elementwise primitives take it beside an array of any shape.
inline Array number_like(double value, const Array& like) { return number(value, like.dtype()); }
/// An array filled with a number (a broadcast literal; the literal itself for rank 0).
Array full(double value, const Type& type);
inline Array zeros(const Type& type) { return full(0, type); }

// ---- elementwise, one operand
Array neg(const Array& x);
Array abs(const Array& x);
Array sign(const Array& x);
Array integer_pow(const Array& x, std::int64_t exponent);
Array sqrt(const Array& x);
Array rsqrt(const Array& x);
Array cbrt(const Array& x);
Array exp(const Array& x);
Array exp2(const Array& x);
Array expm1(const Array& x);
Array log(const Array& x);
Array log2(const Array& x);
Array log10(const Array& x);
Array log1p(const Array& x);
Array logistic(const Array& x);
Array sin(const Array& x);
Array cos(const Array& x);
Array tan(const Array& x);
Array asin(const Array& x);
Array acos(const Array& x);
Array atan(const Array& x);
Array sinh(const Array& x);
Array cosh(const Array& x);
Array tanh(const Array& x);
Array asinh(const Array& x);
Array acosh(const Array& x);
Array atanh(const Array& x);
Array erf(const Array& x);
Array erfc(const Array& x);
Array erf_inv(const Array& x);
Array lgamma(const Array& x);
Array digamma(const Array& x);
Array bessel_i0e(const Array& x);
Array bessel_i1e(const Array& x);
Array floor(const Array& x);
Array ceil(const Array& x);
Array round(const Array& x);
Array rint(const Array& x);
Array trunc(const Array& x);
Array is_finite(const Array& x);
Array reduce_precision(const Array& x, std::int64_t exponent_bits, std::int64_t mantissa_bits);
/// No equation where the dtype is right already.
Array convert(const Array& x, DType dtype);
Array bitcast(const Array& x, DType dtype);
Array bit_not(const Array& x);
Array population_count(const Array& x);
Array clz(const Array& x);

// ---- elementwise, several operands
Array add(const Array& a, const Array& b);
Array sub(const Array& a, const Array& b);
Array mul(const Array& a, const Array& b);
Array div(const Array& a, const Array& b);
Array rem(const Array& a, const Array& b);
Array max(const Array& a, const Array& b);
Array min(const Array& a, const Array& b);
Array clamp(const Array& lo, const Array& x, const Array& hi);
Array pow(const Array& a, const Array& b);
Array hypot(const Array& a, const Array& b);
Array logaddexp(const Array& a, const Array& b);
Array atan2(const Array& a, const Array& b);
Array polygamma(const Array& n, const Array& x);
Array zeta(const Array& s, const Array& q);
Array igamma(const Array& a, const Array& x);
Array igammac(const Array& a, const Array& x);
Array igamma_grad_a(const Array& a, const Array& x);
Array betainc(const Array& a, const Array& b, const Array& x);
/// a log(b), 0 where a is 0.
Array xlogy(const Array& a, const Array& b);
Array nextafter(const Array& a, const Array& b);
Array eq(const Array& a, const Array& b);
Array ne(const Array& a, const Array& b);
Array lt(const Array& a, const Array& b);
Array le(const Array& a, const Array& b);
Array gt(const Array& a, const Array& b);
Array ge(const Array& a, const Array& b);
/// cases[which]; `which` is b1 or i32, of the cases' shape or rank 0.
Array select_n(const Array& which, std::span<const Array> cases);
/// on_true where `mask` (b1) holds, else on_false.
Array select(const Array& mask, const Array& on_true, const Array& on_false);
Array bit_and(const Array& a, const Array& b);
Array bit_or(const Array& a, const Array& b);
Array bit_xor(const Array& a, const Array& b);
Array shift_left(const Array& a, const Array& b);
Array shift_right_arithmetic(const Array& a, const Array& b);
Array shift_right_logical(const Array& a, const Array& b);

// ---- making and moving
Array iota(DType dtype, const Shape& shape, std::int64_t axis);
Array identity(DType dtype, std::int64_t size);
/// No equation where the shape is right already.
Array broadcast_in_dim(const Array& x, const Shape& shape, const Ints& dims);
/// Repeats `x` along a new axis of extent `size` at place `axis`.
Array broadcast_axis(const Array& x, int axis, std::int64_t size);
/// Repeats a rank-0 value to `shape`; arrays of that shape pass.
Array broadcast_scalar(const Array& x, const Shape& shape);
/// No equation where the shape is right already.
Array reshape(const Array& x, const Shape& shape);
/// No equation for the identity permutation. Result axis k is operand axis perm[k].
Array transpose(const Array& x, const Ints& perm);
/// Moves one axis to another place.
Array move_axis(const Array& x, int from, int to);
Array rev(const Array& x, const Ints& axes);
Array pad(const Array& x, const Array& value, const Ints& low, const Ints& high, const Ints& interior);
Array concatenate(std::span<const Array> parts, std::int64_t axis);
Array slice(const Array& x, const Ints& start, const Ints& limit, const Ints& strides);
/// x with `update` added to the slice that starts at `start` with `strides`, of update's shape. Linear in both.
Array add_slice(const Array& x, const Array& update, const Ints& start, const Ints& strides);
/// `starts`: one scalar integer per axis; clamped so that the window fits (no wrapping of negative starts here).
Array dynamic_slice(const Array& x, std::span<const Array> starts, const Ints& sizes);
Array dynamic_update_slice(const Array& x, const Array& update, std::span<const Array> starts);
/// Like dynamic_update_slice, but adds.
Array dynamic_add_slice(const Array& x, const Array& update, std::span<const Array> starts);
Array gather(const Array& x, const Array& indices, const GatherAttr& dims);
Array scatter(const Array& x, const Array& indices, const Array& updates, const ScatterAttr& dims);
Array scatter_add(const Array& x, const Array& indices, const Array& updates, const ScatterAttr& dims);
Array scatter_mul(const Array& x, const Array& indices, const Array& updates, const ScatterAttr& dims);
Array scatter_min(const Array& x, const Array& indices, const Array& updates, const ScatterAttr& dims);
Array scatter_max(const Array& x, const Array& indices, const Array& updates, const ScatterAttr& dims);

// ---- reductions, scans, sorting (axes count from 0, sorted, without repeats; the reduced axes disappear)
Array reduce_sum(const Array& x, const Ints& axes);
Array reduce_prod(const Array& x, const Ints& axes);
Array reduce_max(const Array& x, const Ints& axes);
Array reduce_min(const Array& x, const Ints& axes);
Array reduce_and(const Array& x, const Ints& axes);
Array reduce_or(const Array& x, const Ints& axes);
/// i32 index of the first largest element; NaN counts as largest.
Array argmax(const Array& x, std::int64_t axis);
Array argmin(const Array& x, std::int64_t axis);
Array cumsum(const Array& x, std::int64_t axis, bool reverse);
Array cumprod(const Array& x, std::int64_t axis, bool reverse);
Array cummax(const Array& x, std::int64_t axis, bool reverse);
Array cummin(const Array& x, std::int64_t axis, bool reverse);
Array cumlogsumexp(const Array& x, std::int64_t axis, bool reverse);
/// Sorts all operands together by the first `num_keys` of them, stable, ascending, NaN last, -0 equal to 0.
Arrays sort(std::span<const Array> operands, std::int64_t axis, std::int64_t num_keys);
/// Values and i32 indices of the k largest along the last axis.
Arrays top_k(const Array& x, std::int64_t k);
Array reduce_window_sum(const Array& x, const ReduceWindowAttr& window);
Array reduce_window_max(const Array& x, const ReduceWindowAttr& window);
Array reduce_window_min(const Array& x, const ReduceWindowAttr& window);

// ---- contraction: result axes are batch, rest of lhs, rest of rhs
Array dot_general(const Array& lhs, const Array& rhs, const DotAttr& dims);

// ---- random bits: two u32 key words and two u32 counter arrays give two u32 arrays
Arrays threefry2x32(const Array& k0, const Array& k1, const Array& x0, const Array& x1);

// ---- structure
Array stop_gradient(const Array& x);
/// Zeros as a tangent: in a linearized program a linear source, elsewhere ordinary zeros.
Array zero_tangent(const Type& type);
Array psum(const Array& x, std::string_view axis_name, std::int64_t axis_size);
Array axis_index(std::string_view axis_name, std::int64_t axis_size);
Arrays call(const CallAttr& body, std::span<const Array> operands);
Arrays scan(const ScanAttr& loop, std::span<const Array> operands);
Arrays cond(const CondAttr& branches, std::span<const Array> operands);
Arrays while_loop(const WhileAttr& loop, std::span<const Array> operands);
Arrays custom_jvp(const CustomJvpAttr& function, std::span<const Array> operands);
Arrays custom_vjp(const CustomVjpAttr& function, std::span<const Array> operands);
Arrays custom_linear(const CustomLinearAttr& function, std::span<const Array> operands);
Arrays checkpoint(const CheckpointAttr& body, std::span<const Array> operands);
Array checkpoint_name(const Array& x, std::string_view name);
Arrays custom_root(const CustomRootAttr& root, std::span<const Array> operands);
Arrays linear_solve(const LinearSolveAttr& system, std::span<const Array> operands);
/// x; where the bool `violated` is true the run throws RunError with `message`.
Array require(const Array& violated, const Array& x, std::string_view message);
Arrays reversible_scan(const ReversibleScanAttr& loop, std::span<const Array> operands);
Arrays loop_tangent(const LoopTangentAttr& loop, std::span<const Array> operands);
Arrays rewound(const RewoundAttr& programs, std::span<const Array> operands);
/// 1 where the relative error (f32) of a rewind is more than the tolerance or no number, else 0; of a batch, where any is.
Array rewind_missed(const Array& error, double tolerance);
/// x, once the figures of a rewound gradient are recorded: its relative error (f32) and the segments run again (i32).
Array verify_rewind(const Array& error, const Array& reruns, const Array& x, const VerifyRewindAttr& attr);
/// i32[rows,4]: see primitives/checkpoint_schedule.h.
Array checkpoint_schedule(std::int64_t length, std::int64_t slots);

}  // namespace anadrome::op

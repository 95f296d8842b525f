// Loops of reductions over any axes: lanes of a contiguous axis, or columns of the rows that are reduced.
#pragma once
#include <algorithm>
#include <bit>
#include <limits>

#include "primitives/dispatch.h"
#include "primitives/strided.h"

namespace anadrome::reduction {

/// Type in which sums and products of T run: floats in double (one rounding at the end), integers modulo 2^n.
template <class T>
using Wide = std::conditional_t<is_floating<T>, double,
                                std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

template <class T> struct Sum {
  using Accumulator = Wide<T>;
  static constexpr Accumulator identity = 0;
  static Accumulator combine(Accumulator a, Accumulator b) { return a + b; }
};
template <class T> struct Product {
  // Stays in the element type: a product that overflows there is infinite.
  using Accumulator = std::conditional_t<is_floating<T>, Compute<T>, Wide<T>>;
  static constexpr Accumulator identity = 1;
  static Accumulator combine(Accumulator a, Accumulator b) { return a * b; }
};

/// The bits of two equal numbers, joined so that +0 wins (and) or -0 wins (or): the result then does not
/// depend on the order of the elements.
template <class C, bool positive_zero> C join_equal(C a, C b) {
  using Bits = std::conditional_t<sizeof(C) == 8, std::uint64_t, std::uint32_t>;
  const Bits x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
  return std::bit_cast<C>(static_cast<Bits>(positive_zero ? x & y : x | y));
}
/// Largest element; NaN wins over everything.
template <class T> struct Max {
  using Accumulator = Compute<T>;
  static constexpr bool is_comparison = true;
  static constexpr Accumulator identity = is_floating<T> ? -std::numeric_limits<Accumulator>::infinity()
                                                         : std::numeric_limits<Accumulator>::lowest();
  static Accumulator combine(Accumulator a, Accumulator b) {
    if constexpr (is_floating<T>) {
      const Accumulator larger = (b > a || b != b) ? b : a;
      return a == b ? join_equal<Accumulator, true>(a, b) : larger;
    } else {
      return b > a ? b : a;
    }
  }
};
template <class T> struct Min {
  using Accumulator = Compute<T>;
  static constexpr bool is_comparison = true;
  static constexpr Accumulator identity =
      is_floating<T> ? std::numeric_limits<Accumulator>::infinity() : std::numeric_limits<Accumulator>::max();
  static Accumulator combine(Accumulator a, Accumulator b) {
    if constexpr (is_floating<T>) {
      const Accumulator smaller = (b < a || b != b) ? b : a;
      return a == b ? join_equal<Accumulator, false>(a, b) : smaller;
    } else {
      return b < a ? b : a;
    }
  }
};
template <class T> struct And {
  using Accumulator = T;
  static constexpr Accumulator identity = static_cast<T>(~T{0});
  static Accumulator combine(Accumulator a, Accumulator b) { return static_cast<T>(a & b); }
};
template <> struct And<bool> {
  using Accumulator = bool;
  static constexpr bool identity = true;
  static bool combine(bool a, bool b) { return a && b; }
};
template <class T> struct Or {
  using Accumulator = T;
  static constexpr Accumulator identity = T{0};
  static Accumulator combine(Accumulator a, Accumulator b) { return static_cast<T>(a | b); }
};

/// An element as the accumulator's type: the 16-bit floats go through float.
template <class A, class T> A widen(T x) {
  return static_cast<A>(static_cast<Compute<T>>(x));
}
template <class T, class A> T narrow(A x) {
  return static_cast<T>(x);
}

/// Running results of a contiguous fold. Comparisons take more, so that their loop stays a loop, which is
/// what the compiler turns into vectors; sums and products are unrolled into registers.
template <class Op> constexpr int lanes_of = requires {
  Op::is_comparison;
}
? 64 : 16;

/// Combines n neighbours into `total`. Several running results keep the adders busy; their order is fixed.
template <class Op, class T>
typename Op::Accumulator fold_run(const T* x, std::int64_t n, typename Op::Accumulator total) {
  using A = typename Op::Accumulator;
  constexpr int lanes = lanes_of<Op>;
  std::int64_t i = 0;
  if (n >= lanes) {
    A lane[lanes];
    for (int j = 0; j < lanes; ++j) lane[j] = widen<A>(x[j]);
    for (i = lanes; i + lanes <= n; i += lanes)
      for (int j = 0; j < lanes; ++j) lane[j] = Op::combine(lane[j], widen<A>(x[i + j]));
    for (int width = lanes / 2; width > 0; width /= 2)
      for (int j = 0; j < width; ++j) lane[j] = Op::combine(lane[j], lane[j + width]);
    total = Op::combine(total, lane[0]);
  }
  for (; i < n; ++i) total = Op::combine(total, widen<A>(x[i]));
  return total;
}

/// The axes of the operand, split: `kept` runs over the result (to) and the operand (from), `reduced` over
/// the operand.
struct Split {
  Loops kept, reduced;
  bool inner_reduced = false;  // the innermost axis of the operand is reduced
};
inline Split split(const Shape& shape, const Ints& axes) {
  const Strides strides = row_major(shape);
  std::uint64_t is_reduced = 0;
  for (std::int64_t a : axes) is_reduced |= std::uint64_t{1} << a;
  Shape result;
  for (int k = 0; k < shape.rank(); ++k)
    if (!(is_reduced >> k & 1)) result.push_back(shape[k]);
  const Strides to = row_major(result);
  Split s;
  for (int k = 0, r = 0; k < shape.rank(); ++k) {
    const bool reduce = is_reduced >> k & 1;
    if (reduce)
      s.reduced.add(shape[k], strides[k], strides[k]);
    else
      s.kept.add(shape[k], to[r], strides[k]);
    if (shape[k] != 1) s.inner_reduced = reduce;
    r += !reduce;
  }
  return s;
}

template <class Op, class T> void fold_lanes(const T* x, T* y, const Split& s) {
  const Loops& r = s.reduced;
  const std::int64_t run = r.rank ? r.extent[r.rank - 1] : 1;
  if (r.rank == 1 && !r.empty && s.kept.rank <= 1) {  // the usual case, cheap also where runs are short
    const std::int64_t results = s.kept.empty ? 0 : s.kept.rank ? s.kept.extent[0] : 1;
    const std::int64_t step = s.kept.rank ? s.kept.from[0] : 0;
    for (std::int64_t i = 0; i < results; ++i)
      y[i] = narrow<T>(fold_run<Op>(x + i * step, run, Op::identity));
    return;
  }
  for_each_run(s.kept, 0, [&](std::int64_t to, std::int64_t from) {
    auto total = Op::identity;
    for_each_run(r, 1,
                 [&](std::int64_t, std::int64_t at) { total = fold_run<Op>(x + from + at, run, total); });
    y[to] = narrow<T>(total);
  });
}

template <class Op, class T> void fold_columns(const T* x, T* y, const Split& s) {
  using A = typename Op::Accumulator;
  constexpr std::int64_t block = 128;  // running results of one pass over the rows
  const Loops &kept = s.kept, &r = s.reduced;
  const std::int64_t width = kept.rank ? kept.extent[kept.rank - 1] : 1;
  const std::int64_t rows = r.rank ? r.extent[r.rank - 1] : 1, step = r.rank ? r.from[r.rank - 1] : 0;
  for_each_run(kept, 1, [&](std::int64_t to, std::int64_t from) {
    for (std::int64_t c = 0; c < width; c += block) {
      const std::int64_t n = std::min(block, width - c);
      A total[block];
      for (std::int64_t j = 0; j < n; ++j) total[j] = Op::identity;
      for_each_run(r, 1, [&](std::int64_t, std::int64_t at) {
        const T* row = x + from + at + c;
        for (std::int64_t i = 0; i < rows; ++i, row += step)
          for (std::int64_t j = 0; j < n; ++j) total[j] = Op::combine(total[j], widen<A>(row[j]));
      });
      for (std::int64_t j = 0; j < n; ++j) y[to + c + j] = narrow<T>(total[j]);
    }
  });
}

/// y = the reduction of x, an array of `shape`, over `axes`.
template <class Op, class T> void fold(const void* x, void* y, const Shape& shape, const Ints& axes) {
  const Split s = split(shape, axes);
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  if (s.inner_reduced)
    fold_lanes<Op, T>(from, to, s);
  else
    fold_columns<Op, T>(from, to, s);
}

}  // namespace anadrome::reduction

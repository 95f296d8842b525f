// Makes the equations of random programs.
#pragma once
#include <random>

#include "core/builder.h"
#include "primitives/op.h"
#include "support/fuzz.h"

namespace anadrome::testing {

/// Draws operations on the values so far.
class FuzzMaker {
 public:
  explicit FuzzMaker(std::uint64_t seed);

  /// A recorded program with random inputs.
  Program make();

 private:
  static constexpr std::int64_t most_elements = 6000;

  Program record(const std::vector<Type>& inputs, int equations);

  // ---- drawing
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  std::int64_t below64(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  std::int64_t dimension() { return dims_[static_cast<std::size_t>(below(static_cast<int>(dims_.size())))]; }
  Shape any_shape(int rank);
  DType any_dtype();
  /// A value that `accepts`, the newer the likelier; empty when there is none.
  template <class F> Array pick(F accepts);
  Array pick_float() {
    return pick([](const Array& a) { return is_float(a.dtype()); });
  }
  Array pick_ranked(int least) {
    return pick([least](const Array& a) { return a.rank() >= least; });
  }
  /// A value that goes with `a` in an elementwise operation: of its shape, or rank 0, or made so.
  Array beside(const Array& a);
  Array mask_for(const Array& a);
  Array literal_like(const Array& a);
  std::int64_t axis_of(const Array& a) { return below(a.rank()); }
  /// Some axes of `a`, sorted.
  Ints some_axes(const Array& a);

  // ---- one operation each; an empty array means that the draw did not fit
  Array next();
  Array float_unary();
  Array special_function();
  Array integer_operation();
  Array binary();
  Array comparison();
  Array choice();
  Array conversion();
  Array logical();
  Array broadcast();
  Array shape_change();
  Array slicing();
  Array padding();
  Array joined();
  Array made();
  Array stencil();
  Array dynamic_window();
  Array gathered();
  Array scattered();
  Array reduction();
  Array cumulative();
  Array sorted();
  Array windowed();
  Array contraction();
  Array random_bits();
  Array called();
  Array indices_for(const Array& x, const Shape& batch, int components);

  std::mt19937_64 random_;
  Builder builder_;
  std::vector<std::int64_t> dims_;
  DType main_ = DType::f32;
  Arrays values_;
  int depth_ = 0;  // of programs inside calls
};

template <class F> Array FuzzMaker::pick(F accepts) {
  const int n = static_cast<int>(values_.size());
  for (int i = 0; i < 20; ++i) {
    const int at = chance(60) ? n - 1 - below(std::min(n, 5)) : below(n);
    const Array& a = values_[static_cast<std::size_t>(at)];
    if (accepts(a)) return a;
  }
  return {};
}

}  // namespace anadrome::testing

// Random programs: each equation takes values that are already there.
#include "support/random_program.h"

#include <cstring>
#include <random>

#include "core/builder.h"
#include "primitives/op.h"

namespace anadrome::testing {
namespace {

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed), builder_("random") {}

  Program run(int equations) {
    for (const Shape& shape : {Shape{4, 6}, Shape{4, 6}, Shape{6, 4}, Shape{24}, Shape{6}, Shape{}})
      values_.push_back(builder_.input({f32, shape}));
    const EnterScope scope(Scope{&builder_});
    for (int i = 0; i < equations; ++i) values_.push_back(next());
    Arrays outputs;
    for (int i = 0; i < 4; ++i) outputs.push_back(below(8) == 0 ? op::number(below(3), f32) : recent());
    outputs.push_back(any());
    return *builder_.finish(outputs).program;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  const Array& any() { return values_[static_cast<std::size_t>(below(static_cast<int>(values_.size())))]; }
  const Array& recent() {
    const int n = static_cast<int>(values_.size());
    return values_[static_cast<std::size_t>(n - 1 - below(std::min(n, 6)))];
  }
  /// A value of rank `rank`, or of any rank above 0 for -1.
  Array of_rank(int rank) {
    while (true) {
      const Array& a = below(2) ? recent() : any();
      if (rank < 0 ? a.rank() > 0 : a.rank() == rank) return a;
    }
  }
  /// A value that goes with `a` in an elementwise operation.
  Array beside(const Array& a) {
    if (below(4) == 0) return op::number(0.5 * (below(5) - 2), f32);
    for (int i = 0; i < 20; ++i) {
      const Array& b = any();
      if (b.shape() == a.shape() || b.rank() == 0) return b;
    }
    return below(2) ? op::full(below(3) - 1, a.type()) : a;
  }

  Array next() {
    switch (below(4)) {
      case 0: return moved(of_rank(2));
      case 1: return reduced(of_rank(-1));
      default: return elementwise(of_rank(-1));
    }
  }

  Array elementwise(const Array& x) {
    switch (below(8)) {
      case 0: return op::tanh(x);
      case 1: return op::neg(x);
      case 2: return op::sin(x);
      case 3: return op::mul(x, beside(x));
      case 4: return op::add(beside(x), x);
      case 5: return op::sub(x, beside(x));
      case 6: return op::select(op::gt(x, beside(x)), x, beside(x));
      default: return op::max(x, op::broadcast_scalar(of_scalar(), x.shape()));
    }
  }
  Array of_scalar() {
    for (int i = 0; i < 20; ++i)
      if (const Array& a = any(); a.rank() == 0) return a;
    return op::number(1, f32);
  }

  Array moved(const Array& x) {
    const std::int64_t m = x.shape()[0], n = x.shape()[1];
    switch (below(7)) {
      case 0: return op::transpose(x, {1, 0});
      case 1: return op::reshape(x, {n, m});
      case 2: return op::reshape(x, {m * n});
      case 3: return op::rev(x, {below(2)});
      case 4: return op::slice(op::concatenate(Arrays{x, x}, 0), {1, 0}, {m + 1, n}, {1, 1});
      case 5: return op::pad(op::slice(x, {0, 0}, {m - 1, n}, {1, 1}), op::number(1, f32), {1, 0}, {0, 0}, {0, 0});
      default: {
        const Array row = op::slice(x, {0, 0}, {1, n}, {1, 1});
        const Array start = op::number(below(static_cast<int>(m)), i32);
        return op::dynamic_update_slice(x, op::neg(row), Arrays{start, op::number(0, i32)});
      }
    }
  }

  Array reduced(const Array& x) {
    const std::int64_t last = x.rank() - 1;
    switch (below(5)) {
      case 0: return op::tanh(op::reduce_sum(x, {last}));
      case 1: return op::reduce_max(x, {0});
      case 2: return op::tanh(op::cumsum(x, last, below(2) != 0));
      case 3: return op::broadcast_axis(op::reduce_sum(op::tanh(x), {last}), x.rank() - 1, x.shape()[last]);
      default: {
        const DotAttr dims{{last}, {last}, {}, {}};
        return op::tanh(op::dot_general(x, x, dims));
      }
    }
  }

  std::mt19937 random_;
  Builder builder_;
  Arrays values_;
};

}  // namespace

Program random_program(std::uint32_t seed, int equations) { return Generator(seed).run(equations); }

Arrays random_inputs(const Program& program, std::uint32_t seed) {
  std::mt19937 random(seed);
  Arrays out;
  for (const Type& t : program.input_types()) {
    Array& a = out.emplace_back(uninitialized(t));
    for (std::int64_t i = 0; i < t.elements(); ++i)
      static_cast<float*>(mutable_data(a))[i] = static_cast<float>(random() % 2001) / 1000 - 1;
  }
  return out;
}

bool same_bits(const Array& a, const Array& b) {
  return a.type() == b.type() && std::memcmp(data(a), data(b), a.type().bytes()) == 0;
}

}  // namespace anadrome::testing

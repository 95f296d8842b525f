// Random functions.
#include "laws/recipe.h"

#include <random>

#include "anadrome/detail/functional.h"
#include "primitives/op.h"

namespace anadrome::testing {
namespace {

/// Draws steps; keeps the shapes of all values.
class Kitchen {
 public:
  Kitchen(std::uint32_t seed, bool smooth) : random_(seed), smooth_(smooth) {}

  void input(const Shape& shape) { shapes_.push_back(shape); }
  Recipe::Step next() {
    for (;;) {
      found_ = nullptr;
      switch (below(smooth_ ? 6 : 8)) {
        case 0:
          unary();
          break;
        case 1:
          binary();
          break;
        case 2:
          moved();
          break;
        case 3:
          reduced();
          break;
        case 4:
          indexed();
          break;
        case 5:
          contracted();
          break;
        case 6:
          chosen();
          break;
        default:
          ordered();
      }
      if (found_) return std::exchange(found_, nullptr);
    }
  }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::size_t count() const { return shapes_.size(); }

 private:
  using At = std::size_t;
  using A = const Array&;

  /// A value of the given rank; the newer, the likelier. False when there is none.
  bool take(int rank, At& at) {
    for (int i = 0; i < 12; ++i) {
      const int n = static_cast<int>(shapes_.size());
      at = static_cast<At>(below(2) ? n - 1 - below(std::min(n, 4)) : below(n));
      if (shapes_[at].rank() == rank) return true;
    }
    return false;
  }
  /// Another value of the same shape, or of rank 0.
  At beside(At at) {
    for (int i = 0; i < 12; ++i) {
      const auto other = static_cast<At>(below(static_cast<int>(shapes_.size())));
      if (shapes_[other] == shapes_[at] || shapes_[other].rank() == 0) return other;
    }
    return at;
  }
  void made(const Shape& shape, Recipe::Step step) {
    shapes_.push_back(shape);
    found_ = std::move(step);
  }
  template <class F> void of_one(At at, const Shape& shape, F f) {
    made(shape, [at, f](const Arrays& v) { return f(v[at]); });
  }
  template <class F> void of_two(At a, At b, const Shape& shape, F f) {
    made(shape, [a, b, f](const Arrays& v) { return f(v[a], v[b]); });
  }

  void unary() {
    constexpr Array (*functions[])(const Array&) = {op::sin, op::tanh, op::logistic, op::atan,
                                                    op::erf, op::neg,  op::asinh};
    const auto at = static_cast<At>(below(static_cast<int>(shapes_.size())));
    const Shape& shape = shapes_[at];
    switch (below(4)) {
      case 0:
        return of_one(at, shape, [](A x) { return op::log1p(op::mul(x, x)); });
      case 1:
        return of_one(at, shape, [](A x) { return op::exp(op::neg(op::integer_pow(x, 2))); });
      default:
        return of_one(at, shape, functions[below(7)]);
    }
  }

  void binary() {
    const auto a = static_cast<At>(below(static_cast<int>(shapes_.size())));
    const At b = beside(a);
    const Shape& shape = shapes_[a];
    switch (below(7)) {
      case 0:
        return of_two(a, b, shape, op::add);
      case 1:
        return of_two(a, b, shape, op::sub);
      case 2:
        return of_two(b, a, shape, op::sub);
      case 3:
        return of_two(a, b, shape,
                      [](A x, A y) { return op::div(x, op::add(op::number(1, f64), op::mul(y, y))); });
      case 4:
        return of_two(a, b, shape, [](A x, A y) { return op::tanh(op::logaddexp(x, y)); });
      case 5:
        return of_one(a, shape, [c = 0.5 * (below(5) - 2)](A x) { return op::mul(op::number(c, f64), x); });
      default:
        return of_two(a, b, shape, [](A x, A y) { return op::tanh(op::mul(x, y)); });
    }
  }

  void moved() {
    At at;
    if (!take(2, at)) return;
    const Shape shape = shapes_[at];
    const std::int64_t m = shape[0], n = shape[1], axis = below(2);
    switch (below(8)) {
      case 0:
        return of_one(at, {n, m}, [](A x) { return op::transpose(x, {1, 0}); });
      case 1:
        return of_one(at, {m * n}, [=](A x) { return op::reshape(x, {m * n}); });
      case 2:
        return of_one(at, shape, [=](A x) { return op::rev(x, {axis}); });
      case 3:
        return of_one(at, shape, [=](A x) {
          return op::slice(op::concatenate(Arrays{x, op::neg(x)}, 0), {1, 0}, {m + 1, n}, {1, 1});
        });
      case 4:
        return of_one(at, shape, [=](A x) {
          return op::pad(x, op::number(0.5, f64), {1, 0}, {-1, 0}, {0, 0});
        });
      case 5:
        return of_one(at, {m}, [=](A x) {
          return op::reshape(op::slice(x, {0, n - 1}, {m, n}, {1, 1}), {m});
        });
      case 6:
        return of_one(at, shape, [=](A x) {
          return op::add_slice(x, op::slice(x, {0, 0}, {1, n}, {1, 1}), {m - 1, 0}, {1, 1});
        });
      default:
        return of_one(at, shape, [](A x) {
          const Function body = [](const Arrays& v) { return Arrays{op::sin(op::mul(v[0], v[0]))}; };
          return functional::call_recorded(functional::record_for_jit(body, {x}, {"part", {}, {}}), {x},
                                           "part")[0];
        });
    }
  }
  using Function = functional::Function;

  void reduced() {
    At at;
    if (!take(1 + below(2), at)) return;
    const Shape shape = shapes_[at];
    const int axis = below(shape.rank());
    Shape rest = shape;
    rest.erase(static_cast<std::size_t>(axis));
    const std::int64_t n = shape[axis];
    switch (below(6)) {
      case 0:
        return of_one(at, rest, [=](A x) { return op::tanh(op::reduce_sum(x, {axis})); });
      case 1:
        return of_one(at, shape, [=](A x) {
          return op::broadcast_axis(op::tanh(op::reduce_sum(op::sin(x), {axis})), axis, n);
        });
      case 2:
        return of_one(at, shape, [=](A x) { return op::tanh(op::cumsum(x, axis, n % 2 == 0)); });
      case 3:
        return of_one(at, rest,
                      [=](A x) { return op::reduce_prod(op::tanh(op::add(x, op::number(1, f64))), {axis}); });
      case 4:
        return of_one(at, shape, [=](A x) { return op::tanh(op::cumlogsumexp(x, axis, false)); });
      default:
        return of_one(at, shape,
                      [=](A x) { return op::cumprod(op::tanh(op::add(x, op::number(1, f64))), axis, true); });
    }
  }

  void indexed() {
    At at;
    if (!take(2, at)) return;
    const Shape shape = shapes_[at];
    const std::int64_t m = shape[0], n = shape[1];
    const std::int64_t row = below(static_cast<int>(m) + 2);
    const auto start = [row](A) {
      return Arrays{op::number(static_cast<double>(row), i32), op::number(0, i32)};
    };
    const auto rows = [m](A) { return op::bit_xor(op::iota(i32, {m, 1}, 0), op::number(1, i32)); };
    switch (below(4)) {
      case 0:
        return of_one(at, {n}, [=](A x) { return op::reshape(op::dynamic_slice(x, start(x), {1, n}), {n}); });
      case 1:
        return of_one(at, shape, [=](A x) {
          return op::dynamic_update_slice(x, op::slice(op::sin(x), {0, 0}, {1, n}, {1, 1}), start(x));
        });
      case 2:
        return of_one(at, shape, [=](A x) {
          return op::gather(x, rows(x), {{1}, {0}, {0}, {}, {}, {1, n}, IndexMode::clip});
        });
      default:
        return of_one(at, shape, [=](A x) {
          return op::tanh(
              op::scatter_add(x, rows(x), op::sin(x), {{1}, {0}, {0}, {}, {}, IndexMode::fill_or_drop}));
        });
    }
  }

  void contracted() {
    At a, b;
    if (!take(2, a) || !take(1 + below(2), b)) return;
    const Shape &left = shapes_[a], &right = shapes_[b];
    for (int i : {0, 1})
      for (int j = 0; j < right.rank(); ++j) {
        if (left[i] != right[j]) continue;
        Shape shape{left[1 - i]};
        if (right.rank() == 2) shape.push_back(right[1 - j]);
        const DotAttr dims{{i}, {j}, {}, {}};
        return of_two(a, b, shape, [dims](A x, A y) { return op::tanh(op::dot_general(x, y, dims)); });
      }
  }

  void chosen() {
    const auto a = static_cast<At>(below(static_cast<int>(shapes_.size())));
    const At b = beside(a);
    const Shape& shape = shapes_[a];
    switch (below(4)) {
      case 0:
        return of_two(a, b, shape, op::max);
      case 1:
        return of_two(a, b, shape, op::min);
      case 2:
        return of_two(a, b, shape, [](A x, A y) { return op::select(op::gt(x, y), op::sin(x), y); });
      default:
        return of_one(a, shape,
                      [](A x) { return op::abs(op::clamp(op::number(-0.7, f64), x, op::number(0.8, f64))); });
    }
  }

  void ordered() {
    At at;
    if (!take(1 + below(2), at)) return;
    const Shape shape = shapes_[at];
    const int axis = below(shape.rank());
    Shape rest = shape;
    rest.erase(static_cast<std::size_t>(axis));
    switch (below(4)) {
      case 0:
        return of_one(at, rest, [=](A x) { return op::reduce_max(x, {axis}); });
      case 1:
        return of_one(at, shape, [=](A x) { return op::sort(Arrays{x}, axis, 1)[0]; });
      case 2:
        return of_one(at, shape, [=](A x) { return op::cummax(x, axis, false); });
      default:
        return of_one(at, shape, [=](A x) {
          Ints ones, window;
          for (int k = 0; k < x.rank(); ++k) ones.push_back(1), window.push_back(k == axis ? 2 : 1);
          Ints none(ones), low(ones);
          for (std::int64_t& v : none) v = 0;
          for (int k = 0; k < x.rank(); ++k) low[k] = k == axis;
          return op::reduce_window_max(x, {window, ones, low, none});
        });
    }
  }

  std::mt19937 random_;
  bool smooth_;
  std::vector<Shape> shapes_;
  Recipe::Step found_;
};

}  // namespace

Recipe::Recipe(std::uint32_t seed, int steps, bool smooth) : seed_(seed) {
  Kitchen kitchen(seed, smooth);
  for (const Shape& shape : {Shape{3, 4}, Shape{4, 3}, Shape{4}, Shape{}}) {
    inputs_.push_back({f64, shape});
    kitchen.input(shape);
  }
  for (int i = 0; i < steps; ++i) steps_.push_back(kitchen.next());
  const std::size_t n = kitchen.count();
  outputs_ = {n - 1, n - 2, static_cast<std::size_t>(kitchen.below(static_cast<int>(n)))};
}

Arrays Recipe::operator()(const Arrays& inputs) const {
  Arrays values = inputs, out;
  for (const Step& step : steps_) values.push_back(step(values));
  for (std::size_t i : outputs_) out.push_back(values[i]);
  return out;
}

std::string Recipe::name() const {
  return "seed " + std::to_string(seed_) + ", " + std::to_string(steps_.size()) + " steps";
}

}  // namespace anadrome::testing

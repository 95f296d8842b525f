#include "api/loop_laws.h"

#include <gtest/gtest.h>

#include "anadrome/ops.h"
#include "primitives/op.h"

namespace anadrome::testing {
namespace {

constexpr double exact = 1e-11;

struct Form {
  std::string what;
  Function loop, steps;
  Arrays x;
};

Mask floats(const Arrays& x) {
  Mask out;
  for (const Array& a : x) out.push_back(is_float(a.dtype()));
  return out;
}

/// The sum of the tanh of the results that have derivatives.
Function number(const Function& f) {
  return [f](const Arrays& x) {
    Array total = op::number(0, f64);
    for (const Array& y : float_outputs(f(x))) total = total + sum(tanh(y));
    return Arrays{total};
  };
}
Function gradient(const Function& f) {
  return [f](const Arrays& x) {
    return functional::grad(f, x, floats(x), false, {"grad", {}, {}}).grads;
  };
}
/// Over the marked arguments alone.
Function batched(const Function& f, const Mask& mask) {
  return [f, mask](const Arrays& x) {
    std::vector<int> axes;
    for (bool m : mask) axes.push_back(m ? 0 : functional::not_batched);
    return functional::vmap(f, x, axes);
  };
}
/// Arguments for `batched`: three near each other.
Arrays batch_of(const Arrays& x, const Mask& mask) {
  Arrays out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto moved = [&](double by) { return is_float(x[i].dtype()) ? convert(x[i] * by, x[i].dtype()) : x[i]; };
    out.push_back(mask[i] ? stacked({x[i], moved(0.5), moved(-0.7)}, 0) : x[i]);
  }
  return out;
}

class Comparison {
 public:
  Comparison(std::string name, const Function& loop, const Function& steps, const Arrays& x)
      : name_(std::move(name)), whole_{"the value", loop, steps, x}, random_(7) {}

  void run(Forms forms) {
    check(whole_);
    if (floats(whole_.x) == Mask(whole_.x.size(), false)) return batches(forms);
    if (forms == Forms::backward) {
      batches(forms);
      return reverse(forms);
    }
    const Form tangent = tangent_of(whole_);
    check(tangent);
    laws().check_tangent(whole_.loop, whole_.x, floats(whole_.x), random_);
    batches(forms);
    if (forms != Forms::forward) return reverse(forms);
    laws().check_pushed(whole_.loop, whole_.x, floats(whole_.x), random_);
    check(tangent_of(tangent));
  }

 private:
  void fail(const std::string& what) const { ADD_FAILURE() << name_ << ": " << what; }
  Laws laws() const {
    return {[](const Function& f, const Arrays& x) { return functional::run_jit(f, x, "eval"); }, 1e-7, 1e-10,
            [this](const std::string& what) { fail(what); }};
  }
  void check(const Form& f) const {
    const auto same = [&](const Arrays& a, const Arrays& b, const char* which) {
      compare(a, b, exact, f.what + ": " + which, [this](const std::string& what) { fail(what); });
    };
    try {
      const Arrays eval = functional::run_jit(f.loop, f.x, "eval");
      same(eval, functional::run_jit(f.steps, f.x, "eval"), "the loop and its steps");
      same(functional::run_jit(f.loop, f.x, "native"), eval, "native and eval");
    } catch (const std::exception& e) {
      fail(f.what + " threw: " + e.what());
    }
  }
  Form tangent_of(const Form& f) {
    const Mask active = floats(f.x);
    return {f.what + "'s tangent", tangent_by_jvp(f.loop, active), tangent_by_jvp(f.steps, active), joined(f.x, random_like(f.x, active, random_))};
  }
  static Form gradient_form(const Form& f) {
    return {f.what + "'s gradient", gradient(number(f.loop)), gradient(number(f.steps)), f.x};
  }
  static Form batch_form(const Form& f, const Mask& mask) {
    return {f.what + "'s batch", batched(f.loop, mask), batched(f.steps, mask), batch_of(f.x, mask)};
  }

  void batches(Forms forms) const {
    const std::size_t n = whole_.x.size();
    check(batch_form(whole_, Mask(n, true)));
    for (std::size_t i = 0; forms != Forms::few && n > 1 && i < n; ++i) {
      Mask one(n, false);
      one[i] = true;
      check(batch_form(whole_, one));
    }
  }
  void reverse(Forms forms) {
    const Form g = gradient_form(whole_);
    check(g);
    if (forms == Forms::backward) laws().check_pulled(whole_.steps, whole_.x, floats(whole_.x), random_);
    else laws().check_linear(whole_.loop, whole_.x, floats(whole_.x), random_);
    if (forms == Forms::few) return;
    const Mask every(whole_.x.size(), true);
    check(batch_form(g, every));
    check(gradient_form(batch_form(whole_, every)));
    check(tangent_of(g));     // the Hessian's product with a direction, forward over reverse
    check(gradient_form(g));  // reverse over reverse
  }

  std::string name_;
  Form whole_;
  std::mt19937 random_;
};

}  // namespace

Arrays written_out(const Function& body, const Arrays& init, const Arrays& xs, const ScanOptions& options) {
  const std::int64_t length = xs.empty() ? options.length : xs[0].shape()[0];
  const auto step = [&](const Arrays& carry, const Function& slice) {
    return body(joined(carry, slice(xs)));
  };
  Arrays carry = init;
  std::vector<Arrays> stacks;
  for (std::int64_t k = 0; k < length; ++k) {
    const std::int64_t at = options.reverse ? length - 1 - k : k;
    Arrays y = step(carry, [&](const Arrays& all) {
      Arrays out;
      for (const Array& x : all) out.push_back(x[at]);
      return out;
    });
    stacks.emplace_back(y.begin() + static_cast<std::ptrdiff_t>(init.size()), y.end());
    carry.assign(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(init.size()));
  }
  Arrays out = carry;
  if (length == 0) {  // what has no elements: the types alone
    const Arrays y = step(init, [](const Arrays& all) {
      Arrays slices;
      for (const Array& x : all) {
        Shape shape = x.shape();
        shape.erase(0);
        slices.push_back(zeros(shape, x.dtype()));
      }
      return slices;
    });
    for (std::size_t i = init.size(); i < y.size(); ++i) {
      Shape shape = y[i].shape();
      shape.insert(0, 0);
      out.push_back(zeros(shape, y[i].dtype()));
    }
    return out;
  }
  if (options.reverse) std::reverse(stacks.begin(), stacks.end());
  for (std::size_t i = 0; i < stacks[0].size(); ++i) {
    Arrays parts;
    for (const Arrays& s : stacks) parts.push_back(s[i]);
    out.push_back(stack(parts));
  }
  return out;
}

void expect_same(const std::string& name, const Function& loop, const Function& steps, const Arrays& x, Forms forms) {
  Comparison(name, loop, steps, x).run(forms);
}

Array random_values(const Shape& shape, std::uint32_t seed, double lo, double hi) {
  std::mt19937 random(seed);
  Numbers v;
  for (double n : numbers(random_array({f64, shape}, random))) v.push_back(lo + (hi - lo) * (n + 1) / 2);
  return make_array({f64, shape}, v);
}

}  // namespace anadrome::testing

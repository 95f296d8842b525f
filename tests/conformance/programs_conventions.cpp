// Programs about conventions: stopped gradients, derivatives at kinks, perturbation confusion, integers and
// refusals.
#include <cmath>
#include <limits>
#include <vector>

#include "conformance/program_table.h"

namespace anadrome::conformance {

namespace {

Outputs stop_gradient_program(const Inputs& in) {
  const Array& x = in["x"];
  const auto f = [](const Array& a) {
    const Array stopped = stop_gradient(a);
    return a * stop_gradient(sin(a)) + stopped * stopped * a;
  };
  const auto straight_through = [](const Array& a) {
    const Array r = a + stop_gradient(rint(a) - a);
    return r * r;
  };
  return {{"f", f(x)},
          {"d1", grad(f)(x)},
          {"d2", grad(grad(f))(x)},
          {"fwd", jvp(f, at(x), along(ones_like(x))).tangent},
          {"st", straight_through(x)},
          {"dst", grad(straight_through)(x)}};
}

/// A vector of the type the program runs in.
Array vector_of(const std::vector<double>& values, DType dtype) {
  return astype(array(values), dtype);
}

void kinks_of_one_variable(DType dtype, Outputs& out) {
  const Array zero = scalar(0, dtype), one = scalar(1, dtype), two = scalar(2, dtype);
  out["abs"] = grad([](const Array& x) { return abs(x); })(zero);
  out["sign"] = grad([](const Array& x) { return sign(x); })(zero);
  out["relu"] = grad([](const Array& x) { return relu(x); })(zero);
  out["leaky_relu"] = grad([](const Array& x) { return leaky_relu(x); })(zero);
  out["sqrt"] = grad([](const Array& x) { return sqrt(x); })(zero);
  out["cbrt"] = grad([](const Array& x) { return cbrt(x); })(zero);
  out["int_pow2"] = grad([](const Array& x) { return pow(x, 2); })(zero);
  out["pow2"] = grad([two](const Array& x) { return pow(x, two); })(zero);
  out["pow0"] = grad([zero](const Array& x) { return pow(x, zero); })(zero);
  out["pow_in_y"] = grad([zero](const Array& y) { return pow(zero, y); })(two);
  out["max_tie"] = grad([one](const Array& x) { return max(x, one); })(one);
  out["min_tie"] = grad([one](const Array& x) { return min(x, one); })(one);
  out["clamp_lo"] = grad([one](const Array& x) { return clamp(-one, x, one); })(-one);
  out["clamp_hi"] = grad([one](const Array& x) { return clamp(-one, x, one); })(one);
  out["x_over_x"] = grad([](const Array& x) { return x / x; })(zero);
  out["floor"] = grad([](const Array& x) { return floor(x); })(one);
  out["asin1"] = grad([](const Array& x) { return asin(x); })(one);
  out["log0"] = grad([](const Array& x) { return log(x); })(zero);
  out["xlogx"] = grad([](const Array& x) { return x * log(x); })(zero);
  out["sinc0"] = grad([](const Array& x) { return sinc(x); })(zero);
}

void kinks_of_several_variables(DType dtype, Outputs& out) {
  const Array zero = scalar(0, dtype);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto [dy, dx] = grad<0, 1>([](const Array& y, const Array& x) { return atan2(y, x); })(zero, zero);
  out["atan2_y"] = dy;
  out["atan2_x"] = dx;
  out["norm0"] = grad([](const Array& x) { return norm(x, 2, {}, false, NormAtZero::nan); })(vector_of({0, 0}, dtype));
  out["max_ties"] = grad([](const Array& x) { return reduce_max(x); })(vector_of({2, 2, 1}, dtype));
  out["min_ties"] = grad([](const Array& x) { return reduce_min(x); })(vector_of({1, 2, 1}, dtype));
  const auto product = grad([](const Array& x) { return prod(x); });
  out["prod_one_zero"] = product(vector_of({0, 2, 3}, dtype));
  out["prod_two_zeros"] = product(vector_of({0, 0, 3}, dtype));
  const Array weights = vector_of({1, 2, 3}, dtype);
  out["sort_ties"] =
      grad([weights](const Array& x) { return sum(sort(x) * weights); })(vector_of({1, 1, 0}, dtype));
  out["lse_ninf"] =
      grad([](const Array& x) { return logsumexp(x); })(vector_of({-infinity, -infinity}, dtype));
}

Outputs kinks(const Inputs& in) {
  Outputs out;
  kinks_of_one_variable(in.dtype, out);
  kinks_of_several_variables(in.dtype, out);
  return out;
}

/// The two ways to take the derivative of a scalar function.
struct Forward {
  template <class F> auto operator()(F f) const {
    return [f](const Array& x) { return jvp(f, at(x), along(ones_like(x))).tangent; };
  }
};
struct Reverse {
  template <class F> auto operator()(F f) const { return grad(f); }
};

/// f -> (x -> d/du f(x + u) at u = 0): the derivative, through the shift operator.
template <class D, class F> auto by_shift(D d, F f, DType dtype) {
  return [d, f, dtype](const Array& x) {
    return d([f, x](const Array& u) { return f(x + u); })(scalar(0, dtype));
  };
}

template <class A, class B>
void confusion(const Inputs& in, A outer, B inner, const std::string& suffix, Outputs& out) {
  const Array& x0 = in["x0"];
  const DType dtype = in.dtype;
  const Array one = scalar(1, dtype), two = scalar(2, dtype), zero = scalar(0, dtype);
  const auto exponential = [](const Array& x) { return exp(x); };
  out["1_" + suffix] =
      outer([=](const Array& x) { return x * inner([x](const Array& y) { return x + y; })(one); })(one);
  out["2_" + suffix] =
      outer([=](const Array& x) { return x * inner([x](const Array& y) { return x * y; })(two); })(x0);
  out["3_" + suffix] = outer([=](const Array& x) {
    return inner([x](const Array& y) {
      const Array product = x * y;
      return product * product;
    })(x);
  })(x0);
  out["4a_" + suffix] = outer([=](const Array& u) { return exponential((x0 + u) + u); })(zero);
  out["4b_" + suffix] = by_shift(outer, by_shift(inner, exponential, dtype), dtype)(x0);
}

Outputs perturbation_confusion(const Inputs& in) {
  Outputs out;
  confusion(in, Forward(), Forward(), "ff", out);
  confusion(in, Reverse(), Reverse(), "rr", out);
  confusion(in, Reverse(), Forward(), "rf", out);
  confusion(in, Forward(), Reverse(), "fr", out);
  return out;
}

Outputs integer_inputs(const Inputs& in) {
  const Array &x = in["x"], &n = in["n"];
  const DType dtype = in.dtype;
  const std::string float_tag(tag(dtype));
  const auto f = [](const Array& a, const Array& k) { return a * a * astype(k, a.dtype()); };
  const auto sine = [](const Array& a) { return sin(a); };
  const auto twice = [](const Array& k) { return k * 2; };
  const auto right = [&] { (void)grad(sine)(x); };
  const auto right_jvp = [&] { (void)jvp(sine, at(x), along(ones_like(x))); };
  Outputs out;
  out["grad_x"] = grad(f)(x, n);
  const auto [dx, dn] = vjp(f, x, n).pullback(ones_like(x));
  if (dn.is_no_gradient()) out["vjp_x"] = dx;
  out["grad_n"] = refused([&] { (void)grad<1>(f)(x, n); }, {"i32"}, [&] { (void)grad(f)(x, n); });
  out["vector"] = refused([&] { (void)grad([](const Array& a) {
                                  return stack({a, a});
                                })(x); },
                          {float_tag + "[2]"}, right);
  out["int_out"] =
      refused([&] { (void)grad([](const Array&) { return scalar(3, i32); })(x); }, {"i32"}, right);
  out["ct_shape"] =
      refused([&] { (void)vjp(sine, x).pullback(ones({3}, dtype)); }, {float_tag + "[3]", float_tag + "[]"},
              [&] { (void)vjp(sine, x).pullback(ones({}, dtype)); });
  out["int_tangent"] =
      refused([&] { (void)jvp(twice, at(n), along(ones({}, dtype))); }, {"i32", float_tag}, right_jvp);
  out["tangent_shape"] = refused([&] { (void)jvp(sine, at(x), along(ones({2}, dtype))); },
                                 {float_tag + "[2]", float_tag + "[]"}, right_jvp);
  return out;
}

}  // namespace

void add_conventions(ProgramTable& table) {
  table["stop_gradient"] = stop_gradient_program;
  table["kinks"] = kinks;
  table["perturbation_confusion"] = perturbation_confusion;
  table["integer_inputs"] = integer_inputs;
}

}  // namespace anadrome::conformance

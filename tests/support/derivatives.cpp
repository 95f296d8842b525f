// Derivatives as functions, and their laws.
#include "support/derivatives.h"

#include <cmath>

namespace anadrome::testing {
namespace {

using TangentOf = std::function<Arrays(const Function&, const Arrays& x, const Arrays& t)>;

Function tangent_function(const Function& f, const Mask& active, const TangentOf& tangent) {
  return [=](const Arrays& in) {
    const auto n = static_cast<std::ptrdiff_t>(active.size());
    Arrays x(in.begin(), in.begin() + n), t(active.size());
    auto next = active.size();
    for (std::size_t i = 0; i < active.size(); ++i)
      if (active[i]) t[i] = in[next++];
    return float_outputs(tangent(f, x, t));
  };
}

/// x + step * t.
Arrays moved(const Arrays& x, const Arrays& t, double step) {
  Arrays out = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!t[i].defined()) continue;
    Numbers v = numbers(x[i]);
    const Numbers d = numbers(t[i]);
    for (std::size_t k = 0; k < v.size(); ++k) v[k] += step * d[k];
    out[i] = make_array(x[i].type(), v);
  }
  return out;
}

Arrays spread(const Mask& active, const Arrays& values) {
  Arrays out(active.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < active.size(); ++i)
    if (active[i]) out[i] = values[next++];
  return out;
}

}  // namespace

Arrays float_outputs(const Arrays& y) {
  Arrays out;
  for (const Array& a : y)
    if (!a.is_no_gradient() && is_float(a.dtype())) out.push_back(a);
  return out;
}

Arrays joined(Arrays a, const Arrays& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Arrays random_like(const Arrays& x, const Mask& active, std::mt19937& random) {
  Arrays t;
  for (std::size_t i = 0; i < active.size(); ++i)
    if (active[i]) t.push_back(random_array(x[i].type(), random));
  return t;
}

Function tangent_by_jvp(const Function& f, const Mask& active) {
  return tangent_function(f, active, [](const Function& g, const Arrays& x, const Arrays& t) {
    return functional::jvp(g, x, t, {"jvp", {}, {}}).t;
  });
}
Function tangent_by_linearize(const Function& f, const Mask& active) {
  return tangent_function(f, active, [active](const Function& g, const Arrays& x, const Arrays& t) {
    return functional::linearize(g, x, active, {"linearize", {}, {}}).linear.push(t);
  });
}

Function gradient_of(const Function& f, const Mask& active) {
  return [=](const Arrays& in) {
    const auto n = static_cast<std::ptrdiff_t>(active.size());
    const Arrays x(in.begin(), in.begin() + n);
    const auto r = functional::linearize(f, x, active, {"vjp", {}, {}});
    Arrays ct;
    auto next = active.size();
    for (const Array& y : r.y) ct.push_back(is_float(y.dtype()) ? in[next++] : Array());
    const Arrays g = r.linear.pull(ct);
    Arrays out;
    for (std::size_t i = 0; i < active.size(); ++i)
      if (active[i]) out.push_back(g[i]);
    return out;
  };
}

Arrays finite_difference(const Function& f, const Arrays& x, const Arrays& t) {
  constexpr double h = 1e-3;
  const Arrays near_up = float_outputs(f(moved(x, t, h))), near_down = float_outputs(f(moved(x, t, -h)));
  const Arrays far_up = float_outputs(f(moved(x, t, 2 * h))),
               far_down = float_outputs(f(moved(x, t, -2 * h)));
  Arrays out;
  for (std::size_t k = 0; k < near_up.size(); ++k) {
    const Numbers a = numbers(near_up[k]), b = numbers(near_down[k]), c = numbers(far_up[k]),
                  d = numbers(far_down[k]);
    Numbers slope;
    for (std::size_t i = 0; i < a.size(); ++i)
      slope.push_back((8 * (a[i] - b[i]) - (c[i] - d[i])) / (12 * h));
    out.push_back(make_array(near_up[k].type(), slope));
  }
  return out;
}

void compare(const Arrays& got, const Arrays& want, double tolerance, const std::string& what,
             const std::function<void(const std::string&)>& fail) {
  if (got.size() != want.size())
    return fail(what + ": " + std::to_string(got.size()) + " results, wanted " + std::to_string(want.size()));
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i].is_no_gradient() && want[i].is_no_gradient()) continue;
    const double allowed = is_float(got[i].dtype()) ? tolerance : 0;
    const double d = difference(got[i], want[i]);
    if (!(d <= allowed))
      fail(what + ": result " + std::to_string(i) + " is off by " + std::to_string(d) + "\n    got    " +
           show(got[i]) + "\n    wanted " + show(want[i]));
  }
}

void Laws::check_tangent(const Function& f, const Arrays& x, const Mask& active, std::mt19937& random) const {
  const Arrays t = random_like(x, active, random);
  const Arrays got = run(tangent_by_jvp(f, active), joined(x, t));
  const auto value = [&](const Arrays& at) { return run(f, at); };
  compare(got, finite_difference(value, x, spread(active, t)), tolerance, "jvp against finite differences",
          fail);
}

namespace {

/// Both tangents for a random direction: by linearize, by jvp.
struct Pushed {
  Arrays t, by_linearize, by_jvp;
  Pushed(const Run& run, const Function& f, const Arrays& x, const Mask& active, std::mt19937& random)
      : t(random_like(x, active, random)),
        by_linearize(run(tangent_by_linearize(f, active), joined(x, t))),
        by_jvp(run(tangent_by_jvp(f, active), joined(x, t))) {}
};

/// <ct, J t> = <J^T ct, t> for random ct, where `pushed` is J t.
void check_adjoint(const Laws& laws, const Function& f, const Arrays& x, const Mask& active, const Arrays& t, const Arrays& pushed,
                   double tolerance, std::mt19937& random) {
  Arrays ct;
  for (const Array& y : pushed) ct.push_back(random_array(y.type(), random));
  if (ct.empty()) return;
  const Arrays pulled = laws.run(gradient_of(f, active), joined(x, ct));
  double left = 0, right = 0, size = 1;
  for (std::size_t i = 0; i < ct.size(); ++i) left += inner(ct[i], pushed[i]);
  for (std::size_t i = 0; i < t.size(); ++i) right += inner(pulled[i], t[i]);
  for (std::size_t i = 0; i < t.size(); ++i)
    size += std::sqrt(inner(pulled[i], pulled[i]) * inner(t[i], t[i]));
  if (!(std::fabs(left - right) <= tolerance * size))
    laws.fail("<ct, J t> is " + std::to_string(left) + " and <J^T ct, t> is " + std::to_string(right));
}

}  // namespace

void Laws::check_pushed(const Function& f, const Arrays& x, const Mask& active, std::mt19937& random) const {
  const Pushed p(run, f, x, active, random);
  compare(p.by_linearize, p.by_jvp, exact_tolerance, "linearize against jvp", fail);
}

void Laws::check_linear(const Function& f, const Arrays& x, const Mask& active, std::mt19937& random) const {
  const Pushed p(run, f, x, active, random);
  compare(p.by_linearize, p.by_jvp, exact_tolerance, "linearize against jvp", fail);
  check_adjoint(*this, f, x, active, p.t, p.by_linearize, exact_tolerance, random);
}

void Laws::check_pulled(const Function& f, const Arrays& x, const Mask& active, std::mt19937& random) const {
  const Arrays t = random_like(x, active, random);
  const auto value = [&](const Arrays& at) { return run(f, at); };
  check_adjoint(*this, f, x, active, t, finite_difference(value, x, spread(active, t)), tolerance, random);
}

}  // namespace anadrome::testing

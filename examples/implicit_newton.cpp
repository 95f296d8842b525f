// The gradient of a solution: Newton's method finds it, the implicit function theorem differentiates it.
#include <anadrome/anadrome.h>

#include <iostream>

using namespace anadrome;

/// Kepler's equation, e - eccentricity sin(e) = mean anomaly, solved for e.
Array eccentric_anomaly(const Array& eccentricity, const Array& mean_anomaly) {
  const auto error = [&](const Array& e) { return e - eccentricity * sin(e) - mean_anomaly; };
  const auto newton = [](const auto& f, const Array& start) {
    return while_loop(start, {.max_steps = 50}, [&](const Array& e) { return abs(f(e)) > 1e-13; },
                      [&](const Array& e) {
                        const auto [value, slope] = jvp(f, at(e), along(ones_like(e)));
                        return e - value / slope;
                      });
  };
  const auto divide = [](const auto& slope, const Array& b) { return b / slope(ones_like(b)); };
  return custom_root(error, mean_anomaly, newton, divide);
}

int main() {
  const Array eccentricity = scalar(0.3, f64), anomaly = scalar(1.2, f64);
  const Array e = eccentric_anomaly(eccentricity, anomaly);
  std::cout << "e = " << e << ", e - 0.3 sin(e) = " << e - eccentricity * sin(e) << '\n';

  const auto [by_eccentricity, by_anomaly] = grad<0, 1>(eccentric_anomaly)(eccentricity, anomaly);
  std::cout << "derivatives " << by_eccentricity << ' ' << by_anomaly << '\n';
  std::cout << "by hand     " << sin(e) / (1 - eccentricity * cos(e)) << ' ' << 1 / (1 - eccentricity * cos(e)) << '\n';

  const auto of_anomaly = [&](const Array& m) { return eccentric_anomaly(eccentricity, m); };
  std::cout << "second      " << grad(grad(of_anomaly))(anomaly) << '\n';
  std::cout << "many at once " << vmap(grad(of_anomaly))(linspace(0.0, 3.0, 4, true, f64)) << '\n';

  // A whole equilibrium: z = tanh(w z + u), and how its sum depends on w.
  const Array w = array({{0.2, -0.3}, {0.1, 0.4}}, f64), u = array({0.5, -1.0}, f64);
  const auto settled = [&](const Array& m) {
    return sum(fixed_point([&](const Array& z) { return tanh(matmul(m, z) + u); }, zeros({2}, f64), {.tolerance = 1e-14}));
  };
  std::cout << "equilibrium " << settled(w) << ", gradient\n" << grad(settled)(w) << '\n';
}

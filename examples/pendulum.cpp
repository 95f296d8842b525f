// A neural differential equation: learns the force on a pendulum from its path, by gradients through the integrator.
#include <anadrome/anadrome.h>

#include <iostream>

using namespace anadrome;

struct Swing {
  Array angle, speed;
};
struct Net {
  Array w1, b1, w2;
};

constexpr double step = 0.05;
constexpr int steps = 60;

/// One step of the classical Runge-Kutta method for angle' = speed, speed' = force(angle).
template <class Force> Swing advance(const Swing& s, const Force& force) {
  const auto slope = [&](const Swing& at) { return Swing{at.speed, force(at.angle)}; };
  const auto moved = [&](const Swing& by, double h) { return Swing{s.angle + h * by.angle, s.speed + h * by.speed}; };
  const Swing k1 = slope(s), k2 = slope(moved(k1, step / 2)), k3 = slope(moved(k2, step / 2)), k4 = slope(moved(k3, step));
  const auto mean = [](const Array& a, const Array& b, const Array& c, const Array& d) { return step / 6 * (a + 2 * b + 2 * c + d); };
  return {s.angle + mean(k1.angle, k2.angle, k3.angle, k4.angle), s.speed + mean(k1.speed, k2.speed, k3.speed, k4.speed)};
}

/// The angles along the way, for several starts at once.
template <class Force> Array path(const Swing& start, const Force& force) {
  return scan(start, {.length = steps}, [&](const Swing& s) {
           const Swing next = advance(s, force);
           return std::pair{next, next.angle};
         }).second;
}

Array true_force(const Array& angle) { return -2 * sin(angle); }
Array learned_force(const Net& net, const Array& angle) {
  return matmul(tanh(reshape(angle, {-1, 1}) * net.w1 + net.b1), net.w2);
}

struct Adam {
  Net net, mean, square;
  Array count;
};

int main() {
  const Swing start{linspace(-2.0, 2.0, 9), zeros({9})};
  const Array seen = jit([&](const Swing& s) { return path(s, true_force); })(start);
  const auto loss = [&](const Net& net) {
    return mean(square(path(start, [&](const Array& a) { return learned_force(net, a); }) - seen));
  };
  const auto learn = jit([&](const Adam& s) {
    const auto [value, g] = value_and_grad(loss)(s.net);
    const Array n = s.count + 1;
    const Net m = map_leaves(s.mean, g, [](const Array& a, const Array& b) { return 0.9 * a + 0.1 * b; });
    const Net q = map_leaves(s.square, g, [](const Array& a, const Array& b) { return 0.99 * a + 0.01 * b * b; });
    const Net way = map_leaves(m, q, [&](const Array& a, const Array& b) {
      return 0.02 * (a / (1 - pow(scalar(0.9), n))) / (sqrt(b / (1 - pow(scalar(0.99), n))) + 1e-8);
    });
    const Net net = map_leaves(s.net, way, [](const Array& p, const Array& d) { return p - d; });
    return std::pair{Adam{net, m, q, n}, value};
  });

  const Array keys = random::split(random::prng_key(0));
  const Net begin{random::normal(keys[0], {1, 16}), zeros({16}), 0.1 * random::normal(keys[1], {16})};
  Adam state{begin, zeros_like(begin), zeros_like(begin), scalar(0.0)};
  const double first = loss(begin).item<double>();
  for (int i = 0; i < 400; ++i) state = learn(state).first;
  const double last = loss(state.net).item<double>();
  std::cout << "the error falls to less than a thousandth: " << (last < first / 1000 ? "yes" : "no") << '\n';
  std::cout << "angle   force   learned\n";
  for (double angle : {-1.5, -0.5, 0.5, 1.5}) {
    const Array a = array({angle});
    std::cout << angle << "  " << round(10 * true_force(a)) / 10 << "  " << round(10 * learned_force(state.net, a)) / 10 << '\n';
  }
}

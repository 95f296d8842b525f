// An Asian option by Monte Carlo in float64: its price and its Greeks, pathwise, in one backward pass; and their errors.
#include <anadrome/anadrome.h>

#include <cmath>
#include <iomanip>
#include <iostream>

using namespace anadrome;

struct Market {
  Array spot, volatility, rate;
};
constexpr double strike = 100, years = 1;
constexpr int dates = 50;

/// The discounted payoff max(mean price - strike, 0) of one path, from its normal increments.
Array payoff(const Market& m, const Array& normals) {
  const double dt = years / dates;
  const auto step = [&](const Array& log_price, const Array& z) {
    const Array next = log_price + (m.rate - 0.5 * square(m.volatility)) * dt + m.volatility * std::sqrt(dt) * z;
    return std::pair{next, exp(next)};
  };
  const Array prices = scan(log(m.spot), normals, step).second;
  return exp(-m.rate * years) * max(mean(prices) - strike, 0);
}

/// One number with its standard error over the paths.
void print(const char* name, const Array& samples) {
  const double n = static_cast<double>(samples.shape()[0]);
  std::cout << std::left << std::setw(8) << name << std::right << std::fixed << std::setprecision(3) << std::setw(9) << mean(samples).item<double>()
            << "  +- " << std::sqrt(var(samples).item<double>() / n) << '\n';
}

int main() {
  const Market market{scalar(100.0, f64), scalar(0.2, f64), scalar(0.05, f64)};
  const Array normals = random::normal(random::prng_key(42), {20000, dates}, f64);
  const auto each = jit(vmap(value_and_grad(payoff), {.in = {none, 0}}));
  const auto [price, greeks] = each(market, normals);
  print("price", price);
  print("delta", greeks.spot);
  print("vega", greeks.volatility);
  print("rho", greeks.rate);

  // The same derivative of the mean by central differences on the same paths.
  const auto value = jit([&](const Market& m, const Array& z) { return mean(vmap(payoff, {.in = {none, 0}})(m, z)); });
  const double h = 1e-4;
  const auto bumped = [&](double by) { return value(Market{market.spot, market.volatility + by, market.rate}, normals).item<double>(); };
  std::cout << "vega by differences " << (bumped(h) - bumped(-h)) / (2 * h) << '\n';
}

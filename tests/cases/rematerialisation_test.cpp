// checkpoint: the same derivatives in loops and nested, and no cost where nothing is differentiated.
#include <cmath>

#include "cases/near.h"

namespace anadrome::cases {
namespace {

Array step(const Array& c, const Array& t) { return sin(c * t) + 0.1 * t; }
template <class Step> Fn looped(const Step& body) {
  return [body](const Array& x) {
    return scan(x, vec({1, 2, 3, 4}), [&](const Array& c, const Array& t) { return std::pair{body(c, t), std::tuple<>{}}; }).first;
  };
}

TEST(Rematerialisation, CheckpointsInAndAroundLoops) {
  const auto step_once = checkpoint(step);
  const auto step_twice = checkpoint([=](const Array& c, const Array& t) { return checkpoint(step)(c, t); });
  const Fn plain = looped(step);
  const std::vector<std::pair<std::string, Fn>> forms{
      {"plain", plain},
      {"in the loop", looped(step_once)},
      {"nested, in the loop", looped(step_twice)},
      {"around the loop", checkpoint(plain)},
      {"in and around", checkpoint(looped(step_once))},
      {"around, twice", checkpoint(checkpoint(looped(step_twice)))},
      {"of everything", looped(checkpoint(step, save_everything))},
  };
  const std::vector<double> second = hessians(plain, number(0.5))[0].to_vector<double>();
  for (const auto& [name, f] : forms) {
    SCOPED_TRACE(name);
    for (const Mode& m : modes()) {
      expect_values(m.derivative(f)(number(0.5)), {-7.675215969302598}, 1e-11);
      expect_values(jitted(m.derivative(f))(number(0.5)), {-7.675215969302598}, 1e-11);
    }
    for (const Array& h : hessians(f, number(0.5))) expect_values(h, second, 1e-11);
    expect_values(batched(reverse(f))(vec({0.5, 0.5})), {-7.675215969302598, -7.675215969302598}, 1e-11);
  }
}

TEST(Rematerialisation, WeakNumbersOfOtherDtypesStayWhatTheyAre) {
  const auto body = checkpoint([](const Array& c, const Array& t) { return sin(c * t) + 0.1 * t; });
  for (DType dtype : {f32, f64, f16, bf16}) {
    const auto f = [&](const Array& x) {
      return scan(x, convert(vec({1, 2}), dtype), [&](const Array& c, const Array& t) { return std::pair{body(c, t), std::tuple<>{}}; }).first;
    };
    const Array g = grad(f)(convert(number(0.5), dtype));
    EXPECT_EQ(g.dtype(), dtype);
    EXPECT_NEAR(convert(g, f64).item<double>(), std::cos(2 * (std::sin(0.5) + 0.1)) * 2 * std::cos(0.5), dtype == f64 ? 1e-14 : dtype == f32 ? 1e-6 : 0.05);
  }
}

TEST(Rematerialisation, IsFreeWhereNothingIsDifferentiated) {
  const Fn f = [](const Array& x) { return 2 * sin(x); };
  const Fn in_loop = [](const Array& x) { return fori_loop(0, 3, x, [](const Array&, const Array& c) { return checkpoint([](const Array& v) { return 2 * sin(v); })(c); }); };
  const Fn plain_loop = [](const Array& x) { return fori_loop(0, 3, x, [](const Array&, const Array& c) { return 2 * sin(c); }); };
  const Array x = abstract(f64, {100});
  for (const auto& [with, without] : {std::pair<Fn, Fn>{checkpoint(f), f}, {checkpoint(checkpoint(f)), f}, {batched(checkpoint(f)), batched(f)}, {in_loop, plain_loop}}) {
    const auto a = jit(with).lower(x).compile(), b = jit(without).lower(x).compile();
    EXPECT_EQ(a.cost_analysis().flops, b.cost_analysis().flops);
    EXPECT_EQ(a.cost_analysis().transcendentals, b.cost_analysis().transcendentals);
    EXPECT_EQ(a.cost_analysis().bytes_accessed, b.cost_analysis().bytes_accessed);
    EXPECT_EQ(a.memory_analysis().temp_size_in_bytes, b.memory_analysis().temp_size_in_bytes);
  }
  EXPECT_EQ(jit(checkpoint(f)).lower(x).compile().cost_analysis().flops, 100);
  EXPECT_EQ(jit(checkpoint(f)).lower(x).compile().cost_analysis().transcendentals, 100);
}

}  // namespace
}  // namespace anadrome::cases

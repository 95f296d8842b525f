// jit, lower, compile, make_program: what is recorded when, what runs allocate, caches.
#include <thread>

#include "anadrome/anadrome.h"
#include "core/memory.h"

namespace ad = anadrome;
using ad::Array;

namespace {

struct Layer {
  Array w, b;
};
struct Net {
  std::vector<Layer> layers;
  Array scale;
  int depth = 2;
};
Array apply(const Net& net, Array x) {
  for (const Layer& l : net.layers) x = tanh(dot(x, l.w) + l.b);
  return sum(x * net.scale) * net.depth;
}
Net make_net() {
  return {{{ad::full({3, 3}, 0.1), ad::zeros({3})}, {ad::full({3, 3}, 0.2), ad::ones({3})}}, ad::scalar(2.0)};
}

TEST(Jit, TheSecondCallRecordsNothing) {
  int recorded = 0;
  auto f = ad::jit([&](const Array& x) {
    ++recorded;
    return x * 2;
  });
  (void)f(ad::ones({3}));
  (void)f(ad::zeros({3}));
  EXPECT_EQ(recorded, 1);
  (void)f(ad::ones({4}));
  (void)f(ad::ones({3}, ad::f64));
  EXPECT_EQ(recorded, 3);
}

TEST(Jit, StaticValuesArePartOfTheKey) {
  int recorded = 0;
  auto power = ad::jit([&](const Array& x, int n, bool negate, const std::string& name) {
    ++recorded;
    Array y = x;
    for (int i = 1; i < n; ++i) y = y * x;
    return negate ? -y : name == "square" ? y * y : y;
  });
  const Array x = ad::scalar(2.0);
  EXPECT_FLOAT_EQ(power(x, 3, false, std::string()).item<float>(), 8);
  EXPECT_FLOAT_EQ(power(x, 2, true, std::string()).item<float>(), -4);
  EXPECT_FLOAT_EQ(power(x, 2, false, std::string("square")).item<float>(), 16);
  EXPECT_FLOAT_EQ(power(x, 3, false, std::string()).item<float>(), 8);
  EXPECT_EQ(recorded, 3);
}

TEST(Jit, StructsGoInAndOut) {
  auto step = ad::jit([](const Net& net, const Array& x) {
    const Net g = ad::grad(apply)(net, x);
    return ad::map_leaves(net, g, [](const Array& p, const Array& d) { return p - 0.1 * d; });
  });
  const Net net = make_net(), next = step(net, ad::ones({3}));
  EXPECT_EQ(next.layers.size(), 2u);
  const Net eager = ad::grad(apply)(net, ad::ones({3}));
  const Array got = next.layers[0].w - (net.layers[0].w - 0.1 * eager.layers[0].w);
  EXPECT_LT(reduce_max(abs(got)).item<float>(), 1e-6);
}

TEST(Jit, ArgumentsOfOtherTypesWithTheSameArraysAreOtherCalls) {
  struct Pair {
    Array first, second;
  };
  auto f = ad::jit([](const auto& a) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(a)>, Pair>) return Pair{a.second, a.first};
    else return std::vector<Array>{std::get<0>(a) - std::get<1>(a)};
  });
  const Array one = ad::scalar(1.0), two = ad::scalar(2.0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(f(Pair{one, two}).first.template item<float>(), 2);
    EXPECT_EQ(f(std::tuple{one, two})[0].template item<float>(), -1);
  }
}

TEST(Jit, RemembersManyKindsOfCalls) {
  int recorded = 0;
  auto f = ad::jit([&](const Array& x, int n) {
    ++recorded;
    return x * n;
  });
  for (int round = 0; round < 3; ++round)
    for (int n = 0; n < 60; ++n) {
      const Array y = f(ad::ones({1 + n % 7}), n);
      EXPECT_EQ(y.size(), 1 + n % 7);
      EXPECT_EQ(y[0].item<int>(), n);
    }
  EXPECT_EQ(recorded, 60);
}

TEST(Jit, ContainersOfOtherSizesAreOtherCalls) {
  using Rows = std::vector<std::vector<Array>>;
  auto f = ad::jit([](const Rows& rows) {
    std::vector<Array> out;
    for (const auto& row : rows) {
      Array total = ad::scalar(0.0);
      for (const Array& x : row) total = total + x;
      out.push_back(total);
    }
    return out;
  });
  const Array one = ad::scalar(1.0);
  EXPECT_EQ(f(Rows{{one, one}, {one}})[0].item<float>(), 2);
  EXPECT_EQ(f(Rows{{one}, {one, one}})[0].item<float>(), 1);
  EXPECT_EQ(f(Rows{{one, one}, {one}})[0].item<float>(), 2);
  EXPECT_EQ(f(Rows{{}, {}}).size(), 2u);
}

TEST(Jit, ACallTakesOnlyItsResults) {
  const Array x = ad::ones({8}), captured = ad::full({8}, 3.0);
  auto f = ad::jit([&](const Array& a) { return std::tuple{a * 2.0 + captured, sum(sin(a) * captured)}; });
  (void)f(x);
  const std::int64_t count = ad::allocation_count();
  const auto [y, total] = f(x);
  EXPECT_EQ(ad::allocation_count() - count, 2);
  EXPECT_EQ(y[0].item<float>(), 5);
}

TEST(Jit, DonatedArraysAreRefusedByName) {
  auto f = ad::jit([](const Array& p, const Array& g) { return p - g; }, {.donate = {0}});
  const Array g = ad::ones({4});
  for (int i = 0; i < 3; ++i) {
    const Array p = ad::full({4}, 5.0), other = p;
    EXPECT_EQ(f(p, g)[3].item<float>(), 4);
    try {
      (void)f(other, g);
      FAIL();
    } catch (const ad::TypeError& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find("argument 0"), std::string::npos) << text;
      EXPECT_NE(text.find("jit_test.cpp"), std::string::npos) << text;
    }
  }
  const Array p = ad::full({4}, 5.0);
  EXPECT_EQ(f(p, p)[0].item<float>(), 0);
  EXPECT_EQ(p[0].item<float>(), 5);
}

TEST(Jit, InsideAnotherFunctionItIsOneEquation) {
  auto inner = ad::jit([](const Array& x) { return sin(x) * x; });
  const auto p = ad::make_program([&](const Array& x) { return inner(inner(x)); }, ad::ones({3}));
  EXPECT_EQ(p.equations.size(), 2u);
  EXPECT_EQ(p.count("call"), 2);
  EXPECT_EQ(p.count("sin"), 2);
}

TEST(Jit, AClosureOverATracerIsRecordedAgainForEachTrace) {
  auto outer = [](const Array& x) {
    Array scale = x;
    auto f = ad::jit([&](const Array& y) { return y * scale; });
    Array total = f(x);
    scale = 3 * x;
    return total + f(x);  // x*x + 3x*x
  };
  EXPECT_FLOAT_EQ(ad::grad(outer)(ad::scalar(2.0)).item<float>(), 16);
  EXPECT_FLOAT_EQ(ad::grad(outer)(ad::scalar(3.0)).item<float>(), 24);
}

TEST(Jit, AHundredNestedFunctions) {
  std::function<Array(const Array&)> f = [](const Array& x) { return x * 1.01; };
  for (int i = 0; i < 100; ++i) f = [g = ad::jit(f)](const Array& x) { return g(x) + 0.01; };
  const Array x = ad::scalar(1.0, ad::f64);
  EXPECT_NEAR(f(x).item<double>(), 2.01, 1e-9);
  EXPECT_NEAR(ad::grad(f)(x).item<double>(), 1.01, 1e-12);
  EXPECT_NEAR(ad::jit(ad::grad(f))(x).item<double>(), 1.01, 1e-12);
}

TEST(Jit, EmptyStructsAndWrongTypesAreNamedByPath) {
  Net net = make_net();
  net.layers[1].b = Array();
  try {
    (void)ad::jit(apply)(net, ad::ones({3}));
    FAIL();
  } catch (const ad::TypeError& e) {
    EXPECT_NE(std::string(e.what()).find("empty"), std::string::npos) << e.what();
  }
  auto exe = ad::jit(apply).lower(make_net(), ad::abstract(ad::f32, {3})).compile();
  EXPECT_NO_THROW((void)exe(make_net(), ad::ones({3})));
  EXPECT_THROW((void)exe(make_net(), ad::ones({4})), ad::TypeError);
}

TEST(Lower, ReportsCostBeforeAndAfterOptimisation) {
  auto lowered = ad::jit([](const Array& x) {
                   const Array unused = exp(x);
                   return sin(x) * 1 + sin(x);
                 }).lower(ad::abstract(ad::f32, {100}));
  EXPECT_EQ(lowered.cost_analysis().transcendentals, 300);
  auto exe = lowered.compile();
  EXPECT_EQ(exe.cost_analysis().transcendentals, 100);
  EXPECT_EQ(exe.cost_analysis().flops, 100);
  EXPECT_EQ(exe.memory_analysis().argument_size_in_bytes, 400);
  EXPECT_EQ(exe.memory_analysis().output_size_in_bytes, 400);
}

TEST(Lower, UnknownBackendsAreNamed) {
  auto lowered = ad::jit([](const Array& x) { return x; }).lower(ad::ones({1}));
  try {
    (void)lowered.compile({.backend = "quantum"});
    FAIL();
  } catch (const ad::CompileError& e) {
    EXPECT_NE(std::string(e.what()).find("quantum"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("native"), std::string::npos);
  }
}

TEST(Caches, AChangingLiteralIsOneProgram) {
  const Array x = ad::scalar(1.5);
  auto once = [&](double rate) { return ad::grad([&](const Array& a) { return sin(a * rate) * a; })(x).item<float>(); };
  (void)once(0.5);
  const std::int64_t before = ad::program_cache_bytes();
  for (int i = 0; i < 100000; ++i) (void)once(2.0 + i * 1e-5);
  EXPECT_EQ(ad::program_cache_bytes(), before);
}

TEST(Caches, AChangingIndexIsOneProgram) {
  const Array x = ad::arange(100);
  auto once = [&](int i) {
    return ad::vmap([&](const Array& s) { return x[i] * s; })(x)[1].item<int>();
  };
  EXPECT_EQ(once(7), 7);
  const std::int64_t before = ad::program_cache_bytes();
  for (int i = 10; i < 90; ++i) EXPECT_EQ(once(i), i);
  EXPECT_EQ(ad::program_cache_bytes(), before);
}

TEST(Caches, ClearingForgetsAndKeepsWorking) {
  const Array x = ad::scalar(1.5);
  auto f = ad::jit([](const Array& a) { return a * a; });
  EXPECT_FLOAT_EQ(ad::grad(f)(x).item<float>(), 3);
  ad::clear_program_cache();
  ad::clear_memory_cache();
  EXPECT_EQ(ad::program_cache_bytes(), 0);
  EXPECT_FLOAT_EQ(f(x).item<float>(), 2.25);
  EXPECT_FLOAT_EQ(ad::grad(f)(x).item<float>(), 3);
}

TEST(Threads, FourThreadsUseEverythingAtOnce) {
  const Net net = make_net();
  const Array x = ad::ones({3});
  auto f = ad::jit(apply);
  const float want = f(net, x).item<float>();
  const Net g = ad::grad(apply)(net, x);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        wrong += f(net, x).item<float>() != want;
        const Net h = ad::grad(apply)(net, x);
        wrong += h.scale.item<float>() != g.scale.item<float>();
        const Array v = ad::vmap([&](const Array& a) { return f(net, a); })(ad::ones({2 + t, 3}));
        wrong += v.size() != 2 + t;
        auto fresh = ad::jit([&](const Array& a) { return a * (t + i); });
        wrong += fresh(x)[0].item<int>() != t + i;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, AValueBeingRecordedIsNotForOtherThreads) {
  std::string text;
  (void)ad::grad([&](const Array& x) {
    std::thread([&] {
      try {
        (void)(x + 1);
      } catch (const ad::TraceError& e) {
        text = e.what();
      }
    }).join();
    return sum(x);
  })(ad::ones({2}));
  EXPECT_NE(text.find("thread"), std::string::npos) << text;
}

}  // namespace

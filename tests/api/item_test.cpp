// Numbers of recorded values: data-dependent C++ control flow under grad, and clear errors elsewhere.
#include "anadrome/anadrome.h"

namespace ad = anadrome;
using ad::Array;

namespace {

/// Doubles x until it passes 10; the number of steps depends on the data.
Array doubled_past_ten(Array x) {
  while (x.item<double>() < 10) x = 2 * x;
  return x * x;
}

TEST(Item, WhileLoopsOnDataWorkUnderGradAndVjpAndJvp) {
  const Array x = ad::scalar(3.0, ad::f64);  // 12^2: y = (4x)^2
  EXPECT_DOUBLE_EQ(ad::grad(doubled_past_ten)(x).item<double>(), 96);
  EXPECT_DOUBLE_EQ(ad::grad(ad::grad(doubled_past_ten))(x).item<double>(), 32);
  EXPECT_DOUBLE_EQ(ad::vjp(doubled_past_ten, x).pullback(ad::scalar(1.0, ad::f64)).item<double>(), 96);
  EXPECT_DOUBLE_EQ(ad::jvp(doubled_past_ten, ad::at(x), ad::along(ad::scalar(1.0, ad::f64))).tangent.item<double>(), 96);
}

TEST(Item, BranchesReadCapturedAndOuterValues) {
  const Array limit = ad::scalar(5.0);
  auto f = [&](const Array& x) {
    auto inner = [&](const Array& y) { return (y * x).item<float>() > limit.item<float>() ? y * y : 3 * y; };
    return ad::grad(inner)(x) * x;
  };
  EXPECT_FLOAT_EQ(f(ad::scalar(3.0)).item<float>(), 18);                 // 2y at y = 3, times x
  EXPECT_FLOAT_EQ(ad::grad(f)(ad::scalar(3.0)).item<float>(), 12);       // d 2x^2
  EXPECT_FLOAT_EQ(ad::grad(f)(ad::scalar(1.0)).item<float>(), 3);        // d 3x
}

TEST(Item, UnderJitItIsAnErrorThatNamesTheLine) {
  try {
    (void)ad::jit([](const Array& x) {
      const Array y = x + 1;
      return y.item<float>() > 0 ? y : -y;
    })(ad::scalar(1.0));
    FAIL();
  } catch (const ad::TraceError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("f32[]"), std::string::npos) << text;
    EXPECT_NE(text.find("item_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("where("), std::string::npos) << text;
  }
}

TEST(Item, UnderVmapItIsAnErrorForBatchedValuesOnly) {
  const Array xs = ad::arange(3), shared = ad::scalar(2, ad::i32);
  EXPECT_THROW((void)ad::vmap([](const Array& x) { return x.item<int>() > 0 ? x : -x; })(xs), ad::TraceError);
  const Array y = ad::vmap([&](const Array& x) { return shared.item<int>() > 0 ? x : -x; })(xs);
  EXPECT_EQ(y.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(Item, ALeakedValueNamesTheLineThatMadeIt) {
  Array kept;
  (void)ad::grad([&](const Array& x) {
    kept = x * 2;
    return sum(kept);
  })(ad::ones({3}));
  for (auto use : {+[](const Array& k) { (void)(k + 1); }, +[](const Array& k) { (void)sum(k).item<float>(); },
                   +[](const Array& k) { (void)ad::grad([&](const Array& x) { return sum(x * k); })(ad::ones({3})); }}) {
    try {
      use(kept);
      FAIL();
    } catch (const ad::TraceError& e) {
      EXPECT_NE(std::string(e.what()).find("item_test.cpp:"), std::string::npos) << e.what();
    }
  }
}

TEST(Item, AskingInALoopEvaluatesEachEquationOnce) {
  // 2000 questions about a growing program: quadratic work would not end in reasonable time under sanitizers.
  auto f = [](Array x) {
    for (int i = 0; i < 2000; ++i)
      if (x.item<double>() > 0) x = x * 0.999;
    return x;
  };
  EXPECT_NEAR(ad::grad(f)(ad::scalar(1.0, ad::f64)).item<double>(), std::pow(0.999, 2000), 1e-12);
}

TEST(Item, ConvertsAndChecksSize) {
  EXPECT_EQ(ad::scalar(2.75).item<int>(), 2);
  EXPECT_EQ(ad::array({7}, ad::u8).item<std::int64_t>(), 7);
  EXPECT_TRUE(ad::scalar(1, ad::i32).item<bool>());
  EXPECT_THROW((void)ad::ones({2}).item<float>(), ad::TypeError);
}

}  // namespace

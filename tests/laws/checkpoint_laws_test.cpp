// A checkpoint of a random function is the function, under every policy and every transform.
#include <gtest/gtest.h>

#include "anadrome/custom.h"
#include "laws/recipe.h"
#include "support/derivatives.h"

namespace anadrome::testing {
namespace {

class RandomCheckpoints : public ::testing::TestWithParam<int> {};

Function checkpointed(const Function& f, const CheckpointPolicy& policy) {
  return [=](const Arrays& x) { return functional::checkpoint(f, policy, x, {"checkpoint", {}, {}}); };
}

TEST_P(RandomCheckpoints, HaveTheDerivativesOfTheFunction) {
  for (int i = 0; i < 5; ++i) {
    const auto seed = static_cast<std::uint32_t>(GetParam() * 5 + i);
    const Recipe recipe(seed, 5 + static_cast<int>(seed * 7 % 30), true);
    std::mt19937 random(seed);
    Arrays x;
    for (const Type& t : recipe.inputs()) x.push_back(random_array(t, random));
    const Mask active(x.size(), true);
    const Function f = recipe;
    Arrays ct;
    for (const Array& y : float_outputs(f(x))) ct.push_back(random_array(y.type(), random));
    const Function gradient = gradient_of(f, active), tangent = tangent_by_jvp(f, active);
    const Arrays forward = joined(x, random_like(x, active, random)), backward = joined(x, ct);
    const Mask all(backward.size(), true);
    const Arrays second = joined(backward, random_like(backward, all, random));
    const auto same = [&](const Function& g, const Function& plain, const Arrays& at, const std::string& what) {
      compare(g(at), plain(at), 1e-9, what, [&](const std::string& text) {
        ADD_FAILURE() << recipe.name() << ": " << text << "\n" << to_string(functional::make_program(f, x, {"recipe", {}, {}}));
      });
    };
    for (const auto& [name, policy] :
         {std::pair{"nothing", save_nothing}, {"everything", save_everything}, {"dots", save_dots}, {"names", save_names({"a"})}}) {
      const Function g = checkpointed(f, policy), g_gradient = gradient_of(g, active), g_tangent = tangent_by_jvp(g, active);
      const std::string what = std::string("save ") + name;
      same(g, f, x, what + ": value");
      same(g_tangent, tangent, forward, what + ": tangent");
      same(tangent_by_linearize(g, active), tangent, forward, what + ": linear part");
      same(g_gradient, gradient, backward, what + ": gradient");
      same([&](const Arrays& v) { return functional::run_jit(g_gradient, v, "eval"); }, gradient, backward, what + ": jitted gradient");
      same(tangent_by_jvp(g_gradient, all), tangent_by_jvp(gradient, all), second, what + ": gradient's tangent");
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomCheckpoints, ::testing::Range(0, 8));

}  // namespace
}  // namespace anadrome::testing

// Laws that every function obeys, on random functions: transforms agree with each other, with loops, and with
// finite differences; compiled programs with evaluated ones. A failure shows the seed and the program.
#include <gtest/gtest.h>

#include <cmath>

#include "core/eval.h"
#include "laws/recipe.h"
#include "optimize/passes.h"
#include "primitives/op.h"
#include "support/derivatives.h"

namespace anadrome::testing {
namespace {

using functional::vmap;

/// One random function at one random point.
class Subject {
 public:
  explicit Subject(std::uint32_t seed)
      : smooth(seed % 2 == 0), recipe(seed, 5 + static_cast<int>(seed * 7 % 36), smooth), random(seed) {
    f = recipe;
    x = point();
  }
  Arrays point() {
    Arrays out;
    for (const Type& t : recipe.inputs()) out.push_back(random_array(t, random));
    return out;
  }
  Mask active() const { return Mask(x.size(), true); }
  /// The sum of the tanh of all outputs: one number.
  Function number() const {
    return [f = f](const Arrays& in) {
      Array sum = op::number(0, f64);
      for (const Array& y : f(in)) {
        Ints axes;
        for (int k = 0; k < y.rank(); ++k) axes.push_back(k);
        sum = op::add(sum, op::reduce_sum(op::tanh(y), axes));
      }
      return Arrays{sum};
    };
  }
  /// The gradients of `number` (or of any such function).
  static Function gradient(const Function& number) {
    return [number](const Arrays& in) {
      return functional::grad(number, in, Mask(in.size(), true), false, {"grad", {}, {}}).grads;
    };
  }
  std::string text() const { return to_string(functional::make_program(f, x, {"recipe", {}, {}})); }

  bool smooth;
  Recipe recipe;
  std::mt19937 random;
  Function f;
  Arrays x;
};

class RandomFunctions : public ::testing::TestWithParam<int> {
 protected:
  /// Calls `law` for the ten seeds of this test.
  void for_each_subject(const std::function<void(Subject&)>& law) {
    for (int i = 0; i < 10; ++i) {
      Subject subject(static_cast<std::uint32_t>(GetParam() * 10 + i));
      current_ = &subject;
      try {
        law(subject);
      } catch (const std::exception& e) {
        fail(std::string("threw: ") + e.what());
      }
      if (HasFailure()) break;
    }
  }
  void fail(const std::string& what) const {
    ADD_FAILURE() << current_->recipe.name() << ": " << what << "\n" << current_->text();
  }
  void expect_close(const Arrays& got, const Arrays& want, const std::string& what,
                    double tolerance = 1e-9) const {
    compare(got, want, tolerance, what, [this](const std::string& text) { fail(text); });
  }
  void expect_identical(const Arrays& got, const Arrays& want, const std::string& what) const {
    if (got.size() != want.size()) return fail(what + ": another number of results");
    for (std::size_t i = 0; i < got.size(); ++i)
      if (!identical(got[i], want[i]))
        return fail(what + ": result " + std::to_string(i) + "\n    " + show(got[i]) + "\n    " +
                    show(want[i]));
  }
  Laws derivative_laws() const {
    return {[](const Function& f, const Arrays& x) { return f(x); }, 1e-5, 1e-9,
            [this](const std::string& what) { fail(what); }};
  }

 private:
  const Subject* current_ = nullptr;
};

/// Three points as one batch along axis 0, and the results of `f` at each of them, stacked alike.
struct Batch {
  std::vector<Arrays> parts;
  Arrays stacked_parts;

  explicit Batch(Subject& s) : parts{s.x, s.point(), s.point()} { stacked_parts = stack(parts); }
  static Arrays stack(const std::vector<Arrays>& lists) {
    Arrays out;
    for (std::size_t i = 0; i < lists[0].size(); ++i) {
      Arrays all;
      for (const Arrays& list : lists) all.push_back(list[i]);
      out.push_back(stacked(all, 0));
    }
    return out;
  }
  Arrays loop(const Function& f) const {
    std::vector<Arrays> results;
    for (const Arrays& p : parts) results.push_back(f(p));
    return stack(results);
  }
};
std::vector<int> fronts(std::size_t n) {
  return std::vector<int>(n, 0);
}

TEST_P(RandomFunctions, JvpIsLinearizeAndTheTransposeIsItsAdjoint) {
  for_each_subject([&](Subject& s) { derivative_laws().check_linear(s.f, s.x, s.active(), s.random); });
}

TEST_P(RandomFunctions, JvpIsTheFiniteDifference) {
  for_each_subject([&](Subject& s) {
    if (s.smooth) derivative_laws().check_tangent(s.f, s.x, s.active(), s.random);
  });
}

TEST_P(RandomFunctions, GradientsOfGradientsObeyTheSameLaws) {
  for_each_subject([&](Subject& s) {
    const Function g = Subject::gradient(s.number());
    derivative_laws().check_linear(g, s.x, s.active(), s.random);
    if (s.smooth) derivative_laws().check_tangent(g, s.x, s.active(), s.random);
  });
}

TEST_P(RandomFunctions, TheHessianIsSymmetric) {
  for_each_subject([&](Subject& s) {
    const Function push = tangent_by_jvp(Subject::gradient(s.number()), s.active());
    const Arrays u = random_like(s.x, s.active(), s.random), v = random_like(s.x, s.active(), s.random);
    const Arrays hu = push(joined(s.x, u)), hv = push(joined(s.x, v));
    double left = 0, right = 0;
    for (std::size_t i = 0; i < u.size(); ++i) left += inner(v[i], hu[i]), right += inner(u[i], hv[i]);
    if (!(std::fabs(left - right) <= 1e-8 * std::max(1.0, std::fabs(left))))
      fail("<v, H u> is " + std::to_string(left) + " and <u, H v> is " + std::to_string(right));
  });
}

TEST_P(RandomFunctions, VmapIsALoopOfValuesTangentsAndGradients) {
  for_each_subject([&](Subject& s) {
    const Batch batch(s);
    const std::size_t n = s.x.size();
    expect_close(vmap(s.f, batch.stacked_parts, fronts(n)), batch.loop(s.f), "vmap of the function");
    const Function g = Subject::gradient(s.number());
    expect_close(vmap(g, batch.stacked_parts, fronts(n)), batch.loop(g), "vmap of grad");
  });
}

TEST_P(RandomFunctions, VmapAndJvpCommute) {
  for_each_subject([&](Subject& s) {
    const Batch x(s), t(s);
    const std::size_t n = s.x.size();
    const Function mapped = [&](const Arrays& in) { return vmap(s.f, in, fronts(n)); };
    const Arrays both = joined(x.stacked_parts, t.stacked_parts);
    expect_close(vmap(tangent_by_jvp(s.f, s.active()), both, fronts(2 * n)),
                 tangent_by_jvp(mapped, s.active())(both), "vmap(jvp) and jvp(vmap)");
  });
}

TEST_P(RandomFunctions, TheGradientOfASumOfAVmapIsTheVmapOfTheGradient) {
  for_each_subject([&](Subject& s) {
    const Batch batch(s);
    const std::size_t n = s.x.size();
    const Function number = s.number();
    const Function total = [&](const Arrays& in) {
      return Arrays{op::reduce_sum(vmap(number, in, fronts(n))[0], {0})};
    };
    expect_close(Subject::gradient(total)(batch.stacked_parts),
                 vmap(Subject::gradient(number), batch.stacked_parts, fronts(n)),
                 "grad(sum(vmap)) and vmap(grad)");
  });
}

/// The function as one call equation.
Function jitted(const Function& f) {
  return [f](const Arrays& in) {
    return functional::call_recorded(functional::record_for_jit(f, in, {"f", {}, {}}), in, "f");
  };
}

TEST_P(RandomFunctions, JitDoesNotChangeValuesOrDerivatives) {
  for_each_subject([&](Subject& s) {
    const Function number = s.number(), inside = jitted(number);
    expect_identical(functional::run_jit(s.f, s.x, "precompiled"), s.f(s.x), "precompiled and eager");
    expect_close(functional::run_jit(s.f, s.x, "native"), s.f(s.x), "jit and eager");
    expect_close(Subject::gradient(inside)(s.x), Subject::gradient(number)(s.x), "grad(jit) and grad");
    expect_close(functional::run_jit(Subject::gradient(number), s.x, "native"),
                 Subject::gradient(number)(s.x), "jit(grad) and grad");
    const Batch batch(s);
    expect_close(vmap(jitted(s.f), batch.stacked_parts, fronts(s.x.size())), batch.loop(s.f),
                 "vmap(jit) and a loop");
    const Function second = Subject::gradient([inside](const Arrays& in) {
      Array sum = op::number(0, f64);
      for (const Array& g : Subject::gradient(inside)(in)) {
        Ints axes;
        for (int k = 0; k < g.rank(); ++k) axes.push_back(k);
        sum = op::add(sum, op::reduce_sum(op::sin(g), axes));
      }
      return Arrays{sum};
    });
    expect_close(functional::run_jit(second, s.x, "native"), functional::run_jit(second, s.x, "eval"),
                 "a gradient of a gradient of jit");
  });
}

/// What every law about programs runs on: the function and its transforms.
std::vector<std::pair<std::string, Function>> transformed(const Subject& s) {
  const Function g = Subject::gradient(s.number());
  return {{"the function", s.f},
          {"jvp",
           [f = s.f](const Arrays& x) {
             return functional::jvp(f, x, x, {"jvp", {}, {}}).t;
           }},
          {"grad", g},
          {"vmap(grad)",
           [g](const Arrays& x) {
             Arrays pairs;
             for (const Array& a : x) pairs.push_back(op::broadcast_axis(a, a.rank(), 2));
             std::vector<int> last;
             for (const Array& a : x) last.push_back(a.rank());
             return vmap(g, pairs, last);
           }},
          {"jvp(grad)",
           [g](const Arrays& x) {
             return functional::jvp(g, x, x, {"jvp", {}, {}}).t;
           }},
          {"grad of jit", Subject::gradient(jitted(s.number()))}};
}

TEST_P(RandomFunctions, ProgramsAreValidAndTheirTextsReadBack) {
  for_each_subject([&](Subject& s) {
    for (const auto& [what, f] : transformed(s)) {
      const Program p = functional::make_program(f, s.x, {what, {}, {}});
      verify(p);
      const std::string text = to_string(p);
      const Program back = parse_program(text);
      if (!same_structure(p, back) || to_string(back) != text)
        fail("the text of " + what + " reads back as another program:\n" + text);
    }
  });
}

TEST_P(RandomFunctions, PassesKeepValuesBitForBit) {
  using Pass = Program (*)(const Program&);
  const std::pair<const char*, Pass> passes[] = {
      {"inline_calls", [](const Program& p) { return inline_calls(p); }},
      {"dead_code", dead_code},
      {"common_subexpressions", common_subexpressions},
      {"fold", fold},
      {"simplify", simplify},
      {"optimize", [](const Program& p) { return optimize(p, {}); }}};
  for_each_subject([&](Subject& s) {
    for (const auto& [what, f] : transformed(s)) {
      const Program p = functional::make_program(f, s.x, {what, {}, {}});
      const Arrays want = evaluate(p, {}, s.x);
      for (const auto& [pass, apply] : passes) {
        const Program out = apply(p);
        verify(out);
        expect_identical(evaluate(out, {}, s.x), want, std::string(pass) + " of " + what);
      }
      const Arrays eval = functional::run_jit(f, s.x, "eval");
      expect_identical(functional::run_jit(f, s.x, "precompiled"), eval, "precompiled and eval of " + what);
      expect_close(functional::run_jit(f, s.x, "native"), eval, "native and eval of " + what);
      expect_identical(functional::run_jit(f, s.x, "native"), functional::run_jit(f, s.x, "native"),
                       "two runs of native " + what);
    }
  });
}

TEST_P(RandomFunctions, TransposingTwiceGivesTheSameLinearMap) {
  for_each_subject([&](Subject& s) {
    const auto linear = functional::linearize(s.f, s.x, s.active(), {"linearize", {}, {}}).linear;
    const Function push = [&](const Arrays& t) { return linear.push(t); };
    const Arrays t = random_like(s.x, s.active(), s.random);
    const auto once = functional::linear_transpose(push, s.x, {"transpose", {}, {}});
    const Arrays y = push(t);
    const auto twice = functional::linear_transpose(once, y, {"transpose", {}, {}});
    expect_close(twice(t), y, "the transpose of the transpose");
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFunctions, ::testing::Range(0, 20));

}  // namespace
}  // namespace anadrome::testing

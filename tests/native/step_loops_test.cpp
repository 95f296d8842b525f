// Loops that are one kernel: beside the same loops step by step, and beside `eval`.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "anadrome/anadrome.h"
#include "core/memory.h"
#include "native/backend.h"
#include "support/values.h"

namespace anadrome {
namespace {

using testing::difference;
using testing::identical;
using testing::random_array;
using testing::show;

struct Drawn {
  DType dtype = f32;
  std::int64_t elements = 1, length = 1;
  bool reverse = false;
  bool functions = true;  // else every operation gives the bits of `eval`
  bool integers = true;
  std::uint32_t seed = 0;
};

std::string name(const Drawn& d) {
  return std::string(tag(d.dtype)) + "[" + std::to_string(d.elements) + "], " + std::to_string(d.length) + " steps" +
         (d.reverse ? " backwards" : "") + (d.functions ? "" : ", exact") + ", seed " + std::to_string(d.seed);
}

/// A loop of a few random elementwise operations on numbers and vectors.
class RandomLoop {
 public:
  explicit RandomLoop(const Drawn& d) : d_(d), random_(d.seed) {
    const auto draw = [&](std::size_t least) { return least + random_() % 3; };
    for (std::size_t n = draw(0); n--;) consts_.push_back(type());
    for (std::size_t n = draw(1); n--;) carries_.push_back(type());
    for (std::size_t n = draw(0); n--;) slices_.push_back(type());
    outputs_ = draw(0);
    operations_ = 3 + random_() % 8;
  }

  Arrays arguments() {
    Arrays out;
    for (const Type& t : consts_) out.push_back(random_array(t, random_));
    for (const Type& t : carries_) out.push_back(random_array(t, random_));
    for (Type t : slices_) {
      t.shape.insert(0, d_.length);
      out.push_back(random_array(t, random_));
    }
    return out;
  }
  /// The carries behind the loop, then what was stacked.
  Arrays operator()(const Arrays& x) const {
    const auto carries = x.begin() + static_cast<std::ptrdiff_t>(consts_.size());
    const auto slices = carries + static_cast<std::ptrdiff_t>(carries_.size());
    const Arrays consts(x.begin(), carries);
    const auto body = [&](const Arrays& carry, const Arrays& slice) { return step(consts, carry, slice); };
    auto [last, stacked] = scan(Arrays(carries, slices), Arrays(slices, x.end()), {.length = d_.length, .reverse = d_.reverse}, body);
    last.insert(last.end(), stacked.begin(), stacked.end());
    return last;
  }

 private:
  Type type() {
    const DType dtype = d_.integers && random_() % 5 == 0 ? i32 : d_.dtype;
    return random_() % 4 ? Type{dtype, {d_.elements}} : Type{dtype, {}};
  }

  std::pair<Arrays, Arrays> step(const Arrays& consts, const Arrays& carry, const Arrays& slice) const {
    std::mt19937 random(d_.seed + 1);
    Arrays values = consts;
    values.insert(values.end(), carry.begin(), carry.end());
    values.insert(values.end(), slice.begin(), slice.end());
    for (std::size_t k = 0; k < operations_; ++k) values.push_back(operation(values, random));
    Arrays next, out;
    for (const Array& c : carry) next.push_back(as(c, values[values.size() - 1 - random() % operations_]));
    for (std::size_t k = 0; k < outputs_; ++k) out.push_back(values[random() % values.size()]);
    return {next, out};
  }
  /// x in place of a carry; a vector cannot become a number, which then moves by itself.
  static Array as(const Array& carry, const Array& x) {
    if (carry.shape().size() < x.shape().size()) return max(-carry, 1);
    return broadcast_to(astype(x, carry.dtype()), carry.shape());
  }
  Array operation(const Arrays& values, std::mt19937& random) const {
    const auto any = [&] { return values[random() % values.size()]; };
    const auto real = [&] { return astype(any(), d_.dtype); };
    const auto bounded = [](const Array& x) { return min(max(x, -2.5), 2.5); };
    if (d_.functions && random() % 3 == 0) {
      switch (random() % 5) {
        case 0: return sin(real());
        case 1: return cos(real());
        case 2: return tanh(real());
        case 3: return sin(real() * 1e-4);
        default: return bounded(exp(bounded(real())));
      }
    }
    if (d_.integers && random() % 5 == 0) {
      const Array a = astype(real() * 4, i32), b = astype(any(), i32);
      return random() % 2 ? max(a, b) : (a + b) & 7;
    }
    switch (random() % 7) {
      case 0: return bounded(real() + real());
      case 1: return bounded(real() - real() * 0.75);
      case 2: return bounded(real() * real());
      case 3: return max(real(), real() * -0.5);
      case 4: return where(real() < real(), real(), real());
      case 5: return sqrt(abs(real()));
      default: return -real();
    }
  }

  Drawn d_;
  mutable std::mt19937 random_;
  std::vector<Type> consts_, carries_, slices_;
  std::size_t outputs_ = 0, operations_ = 1;
};

Arrays run(const Program& p, bool one_kernel, const Arrays& x, bool* used = nullptr) {
  const auto compiled = compile_raw(p, {.loops_as_kernels = one_kernel});
  if (used) *used = compiled->text().find("(all steps") != std::string::npos;
  return compiled->run(x);
}
Arrays run_eval(const Program& p, const Arrays& x) { return compile(std::make_shared<const Program>(p), {.backend = "eval"})->run(x); }

/// A sine beside the cosine of the same angle may be of another function, which differs by an ulp: both are compared in
/// units of that, and by what follows from it in few steps.
bool has_both(const Program& p) { return p.count("sin") > 0 && p.count("cos") > 0; }

void expect_same_results(const Program& p, const Drawn& d, const Arrays& x) {
  bool used = false;
  const Arrays one = run(p, true, x, &used), steps = run(p, false, x);
  EXPECT_TRUE(used) << name(d) << "\n" << p;
  for (std::size_t k = 0; k < one.size(); ++k) {
    if (!has_both(p)) {
      EXPECT_TRUE(identical(one[k], steps[k])) << name(d) << "\n" << p << show(one[k]) << "\n" << show(steps[k]);
    } else if (d.length <= 7 && d.dtype != f16 && d.dtype != bf16) {
      EXPECT_LT(difference(one[k], steps[k]), 1e-3) << name(d) << "\n" << p;
    }
  }
  if (d.functions && (d.length > 2 || d.dtype == f16 || d.dtype == bf16)) return;
  const Arrays eval = run_eval(p, x);
  for (std::size_t k = 0; k < one.size(); ++k) {
    if (!d.functions) {
      EXPECT_TRUE(identical(one[k], eval[k])) << name(d) << "\n" << p << show(one[k]) << "\n" << show(eval[k]);
    } else if (is_float(one[k].dtype())) {
      EXPECT_LT(difference(one[k], eval[k]), 1e-3) << name(d) << "\n" << p;
    }
  }
}

constexpr std::int64_t all_elements[] = {1, 3, 7, 8, 9, 64, 65, 200};
constexpr std::int64_t all_lengths[] = {0, 1, 2, 7, 1000};
constexpr DType all_dtypes[] = {f32, f64, f32, f16, f32, bf16};

Drawn drawn(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto of = [&](const auto& list) { return list[random() % std::size(list)]; };
  Drawn d;
  d.dtype = of(all_dtypes), d.elements = of(all_elements), d.length = of(all_lengths);
  d.reverse = random() % 2, d.functions = random() % 3 != 0, d.integers = random() % 2, d.seed = seed;
  return d;
}

TEST(StepLoops, AgreeWithTheirStepsAndWithEval) {
  for (std::uint32_t seed = 0; seed < 120; ++seed) {
    const Drawn d = drawn(seed);
    RandomLoop loop(d);
    const Arrays x = loop.arguments();
    const Program p = make_program([&](const Arrays& a) { return loop(a); }, x);
    const GuardedAllocation guard(seed % 2 ? GuardedAllocation::Place::exact : GuardedAllocation::Place::start);
    Arrays guarded;
    for (const Array& a : x) guarded.push_back(testing::make_array(a.type(), testing::numbers(a)));
    expect_same_results(p, d, guarded);
    if (HasFailure()) break;
  }
}

TEST(StepLoops, BatchedOnesAgree) {
  for (std::uint32_t seed = 200; seed < 230; ++seed) {
    Drawn d = drawn(seed);
    d.elements = std::min<std::int64_t>(d.elements, 9);
    RandomLoop loop(d);
    const Arrays x = loop.arguments();
    Arrays batched;
    std::mt19937 random(seed);
    for (const Array& a : x) {
      Type t = a.type();
      t.shape.insert(0, 5);
      batched.push_back(random_array(t, random));
    }
    const Program p = make_program(vmap([&](const Arrays& a) { return loop(a); }), batched);
    Arrays one = run(p, true, batched), steps = run(p, false, batched);
    for (std::size_t k = 0; k < one.size() && !has_both(p); ++k) EXPECT_TRUE(identical(one[k], steps[k])) << name(d) << "\n" << p;
    if (HasFailure()) break;
  }
}

TEST(StepLoops, GradientsAgree) {
  for (std::uint32_t seed = 300; seed < 340; ++seed) {
    Drawn d = drawn(seed);
    d.integers = false;
    if (d.dtype == f16 || d.dtype == bf16) d.dtype = f32;
    d.length = std::min<std::int64_t>(d.length, 7);
    RandomLoop loop(d);
    const Arrays x = loop.arguments();
    const auto total = [&](const Arrays& a) {
      Array out = zeros({}, d.dtype);
      for (const Array& y : loop(a)) out = out + sum(y * y);
      return out;
    };
    const Program p = make_program(grad(total), x);
    const Arrays one = run(p, true, x), steps = run(p, false, x);
    for (std::size_t k = 0; k < one.size(); ++k) {
      const double size = std::max(1.0, difference(steps[k], zeros(steps[k].shape(), d.dtype)));
      EXPECT_LT(difference(one[k], steps[k]), (d.dtype == f64 ? 1e-9 : 2e-3) * size) << name(d) << "\n" << p << show(one[k]) << show(steps[k]);
    }
    if (HasFailure()) break;
  }
}

// ---- angles: each way of computing them, and where they meet

/// sin or cos of c + x for each slice x, one a step.
Program of_angles(const char* body, std::int64_t n, std::int64_t length) {
  std::string text = "{ lambda ; a:V b:L . let c:V d:L = scan[body={ lambda ; a:V b:V . let " + std::string(body) +
                     " }, length=N, consts=0, carries=1, reverse=false] a b in (c, d) }";
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  };
  const std::string v = "f32[" + std::to_string(n) + "]";
  replace("V", v), replace("L", "f32[" + std::to_string(length) + "," + std::to_string(n) + "]");
  replace("N", std::to_string(length));
  return parse_program(text);
}

/// Floats near every limit, and everywhere.
Array angles(std::int64_t n, std::int64_t length) {
  std::mt19937 random(5);
  testing::Numbers v(static_cast<std::size_t>(n * length));
  for (std::size_t k = 0; k < v.size(); ++k) {
    constexpr double limits[] = {0x1.bp-12, 0x1.ep-13, 0x1.92p0, 0x1.92p-1, 0x1p30, 1e-40};
    const double scale = k % 3 ? limits[random() % std::size(limits)] : std::ldexp(1.0, static_cast<int>(random() % 200) - 150);
    v[k] = scale * (1 + (static_cast<double>(random() % 1001) - 500) * (k % 2 ? 1e-7 : 1e-3)) * (random() % 2 ? 1 : -1);
  }
  v[0] = -0.0, v[1] = INFINITY, v[2] = NAN, v[3] = -INFINITY, v[4] = 0;
  return testing::make_array({f32, {length, n}}, v);
}

std::string first_difference(const Array& got, const Array& want, const Array& x) {
  const auto a = testing::numbers(got), b = testing::numbers(want), from = testing::numbers(x);
  for (std::size_t k = 0; k < a.size(); ++k)
    if (std::memcmp(&a[k], &b[k], sizeof a[k]) != 0)
      return std::to_string(a[k]) + " for " + std::to_string(b[k]) + " of " + std::to_string(from[k]);
  return "";
}

TEST(StepLoops, AnglesHaveTheBitsOfTheVectorFunctions) {
  for (const std::int64_t n : {1, 3, 8, 65}) {
    const std::int64_t length = 6000 / n + 5;
    const Array x = angles(n, length), zero = zeros({n});
    for (const char* function : {"sin", "cos"}) {
      const Program p = of_angles((std::string("c:V = ") + function + " b in (a, c)").c_str(), n, length);
      const Program whole = parse_program("{ lambda ; a:" + to_string(x.type()) + " . let b:" + to_string(x.type()) + " = " + function + " a in (b) }");
      bool used = false;
      const Array got = run(p, true, {zero, x}, &used)[1], want = run(whole, true, {x})[0];
      EXPECT_TRUE(used);
      EXPECT_EQ(first_difference(got, want, x), "") << function << n;
    }
    const Program pair = of_angles("c:V = sin b d:V = cos b e:V = mul c d in (a, e)", n, length);
    EXPECT_TRUE(identical(run(pair, true, {zero, x})[1], run(pair, false, {zero, x})[1])) << n;
  }
}

// ---- what is one kernel, and what it takes

TEST(StepLoops, ArraysOfDifferentSizesAndSumsRunStepByStep) {
  for (const char* body : {"{ lambda ; a:f32[8] b:f32[9] . let c:f32[8] = sin a d:f32[9] = cos b in (c, d) }",
                           "{ lambda ; a:f32[8] b:f32[9] . let c:f32[8] = cumsum[axis=0, reverse=false] a in (c, b) }"}) {
    const Program p = parse_program("{ lambda ; a:f32[8] b:f32[9] . let c:f32[8] d:f32[9] = scan[body=" + std::string(body) +
                                    ", length=3, consts=0, carries=2, reverse=false] a b in (c, d) }");
    EXPECT_EQ(compile_raw(p, {})->text().find("all steps"), std::string::npos) << body;
  }
}

TEST(StepLoops, TakeNoMemoryAndOneKernelForEveryLength) {
  const auto program = [](int length) {
    return parse_program("{ lambda ; a:f32[24] . let c:f32[24] = scan[body={ lambda ; a:f32[24] . let b:f32[24] = mul a a c:f32[24] = sub a b "
                         "in (c) }, length=" + std::to_string(length) + ", consts=0, carries=1, reverse=false] a in (c) }");
  };
  const auto first = compile_raw(program(3), {});
  EXPECT_EQ(first->memory_analysis().temp_size_in_bytes, 0);
  const std::int64_t compiled = kernel_statistics().compiled;
  const auto second = compile_raw(program(1'000'000), {});
  EXPECT_EQ(kernel_statistics().compiled, compiled);
  EXPECT_GT(second->memory_analysis().generated_code_size_in_bytes, 0);
  EXPECT_NE(second->kernel_ir(0).find("step"), std::string::npos);
}

}  // namespace
}  // namespace anadrome

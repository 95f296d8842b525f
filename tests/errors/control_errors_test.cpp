// Errors of loops and conditionals: the field, the types that clash, the line.
#include "anadrome/anadrome.h"
#include "support/messages.h"

namespace anadrome {
namespace {

using testing::expect_error;

const Array one = scalar(1.0), three = ones({3});

/// The end of a message: a line of this file.
std::string line(int n) { return std::string(" at ") + std::source_location::current().file_name() + ":" + std::to_string(n); }

struct State {
  Array position;
  std::vector<Array> speeds;
};

TEST(ScanErrors, ACarryThatChangesItsTypeIsNamedByItsField) {
  const auto run = [](bool right) {
    return scan(State{one, {one, one}}, three, [=](const State& s, const Array& x) {
      return std::pair{State{s.position + x, {s.speeds[0], right ? s.speeds[1] : s.speeds[1] > 0}}, x};
    });
  };
  expect_error<TypeError>([&] { return run(false); },
                          {"scan: the carry changes its type: argument 0: speeds[1] is f32[] and the body returns b1[]. Begin with the "
                           "type that the body returns, or convert in the body." + line(__LINE__ - 6)},
                          [&] { return run(true); });
  const auto grows = [](const Array& begin) {
    return scan(begin, three, [](const Array& s, const Array&) { return std::pair{s + three, s}; }).first;
  };
  expect_error<TypeError>([&] { return grows(one); },
                          {"scan: the carry changes its type: argument 0 is f32[] and the body returns f32[3]." , line(__LINE__ - 3)},
                          [&] { return grows(three); });
}

TEST(ScanErrors, LengthsMustAgree) {
  const auto body = [](const Array& s, const std::pair<Array, Array>& x) { return std::pair{s + x.first + x.second, s}; };
  expect_error<TypeError>([&] { return scan(one, std::pair{three, ones({4})}, body); },
                          {"scan: lengths differ: argument 1: [1] has 4 slices, argument 1: [0] has 3." + line(__LINE__ - 1)},
                          [&] { return scan(one, std::pair{three, three}, body); });
  const auto sum = [](const Array& s, const Array& x) { return std::pair{s + x, s}; };
  expect_error<TypeError>([&] { return scan(one, three, {.length = 5}, sum); },
                          {"scan: lengths differ: argument 1 has 3 slices, the option .length is 5." + line(__LINE__ - 1)},
                          [&] { return scan(one, three, {.length = 3}, sum); });
}

TEST(ScanErrors, ThereMustBeALength) {
  const auto body = [](const Array& s) { return std::pair{s * 2, s}; };
  expect_error<TypeError>([&] { return scan(one, ScanOptions{}, body); },
                          {"scan: there is no number of steps. Give arrays to read slice by slice, or the option .length." + line(__LINE__ - 1)},
                          [&] { return scan(one, {.length = 2}, body); });
}

TEST(ScanErrors, ASingleNumberHasNoSlices) {
  const auto body = [](const Array& s, const Array& x) { return std::pair{s + x, s}; };
  expect_error<TypeError>([&] { return scan(one, one, body); },
                          {"scan: argument 1 is a single number f32[]; what is read slice by slice needs an axis 0. Capture in the body "
                           "what all steps read." + line(__LINE__ - 2)},
                          [&] { return scan(one, three, body); });
}

TEST(ScanErrors, AnEmptyArrayIsNamed) {
  const auto body = [](const Array& s, const Array& x) { return std::pair{s + x, s}; };
  expect_error<TypeError>([&] { return scan(Array(), three, body); }, {"scan: argument 0", "empty Array", line(__LINE__)},
                          [&] { return scan(one, three, body); });
}

TEST(ForiLoopErrors, NameTheField) {
  const auto body = [](const Array& i, const Array& c) { return c + convert(i, f64); };
  expect_error<TypeError>([&] { return fori_loop(0, 3, one, body); },
                          {"fori_loop: the carry changes its type: argument 0 is f32[] and the body returns f64[].", line(__LINE__ - 1)},
                          [&] { return fori_loop(0, 3, scalar(1.0, f64), body); });
  const auto add = [](const Array&, const Array& c) { return c + 1; };
  expect_error<TypeError>([&] { return fori_loop(std::int64_t{0}, std::int64_t{1} << 40, one, add); },
                          {"fori_loop: the bounds 0 and 1099511627776 do not fit i32." + line(__LINE__ - 1)},
                          [&] { return fori_loop(0, 1, one, add); });
}

TEST(WhileLoopErrors, TheConditionIsASingleBool) {
  const auto body = [](const Array& x) { return x * 2; };
  expect_error<TypeError>([&] { return while_loop(three, [](const Array& x) { return x < 9; }, body); },
                          {"while_loop: the condition returns b1[3]; it must be a single bool. Reduce it with all() or any()." +
                           line(__LINE__ - 2)},
                          [&] { return while_loop(three, [](const Array& x) { return all(x < 9); }, body); });
  expect_error<TypeError>([&] { return while_loop(one, [](const Array& x) { return 9 - x; }, body); },
                          {"while_loop: the condition returns f32[]; it must be a single bool.", line(__LINE__ - 1)},
                          [&] { return while_loop(one, [](const Array& x) { return 9 - x > 0; }, body); });
  expect_error<TypeError>(
      [&] { return while_loop(one, [](const Array& x) { return x < 9; }, [](const Array& x) { return x * scalar(2.0, f64); }); },
      {"while_loop: the carry changes its type: argument 0 is f32[] and the body returns f64[].", line(__LINE__ - 1)}, [] { return 0; });
}

TEST(WhileLoopErrors, ThereIsNoReverseDerivative) {
  const auto f = [](const Array& x) { return while_loop(x, [](const Array& v) { return v < 9; }, [](const Array& v) { return v * 2; }); };
  const std::vector<std::string> parts{"while_loop has no transpose rule: reverse mode does not know how many steps to undo. Give while_loop "
                                       "the option .max_steps, or use fori_loop with numbers as bounds", line(__LINE__ - 2)};
  expect_error<RuleError>([&] { return grad(f)(one); }, parts, [&] { return jacfwd(f)(one); });
  expect_error<RuleError>([&] { return jit(grad(f))(one); }, parts, [&] { return jit(jacfwd(f))(one); });
  const auto in_a_scan = [&](const Array& x) {
    return scan(x, {.length = 2}, [&](const Array& c) { return std::pair{f(c) * 0.1, c}; }).first;
  };
  expect_error<RuleError>([&] { return grad(in_a_scan)(one); }, parts, [&] { return jacfwd(in_a_scan)(one); });
}

TEST(CondErrors, ThePredicateIsASingleBoolOrInteger) {
  const auto then = [] { return one; };
  expect_error<TypeError>([&] { return cond(three > 0, then, then); },
                          {"cond: the predicate or index is b1[3]; it must be a single bool or integer. Use where() to choose element by "
                           "element." + line(__LINE__ - 2)},
                          [&] { return cond(one > 0, then, then); });
  expect_error<TypeError>([&] { return cond(one, then, then); }, {"cond: the predicate or index is f32[]; it must", line(__LINE__)},
                          [&] { return cond(one > 0, then, then); });
  expect_error<TypeError>([&] { return switch_(one, then, then); },
                          {"switch_: the predicate or index is f32[]; it must", line(__LINE__ - 1)},
                          [&] { return switch_(scalar(1, i32), then, then); });
}

TEST(CondErrors, BranchesReturnTheSameTypes) {
  const auto then = [] { return three; };
  expect_error<TypeError>([&] { return cond(one > 0, then, [] { return one; }); },
                          {"cond: branches differ: result 0 is f32[] in branch 0 and f32[3] in branch 1 (branch 0 is taken where the "
                           "predicate is false). Convert, or reshape, in one of them." + line(__LINE__ - 2)},
                          [&] { return cond(one > 0, then, then); });
  const auto same = [](const Array& x) { return x; };
  expect_error<TypeError>([&] { return cond(one > 0, same, [](const Array& x) { return stack({x, x}); }, one); },
                          {"cond: branches differ: result 0 is f32[2] in branch 0 and f32[] in branch 1", line(__LINE__ - 1)},
                          [&] { return cond(one > 0, same, same, one); });
  const auto pair = [](const Array& second) { return [=] { return std::pair{one, second}; }; };
  expect_error<TypeError>([&] { return switch_(scalar(0, i32), pair(one), pair(one), pair(three > 0)); },
                          {"switch_: branches differ: result 1 is f32[] in branch 0 and b1[3] in branch 2. Convert, or reshape, in one of "
                           "them." + line(__LINE__ - 2)},
                          [&] { return switch_(scalar(0, i32), pair(one), pair(one)); });
  const auto several = [](bool two) { return [=] { return two ? std::vector<Array>{one, one} : std::vector<Array>{one}; }; };
  expect_error<TypeError>([&] { return switch_(scalar(0, i32), several(false), several(true)); },
                          {"switch_: branches differ: result 1 is missing in branch 0 and f32[] in branch 1.", line(__LINE__ - 1)},
                          [&] { return switch_(scalar(0, i32), several(true), several(true)); });
}

TEST(MapErrors, NameTheField) {
  const auto f = [](const std::pair<Array, Array>& x) { return x.first + x.second; };
  expect_error<TypeError>([&] { return map(f, std::pair{three, ones({2})}); },
                          {"map: lengths differ: argument 0: [1] has 2 slices, argument 0: [0] has 3." + line(__LINE__ - 1)},
                          [&] { return map(f, std::pair{three, three}); });
}

}  // namespace
}  // namespace anadrome

// Repeated calls keep nothing.
#include <unistd.h>

#include <fstream>

#include "cases/near.h"
#include "core/memory.h"

namespace anadrome::cases {
namespace {

std::int64_t resident_bytes() {
  std::int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// What is held after 10 and after 1000 calls must be the same.
void expect_nothing_kept(const std::function<void()>& call) {
  for (int i = 0; i < 10; ++i) call();
  const std::int64_t programs = program_cache_bytes(), kept = kept_bytes(), resident = resident_bytes();
  for (int i = 10; i < 1000; ++i) call();
  EXPECT_EQ(program_cache_bytes(), programs);
  EXPECT_LE(kept_bytes(), kept);
  if (recycles_blocks()) {  // the sanitizers hold freed memory back
    EXPECT_LT(static_cast<double>(resident_bytes()), 1.01 * static_cast<double>(resident) + (1 << 20));
  }
}

/// Two results, with a rule.
const auto two_results = custom_vjp([](const Array& x) { return std::pair{x * 2, x + 1}; },
                                    [](const Array& x) { return std::pair{std::pair{x * 2, x + 1}, x}; },
                                    [](const Array&, const std::pair<Array, Array>& ct) { return 2 * ct.first + ct.second; });
const Array mebibyte = ones({1 << 18}, f32);

TEST(ResourceHygiene, GradientsOfCheckpointsOfCustomRules) {
  const Fn loss = [](const Array& x) { return sum(checkpoint(two_results)(x).first); };
  expect_values(convert(grad(loss)(mebibyte)[0], f64), {2});
  expect_nothing_kept([&] { (void)grad(loss)(mebibyte); });
  const auto compiled = jit(grad(loss));
  expect_nothing_kept([&] { (void)compiled(mebibyte); });
}

TEST(ResourceHygiene, GradientsOfLoops) {
  const Array x = ones({1 << 12}, f32);
  const Fn loss = [](const Array& v) {
    return sum(scan(v, {.length = 4}, [](const Array& c) { return std::pair{sin(c), std::tuple<>{}}; }).first);
  };
  expect_nothing_kept([&] { (void)grad(loss)(x); });
  const Fn bounded = [](const Array& v) {
    return sum(while_loop(v, {.max_steps = 4}, [](const Array& c) { return c[0] < 3; }, [](const Array& c) { return c + 1; }));
  };
  expect_nothing_kept([&] { (void)grad(bounded)(x); });
}

TEST(ResourceHygiene, RunsThatThrow) {
  const Array x = ones({1 << 12}, f32);
  const auto f = jit([](const Array& v) { return while_loop(v * 2, {.max_steps = 2}, [](const Array& c) { return c[0] < 9; }, [](const Array& c) { return c * 1.5; }); });
  expect_contains(message<RunError>([&] { return f(x); }), {".max_steps = 2"});
  expect_nothing_kept([&] { (void)message<RunError>([&] { return f(x); }); });
}

TEST(ResourceHygiene, RulesThatFail) {
  const auto wrong = custom_vjp([](const Array& x) { return x; }, [](const Array& x) { return std::pair{x, x}; }, [](const Array& r, const Array&) { return r[0]; });
  expect_nothing_kept([&] { (void)message<RuleError>([&] { return grad([&](const Array& x) { return sum(wrong(x)); })(mebibyte); }); });
}

}  // namespace
}  // namespace anadrome::cases

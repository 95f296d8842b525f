// What a run of compiled code takes: memory for its outputs, and next to nothing from the heap. Donated arguments are
// written in place.
#include <gtest/gtest.h>

#include <random>

#include "anadrome/anadrome.h"
#include "core/node.h"
#include "native/counted_heap.h"
#include "support/random_program.h"
#include "support/values.h"

namespace anadrome {
namespace {

using testing::difference;
using testing::heap_bytes;
using testing::random_array;

struct Subject {
  const char* name;
  const char* program;
};

Arrays random_arguments(const Program& p) {
  std::mt19937 random(5);
  Arrays x;
  for (const Type& t : p.input_types()) x.push_back(random_array(t, random));
  return x;
}

constexpr Subject subjects[] = {
    {"a loop kernel", "{ lambda ; a:f32[300007] . let b:f32[300007] = sin a c:f32[300007] = mul b a in (b, c) }"},
    {"a sum in blocks", "{ lambda ; a:f32[1000003] . let b:f32[1000003] = exp a c:f32[] = reduce_sum[axes=(0)] b in (c) }"},
    {"sums of rows, read again",
     "{ lambda ; a:f64[301,211] . let b:f64[301] = reduce_max[axes=(1)] a c:f64[301,211] = broadcast_in_dim[shape=(301,211), "
     "dims=(0)] b d:f64[301,211] = sub a c e:f64[301,211] = exp d f:f64[301] = reduce_sum[axes=(1)] e g:f64[301] = log f in "
     "(g) }"},
    {"products between loop kernels",
     "{ lambda ; a:f32[203,307] b:f32[307,111] . let c:f32[203,111] = dot_general[contract_lhs=(1), contract_rhs=(0), "
     "batch_lhs=(), batch_rhs=()] a b d:f32[203,111] = tanh c e:f32[203,203] = dot_general[contract_lhs=(1), "
     "contract_rhs=(1), batch_lhs=(), batch_rhs=()] d c in (e) }"},
    {"small products",
     "{ lambda ; a:f32[5003,3,3] b:f32[5003,3,3] . let c:f32[5003,3,3] = dot_general[contract_lhs=(2), contract_rhs=(1), "
     "batch_lhs=(0), batch_rhs=(0)] a b d:f32[3,3] = reduce_sum[axes=(0)] c in (c, d) }"},
    {"kernels of eval between loop kernels",
     "{ lambda ; a:f32[20011] . let b:f32[20011] = exp a c:f32[20011] = cumsum[axis=0, reverse=false] b d:f32[20011] = sort[axis=0, num_keys=1] "
     "c e:f32[20011] = sub d a in (e) }"},
};

TEST(RunMemory, OfGeneratedCodeIsThatOfTheOutputs) {
  if (!recycles_blocks()) GTEST_SKIP() << "nothing is recycled under the sanitizers";
  for (const Subject& s : subjects) {
    const auto p = std::make_shared<const Program>(parse_program(s.program));
    const std::int64_t heap_before = heap_bytes();
    const auto f = compile(p);
    EXPECT_GT(heap_bytes(), heap_before);
    const Arrays x = random_arguments(*p);
    EXPECT_NE(f->text().find("kernel 0"), std::string::npos) << s.name << "\n" << f->text();
    std::int64_t output_bytes = 0;
    for (const Type& t : p->output_types()) output_bytes += static_cast<std::int64_t>(t.bytes());
    for (int run = 0; run < 4; ++run) {
      const std::int64_t count = allocation_count(), bytes = allocated_bytes(), heap = heap_bytes();
      { const Arrays y = f->run(x); }
      if (run == 0) continue;  // takes the arena, which is kept
      EXPECT_EQ(allocation_count() - count, static_cast<std::int64_t>(p->outputs.size())) << s.name;
      EXPECT_EQ(allocated_bytes() - bytes, output_bytes) << s.name;
      EXPECT_LT(heap_bytes() - heap, 4096) << s.name;
    }
  }
}

TEST(RunMemory, OfAJittedCallIsThatOfItsResults) {
  if (!recycles_blocks()) GTEST_SKIP() << "nothing is recycled under the sanitizers";
  const auto f = jit(grad([](const Array& x) { return sum(tanh(dot(x, x)) * x); }));
  const Array x = ones({100, 100}, f32) * 0.01f;
  (void)f(x);
  const std::int64_t count = allocation_count(), bytes = allocated_bytes(), heap = heap_bytes();
  { const Array y = f(x); }
  EXPECT_EQ(allocation_count() - count, 1);
  EXPECT_EQ(allocated_bytes() - bytes, 40'000);
  EXPECT_LT(heap_bytes() - heap, 4096);
}

// ---- loops: the first run takes the planned bytes, further ones nothing but their results

struct Layer {
  Array w1, b1, w2;
};
Array step(const Layer& p, const Array& x) { return x + 0.1 * matmul(tanh(matmul(x, p.w1) + p.b1), p.w2); }

template <class Compiled> void expect_planned_memory(const char* name, const Compiled& compiled, const Layer& p) {
  const MemoryAnalysis memory = compiled.memory_analysis();
  const std::int64_t results = 3;
  for (int run = 0; run < 3; ++run) {
    if (run == 0) clear_memory_cache();
    const std::int64_t count = allocation_count(), bytes = allocated_bytes(), heap = heap_bytes();
    { const Layer g = compiled(p); }
    const std::int64_t arena = run == 0 ? memory.temp_size_in_bytes : 0;
    EXPECT_EQ(allocated_bytes() - bytes, memory.output_size_in_bytes + arena) << name << ' ' << run;
    EXPECT_EQ(allocation_count() - count, results + (arena != 0)) << name << ' ' << run;
    if (run != 0) {
      EXPECT_LT(heap_bytes() - heap, 8192) << name;  // lists of addresses, whatever the number of steps
    }
  }
}

TEST(RunMemory, OfLoopsIsWhatWasPlanned) {
  if (!recycles_blocks()) GTEST_SKIP() << "nothing is recycled under the sanitizers";
  const Layer p{0.1 * random::normal(random::prng_key(1), {64, 128}), zeros({128}), 0.1 * random::normal(random::prng_key(2), {128, 64})};
  const Array x = random::normal(random::prng_key(3), {128, 64});
  const auto gradient_of = [&](const auto& net) { return grad([&x, net](const Layer& q) { return mean(square(net(q, x))); }); };
  const auto looped = [](const auto& layer) {
    return [layer](const Layer& q, const Array& from) { return fori_loop(0, 60, from, [&](const Array&, const Array& c) { return layer(q, c); }); };
  };
  const auto rewound = [](Anchors anchors) {
    return [anchors](const Layer& q, const Array& from) {
      return reversible_scan(std::pair{from, from}, {.length = 20, .anchors = anchors}, [&](const std::pair<Array, Array>& s) {
               const Array v = s.second + step(q, s.first) - s.first;
               return std::pair{std::pair{s.first + v, v}, std::tuple<>{}};
             }).first.first;
    };
  };
  const auto in_cond = [](const Layer& q, const Array& from) {
    return fori_loop(0, 60, from, [&](const Array& i, const Array& c) { return cond(i % 2 == 0, [&] { return step(q, c); }, [&] { return sin(c); }); });
  };
  expect_planned_memory("stored", jit(gradient_of(looped(step))).lower(p).compile(), p);
  expect_planned_memory("checkpointed", jit(gradient_of(looped(checkpoint(step)))).lower(p).compile(), p);
  expect_planned_memory("rewound", jit(gradient_of(rewound(none))).lower(p).compile(), p);
  expect_planned_memory("rewound with anchors", jit(gradient_of(rewound({}))).lower(p).compile(), p);
  expect_planned_memory("conditionals", jit(gradient_of(in_cond)).lower(p).compile(), p);
  const auto budget = with_memory_budget(gradient_of(looped(step)), 600'000);
  expect_planned_memory("within a budget", budget.plan(p).compiled, p);
}

/// Programs that write their first output over their first argument without memory beside it.
constexpr Subject in_place[] = {
    {"elementwise", "{ lambda ; a:f32[1003] b:f32[1003] . let c:f32[1003] = mul b 0.5:f32 d:f32[1003] = sub a c in (d) }"},
    {"reads the argument twice", "{ lambda ; a:f64[1003] b:f64[1003] . let c:f64[1003] = sin a d:f64[1003] = mul c a e:f64[1003] = "
     "add d b in (e) }"},
    {"two kernels", "{ lambda ; a:f32[100,100] b:f32[100] . let c:f32[100,100] = exp a d:f32[] = reduce_sum[axes=(0,1)] c e:f32[100,100] = "
     "broadcast_in_dim[shape=(100,100), dims=()] d f:f32[100,100] = div a e in (f) }"},
    {"a part replaced", "{ lambda ; a:f32[1003] b:f32[9] . let c:f32[1003] = dynamic_update_slice a b 17:i32 in (c) }"},
    {"scattered", "{ lambda ; a:f32[1003] b:f32[5] . let c:i32[5,1] = iota[dtype=i32, shape=(5,1), axis=0] d:f32[1003] = "
     "scatter_add[update_window_dims=(), inserted_dims=(0), scatter_dims=(0), operand_batching_dims=(), "
     "indices_batching_dims=(), mode=clip] a c b in (d) }"},
};

TEST(RunMemory, DonatedArgumentsAreWrittenInPlace) {
  for (const Subject& s : in_place) {
    const auto p = std::make_shared<const Program>(parse_program(s.program));
    const bool donated[] = {true, false};
    const auto f = compile(p, {}, donated);
    Arrays x = random_arguments(*p);
    const Array want = compile(p, {.backend = "eval"})->run(random_arguments(*p))[0];
    EXPECT_EQ(f->memory_analysis().alias_size_in_bytes, static_cast<std::int64_t>(want.type().bytes())) << s.name;
    EXPECT_LT(f->memory_analysis().temp_size_in_bytes, 1024) << s.name << "\n" << f->text();
    const void* place = data(x[0]);
    const Array other = x[1];
    const testing::Numbers before = testing::numbers(other);
    const Arrays y = f->run(x);
    EXPECT_EQ(data(y[0]), place) << s.name;
    EXPECT_LT(difference(y[0], want), 1e-6) << s.name;
    EXPECT_EQ(testing::numbers(other), before) << s.name;
  }
}

TEST(RunMemory, DonatedArgumentsChangeNoResult) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const auto p = std::make_shared<const Program>(testing::random_program(seed, 30));
    const Arrays want = compile(p)->run(testing::random_inputs(*p, seed + 1));
    bool donated[6];
    for (int i = 0; i < 6; ++i) donated[i] = (seed >> i & 1) == 0;
    const Arrays got = compile(p, {}, donated)->run(testing::random_inputs(*p, seed + 1));
    for (std::size_t k = 0; k < want.size(); ++k) EXPECT_LT(difference(got[k], want[k]), 1e-5) << seed << "\n" << *p;
  }
}

}  // namespace
}  // namespace anadrome

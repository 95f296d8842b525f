// Compiled programs: the numbers of the reference, memory that is what it says, many threads at once.
#include <gtest/gtest.h>

#include <thread>

#include "anadrome/compile.h"
#include "core/eval.h"
#include "native/kernels.h"
#include "support/random_program.h"
#include "support/values.h"

namespace anadrome {
namespace {

using testing::random_inputs;
using testing::random_program;
using testing::same_bits;

ProgramPtr program(const std::string& text) { return std::make_shared<const Program>(parse_program(text)); }

Array vector(std::initializer_list<float> values) {
  Array a = uninitialized({f32, {values.size()}});
  std::copy(values.begin(), values.end(), static_cast<float*>(mutable_data(a)));
  return a;
}
Array zeros_of(int n) {
  Array a = uninitialized({f32, {n}});
  std::fill_n(static_cast<float*>(mutable_data(a)), n, 0.0f);
  return a;
}
Array copied(const Array& a) {
  Array out = uninitialized(a.type());
  std::copy_n(static_cast<const char*>(data(a)), a.type().bytes(), static_cast<char*>(mutable_data(out)));
  return out;
}
Array stored(const Array& a) {
  if (!is_literal(a)) return a;
  Array out = uninitialized(a.type());
  a.node()->literal.store(mutable_data(out));
  return out;
}

TEST(Precompiled, AgreesWithTheReferenceBitForBit) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const auto p = std::make_shared<const Program>(random_program(seed, 30));
    const Arrays x = random_inputs(*p, seed + 1);
    const Arrays want = evaluate(*p, {}, x);
    Arrays given;
    for (const Array& a : x) given.push_back(copied(a));
    bool donated[6];
    for (int i = 0; i < 6; ++i) donated[i] = (seed >> i & 1) != 0;
    const Arrays got = compile(p, {.backend = "precompiled"}, donated)->run(given);
    for (std::size_t k = 0; k < want.size(); ++k) {
      EXPECT_TRUE(same_bits(stored(want[k]), got[k])) << seed << " output " << k << "\n" << *p;
    }
    for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(donated[i] || same_bits(given[i], x[i])) << "argument " << i;
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Native, EvalBackendAgrees) {
  const auto p = std::make_shared<const Program>(random_program(5, 30));
  const Arrays x = random_inputs(*p, 6);
  const Arrays a = compile(p, {.backend = "eval"})->run(x);
  const Arrays b = compile(p, {.backend = "precompiled"})->run(x);
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_TRUE(same_bits(a[k], b[k]));
}

TEST(Native, KernelsAreSharedByStructureAndDroppedWhenNobodyHoldsThem) {
  const auto text = [](int n) {
    return "{ lambda ; a:f32[" + std::to_string(n) + "] . let b:f32[" + std::to_string(n) + "] = add a a in (b) }";
  };
  const auto first = compile(program(text(3)));
  const auto again = compile(program(text(3)));
  EXPECT_EQ(first->text(), again->text());
  const std::int64_t before = kernel_statistics().compiled;
  (void)compile(program(text(3)));
  EXPECT_EQ(kernel_statistics().compiled, before);
  // More kernels than the process keeps, each beside one that is met again and again.
  for (int n = 4; n < 2200; ++n) {
    const std::string size = std::to_string(n);
    const auto two = compile(program("{ lambda ; a:f32[3] b:f32[" + size + "] . let c:f32[3] = sin a d:f32[" + size +
                                     "] = add b b in (c, d) }"));
    if (n % 1000 == 0) {
      EXPECT_EQ(two->run(Arrays{vector({0, 0, 0}), zeros_of(n)}).size(), 2u);
    }
  }
  EXPECT_LT(kernel_statistics().kept, 2150);
}

TEST(Native, UnknownBackendIsNamed) {
  try {
    (void)compile(program("{ lambda ; a:f32[] . let in (a) }"), {.backend = "abacus"});
    FAIL();
  } catch (const CompileError& e) {
    EXPECT_NE(std::string(e.what()).find("'abacus'"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("native, precompiled, eval"), std::string::npos);
  }
}

TEST(Native, WrongArgumentsAreErrors) {
  const auto f = compile(program("{ lambda ; a:f32[2] . let b:f32[2] = sin a in (b) }"));
  EXPECT_THROW((void)f->run({}), TypeError);
  const Arrays wrong{vector({1, 2, 3})}, empty(1);
  EXPECT_THROW((void)f->run(wrong), TypeError);
  EXPECT_THROW((void)f->run(empty), TypeError);
}

TEST(Native, OutputsThatAreInputsLiteralsAndRepeatsAreCopies) {
  const auto f = compile(program("{ lambda c:f32[2] ; a:f32[2] . let b:f32[2] = neg a in (a, b, b, 3.0:f32, c) }"));
  const Arrays x{vector({5, 6}), vector({1, 2})};
  const Arrays y = f->run(x);
  EXPECT_EQ(y[0].to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(y[1].to_vector<float>(), (std::vector<float>{-1, -2}));
  EXPECT_EQ(y[2].to_vector<float>(), (std::vector<float>{-1, -2}));
  EXPECT_EQ(y[3].item<float>(), 3);
  EXPECT_EQ(y[4].to_vector<float>(), (std::vector<float>{5, 6}));
  EXPECT_NE(data(y[0]), data(x[1]));
  EXPECT_NE(data(y[1]), data(y[2]));
}

TEST(Native, AllocatesOutputsAndOneArena) {
  const std::string product = ":f32[40,40] = dot_general[contract_lhs=(1), contract_rhs=(0), batch_lhs=(), batch_rhs=()] ";
  const ProgramPtr p = program("{ lambda ; a:f32[40,40] . let b" + product + "a a c" + product +
                               "b b s:f32[] = reduce_sum[axes=(0,1)] c in (s) }");
  const auto f = compile(p);
  std::mt19937 random(1);
  const Arrays x{testing::random_array({f32, {40, 40}}, random)};
  const MemoryAnalysis memory = f->memory_analysis();
  ASSERT_GT(memory.temp_size_in_bytes, 0);
  clear_memory_cache();
  for (int run = 0; run < 3; ++run) {
    const std::int64_t count = allocation_count(), bytes = allocated_bytes();
    (void)f->run(x);
    const bool first = run == 0 || !recycles_blocks();
    EXPECT_EQ(allocation_count() - count, static_cast<std::int64_t>(p->outputs.size()) + first);
    EXPECT_EQ(allocated_bytes() - bytes,
              memory.output_size_in_bytes + (first ? memory.temp_size_in_bytes : 0));
  }
  EXPECT_EQ(f->memory_analysis().temp_size_in_bytes, memory.temp_size_in_bytes);
  if (recycles_blocks()) {
    EXPECT_GE(f->memory_analysis().reserved_bytes, memory.temp_size_in_bytes);
  }
  clear_memory_cache();
  std::int64_t rounding = static_cast<std::int64_t>(block_bytes(memory.temp_size_in_bytes)) - memory.temp_size_in_bytes;
  for (const Type& t : p->output_types()) rounding += static_cast<std::int64_t>(block_bytes(t.bytes()) - t.bytes());
  EXPECT_EQ(f->memory_analysis().reserved_bytes, rounding);
}

TEST(Native, DonatedMemoryHoldsTheResult) {
  const bool donated[] = {true, false};
  const auto f = compile(program("{ lambda ; p:f32[3] g:f32[3] . let q:f32[3] = sub p g in (q) }"), {}, donated);
  EXPECT_EQ(f->memory_analysis().alias_size_in_bytes, 12);
  EXPECT_EQ(f->memory_analysis().temp_size_in_bytes, 0);
  const Arrays x{vector({1, 2, 3}), vector({1, 1, 1})};
  const std::int64_t count = allocation_count();
  const Arrays y = f->run(x);
  EXPECT_EQ(allocation_count(), count);
  EXPECT_EQ(data(y[0]), data(x[0]));
  EXPECT_EQ(y[0].to_vector<float>(), (std::vector<float>{0, 1, 2}));
}

TEST(Native, AnArgumentGivenTwiceIsNotDestroyed) {
  const bool donated[] = {true, false};
  const auto f = compile(
      program("{ lambda ; p:f32[2] g:f32[2] . let q:f32[2] = mul p 2.0:f32 r:f32[2] = add q g in (r) }"), {}, donated);
  const Array a = vector({1, 2});
  const Arrays x{a, a};
  EXPECT_EQ(f->run(x)[0].to_vector<float>(), (std::vector<float>{3, 6}));
  EXPECT_EQ(a.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Native, RunsFromSeveralThreads) {
  const auto p = std::make_shared<const Program>(random_program(3, 40));
  const auto f = compile(p);
  const Arrays x = random_inputs(*p, 9);
  const Arrays want = f->run(x);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const Arrays got = f->run(x);
        for (std::size_t k = 0; k < got.size(); ++k) wrong[t] += !same_bits(got[k], want[k]);
        if (i % 50 == 0) clear_memory_cache();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST(Native, EmptyArrays) {
  const auto f = compile(program(
      "{ lambda ; a:f32[0,3] . let b:f32[0,3] = sin a c:f32[3] = reduce_sum[axes=(0)] b d:f32[3,0] = "
      "transpose[perm=(1,0)] b in (c, d) }"));
  const Arrays x{uninitialized({f32, {0, 3}})};
  const Arrays y = f->run(x);
  EXPECT_EQ(y[0].to_vector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(y[1].shape(), (Shape{3, 0}));
}

TEST(Cost, CountsCallsAndPrintsATable) {
  const auto f = compile(program(R"({ lambda ; a:f32[4] . let
      b:f32[4] = call[name="f", body={ lambda ; x:f32[4] . let y:f32[4] = tanh x in (y) }] a
      c:f32[] = reduce_sum[axes=(0)] b
    in (c) })"),
                         {.backend = "eval"});
  const CostAnalysis cost = f->cost_analysis();
  EXPECT_EQ(cost.flops, 3);
  EXPECT_EQ(cost.transcendentals, 4);
  EXPECT_EQ(cost.bytes_accessed, 32 + 20);
  EXPECT_EQ(cost.by_primitive.at("tanh").equations, 1);
  const std::string text = to_string(cost);
  EXPECT_NE(text.find("tanh"), std::string::npos);
  EXPECT_NE(text.find("total"), std::string::npos);
  EXPECT_NE(to_string(f->memory_analysis()).find("temporary"), std::string::npos);
}

}  // namespace
}  // namespace anadrome

// Structural identity: canonical numbering, hash, comparison, sharing.
#include "core/intern.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "anadrome/error.h"
#include "core/text.h"

namespace anadrome {
namespace {

/// f(a, b) = (sin(a) * b, 2) with the given variable numbers and regions.
Program sample(std::vector<VarId> ids, std::uint32_t region, double factor = 2) {
  Program p;
  p.types.resize(8, Type{i32, {9, 9}, false});
  for (VarId v : ids) p.types[v] = Type{f32, {3}, false};
  p.inputs = {ids[0], ids[1]};
  p.equations.push_back({find_primitive("sin"), {}, {Atom::variable(ids[0])}, {ids[2]}, region, 0});
  p.equations.push_back(
      {find_primitive("mul"), {}, {Atom::variable(ids[2]), Atom::variable(ids[1])}, {ids[3]}, 2 * region, 0});
  p.outputs = {Atom::variable(ids[3]), Atom::number(Literal::of(factor, f32))};
  return p;
}

TEST(Canonicalize, NumbersInOrderAndDropsUnusedTypes) {
  Program p = sample({6, 1, 0, 4}, 40);
  canonicalize(p);
  EXPECT_EQ(p.inputs, (std::vector<VarId>{0, 1}));
  EXPECT_EQ(p.equations[0].results[0], 2u);
  EXPECT_EQ(p.equations[1].results[0], 3u);
  EXPECT_EQ(p.types.size(), 4u);
  EXPECT_EQ(p.equations[0].region, 1u);
  EXPECT_EQ(p.equations[1].region, 2u);
  EXPECT_NE(p.hash, 0u);
  const std::uint64_t hash = p.hash;
  canonicalize(p);
  EXPECT_EQ(p.hash, hash);
}

TEST(Canonicalize, RefusesBrokenPrograms) {
  Program undefined = sample({0, 1, 2, 3}, 0);
  undefined.outputs.push_back(Atom::variable(5));
  EXPECT_THROW(canonicalize(undefined), InternalError);
  Program twice = sample({0, 1, 2, 3}, 0);
  twice.inputs.push_back(0);
  EXPECT_THROW(canonicalize(twice), InternalError);
}

TEST(SameStructure, IgnoresNumbersOriginsAndSources) {
  Program a = sample({6, 1, 0, 4}, 40), b = sample({0, 1, 2, 3}, 7);
  b.equations[1].origin = 5;
  b.sources = std::make_shared<const SourceTable>();
  EXPECT_TRUE(same_structure(a, b));
  canonicalize(a);
  EXPECT_TRUE(same_structure(a, b));
  canonicalize(b);
  EXPECT_TRUE(same_structure(a, b));
  EXPECT_EQ(a.hash, b.hash);
}

TEST(SameStructure, SeesEveryPart) {
  const Program a = sample({0, 1, 2, 3}, 0);
  EXPECT_FALSE(same_structure(a, sample({0, 1, 2, 3}, 1)));
  EXPECT_FALSE(same_structure(a, sample({0, 1, 2, 3}, 0, 3)));
  EXPECT_FALSE(same_structure(sample({0, 1, 2, 3}, 0, 0.0), sample({0, 1, 2, 3}, 0, -0.0)));
  EXPECT_TRUE(same_structure(sample({0, 1, 2, 3}, 0, std::nan("")), sample({0, 1, 2, 3}, 0, -std::nan(""))));
  Program b = a;
  b.types[1].dtype = f64;
  EXPECT_FALSE(same_structure(a, b));
  b = a;
  std::swap(b.inputs[0], b.inputs[1]);
  EXPECT_FALSE(same_structure(a, b));
  b = a;
  b.captures = {b.inputs[0]};
  b.inputs = {b.inputs[1]};
  EXPECT_FALSE(same_structure(a, b));
  b = a;
  b.equations[0].prim = find_primitive("cos");
  EXPECT_FALSE(same_structure(a, b));
  b = a;
  b.equations[0].attrs = Attrs(AxisAttr{1});
  EXPECT_FALSE(same_structure(a, b));
  b = a;
  b.outputs.pop_back();
  EXPECT_FALSE(same_structure(a, b));
}

TEST(Intern, SharesOneCopy) {
  const ProgramPtr a = intern(sample({6, 1, 0, 4}, 0));
  EXPECT_EQ(intern(sample({0, 1, 2, 3}, 0)), a);
  EXPECT_NE(intern(sample({0, 1, 2, 3}, 0, 3)), a);
  EXPECT_EQ(intern(a), a);
  EXPECT_EQ(intern(std::make_shared<const Program>(*a)), a);
}

TEST(Intern, KeepsNothingAlive) {
  std::weak_ptr<const Program> watch;
  {
    const ProgramPtr a = intern(sample({0, 1, 2, 3}, 0, 12345));
    watch = a;
  }
  EXPECT_TRUE(watch.expired());
  for (int i = 0; i < 20000; ++i) static_cast<void>(intern(sample({0, 1, 2, 3}, 0, i)));
}

TEST(Intern, ThreadsMeetAtOneCopy) {
  std::vector<ProgramPtr> found(4);
  std::vector<std::thread> threads;
  for (ProgramPtr& out : found)
    threads.emplace_back([&out] {
      std::vector<ProgramPtr> held;
      for (int i = 0; i < 500; ++i) held.push_back(intern(sample({0, 1, 2, 3}, 0, i)));
      out = held[77];
    });
  for (std::thread& t : threads) t.join();
  // Each thread may have let its copy go before another asked, but none may hold a different structure.
  for (const ProgramPtr& p : found) EXPECT_TRUE(same_structure(*p, *found[0]));
}

/// A call on each of `depth` levels, `width` times; nothing is shared by pointer.
ProgramPtr nested(int depth, int width) {
  auto p = std::make_shared<Program>(parse_program("{ lambda ; a:f32[] . let b:f32[] = sin a in (b) }"));
  for (int level = 0; level < depth; ++level) {
    auto outer = std::make_shared<Program>();
    outer->types = {Type{f32, {}, false}};
    outer->inputs = {0};
    for (int i = 0; i < width; ++i) {
      const auto copy = std::make_shared<const Program>(*p);
      const VarId out = static_cast<VarId>(outer->types.size());
      outer->types.push_back(Type{f32, {}, false});
      outer->equations.push_back({find_primitive("call"),
                                  Attrs(CallAttr{"f", {copy, nullptr}}),
                                  {Atom::variable(out - 1)},
                                  {out},
                                  0,
                                  0});
    }
    outer->outputs = {Atom::variable(static_cast<VarId>(width))};
    canonicalize(*outer);
    p = outer;
  }
  return p;
}

TEST(SameStructure, OfDeepProgramsTakesLinearTime) {
  EXPECT_TRUE(same_structure(*nested(100, 1), *nested(100, 1)));
  EXPECT_TRUE(same_structure(*nested(60, 2), *nested(60, 2)));
  EXPECT_FALSE(same_structure(*nested(60, 2), *nested(61, 2)));
  EXPECT_EQ(nested(40, 2)->count("sin"), std::int64_t{1} << 40);
}

}  // namespace
}  // namespace anadrome

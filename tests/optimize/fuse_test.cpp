// Which equations share a kernel.
#include "optimize/fuse.h"

#include <gtest/gtest.h>

#include "native/emittable.h"
#include "native/kernels.h"

namespace anadrome {
namespace {

/// "kernel(3) sort kernel(1)": the steps in order, kernels with the number of their equations.
std::string steps(const std::string& text) {
  const auto can_loop = [](const Program& body) { return make_loop_nest(body, 32).has_value(); };
  std::string out;
  for (const Equation& e : fuse(parse_program(text), {.can_emit = can_emit, .can_loop = can_loop}).program.equations) {
    out += out.empty() ? "" : " ";
    if (e.prim == &loop_kernel) out += "kernel(" + std::to_string(e.as<CallAttr>().body->equations.size()) + ")";
    else out += e.prim->name;
  }
  return out;
}

const std::string v = ":f32[100] = ";

TEST(Fuse, ChainsAreOneKernel) {
  EXPECT_EQ(steps("{ lambda ; a:f32[100] . let b" + v + "sin a c" + v + "mul b a d" + v + "neg c in (d, b) }"), "kernel(3)");
}

TEST(Fuse, SumsEndAKernelAndWhatReadsThemIsAnother) {
  EXPECT_EQ(steps("{ lambda ; a:f32[100] . let b" + v + "mul a a s:f32[] = reduce_sum[axes=(0)] b t:f32[100] = broadcast_in_dim[shape=(100), dims=()] s c" +
                  v + "mul t a in (c) }"),
            "kernel(2) kernel(2)");
}

TEST(Fuse, StepsBetweenCutKernels) {
  EXPECT_EQ(steps("{ lambda ; a:f32[100] . let b" + v + "neg a c" + v + "sort[axis=0, num_keys=1] b d" + v + "neg c in (d) }"),
            "kernel(1) sort kernel(1)");
}

TEST(Fuse, CheapValuesAreComputedAgainWhereTheyAreRead) {
  // iota is read by both kernels and stored by neither.
  EXPECT_EQ(steps("{ lambda ; a:f32[100] . let i:f32[100] = iota[dtype=f32, shape=(100), axis=0] b" + v + "mul a i c" + v +
                  "sort[axis=0, num_keys=1] b d" + v + "mul c i in (d) }"),
            "kernel(2) sort kernel(2)");
}

TEST(Fuse, FewPartsAreJoinedInAKernelAndManyAreCopied) {
  const auto joined = [](int parts) {
    std::string inputs, operands;
    for (int i = 0; i < parts; ++i) inputs += " p" + std::to_string(i) + ":f32[100]", operands += " p" + std::to_string(i);
    const std::string type = ":f32[" + std::to_string(100 * parts) + "] = ";
    return steps("{ lambda ;" + inputs + " . let c" + type + "concatenate[axis=0]" + operands + " d" + type + "neg c in (d) }");
  };
  EXPECT_EQ(joined(2), "kernel(2)");
  EXPECT_EQ(joined(3), "kernel(2)");
  EXPECT_EQ(joined(10), "concatenate kernel(1)");
}

TEST(Fuse, ShortAxesAreJoinedInAKernelHoweverMany) {
  std::string inputs, operands;
  for (int i = 0; i < 10; ++i) inputs += " p" + std::to_string(i) + ":f32[100,1]", operands += " p" + std::to_string(i);
  EXPECT_EQ(steps("{ lambda ;" + inputs + " . let c:f32[100,10] = concatenate[axis=1]" + operands + " d:f32[100,10] = neg c in (d) }"), "kernel(2)");
}

TEST(Fuse, TheTransposeOfAProductIsPartOfIt) {
  const std::string dot = "dot_general[contract_lhs=(1), contract_rhs=(0), batch_lhs=(), batch_rhs=()] a b";
  EXPECT_EQ(steps("{ lambda ; a:f32[40,50] b:f32[50,60] . let c:f32[40,60] = " + dot + " d:f32[60,40] = transpose[perm=(1,0)] c in (d) }"),
            "turned_product");
}

TEST(Fuse, LongProgramsAreCut) {
  std::string text = "{ lambda ; a0:f32[100] . let";
  for (int i = 0; i < 200; ++i) text += " a" + std::to_string(i + 1) + v + "neg a" + std::to_string(i);
  EXPECT_EQ(steps(text + " in (a200) }"), "kernel(8) kernel(64) kernel(64) kernel(64)");
}

}  // namespace
}  // namespace anadrome

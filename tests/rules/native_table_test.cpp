// Every primitive is written by the code generator, or says why not.
#include <gtest/gtest.h>

#include <algorithm>

#include "anadrome/ops/shape.h"
#include "native/emittable.h"
#include "native/kernels.h"
#include "optimize/fuse.h"
#include "rules/table.h"

namespace anadrome::testing {
namespace {

/// What happens to the equations of one primitive in its cases.
struct Seen {
  int equations = 0, can = 0, in_kernels = 0;
};

Program recorded(const Case& c) {
  Arrays x;
  for (const Argument& a : c.arguments) {
    Type t = a.type;
    if (!c.axis_name.empty()) t.shape.erase(0);
    x.push_back(abstract(t.dtype, t.shape));
  }
  return functional::make_program(c.f, x, {"case", {}, {}});
}

void add(Seen& seen, const Program& p, const Prim* prim) {
  for (const Equation& e : p.equations)
    if (e.prim == prim) ++seen.equations, seen.can += can_emit(p, e);
  const auto can_loop = [](const Program& body) { return make_loop_nest(body, vector_bytes()).has_value(); };
  for (const Equation& kernel : fuse(p, {.can_emit = can_emit, .can_loop = can_loop}).program.equations)
    if (kernel.prim == &loop_kernel)
      for (const Equation& e : kernel.as<CallAttr>().body.program->equations) seen.in_kernels += e.prim == prim;
}

/// What the table of rules has no cases of.
constexpr const char* others[] = {
    "{ lambda ; a:f16[40] . let b:f16[40] = exp2 a in (b) }",
    "{ lambda ; a:f32[40] . let b:f32[79] = pad[low=(0), high=(0), interior=(1)] a 0.0:f32 in (b) }",
    "{ lambda ; a:f32[40] u:f32[20] . let b:f32[40] = dynamic_update_slice a u 3:i32 in (b) }",
    "{ lambda ; a:f32[40] u:f32[20] . let b:f32[40] = dynamic_add_slice a u 3:i32 in (b) }",
};

const KernelReason* reason(const Prim* prim) {
  const auto all = kernel_reasons();
  const auto it = std::find_if(all.begin(), all.end(), [&](const KernelReason& r) { return r.prim == prim; });
  return it == all.end() ? nullptr : &*it;
}

TEST(NativeTable, EveryPrimitiveIsEmittedOrSaysWhyNot) {
  for (const Row& row : table()) {
    Seen seen;
    for (const Case& c : row.cases) add(seen, recorded(c), row.prim);
    for (const char* text : others) add(seen, parse_program(text), row.prim);
    const KernelReason* r = reason(row.prim);
    ASSERT_GT(seen.equations, 0) << row.prim->name;
    if (!r) {
      EXPECT_EQ(seen.can, seen.equations) << row.prim->name << ": not always emitted, and no reason is given";
    } else if (r->when.empty()) {
      EXPECT_EQ(seen.can, 0) << row.prim->name << ": emitted, with the reason '" << r->why << "'";
    } else {
      EXPECT_LT(seen.can, seen.equations) << row.prim->name << ": no case of '" << r->when << "'";
    }
    if (!r || !r->when.empty()) {
      EXPECT_GT(seen.in_kernels, 0) << row.prim->name << ": no case is in a loop kernel";
    } else {
      EXPECT_EQ(seen.in_kernels, 0) << row.prim->name;
    }
  }
}

TEST(NativeTable, ReasonsAreGivenOnceAndForPrimitivesOfTheList) {
  const auto prims = all_primitives();
  for (const KernelReason& r : kernel_reasons()) {
    EXPECT_NE(std::find(prims.begin(), prims.end(), r.prim), prims.end());
    EXPECT_EQ(reason(r.prim), &r) << r.prim->name << " has two reasons";
    EXPECT_FALSE(r.why.empty()) << r.prim->name;
  }
}

}  // namespace
}  // namespace anadrome::testing

// Some random programs on the native backend and on `eval`; tests/slow_random has more of them.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "anadrome/compile.h"
#include "support/fuzz.h"
#include "support/values.h"

namespace anadrome::testing {
namespace {

TEST(RandomPrograms, NativeAgreesWithEval) {
  fuzz(0, 150);
}

TEST(RandomPrograms, PaddingThatKeepsAnExtent) {
  for (const char* text :
       {"{ lambda ; a:f64[2] . let b:f64[2] = pad[low=(-1), high=(0), interior=(1)] a 0.5:f64 in (b) }",
        "{ lambda ; a:f32[5,3,4] . let b:f32[6,3,4] = pad[low=(1,-1,-1), high=(0,-1,1), interior=(0,1,0)] a 0.0:f32 "
        "in (b) }",
        "{ lambda ; a:f32[9,40] . let b:f32[9,40] = pad[low=(-1,-2), high=(1,2), interior=(0,0)] a 0.0:f32 "
        "c:f32[9,40] = sub b a in (c) }",
        "{ lambda ; a:f32[40] . let b:f32[40] = pad[low=(1), high=(-40), interior=(1)] a 0.0:f32 in (b) }"}) {
    const Program p = parse_program(text);
    std::mt19937 random(1);
    EXPECT_EQ(backends_differ({p, {random_array(p.input_types()[0], random)}}), std::nullopt) << p;
  }
}

TEST(RandomPrograms, AreTheSameForTheSameSeed) {
  for (std::uint64_t seed : {3, 10, 11, 12}) {
    const FuzzCase a = fuzz_case(seed), b = fuzz_case(seed);
    EXPECT_TRUE(same_structure(a.program, b.program)) << seed;
    ASSERT_EQ(a.inputs.size(), b.inputs.size());
    for (std::size_t i = 0; i < a.inputs.size(); ++i) EXPECT_TRUE(identical(a.inputs[i], b.inputs[i]));
  }
}

}  // namespace
}  // namespace anadrome::testing

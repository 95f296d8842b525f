// Some random programs on the native backend and on `eval`; tests/slow_random has more of them.
#include <gtest/gtest.h>

#include "anadrome/compile.h"
#include "support/fuzz.h"
#include "support/values.h"

namespace anadrome::testing {
namespace {

TEST(RandomPrograms, NativeAgreesWithEval) {
  fuzz(0, 150);
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

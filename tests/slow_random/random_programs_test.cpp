// Random programs on the native backend and on `eval`. ANADROME_FUZZ_SEED and ANADROME_FUZZ_COUNT choose others:
//   ANADROME_FUZZ_SEED=100000 ANADROME_FUZZ_COUNT=1000000 build/release/tests/test_slow_random
#include <gtest/gtest.h>

#include "support/fuzz.h"

namespace anadrome::testing {
namespace {

TEST(RandomPrograms, NativeAgreesWithEval) {
  fuzz(1000, 20000);
}

}  // namespace
}  // namespace anadrome::testing

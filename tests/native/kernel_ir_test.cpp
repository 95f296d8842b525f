// What generated code looks like, where that decides how fast it is.
#include <gtest/gtest.h>

#include "anadrome/compile.h"

namespace anadrome {
namespace {

std::string ir(const char* text) { return compile(std::make_shared<const Program>(parse_program(text)))->kernel_ir(0); }

TEST(KernelIr, MaskedLoadsOfNoLanesStayInsideTheArgument) {
  // Processors take 150 ns to find that none of the lanes that a load may not reach is wanted.
  for (const char* text : {"{ lambda ; a:f32[1000] . let b:f32[2000] = pad[low=(1000), high=(0), interior=(0)] a 0.0:f32 in (b) }",
                           "{ lambda ; a:f64[1000] b:f64[1000] . let c:f64[2000] = concatenate[axis=0] a b in (c) }",
                           "{ lambda ; a:f32[1000] b:f32[500] . let c:f32[1000] = dynamic_add_slice a b 0:i32 in (c) }"}) {
    const std::string code = ir(text);
    const std::size_t load = code.find("@llvm.masked.load");
    if (load == code.npos) continue;  // vectors of this machine are not masked
    EXPECT_NE(code.rfind("@llvm.vector.reduce.or", load), code.npos) << code;
    EXPECT_NE(code.find("select i1"), code.npos) << code;
  }
}

}  // namespace
}  // namespace anadrome

// What generated code looks like, where that decides how fast it is.
#include <gtest/gtest.h>

#include "anadrome/compile.h"
#include "anadrome/error.h"

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

TEST(KernelIr, KernelsOfLoopBodiesAreNumberedWithTheOthers) {
  const auto compiled = compile(std::make_shared<const Program>(parse_program(
      "{ lambda ; a:f32[64] . let b:f32[64] = exp a c:f32[64] = scan[body={ lambda ; a:f32[64] b:f32[64] . let c:f32[64] = sin b "
      "d:f32[64] = mul a c in (d) }, length=3, consts=1, carries=1, reverse=false] b a d:f32[64] = tanh c in (d) }")));
  const std::string text = compiled->text();
  const char* const functions[] = {"exp", "sin", "tanh"};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NE(text.find("kernel " + std::to_string(k) + " ("), text.npos) << text;
    EXPECT_NE(compiled->kernel_ir(k).find(functions[k]), std::string::npos) << k << text;
  }
  EXPECT_THROW((void)compiled->kernel_ir(3), TypeError);
}

}  // namespace
}  // namespace anadrome

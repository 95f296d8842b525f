// Reads at computed places inside loop kernels, beside the reference; indices in and out of range.
#include <gtest/gtest.h>

#include "anadrome/compile.h"
#include "core/eval.h"
#include "support/values.h"

namespace anadrome {
namespace {

using testing::identical;
using testing::make_array;
using testing::random_array;

/// Indices from -2 to two past `extent`.
Array random_indices(const Type& type, std::int64_t extent, std::mt19937& random) {
  testing::Numbers values;
  for (std::int64_t i = 0; i < type.elements(); ++i)
    values.push_back(static_cast<double>(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent + 4)) - 2));
  return make_array(type, values);
}

std::string gather(const std::string& dims, const std::string& sizes, const char* mode) {
  return " = gather[" + dims + ", slice_sizes=(" + sizes + "), mode=" + mode + "] ";
}

/// Runs on both backends; the schedule must be `kernels` kernels with the gather inside.
void check(const std::string& text, std::int64_t extent, int kernels = 1) {
  const auto program = std::make_shared<const Program>(parse_program(text));
  std::mt19937 random(13);
  Arrays x;
  for (const Type& t : program->input_types())
    x.push_back(is_integer(t.dtype) ? random_indices(t, extent, random) : random_array(t, random));
  const auto native = compile(program, {.backend = "native"});
  EXPECT_EQ(native->text().find("gather (precompiled)"), std::string::npos) << native->text();
  EXPECT_NE(native->text().find("gather["), std::string::npos) << native->text();
  int found = 0;
  for (std::size_t at = 0; (at = native->text().find(": kernel", at)) != std::string::npos; ++at) ++found;
  EXPECT_EQ(found, kernels) << native->text();
  const std::vector<Array> got = native->run(x), want = compile(program, {.backend = "eval"})->run(x);
  for (std::size_t k = 0; k < want.size(); ++k) EXPECT_TRUE(identical(got[k], want[k])) << text << "\n" << native->text();
}

const std::string plain = ", operand_batching_dims=(), indices_batching_dims=()";

TEST(Gather, ReadsNumbersInsideKernels) {
  for (const char* mode : {"clip", "fill_or_drop", "zero_or_drop", "clip_or_drop"})
    for (const char* index : {"i32", "i64"})
      for (const char* dtype : {"f32", "f64", "bf16", "i8"})
        for (const int n : {1, 7, 8, 33}) {
          const std::string size = std::to_string(n), v = std::string(":") + dtype + "[" + size + "]";
          check("{ lambda ; x:" + std::string(dtype) + "[50] i:" + index + "[" + size + ",1] y" + v + " . let g" + v +
                    gather("offset_dims=(), collapsed_dims=(0), start_index_map=(0)" + plain, "1", mode) + "x i r" + v +
                    " = add g y in (r, g) }",
                50);
        }
}

TEST(Gather, ReadsRowsAlongLanes) {
  for (const char* mode : {"clip", "fill_or_drop"})
    for (const int columns : {3, 16, 37})
      for (const int rows : {1, 5, 40}) {
        const std::string shape = "[" + std::to_string(rows) + "," + std::to_string(columns) + "]";
        check("{ lambda ; x:f32[20," + std::to_string(columns) + "] i:i32[" + std::to_string(rows) + ",1] y:f32" + shape + " . let g:f32" + shape +
                  gather("offset_dims=(1), collapsed_dims=(0), start_index_map=(0)" + plain, "1," + std::to_string(columns), mode) +
                  "x i r:f32" + shape + " = mul g y in (r) }",
              20);
      }
}

TEST(Gather, ReadsColumnsPairsAndBatches) {
  check("{ lambda ; x:f32[9,30] i:i32[17,1] . let g:f32[9,17]" +
            gather("offset_dims=(0), collapsed_dims=(1), start_index_map=(1)" + plain, "9,1", "clip") + "x i r:f32[9,17] = neg g in (r) }",
        30);
  check("{ lambda ; x:f64[6,7,8] i:i32[21,2] . let g:f64[6,21]" +
            gather("offset_dims=(0), collapsed_dims=(1,2), start_index_map=(2,1)" + plain, "6,1,1", "zero_or_drop") +
            "x i r:f64[6,21] = neg g in (r) }",
        7);
  check("{ lambda ; x:f32[5,30] i:i32[5,11,1] . let g:f32[5,11]" +
            gather("offset_dims=(), collapsed_dims=(1), start_index_map=(1), operand_batching_dims=(0), indices_batching_dims=(0)", "1,1",
                   "fill_or_drop") +
            "x i r:f32[5,11] = neg g in (r) }",
        30);
  check("{ lambda ; x:f32[30] i:i32[1] . let g:f32[]" + gather("offset_dims=(), collapsed_dims=(0), start_index_map=(0)" + plain, "1", "clip") +
            "x i r:f32[] = neg g in (r) }",
        30);
}

TEST(Gather, IndicesAreComputedInTheSameKernel) {
  check("{ lambda ; x:f32[50] i:i32[33] . let j:i32[33] = add i 3:i32 k:i32[33,1] = reshape[shape=(33,1)] j g:f32[33]" +
            gather("offset_dims=(), collapsed_dims=(0), start_index_map=(0)" + plain, "1", "fill_or_drop") + "x k s:f32[] = reduce_max[axes=(0)] g in (s) }",
        50);
}

TEST(Gather, TheArrayIsStoredBefore) {
  check("{ lambda ; x:f32[50] i:i32[33,1] . let y:f32[50] = mul x x g:f32[33]" +
            gather("offset_dims=(), collapsed_dims=(0), start_index_map=(0)" + plain, "1", "clip") + "y i r:f32[33] = neg g in (r) }",
        50, 2);
}

TEST(Gather, OnlyWhereItIsNeeded) {
  check("{ lambda ; x:f32[50] i:i32[33,1] y:f32[9] . let g:f32[33]" +
            gather("offset_dims=(), collapsed_dims=(0), start_index_map=(0)" + plain, "1", "clip") +
            "x i c:f32[42] = concatenate[axis=0] g y p:f32[45] = pad[low=(1), high=(2), interior=(0)] c 0.5:f32 r:f32[45] = neg p in (r) }",
        50);
}

}  // namespace
}  // namespace anadrome

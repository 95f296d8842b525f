// The shapes of loop nests: tiles that are transposed in registers, columns summed row by row, chains computed two
// vectors at a time, vectors that overlap. Each beside the reference, for extents around the sizes of vectors.
#include "native/loop_nest.h"

#include <gtest/gtest.h>

#include "anadrome/compile.h"
#include "core/eval.h"
#include "native/kernels.h"
#include "support/values.h"

namespace anadrome {
namespace {

using testing::difference;
using testing::random_array;

Program parsed(const std::string& text) { return parse_program(text); }

std::string type_text(const char* dtype, const Shape& shape) { return to_string(Type{f32, shape}).replace(0, 3, dtype); }

LoopNest nest_of(const std::string& text) { return make_loop_nest(parsed(text), 32).value(); }

/// Runs the program on both backends; true differences are those beyond `bound`.
void compare(const std::string& text, double bound) {
  const auto program = std::make_shared<const Program>(parsed(text));
  std::mt19937 random(7);
  Arrays x;
  for (VarId v : program->inputs) x.push_back(random_array(program->type(v), random));
  const auto native = compile(program, {.backend = "native"}), eval = compile(program, {.backend = "eval"});
  const std::vector<Array> got = native->run(x), want = eval->run(x);
  for (std::size_t k = 0; k < want.size(); ++k) EXPECT_LE(difference(got[k], want[k]), bound) << text << "\n" << native->text();
}

struct Kind {
  const char* name;
  double bound;
};
const Kind kinds[] = {{"f32", 1e-6}, {"f64", 1e-14}, {"i32", 0}, {"f16", 2e-3}};

// ---- tiles

std::string transposed(const char* dtype, std::int64_t n, std::int64_t m) {
  const std::string from = type_text(dtype, {n, m}), to = type_text(dtype, {m, n}), row = type_text(dtype, {m});
  return "{ lambda ; a:" + from + " b:" + row + " . let c:" + from + " = broadcast_in_dim[shape=(" + std::to_string(n) +
         "," + std::to_string(m) + "), dims=(1)] b d:" + from + " = mul a c e:" + to + " = transpose[perm=(1,0)] d in (e, d) }";
}

TEST(Nests, TransposesAreTiles) {
  EXPECT_GE(nest_of(transposed("f32", 64, 64)).tile, 0);
  EXPECT_FALSE(nest_of(transposed("f32", 64, 64)).overlaps);
  EXPECT_TRUE(nest_of(transposed("f32", 65, 64)).overlaps);
  EXPECT_LT(nest_of(transposed("f32", 64, 7)).tile, 0);   // too short for a tile
  EXPECT_LT(nest_of(transposed("f16", 64, 64)).tile, 0);  // of less than 32 bits
}

TEST(Nests, TilesAgreeWithTheReference) {
  for (const Kind& kind : kinds)
    for (const std::int64_t n : {1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 64, 65, 200})
      for (const std::int64_t m : {1, 4, 8, 9, 17, 33, 130}) compare(transposed(kind.name, n, m), kind.bound);
}

TEST(Nests, TilesOfHigherRank) {
  for (const char* perm : {"0,2,1", "2,1,0", "2,0,1", "1,2,0", "1,0,2"}) {
    const Shape from{9, 17, 33};
    Shape to;
    for (const char* p = perm; *p; p += p[1] ? 2 : 1) to.push_back(from[*p - '0']);
    compare("{ lambda ; a:" + type_text("f32", from) + " . let b:" + type_text("f32", from) + " = neg a c:" +
                type_text("f32", to) + " = transpose[perm=(" + perm + ")] b in (c) }",
            0);
  }
}

// ---- sums of columns

std::string column_sum(const char* reduce, const char* dtype, std::int64_t rows, std::int64_t columns, bool keeps) {
  const std::string all = type_text(dtype, {rows, columns}), one = type_text(dtype, {columns});
  return "{ lambda ; a:" + all + " b:" + all + " . let c:" + all + " = add a b d:" + one + " = " + reduce +
         "[axes=(0)] c in (d" + (keeps ? ", c" : "") + ") }";
}

TEST(Nests, ColumnsAreSummedRowByRow) {
  const LoopNest nest = nest_of(column_sum("reduce_sum", "f32", 100, 512, true));
  EXPECT_TRUE(nest.lanes_inside_sums);
  EXPECT_TRUE(nest.loops[0].reduced);
  EXPECT_EQ(nest.ranged(), 1);
  EXPECT_FALSE(nest_of(column_sum("reduce_sum", "f32", 512, 16, false)).lanes_inside_sums);  // few columns
}

TEST(Nests, SumsOfColumnsAgreeWithTheReference) {
  for (const Kind& kind : kinds)
    for (const char* reduce : {"reduce_sum", "reduce_max", "reduce_min"})
      for (const std::int64_t rows : {1, 2, 5, 100})
        for (const std::int64_t columns : {32, 63, 64, 65, 131, 1030})
          for (const bool keeps : {false, true}) compare(column_sum(reduce, kind.name, rows, columns, keeps), kind.bound * 20);
}

TEST(Nests, LongColumnsAreSummedInDouble) { compare(column_sum("reduce_sum", "f32", 20000, 70, false), 1e-6); }

TEST(Nests, MiddleAxesAreSummed) {
  const std::string all = type_text("f32", {5, 37, 100}), kept = type_text("f32", {5, 100});
  compare("{ lambda ; a:" + all + " . let b:" + all + " = mul a a c:" + kept + " = reduce_sum[axes=(1)] b in (c, b) }", 1e-5);
}

// ---- chains, and vectors that overlap

std::string chain(const char* dtype, std::int64_t n, int steps) {
  const std::string type = ":" + type_text(dtype, {n}), number = std::string(":") + dtype;
  std::string text = "{ lambda ; x0" + type + " . let", outputs;
  for (int i = 0; i < steps; ++i) {
    const std::string k = std::to_string(i), next = std::to_string(i + 1);
    text += " s" + k + type + " = sin x" + k + " c" + k + type + " = cos x" + k + " m" + k + type + " = mul s" + k +
            " 1.01" + number + " x" + next + type + " = add m" + k + " 0." + next + number;
    outputs += ", c" + k;
  }
  return text + " in (x" + std::to_string(steps) + outputs + ") }";
}

TEST(Nests, ChainsRunTwoVectorsAtATime) {
  EXPECT_EQ(nest_of(chain("f32", 128, 12)).copies, 2);
  EXPECT_EQ(nest_of(chain("f32", 31, 12)).copies, 1);
  EXPECT_EQ(nest_of(chain("f32", 128, 2)).copies, 1);
}

TEST(Nests, ChainsAgreeWithTheReference) {
  for (const std::int64_t n : {1, 3, 8, 31, 32, 33, 47, 48, 49, 100, 128, 1001}) {
    compare(chain("f32", n, 12), 1e-4);
    compare(chain("f64", n, 12), 1e-12);
  }
}

TEST(Nests, LongBodiesMayLieOverTheirArguments) {
  for (const char* dtype : {"f32", "f64", "f16", "i8"})
    for (const bool waits : {true, false})
      for (const std::int64_t n : {9, 33, 35, 63, 64, 65, 1003}) {
        const std::string type = ":" + type_text(dtype, {n}) + " = ";
        std::string text = "{ lambda ; x0:" + type_text(dtype, {n}) + " y0:" + type_text(dtype, {n}) + " . let";
        for (int i = 0; i < 20; ++i) {  // a chain, or two that meet at the end
          const std::string k = std::to_string(i), next = std::to_string(i + 1);
          text += " a" + k + type + "sub x" + k + (waits ? " y" + k : " x0") + " x" + next + type + "neg a" + k;
          text += " y" + next + type + "max y" + k + (waits ? " a" + k : " y0");
        }
        const auto program = std::make_shared<const Program>(parsed(text + " in (x20, y20) }"));
        std::mt19937 random(5);
        Arrays x, given;
        for (VarId v : program->inputs) {
          x.push_back(random_array(program->type(v), random));
          given.push_back(testing::make_array(x.back().type(), testing::numbers(x.back())));
        }
        const bool donated[] = {true, true};
        const auto native = compile(program, {.backend = "native"}, donated);
        EXPECT_EQ(native->memory_analysis().temp_size_in_bytes, 0) << native->text();
        const std::vector<Array> want = compile(program, {.backend = "eval"})->run(x), got = native->run(given);
        for (std::size_t k = 0; k < 2; ++k) {
          EXPECT_TRUE(testing::identical(got[k], want[k])) << dtype << " " << n << "\n" << native->text();
          EXPECT_TRUE(data(got[k]) == data(given[0]) || data(got[k]) == data(given[1])) << "written elsewhere";
        }
      }
}

TEST(Nests, HeavySumsLeaveOutWhatWasThere) {
  // One result of the chain is summed: lanes run along the sum, and the last vector starts early.
  for (const std::int64_t n : {9, 33, 101, 1001}) {
    std::string text = chain("f64", n, 14);
    text = text.substr(0, text.find(" in (")) + " t:f64[] = reduce_sum[axes=(0)] x14 in (t) }";
    EXPECT_TRUE(nest_of(text).overlaps) << n;
    compare(text, 1e-12);
  }
}

TEST(Nests, SlicesOfComputedValuesAreUnrolled) {
  compare("{ lambda ; a:f64[9] b:f64[5] . let c:f64[9] = pad[low=(0), high=(0), interior=(1)] b 0.0:f64 d:f64[9] = add c a "
          "e:f64[8] = slice[start=(0), limit=(8), strides=(1)] d in (e) }",
          0);
  compare("{ lambda ; a:f64[8,33] b:f64[16,33] . let c:f64[16,33] = pad[low=(1,0), high=(0,0), interior=(1,0)] a -1.5:f64 "
          "g:f64[16,33] = mul b c h:f64[15,33] = pad[low=(-1,0), high=(0,0), interior=(0,0)] g 0.0:f64 "
          "i:f64[8,33] = slice[start=(0,0), limit=(15,33), strides=(2,1)] h in (i) }",
          0);
}

TEST(Nests, SlicesOfFullAxesAreLoops) {
  const std::string text =
      "{ lambda ; a:f64[25,14] . let b:f64[25,10] = slice[start=(0,2), limit=(25,12), strides=(1,1)] a c:f64[25,10] = exp b in (c) }";
  EXPECT_EQ(nest_of(text).loops.size(), 2u);
  compare(text, 1e-14);
}

}  // namespace
}  // namespace anadrome

// Structured tangents: what Jacobians cost, and that the numbers stay the same.
#include <gtest/gtest.h>

#include "core/eval.h"
#include "optimize/cost.h"
#include "optimize/passes.h"

namespace anadrome {
namespace {

double flops(const std::string& text, bool structured) {
  return program_cost(optimize(parse_program(text), {structured})).flops;
}

Array random_array(const Type& type, std::uint32_t& seed) {
  Array a = uninitialized(type);
  auto* p = static_cast<float*>(mutable_data(a));
  for (std::int64_t i = 0; i < type.elements(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    p[i] = static_cast<float>(static_cast<std::int32_t>(seed >> 8) % 17 - 8) / 8;
  }
  return a;
}

/// Runs the program and its structured form on the same small dyadic numbers: sums are exact, so the bits agree.
void expect_same_numbers(const std::string& text) {
  const Program p = parse_program(text);
  Program structured = structured_tangents(p);
  verify(structured);
  structured = optimize(structured);
  verify(structured);
  std::uint32_t seed = 7;
  Arrays inputs;
  for (const Type& t : p.input_types()) inputs.push_back(random_array(t, seed));
  const Arrays want = evaluate(p, {}, inputs), got = evaluate(structured, {}, inputs);
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(want[i].to_vector<float>(), got[i].to_vector<float>()) << structured;
}

std::string forward_jacobian(int n, int m, const char* tail, const std::string& output) {
  const std::string N = std::to_string(n), M = std::to_string(m);
  return "{ lambda ; x:f32[" + N + "] w:f32[" + N + "," + M + "] . let u:f32[" + M +
         "] = dot_general[contract_lhs=(0), contract_rhs=(0), batch_lhs=(), batch_rhs=()] x w y:f32[" + M +
         "] = tanh u s:f32[" + M + "] = mul y y d:f32[" + M + "] = sub 1.0:f32 s t:f32[" + N + "," + N +
         "] = identity[dtype=f32, size=" + N + "] v:f32[" + N + "," + M +
         "] = dot_general[contract_lhs=(1), contract_rhs=(0), batch_lhs=(), batch_rhs=()] t w b:f32[" + N + "," + M +
         "] = broadcast_in_dim[shape=(" + N + "," + M + "), dims=(1)] d z:f32[" + N + "," + M + "] = mul v b " + tail +
         " in (" + output + ") }";
}

TEST(StructuredTangents, ForwardJacobianOfASum) {
  const std::string text = forward_jacobian(64, 64, "q:f32[64] = reduce_sum[axes=(1)] z", "q");
  EXPECT_EQ(flops(text, false), 540736);
  EXPECT_EQ(flops(text, true), 16448);
}

TEST(StructuredTangents, WideForwardJacobian) {
  const std::string text = forward_jacobian(4, 256, "", "z");
  EXPECT_EQ(flops(text, false), 11776);
  EXPECT_EQ(flops(text, true), 3584);
}

TEST(StructuredTangents, WideReverseJacobian) {
  const std::string text = R"({ lambda ; x:f32[4] w:f32[4,256] . let
    u:f32[256] = dot_general[contract_lhs=(0), contract_rhs=(0), batch_lhs=(), batch_rhs=()] x w
    y:f32[256] = tanh u
    s:f32[256] = mul y y
    d:f32[256] = sub 1.0:f32 s
    t:f32[256,256] = identity[dtype=f32, size=256]
    b:f32[256,256] = broadcast_in_dim[shape=(256,256), dims=(1)] d
    z:f32[256,256] = mul t b
    j:f32[256,4] = dot_general[contract_lhs=(1), contract_rhs=(1), batch_lhs=(), batch_rhs=()] z w
  in (j) })";
  EXPECT_EQ(flops(text, false), 592384);
  EXPECT_EQ(flops(text, true), 3584);
}

TEST(StructuredTangents, ElementwiseJacobianIsPadding) {
  const std::string text = R"({ lambda ; x:f32[6] . let
    c:f32[6] = mul x x
    t:f32[6,6] = identity[dtype=f32, size=6]
    b:f32[6,6] = broadcast_in_dim[shape=(6,6), dims=(1)] c
    z:f32[6,6] = mul t b
    n:f32[6,6] = neg z
  in (n) })";
  expect_same_numbers(text);
  EXPECT_EQ(flops(text, true), 12);
}

TEST(StructuredTangents, KeepTheNumbers) {
  // The basis of a matrix, through a product that contracts half of its columns.
  expect_same_numbers(R"({ lambda ; x:f32[3,4] d:f32[3,2] . let
    i:f32[8,8] = identity[dtype=f32, size=8]
    t:f32[8,4,2] = reshape[shape=(8,4,2)] i
    v:f32[3,8,2] = dot_general[contract_lhs=(1), contract_rhs=(1), batch_lhs=(), batch_rhs=()] x t
    b:f32[3,8,2] = broadcast_in_dim[shape=(3,8,2), dims=(0,2)] d
    z:f32[3,8,2] = mul v b
    p:f32[8,3,2] = transpose[perm=(1,0,2)] z
    q:f32[8,2] = reduce_sum[axes=(1)] p
    r:f32[8] = reduce_sum[axes=(1)] q
  in (v, z, p, q, r) })");
  // Sums over tied and untied axes, reshapes that cut factors, sums of two diagonals, a use that needs all elements.
  expect_same_numbers(R"({ lambda ; d:f32[6] m:f32[6,6] . let
    i:f32[6,6] = identity[dtype=f32, size=6]
    b:f32[6,6] = broadcast_in_dim[shape=(6,6), dims=(0)] d
    z:f32[6,6] = mul b i
    a:f32[6,6] = add z i
    r:f32[2,3,6] = reshape[shape=(2,3,6)] a
    s:f32[3,6] = reduce_sum[axes=(0)] r
    t:f32[6] = reduce_sum[axes=(0)] z
    u:f32[6] = reduce_sum[axes=(1)] i
    w:f32[] = reduce_sum[axes=(0,1)] z
    e:f32[6,6] = exp z
    f:f32[6,6] = sub m z
    g:f32[4,9] = reshape[shape=(4,9)] z
    h:f32[6,6] = div z 2.0:f32
    k:f32[6,6,5] = broadcast_in_dim[shape=(6,6,5), dims=(0,1)] h
    o:f32[6] = reduce_sum[axes=(0)] z
    n2:f32[6,6] = mul z a
  in (r, s, t, u, w, e, f, g, k, o, n2) })");
}

TEST(StructuredTangents, Contractions) {
  expect_same_numbers(R"({ lambda ; d:f32[4] m:f32[4,3] n:f32[5,4,4] . let
    i:f32[4,4] = identity[dtype=f32, size=4]
    b:f32[4,4] = broadcast_in_dim[shape=(4,4), dims=(1)] d
    z:f32[4,4] = mul i b
    p:f32[4,3] = dot_general[contract_lhs=(0), contract_rhs=(0), batch_lhs=(), batch_rhs=()] z m
    q:f32[3,4] = dot_general[contract_lhs=(0), contract_rhs=(1), batch_lhs=(), batch_rhs=()] m z
    r:f32[5] = dot_general[contract_lhs=(0,1), contract_rhs=(1,2), batch_lhs=(), batch_rhs=()] z n
    s:f32[4,4,5] = dot_general[contract_lhs=(), contract_rhs=(), batch_lhs=(0,1), batch_rhs=(1,2)] z n
    t:f32[4,4] = dot_general[contract_lhs=(1), contract_rhs=(1), batch_lhs=(), batch_rhs=()] z z
    u:f32[4,5] = dot_general[contract_lhs=(1), contract_rhs=(1), batch_lhs=(0), batch_rhs=(2)] z n
    c:f32[4,4,2] = broadcast_in_dim[shape=(4,4,2), dims=(0,1)] z
    v:f32[4,2,3] = dot_general[contract_lhs=(1), contract_rhs=(0), batch_lhs=(), batch_rhs=()] c m
    k:b1[4] = gt d 0.0:f32
    l:b1[4,4] = broadcast_in_dim[shape=(4,4), dims=(0)] k
    w:f32[4,4] = select_n l 0.0:f32 z
  in (p, q, r, s, t, u, v, w) })");
}

}  // namespace
}  // namespace anadrome

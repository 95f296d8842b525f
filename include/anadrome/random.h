// Random numbers as functions of a key: the same key gives the same numbers, eagerly, under jit and under
// vmap.
//
// A key is an array u32[2]. Never use one twice: `split` it, or `fold_in` a counter. The bits are those of
// JAX (threefry2x32), so that a program ported from it draws the same numbers. Under vmap over keys each
// example gets what its own key gives. Every function throws TypeError for a key that is not u32[2] and for a
// negative extent.
#pragma once
#include <optional>

#include "anadrome/array.h"

namespace anadrome::random {

using Source = std::source_location;

// ---- keys and bits

/// The key of a seed: its high and its low 32 bits.
Array prng_key(std::int64_t seed, Source source = Source::current());
/// The key of a scalar integer array; a seed of at most 32 bits has high word 0, also when it is negative.
/// Not differentiable. Throws TypeError for another shape or dtype.
Array prng_key(const Array& seed, Source source = Source::current());
/// `n` new keys, u32[n, 2]: `keys[0]`, `keys[1]`, ...
Array split(const Array& key, Dim n = 2, Source source = Source::current());
/// New keys in a shape: u32[shape..., 2].
Array split(const Array& key, const Shape& shape, Source source = Source::current());
/// A new key from a key and an integer: the number of a step, of a layer, of an example. `data` is a number
/// or a scalar integer array, of which the low 32 bits count.
Array fold_in(const Array& key, const Operand& data);
/// Uniform random bits: u8, u16, u32 or u64. Throws TypeError for another dtype.
Array random_bits(const Array& key, const Shape& shape, DType dtype = u32, Source source = Source::current());

// ---- continuous distributions (float dtypes only; TypeError otherwise)

/// Uniform in [min, max). Bounds are numbers, or arrays that broadcast to `shape`; differentiable in them.
Array uniform(const Array& key, const Shape& shape, DType dtype = f32, const Operand& min = 0,
              const Operand& max = 1, Source source = Source::current());
/// Normal, mean 0 and variance 1.
Array normal(const Array& key, const Shape& shape, DType dtype = f32, Source source = Source::current());
/// Normal, cut to the open interval (lower, upper). Bounds are numbers, or arrays that broadcast to `shape`.
/// Differentiable in them.
Array truncated_normal(const Array& key, const Operand& lower, const Operand& upper, const Shape& shape,
                       DType dtype = f32, Source source = Source::current());
/// Exponential with rate 1.
Array exponential(const Array& key, const Shape& shape, DType dtype = f32, Source source = Source::current());
/// Gumbel with location 0 and scale 1.
Array gumbel(const Array& key, const Shape& shape, DType dtype = f32, Source source = Source::current());
/// Laplace with location 0 and scale 1.
Array laplace(const Array& key, const Shape& shape, DType dtype = f32, Source source = Source::current());
/// Cauchy with location 0 and scale 1.
Array cauchy(const Array& key, const Shape& shape, DType dtype = f32, Source source = Source::current());
/// Logistic with location 0 and scale 1.
Array logistic(const Array& key, const Shape& shape, DType dtype = f32, Source source = Source::current());

// ---- discrete distributions (not differentiable)

/// Integers in [min, max), nearly uniform: from twice as many random bits as the dtype has. Bounds are
/// numbers or integer arrays that broadcast to `shape`; where max <= min the result is min. Bounds outside
/// the dtype's range are moved into it. Throws TypeError for a dtype that is not an integer.
Array randint(const Array& key, const Shape& shape, const Operand& min, const Operand& max, DType dtype = i32,
              Source source = Source::current());
/// True with probability `p`, b1; `p` is a number or an array that broadcasts to `shape`, whose shape is the
/// default.
Array bernoulli(const Array& key, const Operand& p = 0.5, const std::optional<Shape>& shape = {},
                Source source = Source::current());
/// Draws an index along `axis` with the probabilities softmax(logits): i32, the shape of `logits` without the
/// axis. Throws TypeError for logits that are not floats.
Array categorical(const Array& key, const Operand& logits, Dim axis = -1);
/// 0, ..., n - 1 in random order, i32.
Array permutation(const Array& key, Dim n, Source source = Source::current());
/// The slices of `x` along `axis` in random order. Dtype and shape of `x`; differentiable in `x`.
Array permutation(const Array& key, const Array& x, Dim axis = 0, Source source = Source::current());
/// Draws from 0, ..., n - 1, i32: with repetition when `replace`, otherwise all different. `weights`, float
/// [n], are the probabilities of the draws; equal ones when it is empty. Throws TypeError for more draws than
/// `n` without repetition, for draws from nothing, and for weights of another shape.
Array choice(const Array& key, Dim n, const Shape& shape, bool replace = true, const Array& weights = {},
             Source source = Source::current());
/// Draws slices of `x` along axis 0: the shape is `shape` + x.shape[1:]. Differentiable in `x`.
Array choice(const Array& key, const Array& x, const Shape& shape, bool replace = true,
             const Array& weights = {}, Source source = Source::current());

}  // namespace anadrome::random

// Random keys and bits: counters enciphered under the key.
#include "api/random_bits.h"

#include <string>

#include "anadrome/ops/shape.h"
#include "api/operand.h"
#include "primitives/op.h"

namespace anadrome::random {
namespace {

[[noreturn]] void refuse(std::string_view what, const std::string& text) {
  throw TypeError(std::string(what) + ": " + text + at_current_source());
}

/// One of the two words of a key, rank 0.
Array word(const Array& key, int which) {
  return op::reshape(op::slice(key, {which}, {which + 1}, {1}), {});
}

/// The numbers 0, 1, ... of the elements of a shape, row-major, as high and low words.
std::pair<Array, Array> counters(const Shape& shape) {
  const std::int64_t n = shape.elements();
  const bool one_word = n <= std::int64_t{1} << 32;
  if (shape.rank() == 0) return {op::number(0, u32), op::number(0, u32)};
  const Array count = op::reshape(op::iota(one_word ? u32 : u64, {n}, 0), shape);
  if (one_word) return {op::number(0, u32), count};
  return {op::convert(op::shift_right_logical(count, op::number(32, u64)), u32), op::convert(count, u32)};
}

/// The two words enciphered from each counter.
Arrays blocks(const Array& key, const Shape& shape) {
  const auto [high, low] = counters(shape);
  return op::threefry2x32(word(key, 0), word(key, 1), high, low);
}

/// Words side by side along a new last axis: keys.
Array keys_of_words(const Arrays& words) {
  const Shape& shape = words[0].shape();
  Shape column = shape;
  column.push_back(1);
  const Array parts[] = {op::reshape(words[0], column), op::reshape(words[1], column)};
  return op::concatenate(parts, shape.rank());
}

void check_key(const Array& key, std::string_view what) {
  check_usable(key, what);
  if (key.type() != Type{u32, {2}})
    refuse(what, "the key is " + to_string(key.type()) +
                     "; a key is u32[2], made by prng_key(seed) or split(key).");
}

/// An integer scalar as u32 words, high and low.
Arrays words_of(const Array& integer) {
  const bool wide = item_size(integer.dtype()) == 8;
  const Array unsigned_value = op::convert(integer, wide ? u64 : u32);
  if (!wide) return {op::number(0, u32), unsigned_value};
  return {op::convert(op::shift_right_logical(unsigned_value, op::number(32, u64)), u32),
          op::convert(unsigned_value, u32)};
}

}  // namespace

void check_draw(const Array& key, const Shape& shape, std::string_view what) {
  check_key(key, what);
  for (std::int64_t extent : shape)
    if (extent < 0) refuse(what, "negative extent in " + to_string(shape) + ".");
}

std::pair<Array, Array> two_keys(const Array& key) {
  const Array keys = keys_of_words(blocks(key, {2}));
  const auto row = [&](int i) { return op::reshape(op::slice(keys, {i, 0}, {i + 1, 2}, {1, 1}), {2}); };
  return {row(0), row(1)};
}

Array bits_of(const Array& key, const Shape& shape, DType dtype) {
  const Arrays words = blocks(key, shape);
  if (dtype != u64) return op::convert(op::bit_xor(words[0], words[1]), dtype);
  const Array high = op::shift_left(op::convert(words[0], u64), op::number(32, u64));
  return op::bit_or(high, op::convert(words[1], u64));
}

Array prng_key(std::int64_t seed, Source source) {
  const auto bits = static_cast<std::uint64_t>(seed);
  return array(
      std::vector<std::uint32_t>{static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits)},
      source);
}

Array prng_key(const Array& seed, Source source) {
  AtSource at(source);
  check_usable(seed, "prng_key");
  if (seed.rank() != 0 || !is_integer(seed.dtype()))
    refuse("prng_key",
           "the seed is " + to_string(seed.type()) + "; a seed is one integer. Use vmap for several.");
  return keys_of_words(words_of(seed));
}

Array split(const Array& key, Dim n, Source source) {
  return split(key, Shape{n}, source);
}

Array split(const Array& key, const Shape& shape, Source source) {
  AtSource at(source);
  check_draw(key, shape, "split");
  return keys_of_words(blocks(key, shape));
}

Array fold_in(const Array& key, const Operand& data) {
  AtSource at(data.source());
  check_key(key, "fold_in");
  Array low;
  if (data.is_literal() && data.literal_kind() != f64) {
    low = literal(Literal::of_integer(data.integer(), u32));
  } else {
    const Array number = as_array(data, "fold_in");
    if (number.rank() != 0 || !is_integer(number.dtype()))
      refuse("fold_in",
             "the data is " + to_string(number.type()) + "; fold in one integer. Use vmap for several.");
    low = op::convert(number, u32);
  }
  return keys_of_words(op::threefry2x32(word(key, 0), word(key, 1), op::number(0, u32), low));
}

Array random_bits(const Array& key, const Shape& shape, DType dtype, Source source) {
  AtSource at(source);
  check_draw(key, shape, "random_bits");
  if (!is_unsigned(dtype))
    refuse("random_bits", "the dtype is " + std::string(tag(dtype)) + "; bits are u8, u16, u32 or u64.");
  return bits_of(key, shape, dtype);
}

}  // namespace anadrome::random

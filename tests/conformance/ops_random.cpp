// Entries of the random operations.
#include "anadrome/random.h"

#include "anadrome/transform.h"
#include "conformance/op_table.h"
#include "core/builder.h"
#include "primitives/op.h"

namespace anadrome::conformance {

namespace {

/// The first half of the counters are the first words, the second half the second words; the result alike.
Arrays enciphered(const Arrays& in, const Params&) {
  const std::int64_t n = in.at(1).shape()[0] / 2;
  const auto part = [](const Array& x, std::int64_t start, std::int64_t limit) {
    return op::slice(x, {start}, {limit}, {1});
  };
  const auto word = [&](int k) { return op::reshape(part(in.at(0), k, k + 1), {}); };
  const Arrays words =
      op::threefry2x32(word(0), word(1), part(in.at(1), 0, n), part(in.at(1), n, 2 * n));
  return {op::concatenate(words, 0)};
}

void add_keys(OpTable& table) {
  table["threefry2x32"] = enciphered;
  table["prng_key"] = [](const Arrays& in, const Params&) -> Arrays { return {random::prng_key(in.at(0))}; };
  table["key_split"] = [](const Arrays& in, const Params& p) -> Arrays {
    const Json& num = p.at("num");
    return {num.is_array() ? random::split(in.at(0), ints(num)) : random::split(in.at(0), integer(p, "num"))};
  };
  table["key_split_vmapped"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {vmap([&](const Array& key) { return random::split(key, integer(p, "num")); })(in.at(0))};
  };
  table["fold_in"] = [](const Arrays& in, const Params&) -> Arrays { return {random::fold_in(in.at(0), in.at(1))}; };
  table["random_bits"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {random::random_bits(in.at(0), ints(p, "shape"), dtype_in(p, "dt"))};
  };
}

using Distribution = Array (*)(const Array& key, const Shape& shape, DType dtype, std::source_location source);

void add_distribution(OpTable& table, const char* name, Distribution draw) {
  table[name] = [draw](const Arrays& in, const Params& p) -> Arrays {
    return {draw(in.at(0), ints(p, "shape"), dtype_in(p, "dt"), std::source_location::current())};
  };
}

void add_continuous(OpTable& table) {
  table["uniform"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {random::uniform(in.at(0), ints(p, "shape"), dtype_in(p, "dt"), real(p, "min"), real(p, "max"))};
  };
  table["uniform_vmapped"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {vmap([&](const Array& key) { return random::uniform(key, ints(p, "shape")); })(in.at(0))};
  };
  table["truncated_normal"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {random::truncated_normal(in.at(0), real(p, "lower"), real(p, "upper"), ints(p, "shape"),
                                     dtype_in(p, "dt"))};
  };
  add_distribution(table, "normal", random::normal);
  add_distribution(table, "exponential", random::exponential);
  add_distribution(table, "gumbel", random::gumbel);
  add_distribution(table, "laplace", random::laplace);
  add_distribution(table, "cauchy", random::cauchy);
  add_distribution(table, "logistic_rv", random::logistic);
}

void add_discrete(OpTable& table) {
  table["randint"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {random::randint(in.at(0), ints(p, "shape"), integer(p, "min"), integer(p, "max"), dtype_in(p, "dt"))};
  };
  table["bernoulli"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {random::bernoulli(in.at(0), real(p, "p"), ints(p, "shape"))};
  };
  table["categorical"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {random::categorical(in.at(0), in.at(1), integer(p, "axis"))};
  };
  table["permutation"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {random::permutation(in.at(0), integer(p, "n"))};
  };
  table["permutation_rows"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {random::permutation(in.at(0), in.at(1), integer(p, "axis"))};
  };
  table["choice"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {random::choice(in.at(0), integer(p, "n"), ints(p, "shape"), flag(p, "replace"))};
  };
}

}  // namespace

void add_random(OpTable& table) {
  add_keys(table);
  add_continuous(table);
  add_discrete(table);
}

}  // namespace anadrome::conformance

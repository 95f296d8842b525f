// Entries of the random numbers.
#include "anadrome/detail/functional.h"
#include "anadrome/ops/shape.h"
#include "anadrome/random.h"
#include "conformance/op_table.h"
#include "primitives/op.h"

namespace anadrome::conformance {

namespace {

using Distribution = Array (*)(const Array& key, const Shape& shape, DType dtype, random::Source source);

OpFunction drawn(Distribution function) {
  return [function](const Arrays& in, const Params& p) -> Arrays {
    return {function(in.at(0), ints(p, "shape"), dtype_in(p, "dt"), random::Source::current())};
  };
}

/// The counts hold the first words, then the second words; the result likewise.
Arrays threefry(const Arrays& in, const Params&) {
  const std::int64_t half = in.at(1).size() / 2;
  const Array &key = in[0], &counts = in[1];
  return {concatenate(op::threefry2x32(key[0], key[1], counts[until(half)], counts[from(half)]))};
}

Arrays split_keys(const Arrays& in, const Params& p) {
  const Json& num = p.at("num");
  if (num.is_array()) return {random::split(in.at(0), ints(num))};
  return {random::split(in.at(0), num.get<std::int64_t>())};
}

/// A function of a key on a batch of keys.
OpFunction batched(OpFunction function) {
  return [function](const Arrays& in, const Params& p) {
    return functional::vmap([&](const Arrays& x) { return function(x, p); }, in, {0});
  };
}

void add_keys(OpTable& table) {
  table["threefry2x32"] = threefry;
  table["prng_key"] = [](const Arrays& in, const Params&) -> Arrays { return {random::prng_key(in.at(0))}; };
  table["key_split"] = split_keys;
  table["key_split_vmapped"] = batched(split_keys);
  table["fold_in"] = [](const Arrays& in, const Params&) -> Arrays {
    return {random::fold_in(in.at(0), in.at(1))};
  };
  table["random_bits"] = drawn(random::random_bits);
}

void add_continuous(OpTable& table) {
  table["uniform"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {random::uniform(in.at(0), ints(p, "shape"), dtype_in(p, "dt"), real(p, "min"), real(p, "max"))};
  };
  table["uniform_vmapped"] = batched([](const Arrays& in, const Params& p) -> Arrays {
    return {random::uniform(in.at(0), ints(p, "shape"))};
  });
  table["normal"] = drawn(random::normal);
  table["exponential"] = drawn(random::exponential);
  table["gumbel"] = drawn(random::gumbel);
  table["laplace"] = drawn(random::laplace);
  table["cauchy"] = drawn(random::cauchy);
  table["logistic_rv"] = drawn(random::logistic);
  table["truncated_normal"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {random::truncated_normal(in.at(0), real(p, "lower"), real(p, "upper"), ints(p, "shape"),
                                     dtype_in(p, "dt"))};
  };
}

void add_discrete(OpTable& table) {
  table["randint"] = [](const Arrays& in, const Params& p) -> Arrays {
    return {
        random::randint(in.at(0), ints(p, "shape"), integer(p, "min"), integer(p, "max"), dtype_in(p, "dt"))};
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

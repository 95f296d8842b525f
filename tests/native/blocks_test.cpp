// Products with what follows them, block by block; products added to arrays: beside the reference.
#include <gtest/gtest.h>

#include "anadrome/anadrome.h"
#include "anadrome/compile.h"
#include "support/values.h"

namespace anadrome {
namespace {

using List = std::vector<Array>;

struct Threads {
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
  int before = num_threads();
};

struct Case {
  const char* name;
  std::vector<Type> arguments;
  List (*f)(const List& x);
  int blocked, added;  // steps
};

/// A mixture of Gaussians with full factors: differences, products with each factor, sums, in one block.
Array squares(const Array& x, const Array& means, const Array& factors) {
  const Array centred = x[{all, newaxis}] - means;
  return sum(square(einsum("kij,nkj->nki", factors, centred)), 2);
}

const Case cases[] = {
    {"bias and activation", {{f32, {203, 70}}, {f32, {70, 307}}, {f32, {307}}},
     [](const List& x) { return List{tanh(dot(x[0], x[1]) + x[2])}; }, 1, 0},
    {"bias and activation in double", {{f64, {301, 70}}, {f64, {70, 103}}, {f64, {103}}},
     [](const List& x) { return List{tanh(dot(x[0], x[1]) + x[2])}; }, 1, 0},
    {"half precision goes step by step", {{bf16, {301, 70}}, {bf16, {70, 403}}, {bf16, {403}}},
     [](const List& x) { return List{tanh(dot(x[0], x[1]) + x[2])}; }, 0, 0},
    {"small results too", {{f32, {33, 70}}, {f32, {70, 37}}, {f32, {37}}},
     [](const List& x) { return List{tanh(dot(x[0], x[1]) + x[2])}; }, 0, 0},
    {"a product that is a result itself", {{f32, {203, 70}}, {f32, {70, 307}}},
     [](const List& x) {
       const Array y = dot(x[0], x[1]);
       return List{tanh(y), y};
     }, 0, 0},
    {"sums along rows", {{f32, {1003, 70}}, {f32, {70, 107}}, {f32, {107}}},
     [](const List& x) {
       const Array y = exp(dot(x[0], x[1]) + x[2]);
       return List{y / sum(y, 1, true)};
     }, 1, 0},
    {"sums along columns", {{f32, {203, 70}}, {f32, {70, 304}}, {f32, {203, 304}}},
     [](const List& x) {
       const Array y = dot(x[0], x[1]) * (1 - square(x[2]));
       return List{y, sum(y, 0)};
     }, 1, 0},
    {"sums along columns of odd number", {{f32, {203, 70}}, {f32, {70, 307}}, {f32, {203, 307}}},
     [](const List& x) {
       const Array y = dot(x[0], x[1]) * (1 - square(x[2]));
       return List{y, sum(y, 0)};
     }, -1, 0},
    {"an axis of one between others", {{f32, {203, 1, 70}}, {f32, {70, 307}}},
     [](const List& x) { return List{tanh(matmul(x[0], x[1]))}; }, 1, 0},
    {"axes of one around others", {{f64, {1, 203, 70}}, {f64, {70, 307}}},
     [](const List& x) { return List{tanh(matmul(x[0], x[1]) * 2)}; }, 1, 0},
    {"a batch", {{f64, {21, 40, 30}}, {f64, {21, 30, 37}}, {f64, {37}}},
     [](const List& x) { return List{tanh(matmul(x[0], x[1]) + x[2])}; }, 1, 0},
    {"what goes before belongs to it", {{f64, {1001, 33}}, {f64, {7, 33}}, {f64, {7, 33, 33}}},
     [](const List& x) { return List{squares(x[0], x[1], x[2])}; }, 1, 0},
    {"gradients of that", {{f64, {1001, 33}}, {f64, {7, 33}}, {f64, {7, 33, 33}}},
     [](const List& x) {
       const auto loss = [](const Array& x, const Array& means, const Array& factors) {
         return sum(logsumexp(-0.5 * squares(x, means, factors), 1));
       };
       const auto [a, b, c] = grad<0, 1, 2>(loss)(x[0], x[1], x[2]);
       return List{a, b, c};
     }, -1, -1},
    {"two layers", {{f32, {523, 40}}, {f32, {40, 96}}, {f32, {96, 130}}, {f32, {130}}},
     [](const List& x) { return List{tanh(dot(tanh(dot(x[0], x[1])), x[2]) + x[3])}; }, 1, 0},
    {"neighbours of the product", {{f32, {203, 70}}, {f32, {70, 307}}},
     [](const List& x) {
       const Array y = dot(x[0], x[1]);
       return List{y[{from(1), all}] - y[{slice(0, -1), all}]};
     }, 0, 0},
    {"the product and its transpose", {{f32, {203, 70}}, {f32, {70, 203}}},
     [](const List& x) {
       const Array y = dot(x[0], x[1]);
       return List{y * transpose(y)};
     }, -1, 0},
    {"added to an argument", {{f32, {203, 307}}, {f32, {203, 70}}, {f32, {70, 307}}},
     [](const List& x) { return List{x[0] + dot(x[1], x[2])}; }, 0, 1},
    {"added to what is computed", {{f64, {31, 30}}, {f64, {31, 70}}, {f64, {70, 30}}},
     [](const List& x) { return List{dot(x[1], x[2]) + exp(x[0])}; }, 0, 0},
    {"two products added", {{f32, {21, 300}}, {f32, {300, 37}}, {f32, {21, 70}}, {f32, {70, 37}}},
     [](const List& x) { return List{dot(x[0], x[1]) + dot(x[2], x[3])}; }, 0, 1},
    {"a transposed product added", {{f64, {30, 31}}, {f64, {31, 70}}, {f64, {70, 30}}},
     [](const List& x) { return List{x[0] + transpose(dot(x[1], x[2]))}; }, 0, 1},
    {"half precision added", {{f16, {31, 30}}, {f16, {31, 70}}, {f16, {70, 30}}},
     [](const List& x) { return List{x[0] + dot(x[1], x[2])}; }, 0, 1},
    {"added to a factor", {{f32, {70, 70}}, {f32, {70, 70}}},
     [](const List& x) { return List{x[0] + dot(x[0], x[1])}; }, 0, 0},
    {"nothing contracted", {{f32, {31, 30}}, {f32, {31, 0}}, {f32, {0, 30}}},
     [](const List& x) { return List{x[0] + dot(x[1], x[2])}; }, 0, 1},
};

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++n;
  return n;
}

class Blocks : public ::testing::TestWithParam<Case> {};

ProgramPtr recorded(const Case& c, const List& x) {
  return std::make_shared<const Program>(make_program(c.f, x));
}

TEST_P(Blocks, AgreeWithTheReferenceOnAnyNumberOfThreads) {
  const Case& c = GetParam();
  std::mt19937 random(11);
  List x;
  for (const Type& t : c.arguments) x.push_back(testing::random_array(t, random));
  const ProgramPtr program = recorded(c, x);
  const List want = compile(program, {.backend = "eval"})->run(x);
  const DType dtype = c.arguments[0].dtype;
  const double bound = item_size(dtype) == 2 ? 2e-2 : dtype == f32 ? 2e-5 : 1e-12;
  List first;
  for (int threads : {1, 2, 3, 8}) {
    const Threads set(threads);
    const auto native = compile(program, {.backend = "native"});
    const std::string text = native->text();
    if (c.blocked >= 0 && threads == 2) {
      EXPECT_EQ(count(text, " blocks of "), c.blocked) << text;
    }
    if (c.added >= 0) {
      EXPECT_EQ(count(text, ", added)"), c.added) << text;
    }
    const List got = native->run(x);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
      EXPECT_LT(testing::difference(got[k], want[k]), bound) << c.name << ", result " << k << ", " << threads << " threads\n" << text;
      EXPECT_TRUE(first.empty() || testing::identical(got[k], first[k])) << c.name << ", " << threads << " threads";
    }
    if (first.empty()) first = got;
  }
}

INSTANTIATE_TEST_SUITE_P(Native, Blocks, ::testing::ValuesIn(cases), [](const auto& info) {
  std::string out;
  for (const char* p = info.param.name; *p; ++p)
    if (std::isalnum(static_cast<unsigned char>(*p))) out += *p;
  return out;
});

/// Random programs of products, elementwise functions and sums on matrices large enough for blocks.
class Maker {
 public:
  Maker(unsigned seed, DType dtype) : random_(seed), dtype_(dtype), rows_(extent(150, 330)) {}

  std::vector<Type> arguments() {
    columns_ = extent(110, 260);
    return {{dtype_, {rows_, columns_}}, {dtype_, {columns_, columns_}}, {dtype_, {columns_}}, {dtype_, {rows_, rows_}}};
  }
  List operator()(const List& x) {
    List matrices{x[0]};
    List results;
    for (int n = pick(3, 9); n > 0; --n) {
      const Array a = matrices[at(matrices)], b = matrices[at(matrices)];
      switch (pick(0, 11)) {
        case 0: case 1: case 2: matrices.push_back(dot(a, x[1]) * 0.1); break;
        case 3: matrices.push_back(dot(x[3], a) * 0.1); break;
        case 4: matrices.push_back(transpose(dot(transpose(x[1]), transpose(a))) + b); break;
        case 5: matrices.push_back(tanh(a + x[2])); break;
        case 6: matrices.push_back(a * b); break;
        case 7: matrices.push_back(a - sum(b, 1, true) * 0.01); break;
        case 8: matrices.push_back(a - sum(b, 0) * 0.01); break;
        case 9: matrices.push_back(dot(a, x[1]) + b); break;
        case 10: matrices.push_back(where(x[2] > 0.1, sin(a), b)); break;
        default: results.push_back(sum(a * b, pick(0, 1))); break;
      }
    }
    results.push_back(matrices.back());
    if (pick(0, 1)) results.push_back(matrices[at(matrices)]);
    return results;
  }

 private:
  int pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }
  std::int64_t extent(int lo, int hi) { return pick(0, 1) ? pick(lo, hi) : pick(lo / 16, hi / 16) * 16; }
  std::size_t at(const List& list) { return static_cast<std::size_t>(pick(0, static_cast<int>(list.size()) - 1)); }

  std::mt19937 random_;
  DType dtype_;
  std::int64_t rows_, columns_ = 0;
};

/// The same with batches of products whose axis lies between others.
class BatchMaker {
 public:
  BatchMaker(unsigned seed, DType dtype) : random_(seed), dtype_(dtype) {}

  std::vector<Type> arguments() {
    const bool one = pick(0, 3) == 0;
    const std::int64_t n = one ? pick(1000, 2000) : pick(150, 400), k = one ? 1 : pick(3, 9), d = pick(18, 40);
    return {{dtype_, {n, k, d}}, {dtype_, {k, d, d}}, {dtype_, {k, d}}, {dtype_, {d, d}}};
  }
  List operator()(const List& x) {
    List arrays{x[0]};
    List results;
    for (int n = pick(3, 9); n > 0; --n) {
      const Array a = arrays[at(arrays)], b = arrays[at(arrays)];
      switch (pick(0, 9)) {
        case 0: case 1: arrays.push_back(einsum("kij,nkj->nki", x[1], a) * 0.1); break;
        case 2: arrays.push_back(einsum("kij,nki->nkj", x[1], a) * 0.1); break;
        case 3: arrays.push_back(tanh(einsum("ij,nkj->nki", x[3], a)) + b); break;
        case 4: arrays.push_back(sin(a + x[2])); break;
        case 5: arrays.push_back(a * b); break;
        case 6: arrays.push_back(a - sum(b, 0) * 0.001); break;
        case 7: arrays.push_back(a * sum(b, 2, true) * 0.01); break;
        case 8: results.push_back(einsum("nki,nkj->kij", a, b)); break;
        default: results.push_back(sum(a * b, pick(0, 2))); break;
      }
    }
    results.push_back(arrays.back());
    return results;
  }

 private:
  int pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }
  std::size_t at(const List& list) { return static_cast<std::size_t>(pick(0, static_cast<int>(list.size()) - 1)); }

  std::mt19937 random_;
  DType dtype_;
};

/// Programs of more equations than one kernel takes, on arrays that do not all have the same axes.
class LongMaker {
 public:
  LongMaker(unsigned seed, DType dtype) : random_(seed), dtype_(dtype) {}

  std::vector<Type> arguments() {
    const std::int64_t n = pick(0, 1) ? pick(150, 400) : pick(10, 25) * 16, m = pick(0, 1) ? pick(60, 100) : pick(4, 6) * 16;
    flat_ = pick(0, 2) == 0;
    if (!flat_ && pick(0, 1)) {
      last_ = 2;
      return {{dtype_, {n, 1, m}}, {dtype_, {m}}, {dtype_, {n, 1, 1}}};
    }
    if (flat_) return {{dtype_, {n * m}}, {dtype_, {1}}, {dtype_, {n * m}}};
    return {{dtype_, {n, m}}, {dtype_, {m}}, {dtype_, {n, 1}}};
  }
  List operator()(const List& x) {
    List arrays{x[0]};
    List results;
    for (int n = pick(100, 250); n > 0; --n) {
      const Array a = arrays[at(arrays)], b = arrays[at(arrays)];
      switch (pick(0, 12)) {
        case 0: arrays.push_back(a + x[1]); break;
        case 1: arrays.push_back(a * x[2]); break;
        case 2: arrays.push_back(sin(a)); break;
        case 3: arrays.push_back(cos(a)); break;
        case 4: arrays.push_back(tanh(a - b)); break;
        case 5: arrays.push_back(max(a, b)); break;
        case 6: arrays.push_back(where(x[1] > 0.1, b, a)); break;
        case 7: arrays.push_back(a - (flat_ ? b : sum(b, last_, true)) * 0.01); break;
        case 8: if (results.size() < 3) results.push_back(b); break;
        case 9: if (results.size() < 3) results.push_back(sum(b, flat_ || pick(0, 1) ? 0 : last_)); break;
        default: arrays.push_back(a * 0.5 + b * 0.5); break;
      }
    }
    results.push_back(arrays.back());
    return results;
  }

 private:
  int pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }
  /// One of the last: chains.
  std::size_t at(const List& list) { return list.size() - 1 - static_cast<std::size_t>(pick(0, std::min(5, static_cast<int>(list.size()) - 1))); }

  std::mt19937 random_;
  DType dtype_;
  bool flat_ = false;
  int last_ = 1;  // the axis of the columns
};

struct Steps {
  int blocked = 0, added = 0;
};
template <class Maker> Steps compare_random_programs(unsigned programs) {
  Steps out;
  for (unsigned seed = 0; seed < programs; ++seed) {
    const DType dtype = seed % 2 ? f32 : f64;
    Maker maker(seed, dtype);
    std::mt19937 random(seed);
    List x;
    for (const Type& t : maker.arguments()) x.push_back(testing::random_array(t, random));
    const auto program = std::make_shared<const Program>(make_program([&](const List& list) { return maker(list); }, x));
    const List want = compile(program, {.backend = "eval"})->run(x);
    const Threads set(static_cast<int>(1 + seed % 3));
    const auto native = compile(program, {.backend = "native"});
    out.blocked += count(native->text(), " blocks of ");
    out.added += count(native->text(), ", added)");
    const List got = native->run(x);
    for (std::size_t k = 0; k < got.size(); ++k)
      EXPECT_LT(testing::difference(got[k], want[k]), dtype == f32 ? 2e-4 : 1e-12) << "seed " << seed << ", result " << k << "\n" << native->text();
  }
  return out;
}

TEST(Blocks, RandomProgramsOfMatricesAgreeWithTheReference) {
  const Steps steps = compare_random_programs<Maker>(120);
  EXPECT_GT(steps.blocked, 60);
  EXPECT_GT(steps.added, 8);
}
TEST(Blocks, RandomProgramsOfBatchesAgreeWithTheReference) {
  EXPECT_GT(compare_random_programs<BatchMaker>(120).blocked, 60);
}

TEST(Blocks, RandomLongProgramsAgreeWithTheReference) {
  EXPECT_GT(compare_random_programs<LongMaker>(60).blocked, 30);
}

TEST(Blocks, LongChainsNeedNoMemory) {
  const auto chain = [](const Array& start) {
    Array x = start;
    for (int i = 0; i < 300; ++i) x = sin(x) * 1.01 + 0.1 * i;
    return sum(x);
  };
  const Array x = ones({128});
  const auto native = compile(std::make_shared<const Program>(make_program(grad(chain), x)), {.backend = "native"});
  EXPECT_EQ(native->memory_analysis().temp_size_in_bytes, 0) << native->text();
}

TEST(Blocks, ResultsLieOverDonatedArguments) {
  const auto chain = [](const Array& start) {
    Array x = start;
    for (int i = 0; i < 200; ++i) x = x * 0.99 + 0.1 * i * start;
    return x;
  };
  for (std::int64_t n : {4096, 40'003}) {
    const auto program = std::make_shared<const Program>(make_program(chain, zeros({n})));
    const bool donated[] = {true};
    std::mt19937 random(5);
    const Array x = testing::random_array({f32, {n}}, random);
    const List want = compile(program, {.backend = "eval"})->run(List{x});
    const auto native = compile(program, {.backend = "native"}, donated);
    EXPECT_EQ(native->memory_analysis().alias_size_in_bytes, n * 4);
    EXPECT_LT(native->memory_analysis().temp_size_in_bytes, n * 4) << native->text();
    const List got = native->run(List{x + 0.0});
    EXPECT_LT(testing::difference(got[0], want[0]), 1e-5) << n;
  }
}

TEST(Blocks, HoldWhatTheyHandOver) {
  // Neither the product of each step with its factor nor its function exists as a whole.
  const List x{zeros({400, 32, 40}), zeros({32, 40, 40})};
  const auto program = std::make_shared<const Program>(make_program(
      [](const List& x) { return List{sum(tanh(einsum("kij,nkj->nki", x[1], x[0])), 0)}; }, x));
  const auto native = compile(program, {.backend = "native"});
  EXPECT_LT(native->memory_analysis().temp_size_in_bytes, 400 * 32 * 40 * 4 / 2) << native->text();
}

TEST(AddedProducts, TakeTheMemoryOfWhatTheyAreAddedTo) {
  const auto program = std::make_shared<const Program>(parse_program(
      "{ lambda ; c:f32[64,64] a:f32[64,32] b:f32[32,64] . let d:f32[64,64] = dot_general[contract_lhs=(1), contract_rhs=(0), "
      "batch_lhs=(), batch_rhs=()] a b e:f32[64,64] = add c d in (e) }"));
  const bool donated[] = {true};
  const auto compiled = compile(program, {.backend = "native"}, donated);
  EXPECT_EQ(compiled->memory_analysis().alias_size_in_bytes, 64 * 64 * 4);
  EXPECT_EQ(compiled->memory_analysis().temp_size_in_bytes, 0);
}

}  // namespace
}  // namespace anadrome

// Errors of recorded values: read too early, kept too long, used elsewhere.
#include "anadrome/anadrome.h"
#include "support/messages.h"

namespace anadrome {
namespace {

using testing::expect_contains;
using testing::expect_error;
using testing::message;
using testing::this_file;

const std::string here = this_file();
const Array three = ones({3});

TEST(TraceErrors, AnItemUnderJitOrVmapHasNoNumber) {
  const auto f = [](const Array& x) { return x.item<float>() > 0 ? x : -x; };
  expect_error<TraceError>([&] { return jit(f)(scalar(1.0)); },
                           {"item", "f32[]", "'jit'", "where(condition, a, b)", "static", here},
                           [&] { return grad(f)(scalar(1.0)); });
  expect_error<TraceError>([&] { return vmap(f)(three); }, {"item", "f32[]", "'vmap'", here},
                           [&] { return f(scalar(1.0)); });
  expect_error<TraceError>(
      [&] { return jit([](const Array& x) { return array(x.to_vector<float>()); })(three); },
      {"to_vector", "f32[3]", here}, [&] { return three.to_vector<float>(); });
  expect_error<TraceError>([&] { return grad(jit(f))(scalar(1.0)); }, {"item", "'jit'", here},
                           [&] { return grad(f)(scalar(1.0)); });
}

TEST(TraceErrors, ALeakedValueNamesTheLineThatMadeIt) {
  Array kept;
  const std::string made = here + std::to_string(__LINE__ + 2);
  (void)jit([&](const Array& x) {
    kept = x * 2;
    return sum(kept);
  })(three);
  const std::vector<std::string> parts{"f32[3]", "'jit'", made, "ended", "Return it"};
  expect_error<TraceError>([&] { return kept + 1; }, parts, [&] { return three + 1; });
  expect_error<TraceError>([&] { return kept.to_vector<float>(); }, parts,
                           [&] { return three.to_vector<float>(); });
  expect_error<TraceError>([&] { return jit([&](const Array& x) { return x + kept; })(three); }, parts,
                           [&] { return jit([&](const Array& x) { return x + three; })(three); });
  expect_error<TraceError>([&] { return grad([](const Array& x) { return sum(x); })(kept); },
                           {"f32[3]", "'jit'", made, "ended"},
                           [&] { return grad([](const Array& x) { return sum(x); })(three); });
}

TEST(TraceErrors, AValueOfASiblingFunctionIsRefused) {
  Array kept;
  std::string made;
  const auto f = [&](const Array& x) {
    made = here + std::to_string(__LINE__ + 1);
    const Array y = vmap([&](const Array& v) { return kept = v * 2; })(x);
    return sum(y) + sum(vmap([&](const Array& v) { return v + kept; })(x));
  };
  expect_contains(message<TraceError>([&] { return grad(f)(three); }), {"f32[]", "'vmap'", "ended"});
  expect_contains(message<TraceError>([&] { return grad(f)(three); }), {made});
  const auto nested = [](const Array& x) { return sum(vmap([&](const Array& v) { return v + x[0]; })(x)); };
  EXPECT_NO_THROW((void)grad(nested)(three));
}

TEST(TraceErrors, ANamedAxisOutsideItsVmap) {
  const auto f = [](const Array& x) { return x - pmean(x, "batch"); };
  expect_error<TraceError>([&] { return f(three); }, {"'batch'", "vmap", "axis_name", here},
                           [&] { return vmap(f, {.axis_name = "batch"})(three); });
  expect_error<TraceError>([&] { return vmap(f, {.axis_name = "other"})(three); }, {"'batch'", "axis_name"},
                           [&] { return vmap(f, {.axis_name = "batch"})(three); });
  expect_error<TraceError>([&] { return axis_index("batch"); }, {"axis_index", "'batch'", here},
                           [&] {
                             return vmap([](const Array& x) { return x + axis_index("batch"); },
                                         {.axis_name = "batch"})(three);
                           });
}

}  // namespace
}  // namespace anadrome

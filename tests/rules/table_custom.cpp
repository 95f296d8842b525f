// Rows of functions with derivative rules of their own, of checkpoints, and of require.
#include <cmath>

#include "anadrome/ops/shape.h"
#include "core/builder.h"
#include "rules/arguments.h"
#include "rules/recorded.h"
#include "support/derivatives.h"

namespace anadrome::testing {
namespace {

using A = const Arrays&;

/// What the differentiable ones of `values` have as tangents, in types alone.
Arrays tangent_types(A values) {
  Arrays out;
  for (const Array& v : values)
    if (is_float(v.dtype())) out.push_back(abstract(v.dtype(), v.shape()));
  return out;
}

/// A function, and its tangents: the rule takes the arguments, then a tangent for each float, and gives tangents alone.
struct Ruled {
  Function f, tangents;
};
Arrays with_tangent_rule(const Ruled& r, A x) {
  const Recorded function = recorded(r.f, x);
  const Function rule = [&](A all) {
    const Arrays values(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(x.size()));
    return joined(r.f(values), r.tangents(all));
  };
  const Recorded tangents = recorded(rule, joined(x, tangent_types(x)));
  const CustomJvpAttr attr{"custom_jvp", function.program, tangents.program, function.count(), tangents.count(), {}};
  return op::custom_jvp(attr, joined(joined(function.captures, tangents.captures), x));
}

/// A function with a forward rule that gives residuals alone, and a backward rule from residuals and cotangents.
struct Reversed {
  Function f, residuals, cotangents;
};
CustomVjpAttr reverse_rules(const Reversed& r, A x, Arrays& captures) {
  const Recorded function = recorded(r.f, x);
  const Function both = [&](A v) { return joined(r.f(v), r.residuals(v)); };
  const Recorded forward = recorded(both, x);
  Arrays known;
  for (const Type& t : forward.program->output_types()) known.push_back(abstract(t.dtype, t.shape));
  const Arrays results(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(function.program->outputs.size()));
  known.erase(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(results.size()));
  const Recorded backward = recorded(r.cotangents, joined(known, tangent_types(results)));
  captures = joined(joined(function.captures, forward.captures), backward.captures);
  return {"custom_vjp", function.program, forward.program, backward.program, function.count(), forward.count(), backward.count(), {}};
}
Arrays with_reverse_rule(const Reversed& r, A x) {
  Arrays captures;
  const CustomVjpAttr attr = reverse_rules(r, x, captures);
  return op::custom_vjp(attr, joined(captures, x));
}

Arrays kept(Save save, const Function& body, A x, std::vector<std::string> names = {}) {
  const Recorded r = recorded(body, x);
  return op::checkpoint({r.program, save, std::move(names)}, joined(r.captures, x));
}

// ---- the functions of the cases

/// sin(x) y, x + y.
Arrays wave(A x) { return {op::mul(op::sin(x[0]), x[1]), op::add(x[0], x[1])}; }
std::vector<Numbers> wave_values(A x) {
  const Numbers a = numbers(x[0]), b = numbers(x[1]);
  std::vector<Numbers> out(2);
  for (std::size_t i = 0; i < a.size(); ++i) out[0].push_back(std::sin(a[i]) * b[i]), out[1].push_back(a[i] + b[i]);
  return out;
}
const Ruled wave_forward{wave, [](A x) {
                           const Array along_x = op::mul(op::mul(op::cos(x[0]), x[1]), x[2]);
                           return Arrays{op::add(along_x, op::mul(op::sin(x[0]), x[3])), op::add(x[2], x[3])};
                         }};
const Reversed wave_backward{wave, [](A x) { return Arrays{op::sin(x[0]), op::mul(op::cos(x[0]), x[1])}; },
                             [](A r) {
                               return Arrays{op::add(op::mul(r[1], r[2]), r[3]), op::add(op::mul(r[0], r[2]), r[3])};
                             }};

std::vector<Case> waves(const char* kind, const std::function<Arrays(A)>& f) {
  std::vector<Case> out;
  for (const Shape& shape : {Shape{}, Shape{2, 3}, Shape{0}}) {
    const auto n = static_cast<double>(shape.elements());
    out.push_back({kind + (" " + to_string(shape)), f, {real(shape), real(shape)}, {2 * n, n}});
    out.back().value = wave_values;
  }
  return out;
}

/// An integer beside the number: x i, i + 1.
Arrays scaled(A x) { return {op::mul(x[0], op::convert(x[1], f64)), op::add(x[1], op::number(1, i32))}; }
std::vector<Numbers> scaled_values(A x) {
  const double i = numbers(x[1])[0];
  Numbers v = numbers(x[0]);
  for (double& d : v) d *= i;
  return {v, {i + 1}};
}
Case with_integers(std::string name, const Function& f) {
  Case c{std::move(name), f, {real({3}), whole(i32, {}, -4, 4)}, {4, 0}};
  c.value = scaled_values;
  return c;
}

/// exp(w) x, where w is what the function and its rules capture: it has no derivative.
Case with_capture(std::string name, const std::function<Arrays(const Array& x, const Array& w)>& f) {
  Case c{std::move(name), [f](A x) { return f(x[0], x[1]); }, {real({2}), real({2}, -1, 1, 0)}, {2, 2}};
  c.value = [](A x) {
    Numbers v = numbers(x[0]);
    const Numbers w = numbers(x[1]);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] *= std::exp(w[i]);
    return std::vector<Numbers>{v};
  };
  return c;
}
Array times_exp(const Array& x, const Array& w) { return op::mul(op::exp(w), x); }

// ---- rows

Row custom_jvp_row() {
  Row row{&prim::custom_jvp, waves("wave", [](A x) { return with_tangent_rule(wave_forward, x); })};
  row.cases.push_back(with_integers("an integer argument and result", [](A x) {
    return with_tangent_rule({scaled, [](A v) { return Arrays{op::mul(v[2], op::convert(v[1], f64))}; }}, x);
  }));
  row.cases.push_back(with_capture("captures", [](const Array& x, const Array& w) {
    return with_tangent_rule({[&](A v) { return Arrays{times_exp(v[0], w)}; }, [&](A v) { return Arrays{times_exp(v[1], w)}; }}, {x});
  }));
  row.cases.push_back({"results of one argument each, in a rule that is not",
                       [](A x) {
                         const Function each = [](A v) { return Arrays{op::sin(v[0]), op::mul(v[1], v[1]), op::number(2, f64)}; };
                         const Function tangents = [](A v) {
                           const Array nothing = op::mul(v[0], op::mul(v[1], op::number(0, f64)));
                           return Arrays{op::mul(op::cos(v[0]), v[2]), op::add(op::mul(op::add(v[1], v[1]), v[3]), op::mul(nothing, v[2])),
                                         op::mul(nothing, v[3])};
                         };
                         return with_tangent_rule({each, tangents}, x);
                       },
                       {real({}), real({})},
                       {1, 1}});
  row.cases.push_back({"one in the function of another, and in its rule",
                       [](A x) {
                         const Ruled sine{[](A v) { return Arrays{op::sin(v[0])}; }, [](A v) { return Arrays{op::mul(op::cos(v[0]), v[1])}; }};
                         const Ruled outer{[=](A v) { return Arrays{op::mul(with_tangent_rule(sine, {v[0]})[0], v[0])}; },
                                           [=](A v) {
                                             const Array s = with_tangent_rule(sine, {v[0]})[0];
                                             return Arrays{op::mul(op::add(s, op::mul(v[0], op::cos(v[0]))), v[1])};
                                           }};
                         return with_tangent_rule(outer, x);
                       },
                       {real({2})},
                       {2, 2}});
  row.cases.push_back({"integers alone",
                       [](A x) {
                         return with_tangent_rule({[](A v) { return Arrays{op::add(v[0], v[0])}; }, [](A) { return Arrays{}; }}, x);
                       },
                       {whole(i32, {5}, -9, 9)},
                       {5, 0}});
  return row;
}

Case reverse_only(Case c) {
  c.reverse_only = true;
  return c;
}

Row custom_vjp_row() {
  Row row{&prim::custom_vjp, waves("wave", [](A x) { return with_reverse_rule(wave_backward, x); })};
  row.cases.push_back(with_integers("an integer argument and result", [](A x) {
    return with_reverse_rule({scaled, [](A v) { return Arrays{v[1]}; }, [](A r) { return Arrays{op::mul(r[1], op::convert(r[0], f64))}; }}, x);
  }));
  row.cases.push_back(with_capture("captures", [](const Array& x, const Array& w) {
    return with_reverse_rule({[&](A v) { return Arrays{times_exp(v[0], w)}; }, [&](A) { return Arrays{op::mul(w, op::number(0.5, f64))}; },
                              [&](A r) { return Arrays{times_exp(r[1], op::add(r[0], op::mul(w, op::number(0.5, f64))))}; }},
                             {x});
  }));
  row.cases.push_back({"results of one argument each, and a number",
                       [](A x) {
                         return with_reverse_rule({[](A v) { return Arrays{op::sin(v[0]), op::mul(v[1], v[1]), op::number(2, f64)}; },
                                                   [](A v) { return Arrays{op::cos(v[0]), op::add(v[1], v[1])}; },
                                                   [](A r) { return Arrays{op::mul(r[0], r[2]), op::mul(r[1], r[3])}; }},
                                                  x);
                       },
                       {real({}), real({})},
                       {1, 1}});
  row.cases.push_back({"a cotangent that no example changes",
                       [](A x) {
                         return with_reverse_rule({[](A v) { return Arrays{op::add(v[0], op::mul(v[1], op::number(3, f64)))}; },
                                                   [](A) { return Arrays{}; },
                                                   [](A r) { return Arrays{r[0], op::mul(r[0], op::number(3, f64))}; }},
                                                  x);
                       },
                       {real({}), real({})},
                       {2, 0}});
  for (Case& c : row.cases) c = reverse_only(std::move(c));
  return row;
}

/// The linear part of a custom_vjp function of `numbers` arguments, by its known values and the tangents.
Case linear_part(std::string name, std::vector<Argument> arguments, std::int64_t numbers, const Function& cotangents, std::size_t known) {
  Case c;
  c.name = std::move(name);
  c.arguments = std::move(arguments);
  c.f = [=](A x) {
    Ints perturbed;
    for (std::int64_t i = 0; i < numbers; ++i) perturbed.push_back(1);
    const Arrays tangents(x.begin() + static_cast<std::ptrdiff_t>(known), x.end()), values(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(known));
    const Recorded function = recorded([](A v) { return Arrays{v[0]}; }, tangent_types(tangents));
    const Recorded backward = recorded(cotangents, joined(tangent_types(values), tangent_types({tangents[0]})));
    return op::custom_linear({"custom_vjp", function.program, backward.program, static_cast<std::int64_t>(known), perturbed, {}}, x);
  };
  c.transposed = cotangents;
  return c;
}
Row custom_linear_row() {
  Row row{&prim::custom_linear, {}};
  for (const Shape& shape : {Shape{}, Shape{2, 3}, Shape{0}})
    row.cases.push_back(linear_part("scaled " + to_string(shape), {real(shape, -2, 2, 0), real(shape)}, 1,
                                    [](A v) { return Arrays{op::mul(op::sin(v[0]), v[1])}; }, 1));
  row.cases.push_back(linear_part("nothing known, two tangents", {real({3}), real({3})}, 2,
                                  [](A v) { return Arrays{op::neg(v[0]), op::add(v[0], v[0])}; }, 0));
  return row;
}

Row checkpoint_row() {
  Row row{&prim::checkpoint, {}};
  for (const auto& [save, name] : {std::pair{Save::nothing, "nothing"}, {Save::everything, "everything"}, {Save::dots, "dots"}, {Save::names, "names"}})
    for (Case& c : waves(name, [save = save](A x) { return kept(save, wave, x, {"a"}); })) row.cases.push_back(std::move(c));
  const Function layer = [](A v) {
    const Array h = op::checkpoint_name(op::tanh(op::mul(v[0], v[1])), "h");
    return Arrays{op::sin(op::checkpoint_name(op::mul(h, v[1]), "other")), op::exp(h)};
  };
  for (const auto& [save, name] : {std::pair{Save::names, "h"}, {Save::names, "nobody"}, {Save::dots, "h"}, {Save::everything, "h"}})
    row.cases.push_back({std::string("a layer that keeps ") + name, [=, save = save, name = std::string(name)](A x) { return kept(save, layer, x, {name}); },
                         {real({2}, -1, 1), real({2}, -1, 1)}, {4, 6}});
  row.cases.push_back({"in another, with a capture",
                       [layer](A x) {
                         const Function outer = [&](A v) { return Arrays{op::mul(kept(Save::nothing, layer, {v[0], x[1]})[0], v[0])}; };
                         return kept(Save::names, outer, {x[0]}, {"h"});
                       },
                       {real({2}, -1, 1), real({2}, -1, 1)},
                       {6, 6}});
  row.cases.push_back(with_integers("an integer argument and result", [](A x) { return kept(Save::nothing, scaled, x); }));
  return row;
}

Row checkpoint_name_row() {
  Row row{&prim::checkpoint_name, {}};
  for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{1}, Shape{33}, Shape{0}})
    row.cases.push_back(with_value(one_result("checkpoint_name " + to_string(shape), {real(shape)},
                                              [](A x) { return op::checkpoint_name(x[0], "a name"); }),
                                   [](A x) { return numbers(x[0]); }));
  row.cases.push_back(with_value(one_result("checkpoint_name of integers", {whole(i32, {5}, -9, 9)},
                                            [](A x) { return op::checkpoint_name(x[0], "n"); }),
                                 [](A x) { return numbers(x[0]); }));
  return row;
}

Row require_row() {
  Row row{&prim::require, {}};
  for (const Shape& shape : {Shape{3, 4}, Shape{}, Shape{1}, Shape{33}, Shape{0}})
    row.cases.push_back(with_value(one_result("require " + to_string(shape), {whole(b1, {}, 0, 0), real(shape)},
                                              [](A x) { return op::require(x[0], x[1], "never shown"); }),
                                   [](A x) { return numbers(x[1]); }));
  row.cases.push_back(with_value(one_result("require of integers", {whole(b1, {}, 0, 0), whole(i32, {5}, -9, 9)},
                                            [](A x) { return op::require(x[0], x[1], "never shown"); }),
                                 [](A x) { return numbers(x[1]); }));
  return row;
}

}  // namespace

std::vector<Row> custom_rows() {
  return {custom_jvp_row(), custom_vjp_row(), custom_linear_row(), checkpoint_row(), checkpoint_name_row(), require_row()};
}

}  // namespace anadrome::testing

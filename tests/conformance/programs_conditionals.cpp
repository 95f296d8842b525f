// Programs about cond, switch_ and where, closures in loops, and calls that are refused.
#include <vector>

#include "conformance/program_table.h"

namespace anadrome::conformance {

namespace {

Outputs cond_gradients(const Inputs& in) {
  const Array &x = in["x"], &y = in["y"];
  const auto f = [](const Array& p, const Array& a, const Array& b) {
    return cond(
        p, [](const Array& u, const Array& v) { return sin(u) * v; },
        [](const Array& u, const Array& v) { return u * u + v; }, a, b);
  };
  const auto derivative = value_and_grad<1, 2>(f);
  const auto [true_value, true_grad] = derivative(scalar(1, b1), x, y);
  const auto [false_value, false_grad] = compiled(in, derivative)(scalar(0, b1), x, y);
  return {{"true_value", true_value},
          {"true_dx", std::get<0>(true_grad)},
          {"true_dy", std::get<1>(true_grad)},
          {"false_value", false_value},
          {"false_dx", std::get<0>(false_grad)},
          {"false_dy", std::get<1>(false_grad)}};
}

Outputs switch_clamped(const Inputs& in) {
  const Array &i = in["i"], &x = in["x"];
  const auto f = [](const Array& index, const Array& a) {
    return switch_(index, [a] { return pow(a, 2); }, [a] { return pow(a, 3); }, [a] { return exp(a); });
  };
  const auto each = [&](const auto& g) {
    std::vector<Array> values;
    for (int k = 0; k < 5; ++k) values.push_back(g(i[k], x));
    return stack(values);
  };
  return {{"value", each(compiled(in, f))},
          {"d1", each(compiled(in, grad<1>(f)))},
          {"d2", each(compiled(in, grad<1>(grad<1>(f))))},
          {"vmapped", compiled(in, vmap(f, {.in = {0, none}}))(i, x)}};
}

Outputs vmap_cond_batched_predicate(const Inputs& in) {
  const Array& x = in["x"];
  const auto f = [](const Array& a) {
    return cond(
        a > 0, [a] { return sqrt(a); }, [a] { return -a * 3; });
  };
  const auto total = [f](const Array& a) { return sum(vmap(f)(a)); };
  return {{"value", compiled(in, vmap(f))(x)},
          {"vmap_grad", compiled(in, vmap(grad(f)))(x)},
          {"grad_vmap", compiled(in, grad(total))(x)}};
}

Outputs vmap_cond_scalar_predicate(const Inputs& in) {
  const auto f = [](const Array& p, const Array& x) {
    return cond(
        p, [x] { return cos(x); }, [x] { return x * x; });
  };
  const auto total = [f](const Array& p, const Array& x) { return sum(vmap(f, {.in = {none, 0}})(p, x)); };
  const auto derivative = compiled(in, value_and_grad<1>(total));
  const auto [true_sum, true_grad] = derivative(scalar(1, b1), in["x"]);
  const auto [false_sum, false_grad] = derivative(scalar(0, b1), in["x"]);
  return {
      {"true_sum", true_sum}, {"true_grad", true_grad}, {"false_sum", false_sum}, {"false_grad", false_grad}};
}

Outputs cond_in_scan(const Inputs& in) {
  const auto step = [](const Array& c, const Array& x) {
    const Array next = cond(
        c < 1, [c, x] { return c * x; }, [c, x] { return c - x * x; });
    return std::pair{next, c};
  };
  const auto loss = [step](const Array& c0, const Array& xs) {
    const Array ys = scan(c0, xs, step).second;
    return sum(ys * ys);
  };
  const auto [value, gradient] = compiled(in, value_and_grad<0, 1>(loss))(in["c0"], in["xs"]);
  const auto& [grad_c0, grad_xs] = gradient;
  return {{"loss", value}, {"grad_c0", grad_c0}, {"grad_xs", grad_xs}};
}

Outputs where_and_nan(const Inputs& in) {
  const Array& x = in["x"];
  const auto bad = [](const Array& a) { return sum(where(a > 0, sqrt(a), 0)); };
  const auto good = [](const Array& a) { return sum(where(a > 0, sqrt(where(a > 0, a, 1)), 0)); };
  const auto chosen = [](const Array& a) {
    return cond(
        a > 0, [a] { return sqrt(a); }, [a] { return 0 * a; });
  };
  return {{"bad_grad", compiled(in, grad(bad))(x)},
          {"good_grad", compiled(in, grad(good))(x)},
          {"good", compiled(in, good)(x)},
          {"cond_grad", compiled(in, grad(chosen))(x[1])}};
}

Outputs nested_closures(const Inputs& in) {
  const Array& x = in["x"];
  const DType dtype = in.dtype;
  const auto f = [dtype](const Array& a) {
    const auto of_y = [a](const Array& y) {
      const auto of_z = [a, y](const Array& z) { return a * y * z * z; };
      return y * y * a + grad(of_z)(y);
    };
    return grad(of_y)(scalar(3, dtype));
  };
  const auto g = [dtype](const Array& a) {
    const auto wave = [a](const Array& y) { return sin(a * y); };
    const auto step = [wave](const Array& total, const Array& k) {
      return std::pair{total + jvp(wave, at(k), along(ones_like(k))).tangent, std::tuple<>{}};
    };
    return scan(scalar(0, dtype), arange(4, dtype), step).first;
  };
  return {{"f", compiled(in, f)(x)},
          {"df", compiled(in, grad(f))(x)},
          {"g", compiled(in, g)(x)},
          {"dg", compiled(in, grad(g))(x)}};
}

// ---- refusals

void refused_loops(DType dtype, Outputs& out) {
  const Array one = ones({}, dtype), xs = ones({3}, dtype);
  const std::string number = std::string(tag(dtype)) + "[]", pair = std::string(tag(dtype)) + "[2]";
  const auto keep = [](const Array& c, const Array& x) { return std::pair{c, x}; };
  const auto right = [&] { (void)scan(one, xs, keep); };
  const auto to_integer = [](const Array&, const Array& x) { return std::pair{scalar(1, i32), x}; };
  const auto to_vector = [](const Array& c, const Array& x) { return std::pair{stack({c, c}), x}; };
  out["scan_type"] = refused([&] { (void)scan(one, xs, to_integer); }, {"carry", number, "i32[]"}, right);
  out["scan_shape"] = refused([&] { (void)scan(one, xs, to_vector); }, {"carry", number, pair}, right);
  const auto scalar_branch = [one] { return one; };
  const auto vector_branch = [dtype] { return ones({2}, dtype); };
  out["cond_shape"] =
      refused([&] { (void)cond(scalar(1, b1), scalar_branch, vector_branch); }, {number, pair},
              [&] { (void)cond(scalar(1, b1), scalar_branch, scalar_branch); });
  const auto halve = [](const Array& x) { return x / 2; };
  out["while_cond"] = refused(
      [&] {
        (void)while_loop(
            ones({2}, dtype), [](const Array& x) { return x; }, halve);
      },
      {pair, "bool"},
      [&] {
        (void)while_loop(
            ones({2}, dtype), [](const Array& x) { return any(x > 0.1); }, halve);
      });
}

void refused_batching(DType dtype, Outputs& out) {
  const auto add = vmap([](const Array& x, const Array& y) { return x + y; });
  const auto add_unbatched = vmap([](const Array& x, const Array& y) { return x + y; }, {.in = {none, none}});
  const auto sine = [](const Array& x) { return sin(x); };
  const Array three = ones({3}, dtype), matrix = ones({3, 2}, dtype);
  const auto right = [&] { (void)add(three, three); };
  out["vmap_sizes"] = refused([&] { (void)add(three, ones({4}, dtype)); }, {"3", "4"}, right);
  out["vmap_axis"] = refused([&] { (void)vmap(sine, {.in = 2})(matrix); }, {"2"},
                             [&] { (void)vmap(sine, {.in = 1})(matrix); });
  out["vmap_none"] = refused([&] { (void)add_unbatched(three, three); }, {"batch"}, right);
}

void refused_operations(DType dtype, Outputs& out) {
  const std::string type(tag(dtype));
  const Array two = ones({2}, dtype), three = ones({3}, dtype), matrix = ones({2, 3}, dtype);
  const auto branches = jit([](const Array& x) { return x.item<double>() > 0 ? x : -x; });
  out["host_branch"] = refused([&] { (void)branches(ones({}, dtype)); }, {"item"},
                               [&] { (void)jit([](const Array& x) { return where(x > 0, x, -x); })(two); });
  out["add"] = refused([&] { (void)(two + three); }, {"[2]", "[3]"}, [&] { (void)(two + two); });
  out["matmul"] = refused([&] { (void)matmul(matrix, matrix); }, {type + "[2,3]"},
                          [&] { (void)matmul(matrix, transpose(matrix)); });
  out["reshape"] = refused([&] { (void)reshape(matrix, {5}); }, {type + "[2,3]", "5"},
                           [&] { (void)reshape(matrix, {6}); });
  out["concat"] = refused(
      [&] {
        (void)concatenate({matrix, ones({2, 4}, dtype)}, 0);
      },
      {type + "[2,3]", type + "[2,4]"},
      [&] {
        (void)concatenate({matrix, matrix}, 0);
      });
}

Outputs shape_and_type_errors(const Inputs& in) {
  Outputs out;
  refused_loops(in.dtype, out);
  refused_batching(in.dtype, out);
  refused_operations(in.dtype, out);
  return out;
}

}  // namespace

void add_conditionals(ProgramTable& table) {
  table["cond_gradients"] = cond_gradients;
  table["switch_clamped"] = switch_clamped;
  table["vmap_cond_batched_predicate"] = vmap_cond_batched_predicate;
  table["vmap_cond_scalar_predicate"] = vmap_cond_scalar_predicate;
  table["cond_in_scan"] = cond_in_scan;
  table["where_and_nan"] = where_and_nan;
  table["nested_closures"] = nested_closures;
  table["shape_and_type_errors"] = shape_and_type_errors;
}

}  // namespace anadrome::conformance

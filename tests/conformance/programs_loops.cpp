// Programs about scan, fori_loop and while_loop. Derivatives are taken inside jit, so that each backend runs
// the loops they become.
#include "conformance/program_table.h"

namespace anadrome::conformance {

namespace {

/// The derivative of a function along ones, by forward mode.
template <class F> auto forward(F f) {
  return [f](const Array& x) { return jvp(f, at(x), along(ones_like(x))).tangent; };
}

// ---- scan

Outputs scan_tanh_rnn(const Inputs& in) {
  const Array &a = in["a"], &c0 = in["c0"], &xs = in["xs"];
  const auto run = [](const Array& factor, const Array& start, const Array& inputs) {
    return scan(start, inputs, [factor](const Array& c, const Array& x) {
      const Array n = tanh(factor * c + x);
      return std::pair{n, n * n};
    });
  };
  const auto loss = [run](const Array& factor, const Array& start, const Array& inputs) {
    const auto [last, ys] = run(factor, start, inputs);
    return sum(ys) + sum(last);
  };
  const auto [last, ys] = compiled(in, run)(a, c0, xs);
  const auto [value, gradient] = compiled(in, value_and_grad<0, 1, 2>(loss))(a, c0, xs);
  const auto& [grad_a, grad_c0, grad_xs] = gradient;
  return {{"cN", last},       {"ys", ys},           {"loss", value},
          {"grad_a", grad_a}, {"grad_c0", grad_c0}, {"grad_xs", grad_xs}};
}

Outputs scan_reverse(const Inputs& in) {
  const Array &c0 = in["c0"], &xs = in["xs"], &w = in["w"];
  const auto run = [](const Array& start, const Array& inputs) {
    const auto step = [](const Array& c, const Array& x) { return std::pair{c * x + sin(x), c}; };
    return scan(start, inputs, {.reverse = true}, step);
  };
  const auto loss = [run, w](const Array& start, const Array& inputs) {
    const auto [last, ys] = run(start, inputs);
    return sum(w * ys) + last;
  };
  const auto [last, ys] = compiled(in, run)(c0, xs);
  const auto [grad_c0, grad_xs] = compiled(in, grad<0, 1>(loss))(c0, xs);
  return {{"cN", last}, {"ys", ys}, {"grad_c0", grad_c0}, {"grad_xs", grad_xs}};
}

Outputs scan_length_zero(const Inputs& in) {
  const Array &c0 = in["c0"], &xs = in["xs"];
  const auto run = [](const Array& start, const Array& inputs) {
    return scan(start, inputs, [](const Array& c, const Array& x) { return std::pair{c * x, c + x}; });
  };
  const auto loss = [run](const Array& start, const Array& inputs) {
    const auto [last, ys] = run(start, inputs);
    return 3 * last + sum(ys);
  };
  const auto [last, ys] = compiled(in, run)(c0, xs);
  const auto [grad_c0, grad_xs] = compiled(in, grad<0, 1>(loss))(c0, xs);
  return {{"cN", last}, {"ys", ys}, {"grad_c0", grad_c0}, {"grad_xs", grad_xs}};
}

Outputs scan_nested(const Inputs& in) {
  const Array &c0 = in["c0"], &X = in["X"];
  const auto inner = [](const Array& c, const Array& x) { return std::pair{c + 0.5 * sin(c * x), c * x}; };
  const auto outer = [inner](const Array& c, const Array& row) {
    const auto [last, ys] = scan(c, row, inner);
    return std::pair{last, sum(ys) * last};
  };
  const auto f = [outer](const Array& start, const Array& rows) {
    const auto [last, ys] = scan(start, rows, outer);
    return last + sum(ys);
  };
  const auto [grad_c0, grad_X] = compiled(in, grad<0, 1>(f))(c0, X);
  return {{"f", compiled(in, f)(c0, X)},
          {"grad_c0", grad_c0},
          {"grad_X", grad_X},
          {"d2_c0", compiled(in, grad(grad(f)))(c0, X)}};
}

Outputs scan_closed_over_matrix(const Inputs& in) {
  const Array &M = in["M"], &b = in["b"], &h0 = in["h0"];
  const auto f = [](const Array& matrix, const Array& offset, const Array& start) {
    const auto step = [matrix, offset](const Array& h) {
      return std::pair{tanh(dot(matrix, h) + offset), std::tuple<>{}};
    };
    const Array last = scan(start, {.length = 8}, step).first;
    return sum(last * last);
  };
  const auto [value, gradient] = compiled(in, value_and_grad<0, 1, 2>(f))(M, b, h0);
  const auto& [grad_M, grad_b, grad_h0] = gradient;
  return {{"f", value}, {"grad_M", grad_M}, {"grad_b", grad_b}, {"grad_h0", grad_h0}};
}

Outputs scan_logistic_map(const Inputs& in) {
  const Array &r = in["r"], &x0 = in["x0"];
  const auto run = [](const Array& rate, const Array& start) {
    return scan(start, {.length = 10},
                [rate](const Array& x) {
                  const Array next = rate * x * (1 - x);
                  return std::pair{next, next};
                })
        .second;
  };
  const auto in_rate = [run, x0](const Array& rate) { return run(rate, x0); };
  const auto in_start = [run, r](const Array& start) { return run(r, start); };
  const auto last = [in_rate](const Array& rate) { return in_rate(rate)[9]; };
  return {{"ys", compiled(in, run)(r, x0)},
          {"ys_dr", compiled(in, forward(in_rate))(r)},
          {"ys_dx0", compiled(in, forward(in_start))(x0)},
          {"d2", compiled(in, forward(grad(last)))(r)}};
}

struct Counted {
  Array i;
  std::pair<Array, Array> pq;
};
struct Entry {
  Array x, k;
};

Outputs scan_int_and_pair_carry(const Inputs& in) {
  const Array k = in["k"];
  const auto step = [](const Counted& c, const Entry& e) {
    const Array p = c.pq.first + e.x * (c.i + 1), q = c.pq.second * p[0], i = c.i + e.k;
    return std::pair{Counted{i, {p, q}}, std::pair{p * q, i}};
  };
  const auto run = [step, k](const Array& p0, const Array& q0, const Array& x) {
    return scan(Counted{scalar(0, i32), {p0, q0}}, Entry{x, k}, step);
  };
  const auto loss = [run](const Array& p0, const Array& q0, const Array& x) {
    const auto [last, ys] = run(p0, q0, x);
    return sum(last.pq.first) + last.pq.second + sum(ys.first);
  };
  const auto [last, ys] = compiled(in, run)(in["p0"], in["q0"], in["x"]);
  const auto [grad_p0, grad_q0, grad_x] = compiled(in, grad<0, 1, 2>(loss))(in["p0"], in["q0"], in["x"]);
  return {{"i", last.i},       {"p", last.pq.first}, {"q", last.pq.second}, {"out1", ys.first},
          {"out2", ys.second}, {"grad_p0", grad_p0}, {"grad_q0", grad_q0},  {"grad_x", grad_x}};
}

Outputs scan_hessian(const Inputs& in) {
  const Array &v = in["v"], xs = in["xs"];
  const auto f = [xs](const Array& u) {
    const auto step = [u](const Array& c, const Array& x) {
      return std::pair{c * x + u[1] * c * c + u[0], std::tuple<>{}};
    };
    return scan(u[0], xs, step).first;
  };
  return {{"f", compiled(in, f)(v)},
          {"grad", compiled(in, grad(f))(v)},
          {"jacfwd", compiled(in, jacfwd(f))(v)},
          {"hessian", compiled(in, hessian(f))(v)}};
}

Outputs learning_rate_derivative(const Inputs& in) {
  const Array &e = in["e"], A = in["A"], y = in["y"];
  const DType dtype = in.dtype;
  const auto J = [A, y](const Array& w) {
    const Array error = dot(A, w) - y;
    return 0.5 * sum(error * error);
  };
  const auto descend = [J, dtype](const Array& rate) {
    const auto step = [J, rate](const Array& w) { return std::pair{w - rate * grad(J)(w), std::tuple<>{}}; };
    return scan(zeros({3}, dtype), {.length = 6}, step).first;
  };
  const auto f = [J, descend](const Array& rate) { return J(descend(rate)); };
  return {{"w6", compiled(in, descend)(e)},
          {"J", compiled(in, f)(e)},
          {"dJ", compiled(in, grad(f))(e)},
          {"d2J", compiled(in, grad(grad(f)))(e)}};
}

Outputs vmap_scan(const Inputs& in) {
  const Array &a = in["a"], &c0 = in["c0"], &xs = in["xs"];
  const auto run = [](const Array& offset, const Array& start, const Array& inputs) {
    return scan(start, inputs, [offset](const Array& c, const Array& x) {
      const Array n = c * x + offset;
      return std::pair{n, n * offset};
    });
  };
  const auto by_column = vmap(run, {.in = {none, none, 1}});
  const auto loss = [by_column](const Array& offset, const Array& start, const Array& inputs) {
    const auto [last, ys] = by_column(offset, start, inputs);
    return sum(last) + sum(ys * ys);
  };
  const auto by_start = vmap(run, {.in = {none, 0, none}}), by_row = vmap(run, {.in = {0, none, 0}});
  const auto [xs_cN, xs_ys] = compiled(in, by_column)(a, c0, xs);
  const auto [c0_cN, c0_ys] = compiled(in, by_start)(a, in["c0b"], xs[{all, 0}]);
  const auto [a_xs_cN, a_xs_ys] = compiled(in, by_row)(in["ab"], c0, xs);
  const auto [grad_a, grad_c0, grad_xs] = compiled(in, grad<0, 1, 2>(loss))(a, c0, xs);
  return {{"xs_cN", xs_cN},   {"xs_ys", xs_ys},     {"c0_cN", c0_cN},
          {"c0_ys", c0_ys},   {"a_xs_cN", a_xs_cN}, {"a_xs_ys", a_xs_ys},
          {"grad_a", grad_a}, {"grad_c0", grad_c0}, {"grad_xs", grad_xs}};
}

Outputs scan_dynamic_update(const Inputs& in) {
  const Array &a = in["a"], &b = in["b"];
  const DType dtype = in.dtype;
  const auto fill = [dtype](const Array& first, const Array& second) {
    const Array start = zeros({8}, dtype).at(0).set(first).at(1).set(second);
    return fori_loop(2, 8, start, [](const Array& i, const Array& buffer) {
      const Array next = buffer[i - 1] + 0.5 * buffer[i - 2];
      return dynamic_update_slice(buffer, next[newaxis], {i});
    });
  };
  const auto f = [fill, dtype](const Array& first, const Array& second) {
    return sum(fill(first, second) * arange(1, 9, 1, dtype));
  };
  const auto [grad_a, grad_b] = compiled(in, grad<0, 1>(f))(a, b);
  return {{"buf", compiled(in, fill)(a, b)}, {"grad_a", grad_a}, {"grad_b", grad_b}};
}

// ---- while_loop and fori_loop

struct Iterate {
  Array x, i;
};

Outputs while_newton_forward(const Inputs& in) {
  const Array& a = in["a"];
  const auto root = [](const Array& target) {
    const auto goes_on = [target](const Iterate& s) {
      return logical_and(abs(s.x * s.x - target) > 1e-3, s.i < 50);
    };
    const auto step = [target](const Iterate& s) { return Iterate{0.5 * (s.x + target / s.x), s.i + 1}; };
    return while_loop(Iterate{ones_like(target), scalar(0, i32)}, goes_on, step);
  };
  const auto tangent = forward([root](const Array& target) { return root(target).x; });
  const Iterate last = compiled(in, root)(a);
  return {{"x", last.x}, {"i", last.i}, {"dx", tangent(a)}, {"dx_jit", compiled(in, tangent)(a)}};
}

Outputs while_reverse_rejected(const Inputs& in) {
  const auto f = [](const Array& x) {
    return while_loop(
        x, [](const Array& c) { return c < 10; }, [](const Array& c) { return c * 2; });
  };
  const Outcome outcome = refused_derivative(
      [&] { (void)grad(f)(in["x"]); }, {"while_loop", "reverse", "scan"}, [&] { (void)forward(f)(in["x"]); });
  return {{"grad", outcome}};
}

Outputs while_batched_predicate(const Inputs& in) {
  const Array& x = in["x"];
  const auto g = [](const Array& start) {
    return while_loop(
        Iterate{start, scalar(0, i32)}, [](const Iterate& s) { return s.x < 100; },
        [](const Iterate& s) {
          return Iterate{1.5 * s.x + 1, s.i + 1};
        });
  };
  const auto value = [g](const Array& start) { return g(start).x; };
  const Iterate last = compiled(in, vmap(g))(x);
  return {{"x", last.x}, {"n", last.i}, {"dx", compiled(in, vmap(forward(value)))(x)}};
}

Outputs while_batched_body_only(const Inputs& in) {
  const Array &k = in["k"], &x = in["x"];
  const DType dtype = in.dtype;
  const auto h = [dtype](const Array& count, const Array& start) {
    const auto step = [dtype](const Iterate& s) { return Iterate{s.x * 0.5 + astype(s.i, dtype), s.i + 1}; };
    const auto goes_on = [count](const Iterate& s) { return s.i < count; };
    return while_loop(Iterate{start, scalar(0, i32)}, goes_on, step).x;
  };
  return {{"x_only", compiled(in, vmap(h, {.in = {none, 0}}))(k[1], x)},
          {"k_only", compiled(in, vmap(h, {.in = {0, none}}))(k, x[0])},
          {"both", compiled(in, vmap(h))(k, x)}};
}

Outputs fori_static_reverse(const Inputs& in) {
  const Array &x = in["x"], &c = in["c"];
  const auto p = [](const Array& at, const Array& coefficients) {
    return fori_loop(0, 5, zeros_like(at),
                     [at, coefficients](const Array& i, const Array& s) { return s * at + coefficients[i]; });
  };
  return {{"p", compiled(in, p)(x, c)},
          {"dp", compiled(in, grad(p))(x, c)},
          {"d2p", compiled(in, grad(grad(p)))(x, c)},
          {"grad_c", compiled(in, grad<1>(p))(x, c)}};
}

Outputs fori_traced_bound(const Inputs& in) {
  const Array &x = in["x"], &n = in["n"];
  const auto q = [](const Array& count, const Array& factor) {
    return fori_loop(0, count, ones_like(factor),
                     [factor](const Array&, const Array& s) { return s * factor; });
  };
  const auto tangent = [q](const Array& count, const Array& factor) {
    return forward([q, count](const Array& a) { return q(count, a); })(factor);
  };
  const Outcome outcome =
      refused_derivative([&] { (void)compiled(in, grad<1>(q))(n, x); }, {"while_loop", "reverse", "scan"},
                         [&] { (void)compiled(in, tangent)(n, x); });
  return {{"q", compiled(in, q)(n, x)}, {"dq", compiled(in, tangent)(n, x)}, {"grad", outcome}};
}

Outputs while_in_scan_in_vmap(const Inputs& in) {
  const DType dtype = in.dtype;
  const auto w = [](const Array& start) {
    return while_loop(
        start, [](const Array& x) { return x > 1; }, [](const Array& x) { return x / 2; });
  };
  const auto row = [w, dtype](const Array& xs) {
    const auto step = [w](const Array& c, const Array& x) {
      const Array next = w(c + x);
      return std::pair{next, next};
    };
    return scan(scalar(0, dtype), xs, step).second;
  };
  const auto f = vmap(row);
  return {{"ys", compiled(in, f)(in["X"])}, {"dys", compiled(in, forward(f))(in["X"])}};
}

}  // namespace

void add_loops(ProgramTable& table) {
  table["scan_tanh_rnn"] = scan_tanh_rnn;
  table["scan_reverse"] = scan_reverse;
  table["scan_length_zero"] = scan_length_zero;
  table["scan_nested"] = scan_nested;
  table["scan_closed_over_matrix"] = scan_closed_over_matrix;
  table["scan_logistic_map"] = scan_logistic_map;
  table["scan_int_and_pair_carry"] = scan_int_and_pair_carry;
  table["scan_hessian"] = scan_hessian;
  table["learning_rate_derivative"] = learning_rate_derivative;
  table["vmap_scan"] = vmap_scan;
  table["scan_dynamic_update"] = scan_dynamic_update;
  table["while_newton_forward"] = while_newton_forward;
  table["while_reverse_rejected"] = while_reverse_rejected;
  table["while_batched_predicate"] = while_batched_predicate;
  table["while_batched_body_only"] = while_batched_body_only;
  table["fori_static_reverse"] = fori_static_reverse;
  table["fori_traced_bound"] = fori_traced_bound;
  table["while_in_scan_in_vmap"] = while_in_scan_in_vmap;
}

}  // namespace anadrome::conformance

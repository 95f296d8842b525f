// Programs that are models: a Gaussian mixture, an attention block, training with momentum, dropout,
// embeddings.
#include <cmath>
#include <numbers>
#include <vector>

#include "conformance/program_table.h"

namespace anadrome::conformance {

namespace {

/// The log likelihood of the points X under three components in two dimensions.
Array mixture(const Array& alpha, const Array& mu, const Array& q, const Array& l, const Array& X) {
  const Array log_weights = alpha - logsumexp(alpha);
  // The factor Q of component k is [[exp q0, 0], [l, exp q1]], so Q d has two entries.
  const auto component = [](const Array& m, const Array& s, const Array& below, const Array& x) {
    const Array d = x - m;
    const Array first = exp(s[0]) * d[0], second = below * d[0] + exp(s[1]) * d[1];
    return sum(s) - 0.5 * (first * first + second * second);
  };
  const auto of_point = [=](const Array& x) {
    return log_weights + vmap(component, {.in = {0, 0, 0, none}})(mu, q, l, x);
  };
  return sum(logsumexp(vmap(of_point)(X), {1}) - std::log(2 * std::numbers::pi));
}

Outputs gaussian_mixture(const Inputs& in) {
  const Array &alpha = in["alpha"], &mu = in["mu"], &q = in["q"], &l = in["l"], X = in["X"];
  const auto L = [X](const Array& a, const Array& m, const Array& s, const Array& below) {
    return mixture(a, m, s, below, X);
  };
  const auto [value, gradient] = value_and_grad<0, 1, 2, 3>(L)(alpha, mu, q, l);
  const auto& [dalpha, dmu, dq, dl] = gradient;
  return {{"L", value}, {"dalpha", dalpha}, {"dmu", dmu},
          {"dq", dq},   {"dl", dl},         {"hess_alpha", hessian(L)(alpha, mu, q, l)}};
}

struct Attention {
  Array x, g, o, Wq, Wk, Wv, Wo;
};

Array attention(const Attention& p) {
  const Array centred = p.x - mean(p.x, {-1}, true);
  const Array n = centred / sqrt(mean(centred * centred, {-1}, true) + 1e-5) * p.g + p.o;
  const auto heads = [&](const Array& w) { return transpose(reshape(matmul(n, w), {4, 2, 3}), {1, 0, 2}); };
  const Array scores = einsum("hid,hjd->hij", heads(p.Wq), heads(p.Wk)) / std::sqrt(3.0);
  const Array position = arange(4);
  const Array causal = position[{all, newaxis}] >= position;
  const Array weights = softmax(where(causal, scores, -1e9), -1);
  const Array mixed = einsum("hij,hjd->hid", weights, heads(p.Wv));
  return p.x + matmul(reshape(transpose(mixed, {1, 0, 2}), {4, 6}), p.Wo);
}

Outputs attention_block(const Inputs& in) {
  const Attention p{in["x"], in["g"], in["o"], in["Wq"], in["Wk"], in["Wv"], in["Wo"]};
  const Array C = in["C"];
  const auto loss = [C](const Attention& a) { return sum(attention(a) * C); };
  const auto [value, d] = value_and_grad(loss)(p);
  return {{"out", attention(p)}, {"loss", value}, {"dx", d.x},   {"dg", d.g},  {"do", d.o},
          {"dWq", d.Wq},         {"dWk", d.Wk},   {"dWv", d.Wv}, {"dWo", d.Wo}};
}

struct Layers {
  Array W1, b1, W2, b2;
};
struct State {
  Layers p, m;
};

Outputs mlp_sgd(const Inputs& in) {
  const Array &X = in["X"], &y = in["y"];
  const auto loss = [X, y](const Layers& p) {
    const Array logits = matmul(relu(matmul(X, p.W1) + p.b1), p.W2) + p.b2;
    return -mean(take_along_axis(log_softmax(logits, -1), y[{all, newaxis}], 1));
  };
  const auto momentum = [](const Array& m, const Array& g) { return 0.9 * m + g; };
  const auto descend = [](const Array& p, const Array& m) { return p - 0.1 * m; };
  const auto step = jit(
      [=](const State& s) {
        const auto [value, g] = value_and_grad(loss)(s.p);
        const Layers m{momentum(s.m.W1, g.W1), momentum(s.m.b1, g.b1), momentum(s.m.W2, g.W2),
                       momentum(s.m.b2, g.b2)};
        const Layers p{descend(s.p.W1, m.W1), descend(s.p.b1, m.b1), descend(s.p.W2, m.W2),
                       descend(s.p.b2, m.b2)};
        return std::pair{State{p, m}, value};
      },
      {.compile = {.backend = in.backend}});
  const Layers start{in["W1"], in["b1"], in["W2"], in["b2"]};
  State state{start, zeros_like(start)};
  std::vector<Array> losses;
  for (int i = 0; i < 5; ++i) {
    auto [next, value] = step(state);
    state = next;
    losses.push_back(value);
  }
  return {{"losses", stack(losses)},
          {"W1", state.p.W1},
          {"b1", state.p.b1},
          {"W2", state.p.W2},
          {"b2", state.p.b2}};
}

Outputs dropout_keys(const Inputs& in) {
  const Array& x = in["x"];
  const DType dtype = in.dtype;
  const Array key = random::prng_key(7);
  const Array keys = random::split(key);
  const Array mask = random::bernoulli(keys[0], scalar(0.75, dtype), Shape{3, 4});
  const Array noise = random::normal(keys[1], {4}, dtype);
  const auto f = [mask, noise](const Array& a) {
    const Array kept = where(mask, a / 0.75, 0);
    return sum(kept * kept) + sum(a * noise);
  };
  const auto sample = [dtype](const Array& k) { return random::uniform(k, {2}, dtype); };
  return {{"mask", mask},
          {"noise", noise},
          {"f", f(x)},
          {"grad", grad(f)(x)},
          {"samples", vmap(sample)(random::split(key, 3))}};
}

Outputs sparse_embedding_grad(const Inputs& in) {
  const Array ids = in["ids"], C = in["C"];
  const auto loss = [ids, C](const Array& E) { return sum(tanh(mean(E[ids], {1})) * C); };
  const auto [value, gradient] = value_and_grad(loss)(in["E"]);
  return {{"loss", value}, {"grad", gradient}};
}

}  // namespace

void add_models(ProgramTable& table) {
  table["gaussian_mixture"] = gaussian_mixture;
  table["attention_block"] = attention_block;
  table["mlp_sgd"] = mlp_sgd;
  table["dropout_keys"] = dropout_keys;
  table["sparse_embedding_grad"] = sparse_embedding_grad;
}

}  // namespace anadrome::conformance

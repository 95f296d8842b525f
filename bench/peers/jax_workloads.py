#!/usr/bin/env python3
"""The workloads of bench/workloads in JAX. Prints one JSON line each, with the same fields.

Run with a Python that has jax: python jax_workloads.py [--inputs DIR] [--outputs DIR] [prefix ...]
Each workload runs in a process of its own. --inputs writes what it reads, as DIR/workload/name.npy, for other systems
to read; --outputs writes the leaves of its results as DIR/workload/0.npy, 1.npy ... --rounding prints instead how far a
run in float32 is from one in float64 on the same inputs: the measure of the bounds in difference.py."""
import argparse
import json
import pathlib
import resource
import subprocess
import sys
import time
import zlib

import jax
import jax.numpy as jnp
import numpy as np

import difference

WORKLOADS = {}


def workload(calls=1, repeats=7, dtype="float32", jit=True, compared=True):
    """Marks a function that takes inputs from `draw` and returns the function to time and its arguments. A result that is
    not `compared`, because rounding grows in it without bound, has a smaller one of its kind beside it that is."""
    def register(build):
        WORKLOADS[build.__name__] = dict(build=build, calls=calls, repeats=repeats, dtype=dtype, jit=jit, compared=compared)
        return build
    return register


class Draw:
    """Gives named inputs: normally distributed, the same in every process. `compute` is the dtype they are used in."""

    def __init__(self, dtype, compute=None):
        self.dtype, self.compute, self.drawn = dtype, compute or dtype, {}

    def __call__(self, name, *shape, scale=1.0, shift=0.0):
        numbers = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape)
        self.drawn[name] = (numbers * scale + shift).astype(self.dtype)
        return jnp.asarray(self.drawn[name].astype(self.compute))


# ---- small calls and long arrays

@workload(calls=2000)
def dispatch(draw):
    return (lambda x: x * 2 + 1), draw("x", 8)


def five_operations(x):
    return jnp.sum(jnp.sin(x) * x)


@workload(calls=2000)
def dispatch_grad(draw):
    return jax.grad(five_operations), draw("x", 8)


@workload(calls=50, repeats=5, jit=False)
def eager_grad(draw):
    return (lambda x: jax.grad(lambda v: jnp.sum(jnp.sin(v) * v))(x)), draw("x", 8)


@workload()
def elementwise(draw):
    return (lambda x: x * 2 + 1), draw("x", 10_000_000)


@workload()
def elementwise_grad(draw):
    return jax.grad(lambda x: jnp.sum(jnp.tanh(x) * x)), draw("x", 10_000_000)


# ---- a long program

def chain(steps):
    def f(x):
        for i in range(steps):
            x = jnp.sin(x) * 1.01 + 0.1 * i
        return jnp.sum(x)
    return f


@workload(calls=10)
def unrolled_1500(draw):
    x = draw("x", 128)
    # The gradient of 500 steps underflows to 0 in float32; that of 20 steps is compared too.
    return jax.grad(chain(500)), x, (jax.grad(chain(20)), x)


# ---- networks

def mlp(draw, sizes, batch):
    layers = [(draw(f"w{i}", rows, columns, scale=0.1), draw(f"b{i}", columns, scale=0.1))
              for i, (rows, columns) in enumerate(zip(sizes, sizes[1:]))]

    def loss(layers, x, y):
        *hidden, (w_out, b_out) = layers
        for w, b in hidden:
            x = jnp.tanh(x @ w + b)
        return jnp.mean(jnp.square(x @ w_out + b_out - y))
    return jax.grad(loss), layers, draw("x", batch, sizes[0]), draw("y", batch, sizes[-1])


@workload(calls=200)
def mlp_small(draw):
    return mlp(draw, [16, 64, 64, 1], 32)


@workload(calls=10)
def mlp_mid(draw):
    return mlp(draw, [256, 512, 512, 10], 256)


# ---- loops of a few operations a step

def pendulums(steps):
    def f(angles):
        def step(state, _):
            x, v = state
            v = v + 0.001 * (-jnp.sin(x) - 0.1 * v)
            return (x + 0.001 * v, v), None
        return jax.lax.scan(step, (angles, jnp.zeros_like(angles)), None, length=steps)[0][0].sum()
    return f


@workload(repeats=3)
def scan_fwd_1(draw):
    return pendulums(1_000_000), draw("angles", 1, scale=0, shift=1)


@workload(repeats=3)
def scan_fwd_64(draw):
    return pendulums(1_000_000), draw("angles", 64, scale=0, shift=1)


@workload(repeats=3)
def scan_grad_1(draw):
    return jax.grad(pendulums(100_000)), draw("angles", 1, scale=0, shift=1)


@workload(repeats=3)
def scan_grad_64(draw):
    return jax.grad(pendulums(100_000)), draw("angles", 64, scale=0, shift=1)


# ---- Jacobians

def layer(draw, n=256):
    w = draw("w", n, n, scale=0.01)
    return lambda x: jnp.tanh(x @ w)


@workload(calls=20)
def jacfwd_256(draw):
    return jax.jacfwd(layer(draw)), draw("x", 256)


@workload(calls=20)
def jacrev_256(draw):
    return jax.jacrev(layer(draw)), draw("x", 256)


@workload(calls=20)
def hessian_256(draw):
    y = layer(draw)
    return jax.hessian(lambda x: jnp.sum(jnp.square(y(x)))), draw("x", 256)


# ---- a Gaussian mixture, float64

def gmm(draw, d, k, n):
    rows, columns = np.tril_indices(d, -1)
    x = draw("x", n, d, scale=0.3)

    def log_likelihood(alpha, mu, icf):
        log_diagonal, below = icf[:, :d], icf[:, d:]
        lower = jnp.zeros((k, d, d), icf.dtype).at[:, rows, columns].set(below)
        c = x[:, None, :] - mu
        q = jnp.exp(log_diagonal) * c + jnp.einsum("kij,nkj->nki", lower, c)
        inner = alpha + jnp.sum(log_diagonal, 1) - 0.5 * jnp.sum(q * q, 2)
        prior = 0.5 * (jnp.sum(jnp.exp(2 * log_diagonal)) + jnp.sum(jnp.square(below)))
        logsumexp = jax.scipy.special.logsumexp
        return jnp.sum(logsumexp(inner, 1)) - n * logsumexp(alpha) + prior
    return (jax.grad(log_likelihood, (0, 1, 2)), draw("alpha", k, scale=0.3), draw("mu", k, d, scale=0.3),
            draw("icf", k, d * (d + 1) // 2, scale=0.3))


@workload(dtype="float64")
def gmm_d10_k25(draw):
    return gmm(draw, 10, 25, 1000)


@workload(dtype="float64")
def gmm_d64_k25(draw):
    return gmm(draw, 64, 25, 1000)


# ---- bundle adjustment, float64

def residual(camera, point, weight, feature):
    r = camera[:3]
    t = jnp.sqrt(jnp.sum(r * r))
    axis, y = r / t, point - camera[3:6]
    q = y * jnp.cos(t) + jnp.cross(axis, y) * jnp.sin(t) + axis * jnp.dot(axis, y) * (1 - jnp.cos(t))
    u = q[:2] / q[2]
    r2 = jnp.sum(u * u)
    radial = 1 + camera[9] * r2 + camera[10] * r2 * r2
    return weight * (camera[6] * u * radial + camera[7:9] - feature)


@workload(dtype="float64")
def bundle_adjustment(draw):
    n = 31_843
    return (jax.vmap(jax.jacrev(residual, (0, 1, 2))), draw("camera", n, 11, scale=0.3),
            draw("point", n, 3, scale=0.3, shift=3.0), draw("weight", n), draw("feature", n, 2))


# ---- a deep net of momentum layers that share a block; reads of a large table

MOMENTUM = 0.9


def block(p, x):
    w1, b1, w2, b2 = p
    return jnp.tanh(x @ w1 + b1) @ w2 + b2


def momentum_layer(p, state):
    x, v = state
    v = MOMENTUM * v + block(p, x)
    return x + v, v


def rewound(depth):
    """The net whose gradient rebuilds the states from the last one."""
    def run(p, x, v):
        return jax.lax.scan(lambda s, _: (momentum_layer(p, s), None), (x, v), None, length=depth)[0]

    def backward(kept, ct):
        p, x, v = kept

        def back(walk, _):
            x, v, gx, gv, gp = walk
            x = x - v
            value, pull = jax.vjp(block, p, x)
            v = (v - value) / MOMENTUM
            gv = gv + gx
            dp, dx = pull(gv)
            return (x, v, gx + dx, MOMENTUM * gv, jax.tree.map(jnp.add, gp, dp)), None
        start = (x, v, *ct, jax.tree.map(jnp.zeros_like, p))
        _, _, gx, gv, gp = jax.lax.scan(back, start, None, length=depth)[0]
        return gp, gx, gv
    net = jax.custom_vjp(run)
    net.defvjp(lambda p, x, v: (lambda last: (last, (p, *last)))(run(p, x, v)), backward)
    return net


def kept(depth, again=False):
    layer = jax.checkpoint(momentum_layer) if again else momentum_layer
    return lambda p, x, v: jax.lax.scan(lambda s, _: (layer(p, s), None), (x, v), None, length=depth)[0]


def momentum(draw, net):
    """The gradient at depth 512, where the net is chaotic, is timed; at depth 8 it is compared."""
    width, hidden, batch = 256, 512, 256
    p = (draw("w1", width, hidden, scale=0.5 / 16), draw("b1", hidden, scale=0.0),
         draw("w2", hidden, width, scale=0.0220970869), draw("b2", width, scale=0.0))
    x0 = draw("x0", batch, width)

    def gradient(depth):
        return jax.grad(lambda p: jnp.mean(jnp.square(net(depth)(p, x0, jnp.zeros_like(x0))[0])))
    return gradient(512), p, (gradient(8), p)


@workload(repeats=3, compared=False)
def momentum_stored(draw):
    return momentum(draw, kept)


@workload(repeats=3, compared=False)
def momentum_remat(draw):
    return momentum(draw, lambda depth: kept(depth, again=True))


@workload(repeats=3, compared=False)
def momentum_reversible(draw):
    return momentum(draw, rewound)


@workload(calls=5)
def sparse_reads(draw):
    rows = jnp.asarray([(i * 7919) % 100_000 for i in range(1000)])

    def f(table):
        return jax.lax.scan(lambda c, i: (c + jnp.sum(jnp.sin(table[i])), None), 0.0, rows)[0]
    return jax.grad(f), draw("table", 100_000, 8)


# ---- measuring

def split_check(built):
    """The function, its arguments, and a second function with arguments that is compared but not timed, or None."""
    check = built[-1] if isinstance(built[-1], tuple) and callable(built[-1][0]) else None
    function, *arguments = built[:-1] if check else built
    return function, arguments, check


def best_time(call, calls, repeats):
    """Microseconds of a call: the best of the means over `calls` calls."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            result = call()
        jax.block_until_ready(result)
        best = min(best, (time.perf_counter() - start) / calls)
    return best * 1e6


def measure(function, arguments, calls, repeats, jit, **_):
    if not jit:
        return dict(run_us=best_time(lambda: function(*arguments), calls, repeats)), function(*arguments)
    start = time.perf_counter()
    lowered = jax.jit(function).lower(*arguments)
    recorded = time.perf_counter()
    compiled = lowered.compile()
    built = time.perf_counter()
    jitted = jax.jit(function)
    result = jax.block_until_ready(jitted(*arguments))
    costs = compiled.cost_analysis()
    costs = costs[0] if isinstance(costs, list) else costs
    return dict(trace_ms=(recorded - start) * 1e3, compile_ms=(built - recorded) * 1e3,
                run_us=best_time(lambda: jitted(*arguments), calls, repeats),
                temp_bytes=compiled.memory_analysis().temp_size_in_bytes, flops=costs.get("flops")), result


def write_arrays(folder, arrays):
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in arrays.items():
        np.save(folder / f"{name}.npy", np.asarray(value))


def run_one(name, inputs, outputs):
    settings = WORKLOADS[name]
    jax.config.update("jax_enable_x64", settings["dtype"] == "float64")
    draw = Draw(settings["dtype"])
    function, arguments, check = split_check(settings["build"](draw))
    if inputs:
        write_arrays(inputs / name, draw.drawn)
    figures, result = measure(function, arguments, **settings)
    if outputs:
        leaves = jax.tree.leaves((result if settings["compared"] else None, check[0](*check[1:]) if check else None))
        write_arrays(outputs / name, dict(enumerate(leaves)))
    figures = dict(name=name, **figures, rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
    print(json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in figures.items()}), flush=True)


def print_rounding(name):
    """The difference of a run in float32 from one in float64, in units of 2^-23 times the scale of difference.py."""
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_numpy_dtype_promotion", "standard")
    results = []
    for compute in ("float32", "float64"):
        function, arguments, check = split_check(WORKLOADS[name]["build"](Draw(WORKLOADS[name]["dtype"], compute)))
        results.append([np.asarray(leaf) for leaf in
                        jax.tree.leaves((function(*arguments) if WORKLOADS[name]["compared"] else None,
                                         check[0](*check[1:]) if check else None))])
    single, double = results
    assert all(leaf.dtype == "float32" for leaf in single) and all(leaf.dtype == "float64" for leaf in double)
    units = max(difference.relative(a, b) for a, b in zip(single, double)) * 2**23
    print(json.dumps({"name": name, "rounding": round(float(units), 2)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", help="run this one, in this process", choices=WORKLOADS)
    parser.add_argument("--inputs", type=pathlib.Path, help="write the inputs here")
    parser.add_argument("--outputs", type=pathlib.Path, help="write the results here")
    parser.add_argument("--list", action="store_true", help="print the version and the names as JSON, run nothing")
    parser.add_argument("--rounding", action="store_true", help="measure float32 against float64 instead")
    parser.add_argument("prefixes", nargs="*", help="run the workloads whose names start so; all without")
    args = parser.parse_args()
    if args.list:
        print(json.dumps({"version": jax.__version__, "names": list(WORKLOADS)}))
        return
    if args.one:
        print_rounding(args.one) if args.rounding else run_one(args.one, args.inputs, args.outputs)
        return
    passed_on = ["--rounding"] if args.rounding else []
    for option, value in (("--inputs", args.inputs), ("--outputs", args.outputs)):
        passed_on += [option, str(value)] if value else []
    for name in WORKLOADS:
        if not args.prefixes or any(name.startswith(p) for p in args.prefixes):
            subprocess.run([sys.executable, __file__, "--one", name, *passed_on], check=True)


if __name__ == "__main__":
    main()

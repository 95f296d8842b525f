#!/usr/bin/env python3
"""Prints the polynomials of src/native/vector_kernels.h: minimax fits by Remez' exchange, with mpmath.

Each row: name, the function approximated, the weight of its error, interval, number of coefficients. `python
tools/fit_polynomials.py [NAME ...]` prints C++ arrays, lowest power first, and the largest weighted error."""
import sys

import mpmath as mp

mp.mp.dps = 60
LN2 = mp.log(2)


def remez(f, weight, low, high, count):
    low, high = mp.mpf(low), mp.mpf(high)
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / count) for k in range(count + 1)]
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / (60 * count)) for k in range(60 * count + 1)]
    values = [(x, f(x), weight(x)) for x in grid]
    for _ in range(12):
        a = mp.matrix(count + 1, count + 1)
        b = mp.matrix(count + 1, 1)
        for i, x in enumerate(nodes):
            for k in range(count):
                a[i, k] = x**k
            a[i, count] = (-1)**i / weight(x)
            b[i] = f(x)
        solution = mp.lu_solve(a, b)
        c = [solution[k] for k in range(count)]
        errors = [(x, (y - mp.polyval(c[::-1], x)) * w) for x, y, w in values]
        extrema = []
        for x, e in errors:
            if extrema and (extrema[-1][1] > 0) == (e > 0):
                if abs(e) > abs(extrema[-1][1]):
                    extrema[-1] = (x, e)
            else:
                extrema.append((x, e))
        while len(extrema) > count + 1:
            extrema.pop(0 if abs(extrema[0][1]) < abs(extrema[-1][1]) else -1)
        worst = max(abs(e) for _, e in errors)
        if len(extrema) < count + 1:
            break
        nodes = [x for x, _ in extrema]
        if worst < abs(solution[count]) * mp.mpf("1.001"):
            break
    return c, worst


one = lambda x: mp.mpf(1)


quarter = (mp.pi / 4)**2 * mp.mpf("1.001")
half = (mp.pi / 2)**2 * mp.mpf("1.001")
step = LN2 / 2 * mp.mpf("1.001")
ln_high, ln_low = mp.sqrt(2) * mp.mpf("1.0001") - 1, mp.sqrt(mp.mpf(1) / 2) * mp.mpf("0.9999") - 1

# Taylor coefficients written out: evaluating these functions near 0 cancels.
def tail(coefficient):
    """k -> the function with the Taylor coefficients coefficient(k), coefficient(k + 1) ..."""
    return lambda k: lambda x: mp.polyval([coefficient(n + k) for n in range(40)][::-1], x)


exp_tail = tail(lambda n: 1 / mp.factorial(n))
sin_tail = tail(lambda n: mp.mpf(-1)**n / mp.factorial(2 * n + 1))  # of sqrt(z), divided by it
cos_tail = tail(lambda n: mp.mpf(-1)**n / mp.factorial(2 * n))


def log_tail(k):
    """(log(1 + f) - its first k - 1 terms) / f^k."""
    def value(f):
        if abs(f) < mp.mpf("0.05"):
            return mp.polyval([mp.mpf(-1)**(n + k + 1) / (n + k) for n in range(60)][::-1], f)
        head = sum(mp.mpf(-1)**(n + 1) * f**n / n for n in range(1, k))
        return (mp.log(1 + f) - head) / f**k
    return value


def inverse_tail(f, first, k):
    """(f(sqrt z) / sqrt z - first terms) / z^k for odd f with Taylor coefficients `first`(n)."""
    def value(z):
        if z < mp.mpf("0.01"):
            return mp.polyval([first(n + k) for n in range(40)][::-1], z)
        x = mp.sqrt(z)
        return (f(x) / x - sum(first(n) * z**n for n in range(k))) / z**k
    return value


asin_term = lambda n: mp.binomial(2 * n, n) / (mp.mpf(4)**n * (2 * n + 1))
atan_term = lambda n: mp.mpf(-1)**n / (2 * n + 1)
atanh_term = lambda n: mp.mpf(1) / (2 * n + 1)

ROWS = {
    # float, evaluated in double
    "exp_narrow": (mp.exp, lambda x: mp.exp(-x), -step, step, 7),
    "expm1_narrow": (exp_tail(1), one, -step, step, 7),
    "exp2_narrow": (lambda x: mp.mpf(2)**x, lambda x: mp.mpf(2)**-x, mp.mpf("-0.5005"), mp.mpf("0.5005"), 8),
    "log_narrow": (log_tail(1), lambda f: 1 / log_tail(1)(f), ln_low, ln_high, 12),
    "log_ratio_narrow": (inverse_tail(mp.atanh, atanh_term, 0), one, 0, mp.mpf("0.02951"), 6),
    "sin_narrow": (sin_tail(0), lambda z: 1 / sin_tail(0)(z), 0, half, 6),
    "sin_quarter_narrow": (sin_tail(0), one, 0, quarter, 5),
    "cos_quarter_narrow": (cos_tail(0), one, 0, quarter, 5),
    "asin_narrow": (inverse_tail(mp.asin, asin_term, 0), one, 0, mp.mpf("0.2502"), 9),
    "atan_narrow": (inverse_tail(mp.atan, atan_term, 0), lambda z: 1 / inverse_tail(mp.atan, atan_term, 0)(z), 0, mp.mpf("1.0001"), 12),
    "cbrt_narrow": (mp.cbrt, lambda x: 1 / mp.cbrt(x), 1, 2, 11),
    # float
    "tanh_float": (exp_tail(2), lambda x: abs(x) / exp_tail(1)(x), -step, step, 5),
    # double
    "exp_wide": (exp_tail(2), lambda x: x**2 + mp.mpf("1e-30"), -step, step, 11),
    "expm1_wide": (lambda x: 2 * exp_tail(3)(x), lambda x: abs(x)**3 + mp.mpf("1e-30"), -step, step, 10),
    "sin_wide": (sin_tail(2), lambda z: z**2 + mp.mpf("1e-30"), 0, quarter, 6),
    "cos_wide": (cos_tail(3), lambda z: z**3 + mp.mpf("1e-30"), 0, quarter, 5),
    "log_wide": (log_tail(3), lambda f: f**2 + mp.mpf("1e-30"), mp.mpf("-0.128"), mp.mpf("0.128"), 13),
    "asin_wide": (inverse_tail(mp.asin, asin_term, 1), lambda z: z + mp.mpf("1e-30"), 0, mp.mpf("0.2502"), 13),
}


def main():
    for name in sys.argv[1:] or ROWS:
        c, worst = remez(*ROWS[name])
        print(f"// largest error 2^{float(mp.log(worst, 2)):.1f}")
        print(f"constexpr double {name}[] = {{" + ", ".join(mp.nstr(v, 17) for v in c) + "};", flush=True)


main()

#!/usr/bin/env python3
"""Compares results written as .npy: difference.py NAME GOT WANT prints {"check": largest relative difference,
"bound": what it may be}. GOT and WANT hold 0.npy, 1.npy ...

The difference of an element is |got - want| / max(s, |want|) with s = min(1, largest |want| of its array): the measure
of the golden tables, which take s = 1, made sharper for arrays of small numbers. An array that is smaller than 2^-100
throughout counts as 0, since float32 underflows near it.

The bound is N u, u = 2^-23 in float32 and 2^-52 in float64, with the N of the golden programs: max(16, 4 m + 4) in
float32 and max(16, 4 m) in float64, where m is how far the peer's own float32 result is from its float64 result in
units of 2^-23 (jax_workloads.py --rounding): four times the rounding that the computation itself shows, and no less
than 16 for another order of sums. ROUNDING holds m as measured; it depends on the workload's conditioning, not on who
computes it."""
import json
import pathlib
import sys

import numpy as np

ROUNDING = {
    "dispatch": 0.38, "dispatch_grad": 0.29, "eager_grad": 0.29, "elementwise": 0.5, "elementwise_grad": 13.82,
    "unrolled_1500": 13.17, "mlp_small": 3.01, "mlp_mid": 7.1, "jacfwd_256": 1.39, "jacrev_256": 1.39,
    "hessian_256": 5.17, "gmm_d10_k25": 21.83, "gmm_d64_k25": 77.54,
    "momentum_stored": 4.03, "momentum_remat": 4.03, "momentum_reversible": 15.71, "sparse_reads": 0.27,
    "scan_fwd_1": 347.07, "scan_fwd_64": 345.2,  # a million steps, each rounded
    "scan_grad_1": 26.94, "scan_grad_64": 26.94, "bundle_adjustment": 21755.27,  # points close to the camera's plane
}


def relative(got, want):
    """The largest relative difference of two arrays; infinite when shapes differ or only one has a NaN or infinity."""
    if got.shape != want.shape:
        return float("inf")
    got, want = got.astype(np.float64), want.astype(np.float64)
    odd = ~(np.isfinite(got) & np.isfinite(want))
    if not np.array_equal(got[odd], want[odd], equal_nan=True):
        return float("inf")
    got, want = np.where(odd, 0, got), np.where(odd, 0, want)
    size = np.abs(want)
    scale = np.maximum(size, np.clip(size.max(initial=0.0), 2.0**-100, 1.0))
    return float(np.max(np.abs(got - want) / scale, initial=0.0))


def bound(name, dtype):
    m = ROUNDING[name]
    return max(16, 4 * m + 4) * 2.0**-23 if dtype == np.float32 else max(16, 4 * m) * 2.0**-52


def compare(name, got_folder, want_folder):
    names = sorted(p.name for p in want_folder.glob("*.npy"))
    if not names or names != sorted(p.name for p in got_folder.glob("*.npy")):
        return dict(check=float("inf"), bound=0.0)
    got, want = ([np.load(folder / n) for n in names] for folder in (got_folder, want_folder))
    if [a.dtype for a in got] != [a.dtype for a in want]:
        return dict(check=float("inf"), bound=0.0)
    return dict(check=max(map(relative, got, want)), bound=bound(name, want[0].dtype))


if __name__ == "__main__":
    print(json.dumps(compare(sys.argv[1], *map(pathlib.Path, sys.argv[2:]))))

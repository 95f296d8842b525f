#!/usr/bin/env python3
"""Runs the workloads of this library and of JAX alternately on this machine and prints the ratios.

JAX_PYTHON names a Python that has jax and numpy; without it the library is measured alone. Each workload runs in a
process of its own, `--rounds` times on either side; the best figure counts. JAX draws the inputs and both sides read
the same numbers; no time is printed where the results differ by more than bench/peers/difference.py allows.

--markdown prints the tables of docs/performance.md; with a file it replaces the text between the lines
`<!-- measured -->` and `<!-- end -->` there: bench/compare.py --markdown docs/performance.md"""
import argparse
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PEER, DIFFERENCE = HERE / "peers/jax_workloads.py", HERE / "peers/difference.py"

# What the ratios to JAX should not exceed: time of a call; recording and compiling.
BOUNDS = {
    "dispatch": (0.04, 0.30), "dispatch_grad": (0.04, 0.30), "eager_grad": (0.01, None),
    "elementwise": (0.30, 0.30), "elementwise_grad": (0.35, 0.30), "unrolled_1500": (0.35, 0.02),
    "mlp_small": (0.38, 0.2), "mlp_mid": (0.75, 0.3), "jacfwd_256": (0.12, 0.2), "jacrev_256": (0.15, 0.2),
    "hessian_256": (0.45, 0.2), "gmm_d10_k25": (0.20, 0.12), "gmm_d64_k25": (0.18, 0.12),
    "bundle_adjustment": (0.10, 0.12), "scan_fwd_1": (0.9, 0.2), "scan_fwd_64": (0.27, 0.2), "scan_grad_1": (0.6, 0.2),
    "scan_grad_64": (0.27, 0.2), "momentum_stored": (0.65, 0.2), "momentum_remat": (None, 0.2),
    "momentum_reversible": (0.90, 0.2), "sparse_reads": (0.5, 0.2),
}
TEMP_RATIO, TEMP_FREE = 0.8, 4096  # temp bytes: this ratio, or so many bytes whatever JAX takes


# ---- running

def environment():
    """Compiling is to be cold, and JAX to use the processor."""
    kept = {k: v for k, v in os.environ.items() if k not in ("ANADROME_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR")}
    return kept | {"JAX_PLATFORMS": "cpu"}


def output_of(command):
    try:
        ran = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment())
    except OSError as error:
        sys.exit(f"compare.py: {command[0]}: {error.strerror}; `make bench` builds the programs")
    if ran.returncode != 0:
        sys.exit(f"compare.py: {' '.join(map(str, command))} failed with {ran.returncode}:\n{ran.stderr.rstrip()}")
    return ran.stdout


def run_json(command):
    return json.loads(output_of(command))


def best(runs):
    """The smallest of each figure, None without runs; figures other than times do not vary."""
    if not runs:
        return None
    return {k: v if v is None or k == "name" else min(r[k] for r in runs) for k, v in runs[0].items()}


class Sides:
    """Both programs, and a folder for the arrays they exchange."""

    def __init__(self, program, python, folder):
        self.program, self.python = program, python
        self.inputs, self.ours, self.theirs = (folder / name for name in ("inputs", "ours", "jax"))

    def run(self, name, first, with_peer):
        """One run of each side; the first one of a workload exchanges the arrays."""
        theirs = None
        if with_peer:
            write = ["--inputs", self.inputs, "--outputs", self.theirs] if first else []
            theirs = run_json([self.python, PEER, "--one", name, *write])
        read = ["--inputs", self.inputs] if with_peer else []
        write = ["--outputs", self.ours] if with_peer and first else []
        return run_json([self.program, "--one", name, *read, *write]), theirs

    def difference(self, name):
        return run_json([self.python, DIFFERENCE, name, self.ours / name, self.theirs / name])


def measure(sides, names, peers, rounds, tell):
    ours, theirs, checks = ({name: [] for name in names} for _ in range(3))
    for i in range(rounds):
        for name in names:
            tell(f"round {i + 1} of {rounds}: {name}")
            mine, other = sides.run(name, i == 0, name in peers)
            ours[name].append(mine)
            if other:
                theirs[name].append(other)
            if other and i == 0:
                checks[name] = sides.difference(name)
    return [row(name, best(ours[name]), best(theirs[name]), checks[name]) for name in names]


# ---- ratios

def preparing(figures):
    return figures["trace_ms"] + figures["compile_ms"] if figures and "trace_ms" in figures else None


def ratio(a, b):
    return a / b if a is not None and b else None


def row(name, ours, theirs, check):
    """One workload as it goes into the JSON file."""
    run_bound, prepare_bound = BOUNDS.get(name, (None, None))
    line = dict(name=name, ours=ours, jax=theirs, run_bound=run_bound, prepare_bound=prepare_bound)
    if not theirs:
        return line
    line |= dict(run_ratio=ratio(ours["run_us"], theirs["run_us"]),
                 prepare_ratio=ratio(preparing(ours), preparing(theirs)),
                 check=check["check"], check_bound=check["bound"], agrees=check["check"] <= check["bound"])
    if "temp_bytes" in ours:
        line |= dict(temp_bound=max(TEMP_FREE, TEMP_RATIO * theirs["temp_bytes"]))
    return line


# ---- printing

def within(value, bound):
    return value is None or bound is None or value <= bound


def number(value, digits=3):
    if value is None:
        return "–"
    if value >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}" if value < 100 else f"{value:.0f}"


def against(value, bound):
    """A ratio beside its bound; marked when it is larger."""
    if value is None:
        return "–"
    return f"{number(value)} ≤ {bound}" if within(value, bound) else f"**{number(value)}** > {bound}"


def temp(line):
    ours, theirs = line["ours"].get("temp_bytes"), line["jax"].get("temp_bytes")
    if ours is None:
        return "–"
    text = f"{ours:,} / {theirs:,}"
    return text if within(ours, line["temp_bound"]) else f"**{text}**"


HEADER = ["workload", "run µs", "JAX µs", "ratio", "record + compile ms", "JAX ms", "ratio", "temp bytes / JAX's",
          "check"]
ALONE = ["workload", "run µs", "record ms", "compile ms", "temp bytes", "MB"]
SCALING = ["equations", "record ms", "compile ms", "µs an equation", "run µs"]


def compared(line):
    ours, jax = line["ours"], line["jax"]
    if not line["agrees"]:
        return [line["name"], *["–"] * 7, f"**results differ: {line['check']:.2g} > {line['check_bound']:.2g}**"]
    return [line["name"], number(ours["run_us"]), number(jax["run_us"]), against(line["run_ratio"], line["run_bound"]),
            number(preparing(ours)), number(preparing(jax)), against(line["prepare_ratio"], line["prepare_bound"]),
            temp(line), f"{line['check']:.1e} ≤ {line['check_bound']:.1e}"]


def alone(line):
    ours = line["ours"]
    return [line["name"], *(number(ours.get(k)) for k in ("run_us", "trace_ms", "compile_ms", "temp_bytes", "rss_mb"))]


def scaling(line):
    ours, equations = line["ours"], int(line["name"].rsplit("_", 1)[1])
    return [f"{equations:,}", number(ours["trace_ms"]), number(ours["compile_ms"]),
            number(preparing(ours) * 1e3 / equations), number(ours["run_us"])]


def table(header, rows, markdown):
    rows = [header, *rows]
    if markdown:
        lines = ["| " + " | ".join(r) + " |" for r in rows]
        return "\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]]) + "\n"
    rows = [[cell.replace("**", "") for cell in r] for r in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join([r[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(r[1:], widths[1:]))]) for r in rows]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def report(result, markdown):
    machine, lines = result["machine"], result["workloads"]
    text = (f"{machine['processor']}, {machine['cores']} cores, {machine['vectors']}, {machine['system']}; "
            f"JAX {result['jax_version'] or 'not measured'}; best of {result['rounds']} processes; "
            f"load average {result['load_before']:.2f} before, {result['load_after']:.2f} after.\n")
    grows = [line for line in lines if line["name"].startswith("equations_")]
    pairs = [line for line in lines if line["jax"]]
    rest = [line for line in lines if not line["jax"] and line not in grows]
    for header, format_line, chosen in ((HEADER, compared, pairs), (ALONE, alone, rest), (SCALING, scaling, grows)):
        if chosen:
            text += "\n" + table(header, map(format_line, chosen), markdown)
    return text


def replace_in(path, text):
    document = path.read_text()
    between = re.compile(r"(<!-- measured -->\n).*?(<!-- end -->)", re.S)
    changed, count = between.subn(lambda m: m[1] + text + m[2], document)
    if count != 1:
        sys.exit(f"compare.py: {path} has no line '<!-- measured -->' followed by '<!-- end -->'")
    path.write_text(changed)


# ---- the machine

def machine():
    try:
        info = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        info = ""
    model = re.search(r"^model name\s*: (.*)$", info, re.M)
    flags = set(" ".join(re.findall(r"^flags\s*: (.*)$", info, re.M)).split())
    vectors = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else platform.machine()
    return dict(processor=model[1] if model else platform.processor() or platform.machine(),
                cores=len(os.sched_getaffinity(0)), vectors=vectors, system=f"{platform.system()} {platform.release()}")


def peer_names(python):
    if not python:
        print("JAX_PYTHON is not set: the library alone, without ratios and checks. Set it to a Python that has jax.",
              file=sys.stderr)
        return None, []
    answer = run_json([python, PEER, "--list"])
    return answer["version"], answer["names"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=HERE.parent / "build/release/bench/workloads")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each workload on either side (3)")
    parser.add_argument("--json", type=pathlib.Path, help="where the figures go (workloads.json beside the program)")
    parser.add_argument("--markdown", nargs="?", const="-", help="print Markdown, or put it into this file")
    parser.add_argument("prefixes", nargs="*", help="the workloads whose names start so; all without")
    args = parser.parse_args()
    python = os.environ.get("JAX_PYTHON")
    version, peers = peer_names(python)
    names = output_of([args.program, "--list", *args.prefixes]).split()
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        sides = Sides(args.program, python, pathlib.Path(folder))
        tell = (lambda text: print(text, file=sys.stderr)) if sys.stderr.isatty() else (lambda text: None)
        lines = measure(sides, names, peers, args.rounds, tell)
    result = dict(machine=machine(), jax_version=version, rounds=args.rounds, load_before=load_before,
                  load_after=os.getloadavg()[0], workloads=lines)
    (args.json or args.program.with_name("workloads.json")).write_text(json.dumps(result, indent=1) + "\n")
    text = report(result, args.markdown is not None)
    if args.markdown in (None, "-"):
        print(text, end="")
    else:
        replace_in(pathlib.Path(args.markdown), text)
    return 0 if all(line.get("agrees", True) for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())

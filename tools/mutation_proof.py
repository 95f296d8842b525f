#!/usr/bin/env python3
"""Breaks every rule of every primitive in turn and checks that a test notices.

Each eval, jvp, transpose, linearize, batch and cost rule is replaced by one that negates, and by one that doubles, what it
gives (tests/rules/mutate.h). A mutant must make a check of its primitive fail. Prints a table; exits 1 if one survives.
"""
import argparse
import concurrent.futures
import pathlib
import subprocess
import sys

RULES = ["eval", "jvp", "transpose", "linearize", "batch", "cost"]


def run_mutants(program, wanted):
    """(mutant, outcome, by) for each mutant of a primitive, or for a single one."""
    done = subprocess.run([program, f"--mutate={wanted}"], capture_output=True, text=True, timeout=600)
    verdicts = [tuple((line.split("\t") + [""])[:3]) for line in done.stdout.splitlines()]
    return verdicts, done.returncode


def try_primitive(program, mutants):
    primitive = mutants[0].split(".")[0]
    verdicts, status = run_mutants(program, primitive)
    found = {v[0]: v for v in verdicts}
    for mutant in mutants:
        if mutant in found:
            continue
        verdicts, status = run_mutants(program, mutant)  # an earlier one has ended the process
        found[mutant] = verdicts[0] if verdicts else (mutant, "killed", f"the test program ended with status {status}")
    return [found[m] for m in mutants]


def table(groups):
    """Rows of the report: primitive, then what became of the mutants of each rule."""
    rows = []
    for verdicts in groups:
        cells = {}
        for mutant, outcome, _ in verdicts:
            cells.setdefault(mutant.split(".")[1], []).append(outcome)
        row = [verdicts[0][0].split(".")[0]]
        for rule in RULES:
            outcomes = cells.get(rule, [])
            worst = next((o for o in ("survived", "equivalent", "killed") if o in outcomes), "-")
            row.append(worst)
        rows.append(row)
    return rows


def markdown(rows, groups):
    lines = ["| primitive | " + " | ".join(RULES) + " |", "|---" * (len(RULES) + 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    same = sorted({(m.rsplit(".", 1)[0], by) for g in groups for m, outcome, by in g if outcome == "equivalent"})
    if same:
        lines += ["", "Equivalent mutants, which are the same rule:"] + [f"- `{m}`: {by}" for m, by in same]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="build directory (default: %(default)s)")
    parser.add_argument("--output", help="write the table here as well (Markdown)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("primitives", nargs="*", help="only these primitives")
    options = parser.parse_args()
    program = str(pathlib.Path(options.build) / "tests" / "test_rules")
    listed = subprocess.run([program, "--mutants"], capture_output=True, text=True, check=True).stdout.split()
    by_primitive = {}
    for mutant in listed:
        by_primitive.setdefault(mutant.split(".")[0], []).append(mutant)
    wanted = options.primitives or list(by_primitive)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        groups = list(pool.map(lambda p: try_primitive(program, by_primitive[p]), wanted))
    text = markdown(table(groups), groups)
    print(text)
    if options.output:
        pathlib.Path(options.output).write_text(text)
    outcomes = [v[1] for g in groups for v in g]
    survivors = [v[0] for g in groups for v in g if v[1] == "survived"]
    print(f"{len(outcomes)} mutants: {outcomes.count('killed')} killed, {outcomes.count('equivalent')} equivalent, "
          f"{len(survivors)} survived")
    for mutant in survivors:
        print("survived:", mutant, file=sys.stderr)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())

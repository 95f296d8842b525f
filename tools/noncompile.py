#!/usr/bin/env python3
"""Compiles each tests/noncompile/*.cpp twice: as is it must compile; with -DBAD it must fail, and the compiler's
message must contain each text that stands after '// EXPECT: ' in the file."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent


def compile_file(compiler, path, bad):
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Iinclude", str(path)]
    if bad:
        command.insert(1, "-DBAD")
    env = dict(os.environ, LC_ALL="C")
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)


def check(compiler, path):
    text = path.read_text()
    name = path.relative_to(ROOT)
    expected = [e.strip() for e in re.findall(r"// EXPECT: (.*)", text)]
    if not expected:
        return f"{name}: has no '// EXPECT: ' line"
    good = compile_file(compiler, name, bad=False)
    if good.returncode != 0:
        return f"{name}: must compile without -DBAD, but:\n{good.stderr}"
    bad = compile_file(compiler, name, bad=True)
    if bad.returncode == 0:
        return f"{name}: must not compile with -DBAD, but it does"
    for e in expected:
        if e not in bad.stderr:
            return f"{name}: the message does not contain '{e}':\n{bad.stderr}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="default: all of tests/noncompile")
    args = parser.parse_args()
    files = [f.resolve() for f in args.files] or sorted((ROOT / "tests/noncompile").glob("*.cpp"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [f for f in pool.map(lambda p: check(args.compiler, p), files) if f]
    print("\n".join(failures + [f"noncompile: {len(files) - len(failures)} of {len(files)} files as expected"]))
    return 1 if failures else 0


sys.exit(main())

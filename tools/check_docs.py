#!/usr/bin/env python3
"""Compiles and runs each ```cpp block with `int main` of README.md and docs/*.md against a built library.
When a ```text block follows directly, what the program prints must equal it. A block ```text examples/NAME holds what that
example prints."""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```cpp[^\n]*\n(.*?)^```[ \t]*\n(?:\s*^```text[^\n]*\n(.*?)^```[ \t]*$)?", re.M | re.S)


EXAMPLE = re.compile(r"^```text (examples/\w+)\n(.*?)^```[ \t]*$", re.M | re.S)


def stripped(text):
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def link_flags(build):
    cache = (build / "CMakeCache.txt").read_text()
    tbb = re.search(r"^TBB_DIR:\w+=(?!.*NOTFOUND)\S", cache, re.M)
    llvm = re.search(r"^LLVM_DIR:\w+=(\S+)", cache, re.M)
    folders = [folder / "lib" for folder in pathlib.Path(llvm.group(1)).parents] if llvm else []
    library = [f"-L{f}" for f in folders if list(f.glob("libLLVM.so"))][:1]
    return [str(build / "libanadrome.a"), "-pthread"] + (["-ltbb"] if tbb else []) + library + ["-lLLVM", "-ldl"]


def check(job):
    where, code, expected, args = job
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "main.cpp"), pathlib.Path(folder, "main")
        source.write_text(code)
        command = [args.compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include",
                   source.name, "-o", program.name, *link_flags(args.build)]   # relative: messages show the path
        made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if made.returncode != 0:
            return f"{where}: does not compile:\n{made.stderr}"
        try:
            ran = subprocess.run([program], cwd=folder, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return f"{where}: runs for more than 60 s"
        if ran.returncode != 0:
            return f"{where}: exits with {ran.returncode}:\n{ran.stdout}{ran.stderr}"
        if expected is not None and stripped(ran.stdout) != stripped(expected):
            diff = difflib.unified_diff(stripped(expected), stripped(ran.stdout), "document", "program", lineterm="")
            return f"{where}: prints something else:\n" + "\n".join(diff)
    return None


def check_example(job):
    where, name, expected, args = job
    ran = subprocess.run([args.build / name], cwd=ROOT, capture_output=True, text=True, timeout=300)
    if ran.returncode == 0 and stripped(ran.stdout) == stripped(expected):
        return None
    diff = difflib.unified_diff(stripped(expected), stripped(ran.stdout), "document", "program", lineterm="")
    return f"{where}: {name} exits with {ran.returncode} and prints:\n" + "\n".join(diff)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    args = parser.parse_args()
    args.build = args.build.resolve()
    jobs, examples = [], []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = path.read_text() if path.exists() else ""
        for block in BLOCK.finditer(text):
            if "int main" in block.group(1):
                line = text.count("\n", 0, block.start()) + 1
                jobs.append((f"{path.relative_to(ROOT)}:{line}", block.group(1), block.group(2), args))
        for block in EXAMPLE.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            examples.append((f"{path.relative_to(ROOT)}:{line}", block.group(1), block.group(2), args))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [p for p in [*pool.map(check, jobs), *pool.map(check_example, examples)] if p]
    print("\n".join(problems) if problems else f"check_docs: ok, {len(jobs)} programs, {len(examples)} examples")
    return 1 if problems else 0


sys.exit(main())

#!/usr/bin/env python3
"""Checks the direction of #includes between the folders of src/, and that public headers stay public.

core <- primitives <- {transforms, optimize} <- {native, stablehlo} <- api. trace sees core and primitives;
transforms and api see trace. src/math is a leaf that anyone may include. Nobody outside api includes api."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)

SEES = {
    "math": set(),
    "core": {"math"},
    "primitives": {"math", "core"},
    "trace": {"math", "core", "primitives"},
    "transforms": {"math", "core", "primitives", "trace", "optimize"},
    "optimize": {"math", "core", "primitives", "transforms"},
    "native": {"math", "core", "primitives", "transforms", "optimize", "stablehlo"},
    "stablehlo": {"math", "core", "primitives", "transforms", "optimize", "native"},
    "api": {"math", "core", "primitives", "trace", "transforms", "optimize", "native", "stablehlo"},
}


def folder_of(path):
    return path.relative_to(ROOT / "src").parts[0]


def includes(path):
    text = path.read_text(errors="replace")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def check_source(path):
    folder = folder_of(path)
    if folder not in SEES:
        yield f"{path.relative_to(ROOT)}: folder src/{folder} has no place in tools/check_includes.py"
        return
    for line, _, name in includes(path):
        target = name.split("/")[0]
        if name.startswith(".."):
            yield f"{path.relative_to(ROOT)}:{line}: write '{name}' from src/, without '..'"
        elif "/" in name and (ROOT / "src" / name).exists() and target != folder and target not in SEES[folder]:
            yield f"{path.relative_to(ROOT)}:{line}: {folder} must not include {name}"


def check_public(path):
    for line, kind, name in includes(path):
        where = f"{path.relative_to(ROOT)}:{line}"
        if name.startswith("anadrome/"):
            if not (ROOT / "include" / name).exists():
                yield f"{where}: {name} is no public header"
        elif kind == '"' or "/" in name or name.endswith((".h", ".hpp")):
            yield f"{where}: a public header includes only std and public headers, not {name}"


def check_outside(path):
    """The program, the examples and the benchmarks use the public headers alone."""
    for line, _, name in includes(path):
        if "/" in name and (ROOT / "src" / name).exists():
            yield f"{path.relative_to(ROOT)}:{line}: only src/ and tests/ may include the internal {name}"


def files(folder):
    return sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in (".h", ".cpp", ".inc", ".hpp"))


def main():
    problems = []
    for folder, check in (("src", check_source), ("include", check_public), ("apps", check_outside),
                          ("examples", check_outside), ("bench", check_outside)):
        for path in files(folder):
            problems += check(path)
    print("\n".join(problems) if problems else "check_includes: ok")
    return 1 if problems else 0


sys.exit(main())

#!/usr/bin/env python3
"""Fails on files over 600 lines and functions over 60 lines that tools/size_exceptions.txt does not list.

Function bodies are found by their braces, after comments and literals are blanked. What is not clearly a
function (namespaces, types, enums, initializers) is not counted."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_FILE, MAX_FUNCTION = 600, 60
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\ ]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
TAIL = re.compile(r"\)(?:const|noexcept|override|final|mutable|&&?|\s)*$")
RETURNS = re.compile(r"(\)(?:const|noexcept|mutable|&&?|\s)*)->[^;]*$")
MEMBER_LIST = re.compile(r"\)(?:noexcept|\s)*:[^:?]")
CALLED = re.compile(r"(?:([~\w:<>]+|operator\s*\S+)\s*)$")
CONTROL = {"if", "for", "while", "switch", "catch", "constexpr"}


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def function_name(head):
    """The name of the function whose body starts after `head`, or None when it is no function."""
    head = RETURNS.sub(r"\1", head.strip())
    members = MEMBER_LIST.search(head)  # of a constructor
    if members:
        head = head[:members.start() + 1]
    if not TAIL.search(head) or re.match(r"(namespace|enum|else|do|try)\b", head):
        return None
    depth, end = 0, head.rfind(")", 0, TAIL.search(head).start() + 1)
    for i in range(end, -1, -1):
        depth += (head[i] == ")") - (head[i] == "(")
        if depth == 0:
            before = head[:i].rstrip()
            if before.endswith("]"):
                return "lambda"
            name = CALLED.search(before)
            return name.group(1) if name and name.group(1) not in CONTROL else None
    return None


def functions(text):
    """Yields (name, first line, lines) of outermost functions."""
    text = DIRECTIVE.sub(blank, NOISE.sub(blank, text))
    stack, start, inside = [], 0, 0
    for i, c in enumerate(text):
        if c == "{":
            name = None if inside else function_name(text[start:i])
            head = start + len(text[start:i]) - len(text[start:i].lstrip())
            stack.append((name, head))
            inside += name is not None
            start = i + 1
        elif c == "}":
            if stack:
                name, head = stack.pop()
                if name is not None:
                    inside -= 1
                    yield name, text.count("\n", 0, head) + 1, text.count("\n", head, i) + 1
            start = i + 1
        elif c == ";":
            start = i + 1


def exceptions():
    """Lines of size_exceptions.txt: `path: reason` or `path function: reason`."""
    path = ROOT / "tools/size_exceptions.txt"
    known = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.strip() and not line.startswith("#"):
            key, _, reason = line.partition(": ")
            if not reason.strip():
                sys.exit(f"tools/size_exceptions.txt: '{line}' gives no reason")
            known[key.strip()] = reason
    return known


def main():
    known, problems, used = exceptions(), [], set()

    def report(key, message):
        used.add(key)
        if key not in known:
            problems.append(message)

    for folder in ("include", "src", "apps", "tests", "bench", "examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".inc"):
                continue
            text, name = path.read_text(errors="replace"), str(path.relative_to(ROOT))
            lines = text.count("\n")
            if lines > MAX_FILE:
                report(name, f"{name}: {lines} lines, at most {MAX_FILE}")
            for function, line, length in functions(text):
                if length > MAX_FUNCTION:
                    report(f"{name} {function}", f"{name}:{line}: {function} has {length} lines, at most {MAX_FUNCTION}")
    problems += [f"tools/size_exceptions.txt: '{key}' is no longer needed" for key in known if key not in used]
    print("\n".join(problems) if problems else "check_sizes: ok")
    return 1 if problems else 0


sys.exit(main())

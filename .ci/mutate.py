#!/usr/bin/env python3
"""mutate.py [--seed N] [--mutants N] [--only PATH...]: would the tests see it? By hand, for hours; nothing of it runs by itself.

Changes one place of the library or the command at a time, in a copy of the sources under build-mutants/: a comparison, an "and", a
constant, a negation, a step by one. Each mutant is built and the tests run until the first that fails: it is killed. What no test sees
survives, and is printed with its place and change, to be met with a test or named as equivalent (the program means the same).
The same seed gives the same mutants. The last line is the score."""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACE = os.path.join(ROOT, "build-mutants")
FOLDERS = ("libncclscope/src", "tools")
SKIPPED = ("libncclscope/src/probe/", "tools/tests/")         # the probe's test takes a minute a mutant: --only asks for it

# What stands there, and what takes its place: a text, or a function of the groups.
CHANGES = (
    (r"(?<![<>=!\-+*/&|])<(?=\s)", "<="), (r"(?<![<>=!\-])>(?=\s)", ">="), (r"<=(?=\s)", "<"), (r">=(?=\s)", ">"),
    (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"\+ 1\b", "+ 2"), (r"- 1\b", "- 2"), (r"\+\+", "--"), (r"(?<=[(\s])!(?=[a-z(])", ""),
    (r"\? ([^:?;]+) : ([^:?;]+)(?=;)", lambda yes, no: "? %s : %s" % (no, yes)),
    (r"\breturn (?!true|false)[a-z][\w>.\-]*(?=;)", "return 0"),
    (r"(?<![\w.])(\d+)(?=[;)])", lambda number: str(int(number) + 1)),
)


def code_of(text):
    """The text with comments and strings blanked: places there are no mutants."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#[^\n]*', blank, text, flags=re.S | re.M)


def files(only):
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in sorted(names):
                relative = os.path.relpath(os.path.join(path, name), ROOT)
                if not name.endswith(".c"):
                    continue
                if any(relative.startswith(o) for o in only) if only else not relative.startswith(SKIPPED):
                    yield relative


def mutants(only, rng, n):
    """n of all places, each (file, line, the line before, the line after, the whole text after)."""
    all_ = []
    for relative in files(only):
        with open(os.path.join(ROOT, relative), encoding="utf-8") as f:
            text = f.read()
        code = code_of(text)
        for pattern, change in CHANGES:
            all_ += [(relative, [m.span(i) for i in range(1 + m.re.groups)], change) for m in re.finditer(pattern, code)]
    rng.shuffle(all_)
    for relative, ((start, end), *groups), change in all_[:n]:
        with open(os.path.join(ROOT, relative), encoding="utf-8") as f:
            text = f.read()
        new = change(*(text[i:j] for i, j in groups)) if callable(change) else change
        changed = text[:start] + new + text[end:]
        line = text.count("\n", 0, start)
        yield relative, line + 1, text.split("\n")[line].strip(), changed.split("\n")[line].strip(), changed


def run(*command, limit=600):
    try:
        return subprocess.run(command, cwd=PLACE, capture_output=True, text=True, timeout=limit, errors="replace").returncode == 0
    except subprocess.TimeoutExpired:
        return False                                          # a mutant that never ends is seen


def tests():
    """The quick ones first."""
    listed = subprocess.run(["meson", "test", "-C", "build", "--list"], cwd=PLACE, capture_output=True, text=True, check=True).stdout
    names = [line.split(" / ")[-1].strip() for line in listed.splitlines() if " / " in line and "elsewhere" not in line]
    last = ("properties", "invariance", "grammar of all texts", "damage", "rules in logs", "output", "interrupt", "faults")
    never = ("tables", "coverage", "arrows", "symbols", "binary", "growth", "probe")
    return sorted((n for n in names if n not in never), key=lambda n: (n in last, names.index(n)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    shutil.rmtree(PLACE, ignore_errors=True)
    shutil.copytree(ROOT, PLACE, ignore=shutil.ignore_patterns("build*", ".git"))
    if not (run("meson", "setup", "build", "-Dtests=enabled", "-Dbuildtype=debug") and run("ninja", "-C", "build") and
            run("meson", "test", "-C", "build", *tests(), limit=3600)):
        print("mutate: the tests do not pass as it is")
        return 1
    killed, made, names = 0, 0, tests()
    for relative, line, before, after, text in mutants(args.only, random.Random(args.seed), args.mutants):
        path = os.path.join(PLACE, relative)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        if run("ninja", "-C", "build"):                       # else it is no program
            made += 1
            seen = next((t for t in names if not run("meson", "test", "-C", "build", "--no-rebuild", t)), None)
            killed += bool(seen)
            print("%-8s %s:%d  %s  ->  %s%s" % ("killed" if seen else "SURVIVED", relative, line, before, after, "  (%s)" % seen if seen else ""),
                  flush=True)
        shutil.copy(os.path.join(ROOT, relative), path)
    print("%d of %d mutants killed (%.0f %%)" % (killed, made, 100 * killed / max(made, 1)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""mutate.py [--seed N] [--mutants N] [--from N] [--only PATH...]: would the tests see it? By hand, for hours; nothing of it runs by itself.

Changes one place of the library or the command at a time, in a copy of the sources under build-mutants/: a comparison, an "and", a
constant, a negation, a step by one. Each mutant is built and the tests run until the first that fails: it is killed. Those that killed
most for their time go first. What no test sees survives, and is printed with its place and change, to be met with a test or named as
equivalent (the program means the same). The same seed gives the same mutants of the same sources: --from goes on with a run that was
ended. The last line is the score."""

import argparse
import filecmp
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACE = os.path.join(ROOT, "build-mutants")
OPTIONS = ("-Dtests=enabled", "-Dbuildtype=plain", "-Doptimization=1", "-Ddebug=false", "-Db_ndebug=false")     # quick to build and to run
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
# No mutants in what is named "same", as the program would mean the same: who notes that there was no memory, which is counted anyway
# (alloc.h); more memory than asked for; the smaller or larger of two; which of two comes first that are known to differ.
SAME = (r"(?P<same>no_memory \|?= [^;]*;)", r"(?P<same>alloc\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))",
        r"(?P<a>[\w.>\-]+)(?P<same> [<>]=? )(?P<b>[\w.>\-]+)(?= \? (?:(?P=a) : (?P=b)|(?P=b) : (?P=a))\b)",
        r"(?:if \()?(?P<a>[\w.>\-]+) != (?P<b>[\w.>\-]+)(?:\)\s+return | \? \()(?P=a)(?P<same> < )(?P=b)")


def code_of(text):
    """The text with comments and strings blanked: places there are no mutants."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#[^\n]*', blank, text, flags=re.S | re.M)


def files(only):
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(PLACE, folder)):
            for name in sorted(names):
                relative = os.path.relpath(os.path.join(path, name), PLACE)
                if not name.endswith(".c"):
                    continue
                if any(relative.startswith(o) for o in only) if only else not relative.startswith(SKIPPED):
                    yield relative


def mutants(only, rng, first, n):
    """The `first` of n to the last of them, each (file, line, its whole text before and after)."""
    all_ = []
    for relative in files(only):
        with open(os.path.join(PLACE, relative), encoding="utf-8") as f:
            text = f.read()
        code = code_of(text)
        same = [m.span("same") for pattern in SAME for m in re.finditer(pattern, code)]
        for pattern, change in CHANGES:
            all_ += [(relative, text, [m.span(i) for i in range(1 + m.re.groups)], change) for m in re.finditer(pattern, code)
                     if not any(a <= m.start() < b for a, b in same)]
    rng.shuffle(all_)
    for relative, text, ((start, end), *groups), change in all_[first:n]:
        new = change(*(text[i:j] for i, j in groups)) if callable(change) else change
        yield relative, text.count("\n", 0, start), text, text[:start] + new + text[end:]


def run(command, limit=600, env=None, folder=PLACE):
    """Does it end well, and within limit seconds? What it started ends with it."""
    with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                          start_new_session=True) as process:
        try:
            return process.wait(limit) == 0
        except subprocess.TimeoutExpired:                     # a mutant that never ends is seen
            os.killpg(process.pid, signal.SIGKILL)
            return False


class Test:
    """One test of a build, run as `meson test` runs it, without its start."""

    def __init__(self, build, told, targets):
        self.build, self.name, self.command = os.path.join(PLACE, build), told["name"], told["cmd"]
        self.env = {**os.environ, **told["env"], "STOP_AT_FIRST": "1"}
        self.targets = sorted({targets[d] for d in told["depends"]})
        self.seconds, self.tried, self.kills = 0.0, 0, 0

    def passes(self, limit):
        return run(["ninja", "-C", self.build, *self.targets]) and run(self.command, limit, self.env, self.build)

    def passes_as_it_is(self):
        begun = time.monotonic()
        passed = self.passes(600)
        self.seconds = time.monotonic() - begun
        return passed

    def kills_it(self):
        killed = not self.passes(20 + 5 * self.seconds)       # of a machine that others use too
        self.tried += 1
        self.kills += killed
        return killed

    def price(self):
        """Seconds for a kill, as far as known: one in twenty is what is thought of a test at first."""
        return self.seconds * (self.tried + 1) / (self.kills + 0.05)


def tests(build, wanted):
    def told(what):
        return json.loads(subprocess.run(["meson", "introspect", "--" + what, build], cwd=PLACE, capture_output=True, check=True).stdout)

    targets = {t["id"]: os.path.relpath(t["filename"][0], os.path.join(PLACE, build)) for t in told("targets")}
    return [Test(build, t, targets) for t in told("tests") if wanted(t)]


def all_tests():
    """All that look at what a program does; the quick ones again with the sanitizers, as test.sh has it: they see what is read beyond an end."""
    never = ("tables", "parts of a model", "coverage", "arrows", "circles", "abi", "symbols", "standalone", "binary", "install", "growth", "probe")
    ours = lambda t: "elsewhere" not in t["name"] and t["name"] not in never
    quick = lambda t: ours(t) and (t["name"] == "cases" or "/test_" in t["cmd"][0]) and t["name"] not in ("properties", "parts", "scan", "store")
    return tests("build", ours) + tests("build-sanitized", quick)


def copy_changed(source, target):
    """Only what differs, so that only that is built again."""
    if not (os.path.exists(target) and filecmp.cmp(source, target, shallow=False)):
        shutil.copy(source, target)


def prepare():
    """The copy; what an earlier run built of the same sources stays."""
    shutil.rmtree(os.path.join(PLACE, "testdata"), ignore_errors=True)
    shutil.copytree(ROOT, PLACE, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__"), copy_function=copy_changed, dirs_exist_ok=True)
    for build, more in (("build", ()), ("build-sanitized", ("-Db_sanitize=address,undefined", "-Db_lundef=false"))):
        again = ["--reconfigure"] if os.path.isdir(os.path.join(PLACE, build)) else []
        if not run(["meson", "setup", build, *again, *OPTIONS, *more]):
            return False
    return True


def write(relative, text):
    with open(os.path.join(PLACE, relative), "w", encoding="utf-8") as f:
        f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    if not prepare():
        print("mutate: no build")
        return 1
    every = all_tests()
    broken = [t.name for t in every if not t.passes_as_it_is()]
    if broken:
        print("mutate: these tests do not pass as it is: " + ", ".join(broken))
        return 1
    killed, made = 0, 0
    for relative, line, text, changed in mutants(args.only, random.Random(args.seed), args.first, args.mutants):
        write(relative, changed)
        if run(["ninja", "-C", "build", "tools/ncclscope"]):  # else it is no program
            made += 1
            seen = next((t for t in sorted(every, key=Test.price) if t.kills_it()), None)
            killed += bool(seen)
            before, after = (t.split("\n")[line].strip() for t in (text, changed))
            print("%-8s %s:%d  %s  ->  %s%s" % ("killed" if seen else "SURVIVED", relative, line + 1, before, after,
                                                "  (%s)" % seen.name if seen else ""), flush=True)
        write(relative, text)
    print("%d of %d mutants killed (%.0f %%)" % (killed, made, 100 * killed / max(made, 1)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

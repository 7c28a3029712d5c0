#!/usr/bin/env python3
"""check-symbols.py: the public headers, the version script and the shared library name the same functions.

    check-symbols.py MAP LIBRARY HEADER...     in any order: a .map, a .so, and .h files

One line and exit 1 for each function that a header declares with NCCLSCOPE_API and the library does not export, or that the map
does not let out; for each function declared without NCCLSCOPE_API; for each symbol that the library exports and no header declares,
or that is not called ncclscope_*; for each symbol that stands in no version of the map; and for each library that it names to open and
its .note.dlopen does not, or the other way round."""

import fnmatch
import os
import re
import subprocess
import sys

problems = []


def problem(text):
    problems.append(text)


def declarations(path):
    """{name: has NCCLSCOPE_API} of the functions that a header declares."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    text = re.sub(r'extern\s+"C"\s*\{', "", text)
    found = {}
    for statement in re.split(r"[;{}]", text):
        name = re.match(r"[\w\s*]*?\b(\w+)\s*\(", statement)
        if name and not re.match(r"\s*(?:typedef|static)\b", statement):
            found[name.group(1)] = "NCCLSCOPE_API" in statement.split("(")[0].split()
    return found


def map_nodes(path):
    """{version: (patterns let out, patterns kept in)}"""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/|#[^\n]*", " ", file.read(), flags=re.S)
    nodes = {}
    for version, body in re.findall(r"(\w[\w.]*)\s*\{(.*?)\}\s*\w*[\w.]*\s*;", text, flags=re.S):
        lists, which = {"global": [], "local": []}, "global"
        for part in re.findall(r"(global|local)\s*:|([^;:\s]+)\s*;", body):
            which = part[0] or which
            if part[1]:
                lists[which].append(part[1])
        nodes[version] = (lists["global"], lists["local"])
    return nodes


def exported(path):
    """[(name, version)] of what the library defines for others."""
    nm = subprocess.run([os.environ.get("NM", "nm"), "-D", "--defined-only", path], stdout=subprocess.PIPE, text=True)
    if nm.returncode:
        sys.exit("check-symbols.py: nm cannot read %s" % path)
    symbols = []
    for line in nm.stdout.splitlines():
        kind, name = line.split()[-2:]
        name, _, version = name.partition("@")
        if kind != "A":  # the versions themselves
            symbols.append((name, version.lstrip("@")))
    return symbols


def check_note(path):
    """What is opened when it runs, against what the note tells packagers."""
    with open(path, "rb") as file:
        content = file.read()
    told = set(re.findall(rb'"soname":\["([^"]+)"\]', content))
    opened = set(re.findall(rb"\0(lib[a-z-]+\.so\.[0-9]+)(?=\0)", content)) - set(needed(path))
    for name in told ^ opened:
        problem("%s: %s stands %s" % (path, name.decode(), "in .note.dlopen alone" if name in told else "not in .note.dlopen"))


def needed(path):
    """Libraries that it is linked with, and its own name."""
    lines = subprocess.run(["readelf", "-dW", path], stdout=subprocess.PIPE, text=True).stdout
    return [name.encode() for name in re.findall(r"(?:NEEDED|SONAME)[^\[]*\[([^\]]+)\]", lines)]


def main():
    paths = sys.argv[1:]
    maps = [p for p in paths if p.endswith(".map")]
    libraries = [p for p in paths if re.search(r"\.so(?:\.[0-9.]+)?$", p)]
    headers = [p for p in paths if p.endswith(".h")]
    if len(maps) != 1 or len(libraries) != 1 or not headers or len(headers) + 2 != len(paths):
        sys.exit("usage: check-symbols.py MAP LIBRARY HEADER...")
    nodes, symbols = map_nodes(maps[0]), exported(libraries[0])
    names, declared = {name for name, _ in symbols}, {}
    let_out = [pattern for out, _ in nodes.values() for pattern in out]
    for path in headers:
        for name, public in declarations(path).items():
            if name in declared:
                problem("%s: %s is declared in %s too" % (path, name, declared[name]))
            declared[name] = path
            if not public:
                problem("%s: %s is declared without NCCLSCOPE_API" % (path, name))
            elif name not in names:
                problem("%s: %s is declared, and %s does not export it" % (path, name, libraries[0]))
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in let_out):
                problem("%s: %s is declared, and %s does not let it out" % (path, name, maps[0]))
    for name, version in symbols:
        if not name.startswith("ncclscope_"):
            problem("%s: exports %s, which is not called ncclscope_*" % (libraries[0], name))
        elif name not in declared:
            problem("%s: exports %s, which no header declares" % (libraries[0], name))
        if version not in nodes:
            problem("%s: %s has the version '%s', which is not in %s" % (libraries[0], name, version, maps[0]))
    for pattern in let_out:
        if pattern not in names:
            problem("%s: lets out %s, which is no function of the library: names, not patterns" % (maps[0], pattern))
    if "*" not in [pattern for _, kept in nodes.values() for pattern in kept]:
        problem("%s: keeps nothing in (local: *)" % maps[0])
    check_note(libraries[0])
    for text in problems:
        print(text)
    if not problems:
        print("%d functions: headers, map and library agree" % len(declared))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

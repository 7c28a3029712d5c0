#!/usr/bin/env python3
"""check-circles.py LIBRARY: no more than three files of the library call each other in a circle.

LIBRARY is the static library; nm says what each of its objects defines and what it takes from others. Files of which each needs the others can only be
understood, tested and changed together. One line for each circle that is larger, with the calls that close it, and exit 1."""

import collections
import re
import subprocess
import sys

LARGEST = 3


def calls(library):
    """{file: {file: symbols that it takes from there}}"""
    defined, taken = {}, collections.defaultdict(set)
    for line in subprocess.run(["nm", "-A", "-P", library], capture_output=True, text=True, check=True).stdout.splitlines():
        found = re.match(r"(?:.*[/\[])?src_(\w+)\.c\.o\]?: (\S+) (\w)", line)
        if not found:
            continue
        file, symbol, kind = found.groups()
        if kind == "U":
            taken[file].add(symbol)
        elif kind in "TDBRVW":
            defined[symbol] = file
    graph = {file: collections.defaultdict(set) for file in set(defined.values()) | set(taken)}
    for file, symbols in taken.items():
        for symbol in symbols:
            if defined.get(symbol, file) != file:
                graph[file][defined[symbol]].add(symbol)
    return graph


def reachable(graph, start):
    seen, rest = set(), [start]
    while rest:
        for file in graph[rest.pop()]:
            if file not in seen:
                seen.add(file)
                rest.append(file)
    return seen


def circles(graph):
    reach = {file: reachable(graph, file) for file in graph}
    left = set(graph)
    while left:
        file = min(left)
        circle = {file} | {other for other in reach[file] if file in reach[other]}
        left -= circle
        if len(circle) > 1:
            yield sorted(circle)


def main():
    graph = calls(sys.argv[1])
    wrong = 0
    sizes = []
    for circle in circles(graph):
        sizes.append(len(circle))
        if len(circle) <= LARGEST:
            continue
        wrong += 1
        print("a circle of %d files:" % len(circle))
        for file in circle:
            for other in circle:
                if graph[file].get(other):
                    print("    %s takes from %s: %s" % (file, other, ", ".join(sorted(graph[file][other])[:4])))
    print("%d files, circles of %s" % (len(graph), ", ".join(map(str, sorted(sizes))) or "none"))
    return 1 if wrong or len(graph) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""check-abi.py [--write]: what a program that is compiled today counts on in every later release of this soname.

libncclscope/abi.txt lists it: kinds and fields with their numbers, findings, words of sets, tables with their columns in order, enumerators of the
headers, functions with their types, members of structs. Lines are only added: one line and exit 1 for each that the headers no longer bear out, and
for each new thing that is not listed yet. --write adds those, and takes nothing away."""
import os
import re
import subprocess
import sys

LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "libncclscope")
LIST = os.path.join(LIBRARY, "abi.txt")
INCLUDE = os.path.join(LIBRARY, "include")
HEADERS = ("ncclscope.h", "ncclscope/model.h", "ncclscope/jobs.h", "ncclscope/fleet.h", "ncclscope/rows.h", "ncclscope/store.h", "ncclscope/probe.h")


def text(name):
    with open(os.path.join(INCLUDE, name), encoding="utf-8") as file:
        return file.read()


def tables():
    for kind, number, name in re.findall(r"^NCCLSCOPE_(MSG|OTHER)\( *(\d+), *(\w+)", text("ncclscope/messages.def") + text("ncclscope/other.def"), re.M):
        yield "kind %s %s" % (name, number)
    for number, name, word in re.findall(r'^NCCLSCOPE_FIELD\( *(\d+), *(\w+), *"?(\w+)', text("ncclscope/fields.def"), re.M):
        yield "field %s %s %s" % (name, number, word)
    for name, number, word in re.findall(r'^NCCLSCOPE_ID\((\w+), (\d+), "([^"]+)"', text("ncclscope/ids.def"), re.M):
        yield "finding %s %s %s" % (name, number, word)
    columns = text("ncclscope/columns.def")
    for part, name, number, word in re.findall(r'^NCCLSCOPE_WORD\((\w+), (\w+), (\d+), "([^"]+)"', columns, re.M):
        yield "word %s %s %s %s" % (part, name, number, word)
    for at, table in enumerate(re.findall(r"^NCCLSCOPE_TABLE\((\w+),", columns, re.M)):
        yield "table %s %d" % (table, at)
        for place, (name, kind, unit) in enumerate(re.findall(r"^NCCLSCOPE_COLUMN\(%s, (\w+), (\w+), (\w+)," % table, columns, re.M)):
            yield "column %s %d %s %s %s" % (table, place, name, kind, unit)


def headers():
    """Declarations as the compiler sees them, without those that are made of tables."""
    source = "".join('#include "%s"\n' % name for name in HEADERS)
    done = subprocess.run([os.environ.get("CC", "cc"), "-E", "-P", "-xc", "-DNCCLSCOPE_API=", "-I", INCLUDE, "-"], input=source, capture_output=True,
                          text=True, check=True)
    code = done.stdout[done.stdout.index("ncclscope_version"):]
    code = re.sub(r'__attribute__\(\(visibility\("default"\)\)\)', "", code)
    code = re.sub(r"static inline [^{]*\{[^{}]*\}", "", code)
    for body in re.findall(r"\benum(?: \w+)? \{([^}]*)\}", code):
        value = -1
        for name, given in re.findall(r"(\w+)\s*(?:=\s*(-?\d+))?\s*(?:,|$)", body):
            value = int(given) if given else value + 1
            if not re.match(r"NCCLSCOPE_(KIND|FIELD|TABLE)_|NCCLSCOPE_TABLES$", name):
                yield "enumerator %s %d" % (name, value)
    for body, name in re.findall(r"typedef struct \w+ \{([^}]*)\}\s*(ncclscope_\w+);", code):
        if not re.search(r"^NCCLSCOPE_TABLE\(%s," % name[10:], text("ncclscope/columns.def"), re.M):
            for at, member in enumerate(m.strip() for m in body.split(";") if m.strip()):
                yield "member %s %d %s" % (name, at, " ".join(member.split()))
    for statement in re.split(r"[;{}]", code):
        statement = " ".join(statement.split())
        if re.match(r"(?!typedef|struct|enum|static)[\w *]*\bncclscope_\w+\(", statement):
            yield "function " + statement


def main():
    with open(LIST, encoding="utf-8") as file:
        listed = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
    now = list(tables()) + list(headers())
    gone, new = [line for line in listed if line not in set(now)], [line for line in now if line not in set(listed)]
    if "--write" in sys.argv[1:]:
        with open(LIST, "a", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in new)
        new = []
    for line in gone:
        print("abi.txt: no longer so: " + line)
    for line in new:
        print("abi.txt: not listed yet (check-abi.py --write): " + line)
    print("%d things that programs count on%s" % (len(now), "" if gone or new else ", all as they were"))
    return 1 if gone or new or len(now) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())

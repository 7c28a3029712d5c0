#!/usr/bin/env python3
"""check-arrows.py: includes go only downwards; docs/architecture.md draws them.

    check-arrows.py [ROOT]      ROOT of the source tree, by default the one that this script stands in

One line and exit 1 for each include that goes up or sideways, out of a public header into the library, out of a tool or Python's extension into
anything but the public headers, or to a file that is not there; and for each call of the C library whose result hangs on the
locale of the process, outside of base/neutral.c."""

import functools
import glob
import os
import re
import sys

# What the files of a folder of src/ may include, beside their own folder.
BELOW = {
    "base": (),
    "read": ("base",),
    "probe": ("base",),
    "model": ("base", "read", "probe"),
    "rules": ("base", "read", "probe", "model"),
    "report": ("base", "read", "probe", "model", "rules"),
    "answer": ("base", "read", "probe", "model", "rules", "report"),
    "store": ("base", "read", "probe", "model", "report"),
}
# Public headers that belong to a folder: those below it may not know them. The others are for all.
OWNER = {"ncclscope/model.h": "model", "ncclscope/store.h": "store"}
NO_TABLES = ("base",)  # knows nothing of NCCL

# What means something else in another locale; printf where it writes a floating-point number.
LOCAL = re.compile(
    r'\b(strto(?:d|f|ld)|ato(?:f|i|l)|strcoll|strxfrm|alphasort|versionsort|strn?case(?:cmp|str)|strerror(?:_r)?|dlerror|strsignal|'
    r'perror|localeconv|setlocale|to(?:upper|lower)|is(?:alpha|digit|alnum|space|upper|lower|xdigit|print|cntrl|punct|graph|blank)|'
    r'mbs?r?to?wcs?|mbrtowc|fnmatch|glob|regcomp)\s*\(')
PRINT = re.compile(r'\b((?:v?s?n?|vf|f|as|vas|d)printf)\s*\(((?:"(?:\\.|[^"\\])*"|[^;"])*);')
FLOAT = re.compile(r'%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?[lL]?[aefgAEFG]')
LOCAL_IN = os.path.join("base", "neutral.c")

# What meson.build makes, for all: custom_target(..., output: 'build.h').
MADE = re.compile(r"\boutput:\s*'([^']+)'")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def includes(path):
    """(line, quoted, name) of each include."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match.group(1) == '"', match.group(2)


def local_calls(path):
    """(line, function) of each call that hangs on the locale."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = [(m.start(1), m.group(1)) for m in LOCAL.finditer(text)]
    found += [(m.start(1), m.group(1)) for m in PRINT.finditer(text) if m.group(1).startswith("v") or FLOAT.search(m.group(2))]
    for at, name in found:
        yield text.count("\n", 0, at) + 1, name


@functools.lru_cache
def made(root):
    """The names of the headers that the build makes."""
    with open(os.path.join(root, "libncclscope", "meson.build"), encoding="utf-8") as file:
        return set(MADE.findall(file.read()))


def files(root, *folders):
    found = []
    for folder in folders:
        for ending in ("*.c", "*.h", "*.def"):
            found += glob.glob(os.path.join(root, folder, "**", ending), recursive=True)
    return sorted(found)


def may(folder, target):
    """May a file of `folder` ('' is src/ itself, on top of all) include one of the folder `target`?"""
    return not folder or target == folder or target in BELOW[folder]


def wrong_in_source(root, folder, name, quoted):
    """What is wrong with an include in src/`folder`, or None."""
    library = os.path.join(root, "libncclscope")
    if folder and folder not in BELOW:
        return "the folder %s is new: say in check-arrows.py what it may include" % folder
    if os.path.exists(os.path.join(library, "include", name)):
        owner = OWNER.get(name)
        return "%s may not know %s" % (folder, name) if owner and folder and owner != folder and owner not in BELOW[folder] else None
    if os.path.exists(os.path.join(library, "src", name)):
        target = name.split("/")[0] if "/" in name else ""
        return None if may(folder, target) else "%s may not include %s" % (folder, target or name)
    if os.path.exists(os.path.join(library, "tables", name)):
        return "%s may not know tables" % folder if folder in NO_TABLES else None
    if name in made(root):
        return None
    return "%s is not there: includes are written from src/, tables/ or include/" % name if quoted else None


def wrong_outside(root, path, name, quoted):
    """What is wrong with an include in a tool or a public header, or None."""
    library = os.path.join(root, "libncclscope")
    if os.path.exists(os.path.join(library, "include", name)):
        return None
    beside = os.path.join(os.path.dirname(path), name)
    if quoted and ".." not in name and os.path.exists(beside):
        return None
    if quoted or any(os.path.exists(os.path.join(library, inner, name)) for inner in ("src", "tables")):
        return "%s is no public header" % name
    return None


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    source = os.path.join(root, "libncclscope", "src")
    problems = checked = 0
    for path in files(root, "libncclscope/src", "libncclscope/include", "tools", "python-bindings/src"):
        inside = os.path.relpath(path, source)
        for line, quoted, name in includes(path):
            checked += 1
            if inside.startswith(".."):
                wrong = wrong_outside(root, path, name, quoted)
            else:
                wrong = wrong_in_source(root, os.path.dirname(inside).split("/")[0], name, quoted)
            if wrong:
                problems += 1
                print("%s:%d: %s" % (os.path.relpath(path, root), line, wrong))
        if inside.startswith("..") or inside == LOCAL_IN:
            continue
        for line, name in local_calls(path):
            problems += 1
            print("%s:%d: %s hangs on the locale of the process: base/neutral.h has what does not" % (os.path.relpath(path, root), line, name))
    if not checked:
        print("%s: no sources there" % root)
    elif not problems:
        print("%d includes, all downwards" % checked)
    return 1 if problems or not checked else 0


if __name__ == "__main__":
    sys.exit(main())

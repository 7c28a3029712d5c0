#!/usr/bin/env python3
"""check-binary.py FILE...: what the linker and the compiler were asked to guard the programs and libraries of this build with.

One line and exit 1 for each file without full RELRO (all symbols bound at the start), with an executable stack, at a fixed address,
without stack protectors, or, where no sanitizer takes its place, without checked functions of the C library."""

import subprocess
import sys


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def lacks(path):
    headers, dynamic, symbols = said("readelf", "-lW", path), said("readelf", "-dW", path), said("nm", "-D", path)
    stack = [line for line in headers.splitlines() if "GNU_STACK" in line]
    if "GNU_RELRO" not in headers or "NOW" not in dynamic:
        yield "its symbols are not all bound, and made read-only, at the start"
    if not stack or " RWE " in stack[0]:
        yield "its stack can be executed"
    if "Elf file type is DYN" not in headers:
        yield "its address is fixed"
    if "__stack_chk_fail" not in symbols:
        yield "it has no stack protectors"
    if "_chk" not in symbols.replace("__stack_chk_fail", "") and "__asan_init" not in symbols and "__ubsan" not in symbols:
        yield "no function of the C library is checked (_FORTIFY_SOURCE)"


problems = ["%s: %s" % (path, what) for path in sys.argv[1:] for what in lacks(path)]
print("\n".join(problems) or "%d files: good" % len(sys.argv[1:]))
sys.exit(bool(problems) or len(sys.argv) < 2)

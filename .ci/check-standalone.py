#!/usr/bin/env python3
"""check-standalone.py PROGRAM LOG: the one file that people copy into a pod.

It may need the C library and nothing else, of the release in FLOOR or newer. In a root directory that holds the C library, the program and the log it
must say of the log what it says here, and of a machine without a driver what is missing. One line and exit 1 for each of these that does not hold."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

FLOOR = (2, 34)  # README.md says it too: Debian 12, Ubuntu 22.04, RHEL 9
OF_LIBC = re.compile(r"^(lib(c|m|pthread|dl|rt)\.so\.\d+|ld-linux.*)$")
wrong = []


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check_needs(program):
    for name in re.findall(r"NEEDED.*\[(.*)\]", said("readelf", "-dW", program)):
        if not OF_LIBC.match(name):
            wrong.append("it needs %s" % name)
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d[\d.]*)", said("readelf", "-VW", program))}
    if max(versions) > FLOOR:
        wrong.append("it needs glibc %s" % ".".join(map(str, max(versions))))


def fill(root, program, log):
    """The C library at its own places, the program and the log at the top."""
    for path in re.findall(r"(/\S+) \(0x", said("ldd", program)):
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    shutil.copy(program, os.path.join(root, "ncclscope"))
    shutil.copy(log, os.path.join(root, "job.log"))


def run_in(root, *arguments):
    """In a root of its own; without being root, in a user namespace. None where neither is allowed."""
    how = ["chroot"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "chroot"]
    run = subprocess.run([*how, root, "/ncclscope", *arguments], capture_output=True, timeout=60, env={"PATH": os.environ["PATH"]})
    return None if b"chroot:" in run.stderr or b"unshare:" in run.stderr else run


def main():
    program, log = sys.argv[1:3]
    check_needs(program)
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as beside:
        fill(root, program, log)
        shutil.copy(log, os.path.join(beside, "job.log"))
        here = subprocess.run([os.path.abspath(program), "job.log"], capture_output=True, timeout=60, cwd=beside, env={"PATH": os.environ["PATH"]})
        there = run_in(root, "/job.log")
        if there is None:
            print("no root directory can be made here: skipped")
            return 77
        if (here.stdout, here.returncode) != (there.stdout, there.returncode) or len(here.stdout) < 500:
            wrong.append("in a root of its own it says: %r" % (there.stdout + there.stderr)[:300])
        probe = run_in(root, "probe")
        if probe.returncode != 5 or b"no NVIDIA GPU can be asked here" not in probe.stderr:
            wrong.append("without a driver: exit %d, %r" % (probe.returncode, (probe.stdout + probe.stderr)[:300]))
    for line in wrong:
        print(line)
    print("%s: %s" % (os.path.basename(program), "%d wrong" % len(wrong) if wrong else "good"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""run-cases.py TOOL [--bless] [CASE...] - the golden cases of testdata/cases.

A case is a folder:
  run            one shell command; $NCCLSCOPE is the tool, $LOGS, $TOPO, $MACHINES are testdata/logs, topo, machines
  exit           its exit code
  stdout.exact   what it prints, byte for byte; and/or
  stdout.glob    the same with `*` for anything in a line, and a line `...` for any lines
  stderr.glob    the same of standard error; without this file it must be empty
  anything else  copied into the scratch folder where the command runs
--bless writes `exit`, and stdout.exact of cases without stdout.glob and of text-*, from what the tool does now: read
the difference. A glob is written by hand, from what must be said; the exact text is there to show every change."""
import argparse
import concurrent.futures
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import harness

CASES = os.path.join(harness.TESTDATA, 'cases')
OURS = ('run', 'exit', 'stdout.exact', 'stdout.glob', 'stderr.glob')


def read(case, name):
    path = os.path.join(CASES, case, name)
    if not os.path.exists(path):
        return None
    with open(path, 'rb') as f:
        return f.read()


def write(case, name, data):
    with open(os.path.join(CASES, case, name), 'wb') as f:
        f.write(data)


def glob_matches(pattern, text):
    parts = []
    for line in pattern.decode('utf-8').split('\n'):
        if line == '...':
            parts.append('(?:[^\n]*\n)*?')
        else:
            parts.append('[^\n]*'.join(map(re.escape, line.split('*'))) + '\n')
    return re.fullmatch(''.join(parts)[:-1], text.decode('utf-8', 'replace')) is not None


def execute(tool, case):
    """The command of a case in a scratch folder: (exit code, stdout, stderr)."""
    with tempfile.TemporaryDirectory(prefix='case-') as scratch:
        for name in os.listdir(os.path.join(CASES, case)):
            if name not in OURS:
                shutil.copy(os.path.join(CASES, case, name), scratch)
        for link in ('logs', 'topo', 'machines'):
            os.symlink(os.path.realpath(os.path.join(harness.TESTDATA, link)), os.path.join(scratch, link))
        env = harness.environment(NCCLSCOPE=tool, LOGS='logs', TOPO='topo', MACHINES='machines',
                                  LANGUAGE='C')                # what the command says of errno, in the system's words
        p = subprocess.run(['sh', '-c', read(case, 'run').decode()], cwd=scratch, env=env, stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=harness.LIMIT_S)
        return p.returncode, p.stdout, p.stderr


def difference(should, is_):
    a, b = (text.decode('utf-8', 'replace').split('\n') for text in (should, is_))
    lines = difflib.unified_diff(a, b, 'should', 'is', lineterm='')
    return '\n'.join(list(lines)[:60])


def judge(tool, case, bless):
    """What is wrong with this case, one text each."""
    try:
        code, out, err = execute(tool, case)
    except subprocess.TimeoutExpired:
        return ['still running after %d s' % harness.LIMIT_S]
    crashed = harness.Result(code, out, err).crashed
    if bless and not crashed:
        write(case, 'exit', b'%d\n' % code)
        if read(case, 'stdout.glob') is None or case.startswith('text-'):
            write(case, 'stdout.exact', out)
    wrong = []
    if crashed:
        wrong.append('crashed\n' + err.decode('utf-8', 'replace'))
    if str(code) != (read(case, 'exit') or b'none').decode().strip():
        wrong.append('exit code is %d, should be %s' % (code, (read(case, 'exit') or b'none').decode().strip()))
    exact, glob = read(case, 'stdout.exact'), read(case, 'stdout.glob')
    if exact is None and glob is None:
        wrong.append('neither stdout.exact nor stdout.glob: bless it')
    if exact is not None and exact != out:
        wrong.append(difference(exact, out))
    if glob is not None and not glob_matches(glob, out):
        wrong.append('stdout does not match stdout.glob:\n' + out.decode('utf-8', 'replace')[:4000])
    if not glob_matches(read(case, 'stderr.glob') or b'', err):
        wrong.append('stderr does not match stderr.glob:\n' + err.decode('utf-8', 'replace')[:2000])
    return wrong


def main():
    parser = argparse.ArgumentParser(description='Run the golden cases.')
    parser.add_argument('tool')
    parser.add_argument('cases', nargs='*')
    parser.add_argument('--bless', action='store_true', help='write what the tool does now as what it should do')
    args = parser.parse_args()
    tool = os.path.abspath(args.tool)
    cases = args.cases or sorted(os.listdir(CASES))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, wrong in zip(cases, pool.map(lambda case: judge(tool, case, args.bless), cases)):
            failed += bool(wrong)
            for text in wrong:
                print('%s: %s' % (case, text))
            if failed and harness.STOP_AT_FIRST:
                pool.shutdown(cancel_futures=True)
                break
    print('%d cases, %d failed' % (len(cases), failed))
    return 1 if failed or not cases else 0


if __name__ == '__main__':
    sys.exit(main())

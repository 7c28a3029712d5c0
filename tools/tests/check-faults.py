#!/usr/bin/env python3
"""check-faults.py TOOL FAULT.so [STEP] - no memory and broken reads are errors, never another answer.

The n-th allocation of a run fails, whoever asks for it: the library, PCRE2, SQLite, zlib or the C library; then the n-th read, then the n-th write. The run
either ends as if nothing had failed, or says so with exit 3 and keeps what was there before. Every STEP-th n is tried: STEP 1 are all
of them (some minutes), without STEP it is what a test may take."""
import concurrent.futures
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import harness

LOGS = ('2.28.9/h200x2-default.log', '2.28.9/h200x2-p2p-disabled-shm.log')


def scenes():
    """(name, arguments); `L`, `M` are the logs, `G` one of them packed, `F` facts, `P` pods, `D` a store."""
    return (('json', ['--json', 'L']), ('text', ['-v', 'M']), ('gzip', ['--json', 'G']), ('store', ['--json', '--db', 'D', 'M']),
            ('pods', ['--json', '--pod', 'P', 'p4d.log']), ('facts', ['--json', '--facts', 'F', 'L']), ('diff', ['diff', 'L', 'M']),
            ('coverage', ['grammar', '--coverage', 'M']), ('probe', ['probe', '--facts', 'F', '--json']),
            ('confirm', ['confirm', '--facts', 'F', 'L']), ('expect', ['--expect', 'nvlink,no-shm,ranks=2', 'L']),
            ('rows', ['--patterns', 'rows', 'M']), ('explain', ['explain', 'NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct']))


class Bench:
    """A folder with the inputs, and runs in copies of what they change.

    The pods begin with a long string: jansson 2.14 leaves out a byte of a string for which its buffer could not grow, and where that is
    the closing quote it copies on past the buffer's end. Here the buffer has grown before any string that is read."""

    def __init__(self, tool, fault, folder):
        self.tool, self.fault, self.folder = tool, fault, folder
        for name, source in (('L', harness.log_path(LOGS[0])), ('M', harness.log_path(LOGS[1])),
                             ('F', os.path.join(harness.TESTDATA, 'machines', 'h200x2.json')),
                             ('p4d.log', harness.log_path('seed/p4d-4pods-1gpu-efa.log'))):
            shutil.copy(source, os.path.join(folder, name))
        with open(os.path.join(harness.TESTDATA, 'pods', 'p4d.json'), encoding='utf-8') as pods, \
                open(os.path.join(folder, 'P'), 'w', encoding='utf-8') as file:
            json.dump({'.' * 200: None, **json.load(pods)}, file)
        subprocess.run('gzip -c M > G; printf "lanes = lanes {lanes:u}\\n" > rows', shell=True, cwd=folder, check=True)

    def run(self, args, alloc=0, read=0, write=0, count=None):
        """(exit code, output, what it said, what the store holds)"""
        db = os.path.join(self.folder, 'D-%d-%d-%d' % (alloc, read, write))
        args = [db if a == 'D' else a for a in args]
        env = harness.environment(LD_PRELOAD=self.fault, FAULT_ALLOC=str(alloc), FAULT_READ=str(read), FAULT_WRITE=str(write),
                                  ASAN_OPTIONS='verify_asan_link_order=0:allocator_may_return_null=1:detect_leaks=%d' % (not alloc % 4))
        env['LC_ALL'] = 'C'                                   # what the C library does without a locale's table is no answer of ours
        if count:
            env['FAULT_COUNT'] = count
        try:
            p = subprocess.run([self.tool, *args], cwd=self.folder, env=env, capture_output=True, timeout=harness.LIMIT_S)
        except subprocess.TimeoutExpired:
            return -1, b'', b'it hangs', []
        rows = []
        if db in args and os.path.exists(db):
            rows = contents(db)
            for end in ('', '-wal', '-shm', '-journal'):
                if os.path.exists(db + end):
                    os.remove(db + end)
        return p.returncode, p.stdout, p.stderr, rows


def contents(db):
    with sqlite3.connect(db) as store:
        tables = [name for name, in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return [(t, store.execute('SELECT * FROM "%s" ORDER BY 1, 2' % t).fetchall()) for t in tables if t not in ('meta',)]


def is_told(name, kind, code, said, words, rows, whole):
    """Said, with its exit code; and nothing half in the store, but what was read before an input broke off: all of it, or none."""
    exits = (2, 3) if name == 'rows' else (3,)                # rows that cannot be read are a wrong option
    half = kind != 'read' and any(lines for _, lines in rows) and rows != whole
    return code in exits and any(word in said for word in words) and not half


def check(c, bench, name, args, kind, total, step, good):
    words = {'alloc': (b'memory',), 'read': (b'Input/output error', b'disk I/O error', b'malformed'),
             'write': (b'No space left', b'disk is full', b'disk I/O error')}[kind]
    told = 0

    def one(n):
        return n, bench.run(args, **{kind: n})
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for n, (code, out, said, rows) in pool.map(one, range(1, total + 1, step)):
            where = '%s, %s %d of %d' % (name, kind, n, total)
            crashed = code < 0 or b'Sanitizer' in said or b'runtime error' in said
            c.true(where, 'crashed (%d): %s' % (code, said[-2000:].decode('utf-8', 'replace')), not crashed)
            same = (code, out) == good[:2] and (not rows or rows == good[3])
            fine = same or is_told(name, kind, code, said, words, rows, good[3])
            c.true(where, 'another answer: exit %d, %r' % (code, said[:200]), crashed or fine)
            told += not same
    c.true(name + ', ' + kind, 'not one fault of %d was seen' % total, told)


def main():
    tool, fault = map(os.path.abspath, sys.argv[1:3])
    step = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    c = harness.Checks()
    with tempfile.TemporaryDirectory(prefix='faults-') as folder:
        bench = Bench(tool, fault, folder)
        count = os.path.join(folder, 'count')
        for name, args in scenes():
            good = bench.run(args, count=count)
            with open(count, encoding='ascii') as f:
                allocations, reads, writes = map(int, f.read().split())
            c.true(name, 'no allocation was counted', allocations > 20)
            check(c, bench, name, args, 'alloc', allocations, step or allocations // 60 + 1, good)
            for kind, n in (('read', reads), ('write', writes)):
                if n:
                    check(c, bench, name, args, kind, n, step or n // 20 + 1, good)
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

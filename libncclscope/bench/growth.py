#!/usr/bin/env python3
"""growth.py TOOL [SHAPE...]: how time and memory grow with the input. Each shape is a log that has many of one thing; it is made of N, 2N
and 4N of them, and read. Linear work doubles each time.

  growth.py TOOL [SHAPE...]             a table of seconds and memory, at the sizes of a long job
  growth.py --write FOLDER SHAPE N      that log alone
  growth.py --counted TOOL [SHAPE...]   TOOL counts the blocks of code that it runs and tells it at its end (counted.c): the test. At sizes so
                                        small that it takes seconds; fails where twice the input takes more than 2.3 times the work"""
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import growth_shapes
from growth_shapes import SHAPES

MOST = 2.3          # of twice the input; sorting alone makes it a little more than 2
LIMIT_S = 120       # a run that takes longer is not waited for


def write(folder, files):
    for path, text in files.items():
        with open(os.path.join(folder, path), 'w') as f:
            f.write(text)
    logs = sorted(p for p in files if p.endswith('.log'))
    os.mkdir(os.path.join(folder, 'logs'))
    for p in logs:
        os.rename(os.path.join(folder, p), os.path.join(folder, 'logs', p))
    return ['logs'] + (['--pod', 'pods.json'] if 'pods.json' in files else [])


def write_apart(folder, shape, n):
    """The same in a process of its own: what a process takes at most is at least what that took which started it."""
    p = subprocess.run([sys.executable, __file__, '--write', folder, shape.__name__, str(n)], check=True, stdout=subprocess.PIPE)
    return json.loads(p.stdout)


def read(tool, shape, n, extra=(), writer=write_apart):
    """(seconds, kB at most, what it told on standard error) of one run over N of this shape; None for one that is not waited for."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = writer(folder, shape, n)
        begun = time.monotonic()
        p = subprocess.Popen([os.path.abspath(tool), '--fail-on', 'never', *extra, *arguments], cwd=folder, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
        late = threading.Timer(LIMIT_S, p.kill)
        late.start()
        told = p.stderr.read().decode('utf-8', 'replace')
        p.stderr.close()
        _, status, used = os.wait4(p.pid, 0)
        late.cancel()
        p.returncode = os.waitstatus_to_exitcode(status)
        if p.returncode == -signal.SIGKILL:
            return None
        if p.returncode < 0:
            raise SystemExit('%s of %d: ended by signal %d' % (shape.__name__, n, -p.returncode))
        return time.monotonic() - begun, used.ru_maxrss, told


def count(tool, shape, n, extra):
    told = read(tool, shape, n, extra, lambda folder, one, many: write(folder, one(many)))
    if not told or 'blocks run: ' not in told[2]:
        raise SystemExit('%s of %d: tells no count' % (shape.__name__, n))
    return int(told[2].rsplit('blocks run: ', 1)[1])


def test_shape(tool, shape, extra):
    """What it counted, and how the growth from 2N to 4N is to that from N to 2N: what an empty log takes, to make ready what matches lines,
    is no part of either."""
    work = [count(tool, shape, k * SHAPES[shape][0], extra) for k in (1, 2, 4)]
    return work, (work[2] - work[1]) / (work[1] - work[0])


def test(tool, shapes):
    bad = 0
    runs = [(shape, extra) for shape in shapes for extra in ((), ('--json',))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda run: test_shape(tool, *run), runs)
        for (shape, extra), (work, factor) in zip(runs, results):
            bad += factor > MOST
            print('%-32s %-6s %6d %12d %12d %12d   x %.2f%s' % (shape.__name__, ' '.join(extra) or 'text', SHAPES[shape][0], *work, factor,
                                                              '   FASTER THAN THE INPUT' if factor > MOST else ''), flush=True)
    print('%d shapes, %d of %d reports take more work than the input grows' % (len(shapes), bad, len(runs)))
    return bad != 0


def table(tool, shapes):
    print('%-32s %8s %8s %8s %8s %7s %7s %9s' % ('shape', 'N', 's', 's at 2N', 's at 4N', 'factor', 'factor', 'MB at 4N'))
    for shape in shapes:
        n = SHAPES[shape][1]
        seconds, factors, memory = [], [], '-'
        for k in (1, 2, 4):
            run = read(tool, shape, k * n)
            if not run:
                break
            factors += ['%.1f' % (run[0] / seconds[-1])] if seconds else []
            seconds.append(run[0])
            memory = run[1] // 1000
        spelt = ['%.2f' % s for s in seconds] + ['> %d' % LIMIT_S] * (3 - len(seconds))
        print('%-32s %8d %8s %8s %8s %7s %7s %9s' % (shape.__name__, n, *spelt, *(factors + ['-', '-'])[:2], memory), flush=True)
    return 0


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ['--write']:
        print(json.dumps(write(arguments[1], vars(growth_shapes)[arguments[2]](int(arguments[3])))))
        return 0
    counts = arguments[:1] == ['--counted']
    tool, *names = arguments[counts:]
    shapes = [s for s in SHAPES if not names or s.__name__ in names]
    return (test if counts else table)(tool, shapes)


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""check-interrupt.py TOOL - INT, TERM and HUP while reading: what was read is reported and kept, and the exit code says which it was.

Nothing here waits for a time: a signal is sent when the tool has taken all that lies in its pipe, or has begun to print."""
import array
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import termios
import time

import harness

LOG = harness.log_path('2.28.9/h200x2-p2p-disabled-shm.log')


def lies_in(pipe):
    n = array.array('i', [0])
    fcntl.ioctl(pipe, termios.FIONREAD, n)
    return n[0]


def until(what, condition, process):
    end = time.monotonic() + harness.LIMIT_S
    while not condition():
        if process.poll() is not None or time.monotonic() > end:
            raise AssertionError(what + ': it ended, or nothing happened')
        time.sleep(0.002)


def start(tool, *args, ignore=None, **more):
    def before():
        for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # whoever runs the test may ignore some: nohup does
            signal.signal(n, signal.SIG_IGN if n == ignore else signal.SIG_DFL)
    return subprocess.Popen([tool, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=harness.environment(), preexec_fn=before, **more)


def feed(process, data):
    """All of it, and wait until it was taken; the pipe stays open."""
    process.stdin.write(data)
    process.stdin.flush()
    until('feed', lambda: lies_in(process.stdin) == 0, process)


def end(process):
    out, err = process.stdout.read(), process.stderr.read()
    process.stdin.close()
    return process.wait(), out, err.decode()


def check_signals(c, tool, log):
    should, _ = harness.report(tool, '-', stdin=log)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        p = start(tool, '--json', '-')
        feed(p, log)
        p.send_signal(number)
        code, out, err = end(p)
        c.equal(number.name, 'exit code', code, 128 + number)
        report = json.loads(out)
        for key in ('communicators', 'links', 'verdict'):
            c.equal(number.name, key, report[key], should[key])
        c.true(number.name, 'the source does not say so', 'interrupted' in report['sources'][0].get('problem', ''))
        c.true(number.name, 'standard error does not say so: %r' % err, 'standard input: interrupted' in err)
    p = start(tool, '-')
    feed(p, log)
    p.send_signal(signal.SIGINT)
    _, out, _ = end(p)
    c.true('text', 'a tick', '\u2713' not in out.decode())
    p = start(tool, '-', ignore=signal.SIGHUP)
    feed(p, log)
    p.send_signal(signal.SIGHUP)
    p.stdin.close()
    c.equal('nohup', 'exit code', p.wait(), 1)
    p.stdout.read()


def check_kept(c, tool, folder, log):
    """The scan is in the store, the report in its file; what was not reached is not waited for."""
    fifo = os.path.join(folder, 'never')
    os.mkfifo(fifo)
    report, db = os.path.join(folder, 'report.json'), os.path.join(folder, 'store.db')
    p = start(tool, '--db', db, '-o', report, '-', fifo)
    feed(p, log)
    p.send_signal(signal.SIGTERM)
    code, _, _ = end(p)
    c.equal('kept', 'exit code', code, 128 + signal.SIGTERM)
    with open(report, encoding='utf-8') as f:
        written = json.load(f)
    again, _ = harness.report(tool, db)
    c.equal('kept', 'connections of report and store', len(written['links']), len(again['links']))
    c.true('kept', 'nothing was kept', written['links'])
    for command in (['grammar', '--coverage', '-'], ['--unknown', '-']):
        p = start(tool, *command)
        feed(p, log)
        p.send_signal(signal.SIGINT)
        code, out, _ = end(p)
        c.equal(command, 'exit code', code, 128 + signal.SIGINT)


def check_second(c, tool, log):
    """The first one made it print, and nobody reads that: the second ends it."""
    p = start(tool, '--json', '-v', '-')
    log = b''.join(log.replace(b'vm:', b'vm%d:' % n) for n in range(64))    # a report that no pipe takes at once
    feed(p, log)
    p.send_signal(signal.SIGINT)
    until('second', lambda: lies_in(p.stdout) > 0, p)
    p.send_signal(signal.SIGINT)
    c.equal('second', 'ended by', p.wait(), -signal.SIGINT)
    p.stdin.close()
    p.stdout.close()
    p.stderr.close()


def main():
    tool = os.path.abspath(sys.argv[1])
    c = harness.Checks()
    with open(LOG, 'rb') as f:
        log = f.read()
    check_signals(c, tool, log)
    with tempfile.TemporaryDirectory(prefix='interrupt-') as folder:
        check_kept(c, tool, folder, log)
    check_second(c, tool, log)
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

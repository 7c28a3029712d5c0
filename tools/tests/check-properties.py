#!/usr/bin/env python3
"""check-properties.py TOOL - what may not change a report: compression, prefixes, order of files, one file or several; and that text and
JSON tell of the same.

"Compression, launcher prefixes and file order change only `sources`, positions, quoted evidence and what a prefix
itself says." So each log is told in several ways, and the reports must be equal in everything else."""
import concurrent.futures
import glob
import gzip
import html
import itertools
import json
import os
import random
import re
import sys
import tempfile

import harness

PREFIXED = ['2.28.9/h200x2-p2p-disabled-shm.log', '2.28.9/h200x8-pod-per-gpu-split-logs.pod3.log',
            '2.28.9/h200x8-net-ib-forced.log', 'seed/pods-shm-socket.log', 'made/peer-closed.log',
            '2.30.7/h200x4-p2p-disabled-shm.log', '2.27.3/h200x4-small-devshm.log']
PACKED = ['2.28.9/h200x8-default.log.gz', '2.28.9/h200x8-tuning-coll.log.gz', 'seed/p4d-4pods-1gpu-efa.log']
TWICE = ['2.28.9/h200x8-torchrun-tee.log.gz', '2.30.7/h200x4-two-nodes.log.gz']
PODS = ['2.28.9/h200x8-pod-per-gpu-split-logs.pod%d.log' % i for i in range(8)]
ALWAYS = {'where', 'evidence', 'first'}                       # positions, and what is quoted from there
SAID = {'pod', 'container', 'launcher_rank', 'time'}          # what a prefix says itself: also when a program's line came


def text_of(name):
    with (gzip.open if name.endswith('.gz') else open)(harness.log_path(name), 'rb') as f:
        return f.read()


def without(value, keys):
    if isinstance(value, dict):
        return {k: without(v, keys) for k, v in value.items() if k not in keys}
    if isinstance(value, list):
        return [without(v, keys) for v in value]
    return value


def essence(report, source_keys, drop=frozenset()):
    """The report without positions; of its sources only these keys."""
    out = without({k: v for k, v in report.items() if k != 'sources'}, ALWAYS | drop)
    out['sources'] = [{k: s[k] for k in source_keys} for s in report['sources']]
    return out


def differences(is_, should, path=''):
    """Where two JSON values differ, as text; the first few."""
    if type(is_) is not type(should):
        return ['%s: %r, not %r' % (path, is_, should)]
    if isinstance(is_, dict):
        found = ['%s.%s is only in one' % (path, k) for k in sorted(is_.keys() ^ should.keys())]
        common = sorted(is_.keys() & should.keys())
        return found + [d for k in common for d in differences(is_[k], should[k], path + '.' + k)]
    if isinstance(is_, list):
        found = ['%s: %d of them, not %d' % (path, len(is_), len(should))] if len(is_) != len(should) else []
        return found + [d for i, (a, b) in enumerate(zip(is_, should)) for d in differences(a, b, '%s[%d]' % (path, i))]
    return [] if is_ == should else ['%s: %r, not %r' % (path, is_, should)]


def same(c, what, is_, should):
    found = differences(is_, should)
    c.true(what, 'differs\n    ' + '\n    '.join(f[:300] for f in found[:6]), not found)


def prefixes():
    """The examples of prefixes.def: the truth about launchers, not how the product matches them."""
    path = os.path.join(harness.HERE, '..', '..', 'libncclscope', 'tables', 'prefixes.def')
    with open(path, encoding='utf-8') as f:
        rows = re.findall(r'^PREFIX\((\w+),.*?"((?:[^"\\]|\\.)*)"\)\s*$', f.read(), re.M | re.S)
    return {name: json.loads('"%s"' % example) for name, example in rows}


def put(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, 'wb') as f:
        f.write(data)
    return path


LINES = ('lines', 'nccl_lines', 'unknown_lines', 'torn_lines', 'cut_lines', 'truncated')


def check_gzip(c, tool, folder, name):
    data = text_of(name)
    half = data.index(b'\n', len(data) // 2) + 1
    plain, _ = harness.report(tool, put(folder, 'plain', data))
    members, keys = gzip.compress(data[:half]) + gzip.compress(data[half:]), LINES + ('first_time', 'last_time')
    for form, packed in (('gzip', gzip.compress(data, 1)), ('members', members)):
        report, _ = harness.report(tool, put(folder, form, packed))
        same(c, '%s as %s' % (name, form), essence(report, keys), essence(plain, keys))
        c.equal(name, 'places as ' + form, [x['where'] for x in report['links']], [x['where'] for x in plain['links']])


def check_prefixes(c, tool, folder, name):
    lines = text_of(name).split(b'\n')
    plain, _ = harness.report(tool, put(folder, 'plain', b'\n'.join(lines)))
    should = essence(plain, LINES, SAID)
    table = prefixes()
    c.true('prefixes.def', 'has %d rows' % len(table), len(table) >= 15)
    pairs = [('KUBECTL', 'TORCHRUN'), ('STAMP', 'MPIRUN'), ('CRI', 'SRUN'), ('COMPOSE', 'STAMP')]
    told = dict(table, **{'%s+%s' % p: table[p[0]] + table[p[1]] for p in pairs})
    for prefix, text in told.items():
        last = len(lines) - (not lines[-1])
        data = b'\n'.join(text.encode() + line if i < last else line for i, line in enumerate(lines))
        report, _ = harness.report(tool, put(folder, prefix, data))
        same(c, '%s behind %s %r' % (name, prefix, text), essence(report, LINES, SAID), should)


def check_wrapped(c, tool, folder, name):
    """As docker writes a log, as a page shows it, as a Windows editor saves it."""
    text = text_of(name).decode()
    lines = text.split('\n')[:-1]
    plain, _ = harness.report(tool, put(folder, 'plain', text.encode()))
    stamp = {'stream': 'stdout', 'time': '2026-01-02T03:04:05.678901234Z'}
    docker = ''.join(json.dumps({'log': line + '\n', **stamp}, separators=(',', ':')) + '\n' for line in lines)
    page = ''.join((html.escape(line, quote=False) if 'NCCL' in line else line) + '\n' for line in lines)
    colour = ''.join('\x1b[36m' + line.replace('NCCL', '\x1b[1mNCCL\x1b[0m') + '\x1b[0m\n' for line in lines)
    forms = {'docker': docker, 'page': page, 'colour': colour, 'crlf': text.replace('\n', '\r\n'),
             'no last newline': text[:-1]}
    for form, data in forms.items():
        report, _ = harness.report(tool, put(folder, form, data.encode()))
        same(c, '%s as %s' % (name, form), essence(report, LINES, SAID), essence(plain, LINES, SAID))


def check_orders(c, tool):
    paths = [harness.log_path(n) for n in PODS]
    should = None
    orders = [paths, paths[::-1], paths[3:] + paths[:3], random.Random(5).sample(paths, 8)]
    for order in orders:
        report, _ = harness.report(tool, *order)
        is_ = essence(report, ())
        is_['sources'] = sorted(json.dumps(s, sort_keys=True) for s in report['sources'])
        should = should or is_
        same(c, 'order %s' % [os.path.basename(p)[-5] for p in order], is_, should)


def check_one_file(c, tool, folder):
    """The pods' logs one behind the other in one file, and interleaved line by line, as a collector would."""
    texts = [text_of(n).decode().split('\n')[:-1] for n in PODS]
    apart, _ = harness.report(tool, *(harness.log_path(n) for n in PODS))
    rows = [line for row in itertools.zip_longest(*texts) for line in row if line is not None]
    for form, lines in (('behind each other', sum(texts, [])), ('interleaved', rows)):
        report, _ = harness.report(tool, put(folder, 'all', ('\n'.join(lines) + '\n').encode()))
        same(c, 'pods ' + form, essence(report, ()) | {'sources': None}, essence(apart, ()) | {'sources': None})


def check_repeat(c, tool, name):
    """Two runs over the same bytes give the same bytes, however they are called."""
    a, b = (harness.run(tool, '--json', harness.log_path(name)).out for _ in range(2))
    c.true(name, 'two runs differ', a == b)
    a, b = (harness.run(tool, '-v', harness.log_path(name)).out for _ in range(2))
    c.true(name, 'two runs differ as text', a == b)


def check_all_told(c, tool, path):
    """Each warning and error of the JSON report has its place in the text, but for variables, which what they do names."""
    text = harness.run(tool, path).out.decode('utf-8', 'replace')
    for f in harness.report(tool, path)[0]['findings']:
        if f['severity'] in ('warning', 'error') and not f['id'].startswith('env/') and f['id'] != 'log/no-channels':
            c.true(os.path.relpath(path, harness.TESTDATA), f['id'] + ' is in no place of the text', f['id'] in text)


def main():
    tool = sys.argv[1]
    c = harness.Checks()
    jobs = [lambda f, n=n: check_prefixes(c, tool, f, n) for n in PREFIXED]
    jobs += [lambda f, n=n: check_wrapped(c, tool, f, n) for n in PREFIXED]
    jobs += [lambda f, n=n: check_gzip(c, tool, f, n) for n in PACKED]
    jobs += [lambda f: check_orders(c, tool), lambda f: check_one_file(c, tool, f)]
    jobs += [lambda f, n=n: check_repeat(c, tool, n) for n in TWICE]
    told = [harness.log_path(n) for n in harness.log_names()]
    told += glob.glob(os.path.join(harness.TESTDATA, 'cases', '*', '*.log'))
    jobs += [lambda f, p=p: check_all_told(c, tool, p) for p in told]
    with tempfile.TemporaryDirectory(prefix='properties-') as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folders = [os.path.join(folder, str(i)) for i in range(len(jobs))]
        for path in folders:
            os.mkdir(path)
        for future in [pool.submit(job, path) for job, path in zip(jobs, folders)]:
            future.result()
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

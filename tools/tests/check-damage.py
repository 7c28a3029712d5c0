#!/usr/bin/env python3
"""check-damage.py TOOL: what collectors, terminals, editors and people do to a log must not change what is found in it.

Real logs are damaged in every way that is known from the field. Damage that loses nothing must give the connections, communicators
and verdict of the log as it was; damage that loses something must never bring a connection that was not there."""
import gzip
import html
import json
import random
import sys

from harness import Checks, log_path, report

LOGS = ('2.21.5/h200x4-default.log.gz', '2.28.9/h200x4-default.log.gz', '2.28.9/h200x8-p2p-disabled-shm.log',
        '2.28.9/h200x2-default.log', '2.27.3/h200x4-pod-per-gpu.log')


def dump(value):
    return json.dumps(value).encode()


def wrapped(line, width):
    return [line[i:i + width] for i in range(0, len(line), width)] or [b'']


def csv(line):
    return b'2026-01-02 03:04:05.123,"%s"' % line.replace(b'"', b'""')


def pieces(line):
    stamp = b'2026-01-02T03:04:05.123456789Z stdout '
    if len(line) <= 60:
        return [stamp + b'F ' + line]
    return [stamp + b'P ' + line[:30], stamp + b'P ' + line[30:60], stamp + b'F ' + line[60:]]


def each(change):
    """A change of every line."""
    return lambda lines: b''.join(change(i, line) + b'\n' for i, line in enumerate(lines))


def split(change):
    """A change of every line to several."""
    return lambda lines: b''.join(part + b'\n' for line in lines for part in change(line))


# Nothing is lost: the report must be that of the log as it was.
HARMLESS = {
    'Windows line ends': each(lambda i, l: l + b'\r'),
    'old Mac line ends': lambda lines: b'\r'.join(lines) + b'\r',
    'a blank line behind each': each(lambda i, l: l + b'\n'),
    'blanks at the end': each(lambda i, l: l + b'   '),
    'HTML entities': each(lambda i, l: html.escape(l.decode()).encode()),
    'tabs in front': each(lambda i, l: b'\t' + l),
    'tabs for blanks': each(lambda i, l: l.replace(b' ', b'\t')),
    'unbreakable blanks': each(lambda i, l: l.replace(b' ', b'\xc2\xa0')),
    'a drawn arrow': each(lambda i, l: l.replace(b'->', '\u2192'.encode())),
    'quoted': each(lambda i, l: b'> ' + l),
    'quoted twice': each(lambda i, l: b'> > ' + l),
    'a code fence': lambda lines: b'Here is the log:\n```\n' + b'\n'.join(lines) + b'\n```\n',
    'a list': each(lambda i, l: b'- ' + l),
    'backslashes of markdown': each(lambda i, l: l.replace(b'[', b'\\[').replace(b']', b'\\]').replace(b'_', b'\\_')),
    'indented': each(lambda i, l: b'    ' + l),
    'numbered': each(lambda i, l: b'%6d\t' % (i + 1) + l),
    'grep -n': each(lambda i, l: b'train.log:%d:' % (i + 1) + l),
    'colours': each(lambda i, l: b'\x1b[32m' + l.replace(b'NCCL INFO', b'\x1b[1mNCCL\x1b[0m \x1b[33mINFO\x1b[0m') + b'\x1b[0m'),
    'a title and a cleared line': each(lambda i, l: b'\x1b]0;train\x07' + l + b'\x1b[K'),
    'NUL bytes behind': each(lambda i, l: l + b'\0\0'),
    'NUL bytes in front': each(lambda i, l: b'\0' + l),
    'a byte order mark': lambda lines: b'\xef\xbb\xbf' + b'\n'.join(lines) + b'\n',
    'UTF-16, little end first': lambda lines: b'\xff\xfe' + b'\r\n'.join(lines).decode().encode('utf-16-le'),
    'UTF-16, big end first': lambda lines: b'\xfe\xff' + b'\n'.join(lines).decode().encode('utf-16-be'),
    'wrapped at 80': split(lambda l: wrapped(l, 80)),
    'wrapped at 132': split(lambda l: wrapped(l, 132)),
    'docker': each(lambda i, l: dump({'log': l.decode() + '\n', 'stream': 'stdout', 'time': '2026-01-02T03:04:05.1Z'})),
    'CloudWatch events': each(lambda i, l: dump({'timestamp': 1767323045000 + i, 'message': l.decode(), 'ingestionTime': 1})),
    'CloudWatch tail': each(lambda i, l: b'2026-01-02T03:04:05.123000+00:00 algo-1/i-0abc ' + l),
    'CloudWatch Insights': each(lambda i, l: csv(l)),
    'Loki': each(lambda i, l: dump({'line': l.decode(), 'labels': {'pod': 'train-0'}})),
    'logcli': each(lambda i, l: b'2026-01-02T03:04:05Z {pod="train-0", container="pytorch"} ' + l),
    'fluentd': each(lambda i, l: dump({'log': l.decode() + '\n', 'kubernetes': {'pod_name': 'train-0'}})),
    'fluentd, file': each(lambda i, l: b'2026-01-02T03:04:05+00:00\tkube.train\t' + dump({'log': l.decode()})),
    'fluent-bit': each(lambda i, l: b'[%d] kube.train: [1767323045.123, ' % i + dump({'log': l.decode()}) + b']'),
    'GCP': each(lambda i, l: dump({'textPayload': l.decode(), 'severity': 'INFO'})),
    'Elasticsearch': each(lambda i, l: dump({'_source': {'@timestamp': '2026-01-02T03:04:05Z', 'message': l.decode()}})),
    'a JSON list': lambda lines: b'[\n' + b',\n'.join(dump(l.decode()) for l in lines) + b'\n]\n',
    'JSON over lines': lambda lines: b'[\n' + b',\n'.join(b'  {\n    "message": ' + dump(l.decode()) + b'\n  }' for l in lines) + b'\n]\n',
    'journalctl -o json': each(lambda i, l: dump({'__REALTIME_TIMESTAMP': '1', 'MESSAGE': l.decode(), '_PID': '7'})),
    'Splunk': each(lambda i, l: dump({'_time': '1', '_raw': l.decode()})),
    'events on one line': lambda lines: b''.join(dump({'events': [{'timestamp': 1, 'message': l.decode()} for l in lines[i:i + 50]]}) + b'\n'
                                                 for i in range(0, len(lines), 50)),
    'Loki API': lambda lines: b''.join(dump({'data': {'result': [{'values': [['17', l.decode()] for l in lines[i:i + 50]]}]}}) + b'\n'
                                       for i in range(0, len(lines), 50)),
    'Loki API, one document': lambda lines: dump({'data': {'result': [
        {'stream': {'pod': 'train-0'}, 'values': [['17%08d' % i, l.decode()] for i, l in enumerate(lines)]}]}}),
    'Elasticsearch, one document': lambda lines: dump({'took': 3, 'timed_out': False, 'hits': {'total': {'value': len(lines)}, 'max_score': None, 'hits': [
        {'_id': str(i), '_source': {'message': l.decode(), 'tags': ['a', 'b'], 'kubernetes': {'pod': {'name': 'train-0'}}}, 'sort': [i]}
        for i, l in enumerate(lines)]}}),
    'jq -c, one document': lambda lines: dump([{'log': l.decode() + '\n', 'pod_name': 'train-0'} for l in lines]),
    'a list on one line': lambda lines: dump([l.decode() for l in lines]),
    'a text in one string': lambda lines: dump({'log': b'\n'.join(lines).decode(), 'pod': 'train-0'}),
    'GCP, one document': lambda lines: dump([{'insertId': 'x%d' % i, 'textPayload': l.decode(), 'timestamp': '2026-01-02T03:04:05Z',
                                             'resource': {'labels': {'pod_name': 'train-0'}}} for i, l in enumerate(lines)]),
    'fluent-bit, standard output': each(lambda i, l: b'[%d] kube.x: [[17.25, {}], {"log"=>' % i + dump(l.decode()) + b', "stream"=>"stdout"}]'),
    'two columns of CSV': each(lambda i, l: b'"2026-01-02 03:04:05","%s"' % l.replace(b'"', b'""')),
    'a column within CSV': each(lambda i, l: b'2026-01-02 03:04:05,"%s",stdout' % l.replace(b'"', b'""')),
    'Python bytes': each(lambda i, l: b"b'" + l + b"\\n'"),
    'line breaks of HTML': each(lambda i, l: l + b'<br>'),
    'numeric entities': each(lambda i, l: l.replace(b'&', b'&#38;').replace(b'<', b'&#60;').replace(b'>', b'&#x3e;')),
    'entities of entities': each(lambda i, l: html.escape(html.escape(l.decode())).encode()),
    'blanks as entities': each(lambda i, l: l.replace(b' ', b'&nbsp;')),
    'an arrow with a long dash': each(lambda i, l: l.replace(b'->', '\u2013>'.encode())),
    'backquotes': each(lambda i, l: b'`' + l + b'`'),
    'a row of a table': each(lambda i, l: b'| ' + l + b' |'),
    'colours without their escapes': each(lambda i, l: b'[32m' + l + b'[0m'),
    'colours spelt out': each(lambda i, l: b'\\033[1;32m' + l + b'\\033[0m'),
    'CRI': each(lambda i, l: b'2026-01-02T03:04:05.123456789Z stdout F ' + l),
    'CRI in pieces': split(pieces),
    'every second line end lost': lambda lines: b''.join(l + b'\n' * (i % 2) for i, l in enumerate(lines)) + b'\n',
    'all line ends lost': lambda lines: b''.join(lines) + b'\n',
    'line ends to blanks': lambda lines: b' '.join(lines) + b'\n',
    'line ends spelt out': lambda lines: b'\\n'.join(lines) + b'\n',
    'a progress bar before': each(lambda i, l: b'\r 10%|#     | 1/10 [00:01<00:09]\r' + l),
}


# Where a host's name begins behind text that ends in a letter, and a version line without a header, cannot be told for certain there.
BLURRED = {'old Mac line ends', 'every second line end lost', 'all line ends lost', 'line ends to blanks', 'line ends spelt out', 'a progress bar before'}


# Something is lost: nothing may be invented.
def cut_ends(rng, lines):
    """The version stays: only it, or a whole one before, tells half of SHM/direct/direct from what 2.30.7 prints."""
    return b''.join((l if b'NCCL version' in l else l[:rng.randrange(len(l) + 1)]) + b'\n' for l in lines)


def cut_starts(rng, lines):
    return b''.join(l[rng.randrange(len(l) + 1):] + b'\n' for l in lines)


def interleave(rng, lines):
    """Two writers on one pipe: lines break off inside others."""
    out, rest = [], list(lines)
    while len(rest) > 1:
        a, b = rest.pop(0), rest.pop(0)
        at = rng.randrange(len(a) + 1)
        out.append(a[:at] + b + b'\n' + a[at:] + b'\n')
    return b''.join(out)


def garbage(rng, lines):
    """As 2.13.4 to 2.19.4 leave behind a line of 1024 bytes: no line end, but what lay in memory."""
    return b''.join(l + (b'\0\x7fELF\xff' + bytes(rng.randrange(1, 256) for _ in range(9)).replace(b'\n', b'.') if rng.random() < 0.1 else b'\n')
                    for l in lines)


HARMFUL = {'line ends cut off': cut_ends, 'line beginnings cut off': cut_starts, 'interleaved': interleave,
           'garbage for line ends': garbage}


# Little is lost, by one writer or at one place: what the log then does not show is no failure.
def cut_within_a_line(rng, lines):
    text = b'\n'.join(lines)
    return text[:rng.randrange(len(text) // 20, len(text))]


def torn_in_two(rng, lines):
    """A line end within one line in twenty, as where a pipe is read in blocks."""
    return b''.join(l[:at] + b'\n' + l[at:] + b'\n' if rng.random() < 0.05 and (at := rng.randrange(1, len(l) + 1)) else l + b'\n'
                    for l in lines if l)


def some_line_ends_lost(rng, lines):
    return b''.join(l + (b'' if rng.random() < 0.05 else b'\n') for l in lines)


def by_mpirun(lines):
    """Behind what mpirun puts before lines, by the process that printed them."""
    pids = sorted({l.split(b':')[1] for l in lines if l.count(b':') > 1})
    return [b'[1,%d]<stdout>:%s' % (pids.index(l.split(b':')[1]), l) if l.count(b':') > 1 else l for l in lines]


MILD = {'cut within a line': cut_within_a_line, 'torn in two': torn_in_two, 'some line ends lost': some_line_ends_lost}


def alarms(told):
    """What is above a note, but for what a cut log does lack: its connections, and the end of an initialisation."""
    return {f['id'] for f in told['findings'] if f['severity'] != 'note' and f['id'] != 'log/no-channels' and
            (f['id'], f['severity'], f['confidence']) != ('ranks/missing', 'warning', 'possible')}


def said(told):
    """What lines say by themselves."""
    return (told['totals']['connections'], told['nccl_versions'], sorted((e['name'], e['value']) for e in told['env']),
            sorted((p['host'], p['pid'], p['network']) for p in told['processes']))


def last_lines(lines):
    """The first line of each sort that has a value at its end."""
    for words in (b'NCCL version', b'set by environment to', b'Using network', b' via ', b'Assigned NET plugin'):
        at = next((i for i, l in enumerate(lines) if words in l), None)
        if at is not None:
            yield words.decode(), lines[:at + 1]


def essence(told):
    links = {(l['src'], l['dst'], l['direction'], l['via']) for l in told['links']}
    comms = sorted((c['nranks'], c['state']) for c in told['communicators'])
    found = sorted({f['id'] for f in told['findings'] if f['severity'] != 'note'})
    who = sorted((p['host'], p['pid']) for p in told['processes'])
    env = sorted((e['name'], e['value']) for e in told['env'])
    return told['totals']['connections'], comms, told['verdict'], found, told['nccl_versions'], who, env, links


def main():
    c, tool = Checks(), sys.argv[1]
    for name in LOGS:
        with (gzip.open if name.endswith('.gz') else open)(log_path(name), 'rb') as file:
            text = file.read()
        lines = text.rstrip(b'\n').split(b'\n')
        should = essence(report(tool, '-', stdin=text)[0])
        for kind, damage in HARMLESS.items():
            is_ = essence(report(tool, '-', stdin=damage(lines))[0])
            compared = 4 if kind in BLURRED else -1
            c.equal(name, kind, is_[:compared], should[:compared])
        for words, part in last_lines(lines):
            is_, should_ = (said(report(tool, '-', stdin=b'\n'.join(part) + end)[0]) for end in (b'', b'\n'))
            c.equal(name, 'no line end behind the last line, "%s"' % words, is_, should_)
        known = alarms(report(tool, '-', stdin=text)[0])
        for kind, damage in MILD.items():
            for seed in range(8):
                rng = random.Random(seed)
                is_ = alarms(report(tool, '-', stdin=damage(rng, by_mpirun(lines) if seed % 2 else lines))[0])
                c.equal(name, '%s: alarms that were not there' % kind, is_ - known, set())
        for kind, damage in HARMFUL.items():
            for seed in range(4):
                is_ = essence(report(tool, '-', stdin=damage(random.Random(seed), lines))[0])
                c.equal(name, '%s: connections that were not there' % kind, is_[-1] - should[-1], set())
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""check-grammar.py TOOL: what the tool understands of every text that NCCL is known to print, and of the recorded logs.

The texts are written as records by the checker of the tables, which reads texts.def on its own; the tool must know each. Of the
recorded logs of each version no more than one record in two hundred may be unknown, and the records are counted without the tool.
The kind that the tool gives each record, by its index and compiled expressions, must be the one that the checker finds by trying
the rows one after the other with another regex engine: for every message of the recorded logs, and for the same messages damaged.
Lines of other programs: each row's example must be read, by that row."""
import gzip
import importlib.util
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

from harness import Checks, log_names, log_path, run

COVERAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '.ci', 'nccl-coverage.py')
OTHERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'libncclscope', 'include', 'ncclscope', 'other.def')
MARKER = re.compile(rb'NCCL (?:INFO|WARN|ATTN|DIAG|TRACE|CALL)(?=[ \r\n])')


def coverage(tool, *paths, stdin=b''):
    result = run(tool, 'grammar', '--coverage', '--json', *paths, stdin=stdin)
    return json.loads(result.out), result.code


def check_texts(c, tool):
    lines = subprocess.run([sys.executable, COVERAGE, '--samples'], check=True, capture_output=True).stdout
    told, code = coverage(tool, '-', stdin=lines)
    c.equal('texts', 'records', told['records'], lines.count(b'\n'))
    c.true('texts', 'unknown: %s' % [s['shape'] for s in told['shapes'] if s['group'] == 'unknown'][:9], not told['unknown'])
    c.true('texts', 'only %d understood, %d recognised' % (told['understood'], told['recognised']),
           told['understood'] > 2500 and told['recognised'] > 500)
    c.true('texts', '%d of %d are torn' % (told['torn'], told['records']), not told['torn'])
    c.equal('texts', 'exit', code, 0)
    sums = {group: sum(s['count'] for s in told['shapes'] if s['group'] == group) for group in ('understood', 'recognised', 'unknown')}
    c.equal('texts', 'sums', sums, {group: told[group] for group in sums})


def read_text(path):
    with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as file:
        return file.read()


def check_logs(c, tool, folder):
    paths = [log_path(name) for name in log_names(folder)]
    told, _ = coverage(tool, *paths)
    markers = sum(len(MARKER.findall(read_text(path))) for path in paths)
    c.true(folder, '%d records, %d markers in the text' % (told['records'], markers), markers <= told['records'] <= markers * 1.01 + 1)
    c.true(folder, '%d of %d records are unknown' % (told['unknown'], told['records']), told['unknown'] * 200 <= told['records'])


def kinds_of(tool, *paths, stdin=b''):
    """{message: kind} of all whole records, by a store: without such as another one on their line may have cut."""
    with tempfile.TemporaryDirectory() as folder:
        db = os.path.join(folder, 'records.db')
        run(tool, '-q', '--db', db, *paths, stdin=stdin)
        with sqlite3.connect(db) as connection:
            connection.text_factory = bytes
            rows = connection.execute("SELECT message, kind FROM record WHERE level IN ('INFO', 'WARN') AND message <> '' "
                                      "AND NOT (kind = 'UNKNOWN' AND EXISTS (SELECT 1 FROM record AS behind WHERE behind.source = record.source "
                                      "AND behind.line = record.line AND behind.id > record.id))").fetchall()
    return {message: kind.decode() for message, kind in rows}


def damaged(rng, message):
    """One of the things that go wrong with a message."""
    at, to = sorted(rng.randrange(len(message) + 1) for _ in range(2))
    return (message[:at], message[:at] + message[to:], message[:to] + message[at:], message + b' ' + message[:at],
            message[:at] + bytes([rng.choice(b'0123456789abcx:[]{} ->.')]) + message[at + 1:])[rng.randrange(5)]


def check_rows(c, tool):
    """The fast path and the slow one agree."""
    spec = importlib.util.spec_from_file_location('tables', os.path.join(os.path.dirname(COVERAGE), 'check-tables.py'))
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    table = tables.Table(tables.read_messages(tables.read_fields(), set()))
    told = kinds_of(tool, *(log_path(name) for name in log_names()))
    rng = random.Random(5)
    lines = {}
    for message in sorted(told):
        for _ in range(2):
            text = damaged(rng, message).strip(b' \t\r')
            if text and b'NCCL ' not in text and b'\n' not in text and b'[repeated' not in text:
                lines[text] = None
    told.update(kinds_of(tool, '-', stdin=b''.join(b'node1:%d:%d [0] NCCL INFO %s\n' % (n + 10, n + 10, text) for n, text in enumerate(lines))))
    wrong = 0
    for message, kind in told.items():
        row = next(table.matches(message), None)
        slow = row[1].kind if row else None
        if (kind if kind not in ('UNKNOWN', 'RECOGNISED') else None) != slow:
            wrong += 1
            if wrong < 6:
                c.true('rows', '%r is %s to the tool and %s to the rows in order' % (message, kind, slow), False)
    c.true('rows', 'only %d messages were compared' % len(told), len(told) > 20000)
    c.equal('rows', 'messages on which the two ways differ', wrong, 0)


VERSION = re.compile(rb'^.*NCCL version (\d+\.\d+\.\d+).*\n', re.M)
TESTS_VERSION = re.compile(rb'^# nccl-tests version .*nccl-library=.*\n', re.M)


def release(text):
    return tuple(int(part) for part in text.split('.'))


def check_versions(c, tool):
    """Without the lines that say the release a log's texts must leave a range of releases that holds the truth, and is no wild guess."""
    tried = narrow = 0
    for name in log_names():
        text = read_text(log_path(name))
        true = {m.group(1).decode() for m in VERSION.finditer(text)}
        if len(true) != 1 or name.startswith('made/'):
            continue
        is_ = release(true.pop())
        told = json.loads(run(tool, '--json', '-', stdin=TESTS_VERSION.sub(b'', VERSION.sub(b'', text))).out)
        for process in told['processes']:
            v = process['nccl_version']
            c.true(name, 'stated, without a line that says it', v['how'] != 'stated')
            if v['how'] != 'inferred':
                continue
            tried += 1
            low, high = release(v['from'] or '0'), release(v['to'] or '99.0.0')
            c.true(name, '%s is not between %s and %s' % (is_, v['from'], v['to']), low <= is_ <= high)
            narrow += low[:2] == is_[:2] or (low[1] + 4 > is_[1] and high[1] < is_[1] + 4)
    c.true('versions', 'only %d of %d inferred ranges are narrow' % (narrow, tried), tried > 100 and narrow * 10 > tried * 9)


def check_others(c, tool):
    """Each example of other.def is read as its own row has it, but those of rows that hold by their place alone."""
    with open(OTHERS, encoding='utf-8') as file:
        rows = re.findall(r'^NCCLSCOPE_OTHER\(\d+,\s*(\w+)[^\n]*(?:\n[^\n]*?)*?"((?:[^"\\]|\\.)*)"\)$', file.read(), re.M)
    c.true('other.def', 'only %d rows are read by this test' % len(rows), len(rows) > 80)
    for kind, example in rows:
        if kind not in ('PY_RAISED', 'PANIC_REASON', 'SAID_BEFORE', 'LAST_ERROR', 'PROGRAM_GOES_ON'):
            told = run(tool, 'explain', example.replace('\\"', '"').replace('\\t', '\t').replace('\\\\', '\\')).out.decode()
            c.true(kind, 'its example is read as ' + told.split('means')[0], re.search(r'^kind +%s$' % kind, told, re.M))


def main():
    c, tool = Checks(), sys.argv[1]
    check_others(c, tool)
    check_texts(c, tool)
    check_versions(c, tool)
    check_rows(c, tool)
    for folder in sorted({os.path.dirname(name) for name in log_names()} - {'made', 'seed'}):
        check_logs(c, tool, folder)
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

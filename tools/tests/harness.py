"""What the tests of the tool share: run it, read its JSON, name the test data."""
import contextlib
import json
import os
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTDATA = os.path.join(HERE, '..', '..', 'testdata')
LOGS = os.path.join(TESTDATA, 'logs')
LIMIT_S = 60                                                  # a hang is a failure, not a wait
STOP_AT_FIRST = 'STOP_AT_FIRST' in os.environ


def environment(**more):
    env = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'COLUMNS', 'LANG', 'LANGUAGE')}
    env.update(LC_ALL=os.environ.get('TEST_LOCALE', 'C.UTF-8'), TZ='UTC', **more)
    return env


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err
        self.crashed = code < 0 or b'Sanitizer' in err or b'runtime error' in err or b'Assertion' in err


def run(tool, *args, stdin=b'', cwd=None, env=None):
    """The tool with these arguments; a crash or a hang raises."""
    try:
        p = subprocess.run([os.path.abspath(tool), *args], input=stdin, capture_output=True, timeout=LIMIT_S, cwd=cwd,
                           env=env or environment())
    except subprocess.TimeoutExpired:
        raise AssertionError('%s: still running after %d s' % (' '.join(map(os.fsdecode, args)), LIMIT_S)) from None
    result = Result(p.returncode, p.stdout, p.stderr)
    if result.crashed:
        raise AssertionError('%s: exit %d\n%s' % (' '.join(map(os.fsdecode, args)), p.returncode, p.stderr.decode('utf-8', 'replace')))
    return result


def reads_archives(tool):
    """Was it built with libarchive?"""
    return b'libarchive' in run(tool, 'version').out


def report(tool, *paths, **more):
    """(the JSON report of these inputs, the exit code)"""
    result = run(tool, '--json', *paths, **more)
    try:
        return json.loads(result.out.decode('utf-8')), result.code
    except ValueError as problem:
        raise AssertionError('%s: no JSON: %s' % (' '.join(paths), problem)) from None


def store_content(path):
    """All of a store but the numbers of scans, texts and records: by digest."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        tables = [t for t, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        scans = dict(db.execute('SELECT id, digest FROM scan'))
        texts = dict(db.execute('SELECT id, digest FROM source'))
        first = dict(db.execute('SELECT source, min(id) FROM record GROUP BY source'))
        of = {record: (texts[source], record - first[source]) for record, source in db.execute('SELECT id, source FROM record')}
        out = {}
        for table in tables:
            rows = db.execute('SELECT * FROM "%s"' % table)
            names = [c[0] for c in rows.description]
            said = []
            for row in rows:
                row = dict(zip(names, row))
                if table in ('scan', 'source'):
                    row['id'] = row['digest']
                elif table == 'record':
                    row['id'], row['source'] = of[row['id']], texts[row['source']]
                elif table.startswith(('m_', 'x_')):
                    row['record'] = of[row['record']]
                elif table == 'scan_content':
                    row['source'] = texts[row['source']]
                if 'scan' in row:
                    row['scan'] = scans[row['scan']]
                said.append(sorted((k, repr(v)) for k, v in row.items()))
            if said or not table.startswith(('m_', 'x_')):
                out[table] = sorted(said)
    return out


def log_names(folder=None):
    """Names below testdata/logs, as `2.28.9/h200x8-default.log.gz`, sorted."""
    names = []
    for path, _, files in os.walk(LOGS):
        names += [os.path.relpath(os.path.join(path, f), LOGS) for f in files]
    return sorted(n for n in names if folder is None or os.path.dirname(n) == folder)


def log_path(name):
    return os.path.join(LOGS, name)


class Checks:
    """Collects what is wrong; `end` prints it and gives the exit code. With STOP_AT_FIRST in the environment the first wrong one is the end."""

    def __init__(self):
        self.wrong, self.made = [], 0

    def equal(self, where, what, is_, should):
        self.made += 1
        if is_ != should:
            self.add('%s: %s\n    is      %s\n    should  %s' % (where, what, show(is_, should), show(should, is_)))

    def true(self, where, what, ok):
        self.made += 1
        if not ok:
            self.add('%s: %s' % (where, what))

    def add(self, text):
        self.wrong.append(text)
        if STOP_AT_FIRST:
            sys.exit(self.end())

    def end(self):
        for line in self.wrong:
            print(line)
        print('%d checks, %d wrong' % (self.made, len(self.wrong)))
        sys.stdout.flush()
        return 1 if self.wrong or not self.made else 0


def show(value, other):
    """Of two long dictionaries or lists only what differs."""
    if isinstance(value, dict) and isinstance(other, dict):
        return repr({k: v for k, v in value.items() if k not in other or other[k] != v})
    text = repr(value)
    return text if len(text) < 600 else text[:600] + ' ...'

#!/usr/bin/env python3
"""check-query.py TOOL - `ncclscope query`: its answers beside those that Python's sqlite3 gives to the same SQL, as table, CSV and JSON; what
is more than a question is refused, and what is no store."""
import csv
import io
import json
import os
import re
import sqlite3
import sys
import tempfile

import harness

LOGS = ('2.28.9/h200x8-p2p-disabled-shm.log', '2.28.9/h200x8-default.log.gz', '2.28.9/h200x8-rank-missing.log', '2.27.3/h200x4-pod-per-gpu.log')
QUESTIONS = os.path.join(harness.HERE, '..', '..', 'libncclscope', 'tables', 'questions.def')
SQL = ('SELECT 1', 'SELECT NULL AS a, 2.5 AS b, x\'00ff\' AS c, \'"quoted", and a comma\' AS d, \'\' AS e',
       'SELECT count(*) AS n FROM record', 'SELECT * FROM finding ORDER BY scan, "row"',
       'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, i * i AS square FROM n',
       'SELECT message FROM record WHERE line < 0')
REFUSED = ('DELETE FROM scan', 'DROP TABLE scan', "ATTACH 'x' AS y", 'PRAGMA user_version = 9', 'CREATE TEMP TABLE t(a)', 'VACUUM INTO \'copy\'', 'BEGIN',
           'SELECT 1; DELETE FROM scan', 'SELECT 1; SELECT 2', "SELECT load_extension('x')", 'SELEKT x FROM y', 'SELECT * FROM nowhere', '-- nothing here')


def questions():
    with open(QUESTIONS, encoding='utf-8') as f:
        text = re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)
    found = {}
    for call in re.findall(r'QUESTION\((.*?)\)\n(?=QUESTION|$)', text + '\n', flags=re.S):
        name, _, *sql = re.findall(r'"((?:\\.|[^"\\])*)"', call)
        found[name] = ''.join(sql).replace('\\"', '"')
    return found


def as_text(value):
    return '' if value is None else value.hex() if isinstance(value, bytes) else str(value)


def check_answer(c, tool, store, asked, sql):
    db = sqlite3.connect(store)
    cursor = db.execute(sql)
    names, rows = [d[0] for d in cursor.description], cursor.fetchall()
    db.close()
    answer = harness.run(tool, 'query', '--csv', store, asked)
    c.equal(asked, 'exit code', answer.code, 0)
    read = list(csv.reader(io.StringIO(answer.out.decode('utf-8'), newline='')))
    c.equal(asked, 'names', read[0], names)
    c.equal(asked, 'rows as CSV', read[1:], [[as_text(v) for v in row] for row in rows] if names != ['message'] or rows else [])
    objects = [json.loads(line) for line in harness.run(tool, 'query', '--json', store, asked).out.decode('utf-8').splitlines()]
    c.equal(asked, 'rows as JSON', objects, [dict(zip(names, (v.hex() if isinstance(v, bytes) else v for v in row))) for row in rows])
    table = harness.run(tool, 'query', store, asked).out.decode('utf-8').splitlines()
    c.equal(asked, 'lines of the table', len(table), len(rows) + 1)
    c.equal(asked, 'first line of the table', table[0].split(), names)
    c.true(asked, 'the last row is not in the table', not rows or all(as_text(v)[:20] in table[-1] for v in rows[-1]))


def check_refused(c, tool, store, folder):
    with open(store, 'rb') as f:
        before = f.read()
    for sql in REFUSED:
        answer = harness.run(tool, 'query', store, sql, cwd=folder)
        c.equal(sql, 'exit code', answer.code, 2)
        c.true(sql, 'a sentence: %r' % answer.err, answer.err.startswith(b'ncclscope: ') and answer.err.count(b'\n') == 1)
        c.equal(sql, 'answer', answer.out, b'')
    with open(store, 'rb') as f:
        c.true('after all', 'the store is as it was', f.read() == before)
    c.true('after all', 'no file was made', not os.path.exists(os.path.join(folder, 'copy')) and not os.path.exists(os.path.join(folder, 'x')))
    for word, code, says in (('jbs', 2, b'is `jobs` meant?'), ('nothing-like-it', 2, b'lists them')):
        answer = harness.run(tool, 'query', store, word)
        c.equal(word, 'exit code', answer.code, code)
        c.true(word, 'nothing says %r: %r' % (says, answer.err), says in answer.err)
    foreign = os.path.join(folder, 'foreign.db')
    db = sqlite3.connect(foreign)
    db.execute('CREATE TABLE t(a)')
    db.commit()
    db.close()
    text = os.path.join(folder, 'text')
    with open(text, 'w', encoding='utf-8') as f:
        f.write('no database\n' * 100)
    for path, says in ((foreign, b'no store of ncclscope'), (text, b'no store of ncclscope'), (os.path.join(folder, 'missing.db'), b'cannot open'),
                       (folder, b'no regular file'), ('/dev/null', b'no regular file')):
        answer = harness.run(tool, 'query', path, 'jobs')
        c.equal(path, 'exit code', answer.code, 3)
        c.true(path, 'nothing says %r: %r' % (says, answer.err), says in answer.err)
    c.true('missing.db', 'it was made', not os.path.exists(os.path.join(folder, 'missing.db')))


def check_output(c, tool, store, folder):
    for name, first in (('a.csv', 'scan,'), ('a.json', '{"scan":'), ('a.txt', 'scan  ')):
        path = os.path.join(folder, name)
        c.equal(name, 'exit code', harness.run(tool, 'query', '-o', path, store, 'jobs').code, 0)
        with open(path, encoding='utf-8') as f:
            c.true(name, 'its form', f.read().startswith(first))
    c.equal('-o of the store', 'exit code', harness.run(tool, 'query', '-o', store, store, 'jobs').code, 3)
    c.equal('full disk', 'exit code', harness.run(tool, 'query', '-o', '/dev/full', store, 'jobs').code, 3)


def main():
    tool = sys.argv[1]
    c = harness.Checks()
    with tempfile.TemporaryDirectory(prefix='query-') as folder:
        store = os.path.join(folder, 'runs.db')
        for name in LOGS:
            harness.run(tool, '-q', '--db', store, harness.log_path(name))
        known = questions()
        listed = [line.split()[0] for line in harness.run(tool, 'query').out.decode().splitlines()]
        c.equal('list', 'questions', listed, list(known))
        for name, sql in known.items():
            check_answer(c, tool, store, name, sql)
        for sql in SQL:
            check_answer(c, tool, store, sql, sql)
        check_refused(c, tool, store, folder)
        check_output(c, tool, store, folder)
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

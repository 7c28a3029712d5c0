#!/usr/bin/env python3
"""check-merge.py TOOL - stores put into one: what is there is what one store would hold that all was scanned into, in whatever order they come, and
what cannot be put in leaves it as it was."""
import contextlib
import os
import shutil
import sqlite3
import sys
import tempfile

import harness

LOGS = ['2.28.9/h200x8-p2p-disabled-shm.log', '2.28.9/h200x8-rank-missing.log', '2.28.9/h200x8-small-devshm.log', '2.27.3/h200x4-pod-per-gpu.log',
        '2.21.5/h200x4-two-nodes.log', 'made/newer-nccl.log']
SPLIT = {'a': LOGS[:3], 'b': LOGS[2:5], 'c': LOGS[5:] + LOGS[:1]}    # two logs are in two of them


def ask(path, sql):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute(sql).fetchall()


def check_merged(c, tool, folder):
    stores = {}
    whole = os.path.join(folder, 'whole.db')
    for name, logs in SPLIT.items():
        stores[name] = os.path.join(folder, name + '.db')
        for log in logs:
            for store in (stores[name], whole):
                harness.run(tool, '-q', '--db', store, harness.log_path(log), cwd=folder)
    should = harness.store_content(whole)
    for order in ('abc', 'cba', 'bac'):
        into = os.path.join(folder, order + '.db')
        c.equal(order, 'exit code', harness.run(tool, 'merge', *(stores[k] for k in order), '-o', into).code, 0)
        got = harness.store_content(into)
        for table in sorted(set(got) | set(should)):
            c.equal(order, 'table ' + table, got.get(table), should.get(table))
        c.equal(order, 'what SQLite says of it', ask(into, 'PRAGMA integrity_check'), [('ok',)])
        c.equal(order, 'exit code, once more', harness.run(tool, 'merge', *(stores[k] for k in order), '-o', into).code, 0)
        c.true(order, 'the same once more changes something', harness.store_content(into) == got)
    for number, digest in ask(into, 'SELECT id, digest FROM scan'):
        other = ask(whole, "SELECT id FROM scan WHERE digest = '%s'" % digest)[0][0]
        c.equal('merged', 'report of scan %d' % number, *(harness.report(tool, '%s:%d' % (p, n))[0] for p, n in ((into, number), (whole, other))))
    return stores, whole


def damage(path, sql):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(sql)


def check_refused(c, tool, folder, stores, whole):
    """What is no store, of another version, damaged or hostile: a sentence, and nothing of it is taken in; the others are."""
    was = harness.store_content(stores['a'])
    bad = {'no.db': None, 'text.db': None}
    for name, sql in (('older.db', "UPDATE meta SET value = '3' WHERE name = 'schema'; PRAGMA user_version = 3"), ('newer.db', "UPDATE meta SET value = '99' WHERE name = 'schema'"),
                      ('astray.db', 'UPDATE scan_content SET source = 9999'), ('view.db', 'ALTER TABLE rank RENAME TO r; CREATE VIEW rank AS SELECT load_extension(\'x\') AS scan'),
                      ('mixed.db', 'UPDATE record SET source = 1 WHERE id = (SELECT max(id) FROM record)'), ('lost.db', 'DROP TABLE saved_model')):
        bad[name] = sql
        shutil.copy(whole, os.path.join(folder, name))
        damage(os.path.join(folder, name), sql)
    with open(os.path.join(folder, 'text.db'), 'w', encoding='utf-8') as f:
        f.write('vm:1:1 [0] NCCL INFO Using network Socket\n' * 20)
    for name in bad:
        path = os.path.join(folder, name)
        result = harness.run(tool, 'merge', path, '-o', stores['a'])
        c.equal(name, 'exit code', result.code, 3)
        c.true(name, 'says nothing of it: %r' % result.err, path.encode() + b': ' in result.err and result.err.count(b'\n') == 1)
        c.true(name, 'changed something', harness.store_content(stores['a']) == was)
    result = harness.run(tool, 'merge', os.path.join(folder, 'no.db'), stores['b'], '-o', stores['a'])
    c.equal('one of two', 'exit code', result.code, 3)
    c.true('one of two', 'the other is missing', set(ask(stores['b'], 'SELECT digest FROM scan')) <= set(ask(stores['a'], 'SELECT digest FROM scan')))
    for arguments in ([stores['a']], ['-o', stores['a']], []):
        c.equal('words %r' % (arguments,), 'exit code', harness.run(tool, 'merge', *arguments).code, 2)
    c.equal('into itself', 'exit code', harness.run(tool, 'merge', stores['a'], '-o', stores['a']).code, 3)


def main():
    tool = sys.argv[1]
    c = harness.Checks()
    with tempfile.TemporaryDirectory(prefix='merge-') as folder:
        stores, whole = check_merged(c, tool, folder)
        check_refused(c, tool, folder, stores, whole)
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

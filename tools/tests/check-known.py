#!/usr/bin/env python3
"""check-known.py TOOL - an archive that is scanned again into its store: files that are as they were are not read, and nothing else is told
than a scan without a store tells."""
import contextlib
import os
import re
import shutil
import sqlite3
import sys
import tarfile
import tempfile

import harness

PARTS = ['2.28.9/h200x8-pod-per-gpu-split-logs.pod%d.log' % i for i in range(8)]
ALONE = ['2.28.9/h200x8-p2p-disabled-shm.log', '2.28.9/h200x8-rank-missing.log', '2.28.9/h200x8-default.log.gz', '2.27.3/h200x4-pod-per-gpu.log']
LONG_AGO = 1700000000


def copy(name, to, when=LONG_AGO):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copy(harness.log_path(name), to)
    os.utime(to, (when, when))


def lay_out(folder):
    for name in ALONE:
        copy(name, os.path.join(folder, 'mixed', os.path.basename(name)))
    for i, name in enumerate(PARTS[:7]):
        copy(name, os.path.join(folder, 'split', 'node-%d' % i, 'rank.log'))
    with open(os.path.join(folder, 'readme.md'), 'w', encoding='utf-8') as f:
        f.write('nothing of interest\n')
    os.utime(f.name, (LONG_AGO, LONG_AGO))


class Archive:
    def __init__(self, c, tool, root):
        self.c, self.tool = c, tool
        self.folder, self.db = os.path.join(root, 'archive'), os.path.join(root, 'runs.db')

    def both(self, where, *args):
        """What a scan tells, which with the store is the same."""
        plain = harness.run(self.tool, *args, self.folder)
        kept = harness.run(self.tool, '--db', self.db, *args, self.folder)
        self.c.equal(where, 'output', kept.out.decode(), plain.out.decode())
        self.c.equal(where, 'exit code', kept.code, plain.code)
        return kept.out

    def sql(self, *statements):
        with contextlib.closing(sqlite3.connect(self.db)) as db:
            for one in statements:
                db.execute(one)
            db.commit()
            return db.execute('SELECT (SELECT count(*) FROM file), (SELECT count(*) FROM note), (SELECT count(*) FROM scan)').fetchone()


def overwrite(path, when):
    """Other bytes, as many, under the same number; `when`: the time of change."""
    with open(path, 'r+b') as f:
        n = os.path.getsize(path)
        f.write(b'x' * n)
    os.utime(path, (when, when))


def check_build(c, a):
    """Another build may judge otherwise, of the same version too: all that is kept is bound to one by a checksum."""
    with contextlib.closing(sqlite3.connect(a.db)) as db:
        builds, notes = db.execute('SELECT DISTINCT tool FROM file').fetchall(), db.execute('SELECT about FROM note').fetchall()
    c.equal('build', 'of all files', len(builds), 1)
    c.true('build', 'a checksum and a size: %s' % builds[0], re.fullmatch(r'\d+ \d{7,}', builds[0][0]))
    c.equal('build', 'of all notes', {about[0].startswith(builds[0][0] + ' ') for about in notes}, {True})


def check_unread(c, a):
    """A file whose bytes were changed behind its back is told as it was: so it was not read. When its time changes it is."""
    path = os.path.join(a.folder, 'mixed', os.path.basename(ALONE[1]))
    first = a.both('first')
    c.equal('first', 'files, notes and scans', a.sql(), (12, 5, 5))
    check_build(c, a)
    c.equal('again', 'output', a.both('again'), first)
    overwrite(path, LONG_AGO)
    again = harness.run(a.tool, '--db', a.db, a.folder)
    c.equal('unread', 'output', again.out, first)
    os.utime(path, (LONG_AGO + 10, LONG_AGO + 10))
    c.true('changed', 'the change is not seen', a.both('changed') != first)
    copy(ALONE[1], path, LONG_AGO + 20)
    c.equal('changed back', 'output', a.both('changed back'), first)


def check_change(c, a):
    a.both('before')
    copy(PARTS[7], os.path.join(a.folder, 'split', 'node-7', 'rank.log'))
    added = a.both('a rank of a known job')
    c.equal('a rank of a known job', 'output again', a.both('a rank of a known job, again'), added)
    copy('2.21.5/h200x4-default.log.gz', os.path.join(a.folder, 'new', 'run.log.gz'))
    a.both('a new job')
    with open(os.path.join(a.folder, 'mixed', os.path.basename(ALONE[0])), 'ab') as f:
        f.write(b'vm:1:1 [0] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer x<1>\n')
    os.utime(f.name, (LONG_AGO + 30, LONG_AGO + 30))
    a.both('grown')
    os.rename(os.path.join(a.folder, 'new'), os.path.join(a.folder, 'renamed'))
    a.both('renamed')
    os.remove(os.path.join(a.folder, 'split', 'node-3', 'rank.log'))
    a.both('one gone')


def check_options(a):
    for args in (['--group-by', 'file'], ['--group-by', 'dir'], ['--group-by', 'node-[0-9]'], ['--expect', 'nvlink'], ['--fail-on', 'never'], ['--json'], []):
        a.both(' '.join(args) or 'none')
        a.both(' '.join(args) + ' again')


def check_damage(c, a):
    """The store may be anybody's: what does not read as it should is not taken."""
    for what in ("UPDATE note SET bytes = x'00'", "UPDATE note SET bytes = zeroblob(300)", 'UPDATE note SET bytes = substr(bytes, 1, length(bytes) - 9)',
                 "UPDATE note SET bytes = CAST(replace(CAST(bytes AS TEXT), '/1' || char(10) || '1 ', '/1' || char(10) || '9 ') AS BLOB)",
                 "UPDATE file SET shared = x'0102'", "UPDATE file SET tool = '0.0.9'", "UPDATE file SET digest = 'x'", 'UPDATE file SET source = source + 1', 'DELETE FROM note'):
        a.sql(what)
        a.both(what)
    c.true('damage', 'nothing is kept', a.sql()[0])


def check_archive(a, root):
    a.folder = os.path.join(root, 'logs.tgz')
    with tarfile.open(a.folder, 'w:gz') as archive:
        archive.add(os.path.join(root, 'archive'), 'logs')
    os.utime(a.folder, (LONG_AGO, LONG_AGO))
    a.both('archive')
    a.both('archive again')


def main():
    c = harness.Checks()
    with tempfile.TemporaryDirectory(prefix='known-') as root:
        a = Archive(c, sys.argv[1], root)
        lay_out(a.folder)
        check_unread(c, a)
        check_change(c, a)
        check_options(a)
        check_damage(c, a)
        if harness.reads_archives(a.tool):
            check_archive(a, root)
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

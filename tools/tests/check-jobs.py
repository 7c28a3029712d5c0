#!/usr/bin/env python3
"""check-jobs.py TOOL - archives of many jobs: strangers are kept apart, what belongs together is one, and the report of a job is that of its
files alone; by two jobs at a time as by one."""
import contextlib
import gzip
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time

import harness

# The logs of each job, by what stands in the archive; what two of them share is how they are recorded: each pod's part of one job.
PARTS = ['2.28.9/h200x8-pod-per-gpu-split-logs.pod%d.log' % i for i in range(8)]
ALONE = ['2.28.9/h200x8-p2p-disabled-shm.log', '2.28.9/h200x8-rank-missing.log', '2.28.9/h200x8-default.log.gz', '2.27.3/h200x4-pod-per-gpu.log']


def copy(name, to):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copy(harness.log_path(name), to)


def lay_out(folder):
    """{name of the job: its files}, in one folder with strangers, and a folder of its own for one that is in several files."""
    jobs = {}
    for name in ALONE:
        path = os.path.join(folder, 'mixed', os.path.basename(name))
        copy(name, path)
        jobs[path] = [path]
    split = os.path.join(folder, 'split')
    for i, name in enumerate(PARTS):
        copy(name, os.path.join(split, 'node-%d' % i, 'rank.log'))
    jobs[split] = [os.path.join(split, 'node-%d' % i, 'rank.log') for i in range(8)]
    for path in ('mixed/readme.md', 'split/notes.txt'):
        with open(os.path.join(folder, path), 'w', encoding='utf-8') as f:
            f.write('nothing of interest\n')
    return jobs


def objects(tool, *args):
    result = harness.run(tool, '--json', *args)
    return [json.loads(line) for line in result.out.decode('utf-8').splitlines()], result.code


def check_apart(c, tool, folder, jobs):
    for how in (['-j', '1'], ['-j', '2']):
        found, code = objects(tool, *how, folder)
        c.equal('auto', 'exit code', code, 1)
        c.equal('auto', 'jobs', sorted(o['job'] for o in found), sorted(jobs))
        for one in found:
            name = one.pop('job')
            alone, _ = harness.report(tool, '--group-by', 'all', *jobs.get(name, []))
            c.equal(os.path.basename(name), 'its report', one, alone)
            again, _ = harness.report(tool, '--job', name, folder)
            c.equal(os.path.basename(name), 'its report by --job', again, alone)
    table = harness.run(tool, folder).out.decode('utf-8').splitlines()
    names = [line.split()[0] for line in table[1:1 + len(jobs)]]
    c.equal('table', 'jobs', sorted(names), sorted(jobs))
    c.true('table', 'the healthy job is not the last: %r' % names, names[-1].endswith('h200x8-default.log.gz'))
    c.true('table', 'files without NCCL are not counted', '2 more files hold no line of NCCL\'s.' in table)
    c.true('no such job', 'exit code', harness.run(tool, '--job', 'nothing', folder).code == 2)


def check_columns(c, tool):
    """Each column of the table begins under its head, counted in letters: a name may have more bytes than letters."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ('a.log', 'größe-été.log'):
            copy('2.28.9/h200x8-p2p-disabled-shm.log', os.path.join(folder, name))
        table = harness.run(tool, '--group-by', 'file', folder).out.decode('utf-8').splitlines()
        for head in ('hosts', 'ranks', 'NCCL', 'verdict'):
            at = table[0].index(head)
            c.true('columns', '%s is not below its head: %r' % (head, table[:3]), all(line[at - 1] == ' ' and line[at] != ' ' for line in table[1:3]))


def check_by(c, tool, folder, jobs):
    for by, should in (('file', sorted(f for files in jobs.values() for f in files)),
                       ('dir', sorted([os.path.join(folder, 'mixed')] + [os.path.dirname(f) for f in jobs[os.path.join(folder, 'split')]])),
                       ('h200x[48]|node-', sorted(['h200x4', 'h200x8', 'node-']))):
        found, _ = objects(tool, '--group-by', by, folder)
        c.equal('by ' + by, 'jobs', sorted(o['job'] for o in found), should)
    for by in ('(', 'a['):
        c.equal('by ' + by, 'exit code', harness.run(tool, '--group-by', by, folder).code, 2)
    report, _ = harness.report(tool, '--group-by', 'all', folder)
    c.equal('by all', 'sources', len(report['sources']), 2 + sum(map(len, jobs.values())))


def check_store(c, tool, folder, jobs):
    """A store keeps each job as a scan of its own; the same archive again changes nothing, another parting adds its scans."""
    path = os.path.join(os.path.dirname(folder), 'archive.db')
    told, _ = objects(tool, folder)
    kept = harness.run(tool, '--db', path, folder)
    c.equal('store', 'what is reported', kept.out, harness.run(tool, folder).out)
    for times in ('once', 'twice'):
        with contextlib.closing(sqlite3.connect(path)) as db:
            scans = {job: (scan, verdict) for scan, job, verdict in db.execute('SELECT id, job, verdict FROM scan')}
            c.equal('store ' + times, 'jobs', sorted(scans), sorted(o['job'] for o in told))
            for o in told:
                scan, verdict = scans.get(o['job'], (None, None))
                c.equal('store ' + times, 'verdict of ' + o['job'], verdict, o['verdict'])
                c.equal('store ' + times, 'findings of ' + o['job'], [row[0] for row in db.execute('SELECT id FROM finding WHERE scan = ? ORDER BY "row"', (scan,))],
                        [f['id'] for f in o['findings']])
                c.equal('store ' + times, 'inputs of ' + o['job'], [row[0] for row in db.execute('SELECT name FROM scan_source WHERE scan = ? ORDER BY "row"', (scan,))],
                        [s['name'] for s in o['sources']])
                c.equal('store ' + times, 'records of ' + o['job'], list(db.execute(
                    'SELECT count(*) FROM record r JOIN scan_content k ON k.source = r.source WHERE k.scan = ?', (scan,))), [(o['totals']['nccl_lines'],)])
        harness.run(tool, '--db', path, folder)
    again, _ = objects(tool, '--group-by', 'auto', path)
    bare = [{k: v for k, v in o.items() if k != 'job'} for o in again]
    c.equal('store', 'number of its jobs, as an input', len(again), len(told))
    for o in told:
        one = {k: v for k, v in o.items() if k != 'job'}
        number = str(scans[o['job']][0])
        c.equal('store', 'scan %s as an input' % number, harness.report(tool, path + ':' + number)[0], one)
        c.true('store', 'scan %s is among its jobs' % number, one in bare)
    c.equal('store', 'exit code of a scan that is not there', harness.run(tool, path + ':999').code, 3)
    c.equal('store', 'exit code with --job', harness.run(tool, '--db', path, '--job', told[0]['job'], folder).code, 2)
    harness.run(tool, '--db', path, '--group-by', 'all', folder)
    with contextlib.closing(sqlite3.connect(path)) as db:
        c.equal('store', 'scans with all as one', list(db.execute('SELECT count(*), count(job) FROM scan')), [(len(told) + 1, len(told))])


def check_killed(c, tool, folder):
    """Killed at any moment, the same command again gives what one that was not killed gives: no job twice, none half."""
    whole, path = (os.path.join(os.path.dirname(folder), name) for name in ('whole.db', 'killed.db'))
    for place, _, names in os.walk(folder):     # of files that changed just now no store remembers the state: by then one may, and the other not
        for name in names:
            os.utime(os.path.join(place, name), (time.time() - 3600, time.time() - 3600))
    begun = time.monotonic()
    harness.run(tool, '-q', '--db', whole, folder)
    took = time.monotonic() - begun
    rng = random.Random(8)
    for _ in range(8):
        killed = subprocess.Popen([tool, '-q', '--db', path, folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=harness.environment())
        time.sleep(rng.uniform(0, took))
        killed.kill()
        killed.wait()
    harness.run(tool, '-q', '--db', path, folder)
    c.true('killed', 'the store is not what it would be', harness.store_content(path) == harness.store_content(whole))


def check_archive(c, tool, folder, jobs):
    """The same from a tar; its files are known by their path in it."""
    path = os.path.join(os.path.dirname(folder), 'logs.tgz')
    with tarfile.open(path, 'w:gz') as archive:
        archive.add(folder, 'logs')
    found, code = objects(tool, path)
    c.equal('archive', 'exit code', code, 1)
    c.equal('archive', 'jobs', sorted(o['job'] for o in found), sorted(path + '/logs' + name[len(folder):] for name in jobs))


def check_numbers(c, tool, folder):
    """Numbers of a scheduler in names and lines; files that tell nothing."""
    warn = 'vm:%d:%d [0] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer x<%d>\n'
    files = {'slurm-4711.out': warn % (1, 1, 1), 'job_4711/rank.err': warn % (2, 2, 2), 'run.err': 'slurmstepd: error: *** STEP 4712.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n' + warn % (3, 3, 3),
             'slurm-4712.out': warn % (4, 4, 4), 'other/silent.log': warn % (5, 5, 5)}
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(text)
    found, _ = objects(tool, folder)
    got = sorted(sorted(s['name'][len(folder) + 1:] for s in o['sources']) for o in found)
    c.equal('numbers', 'files of each job', got, sorted([['job_4711/rank.err', 'slurm-4711.out'], ['run.err', 'slurm-4712.out'], ['other/silent.log']]))


def check_two_outputs(c, tool, folder):
    """What one process writes to two files is one job, also where each of them tells of another number or id."""
    init = 'n1:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x%x - Init COMPLETE\n'
    step = 'slurmstepd: error: *** STEP 47%d.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n'
    twins = [['a/train.err', 'a/train.out'], ['b/0/stderr.log', 'b/0/stdout.log'], ['c/run.e15', 'c/run.o15']]
    files = {'a/other.out': init % 9, 'd/stdout.log': init % 10}
    for i, (err, out) in enumerate(twins):
        files[err] = step % (10 + i)
        files[out] = init % (1 + i)
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(text)
    found, _ = objects(tool, folder)
    got = sorted(sorted(os.path.relpath(s['name'], folder) for s in o['sources']) for o in found)
    c.equal('two outputs', 'files of each job', got, sorted(twins + [['a/other.out'], ['d/stdout.log']]))


def check_unreadable(c, tool, folder):
    """One that cannot be read is a job, and no tick stands for it; all others are reported."""
    copy(ALONE[2], os.path.join(folder, 'good.log.gz'))
    copy(ALONE[0], os.path.join(folder, 'bad.log'))
    with open(os.path.join(folder, 'cut.gz'), 'wb') as f:
        f.write(gzip.compress(open(harness.log_path(ALONE[1]), 'rb').read())[:200])
    result = harness.run(tool, folder)
    c.equal('unreadable', 'exit code', result.code, 3)
    c.true('unreadable', 'it is not named: %r' % result.err, b'cut.gz: ' in result.err)
    c.equal('unreadable', 'lines of the table', sum(line.startswith(folder) for line in result.out.decode().splitlines()), 3)


def main():
    tool = sys.argv[1]
    c = harness.Checks()
    with tempfile.TemporaryDirectory(prefix='jobs-') as root:
        folder = os.path.join(root, 'archive')
        jobs = lay_out(folder)
        check_apart(c, tool, folder, jobs)
        check_columns(c, tool)
        check_by(c, tool, folder, jobs)
        check_store(c, tool, folder, jobs)
        check_killed(c, tool, folder)
        if harness.reads_archives(tool):
            check_archive(c, tool, folder, jobs)
        check_numbers(c, tool, os.path.join(root, 'numbers'))
        check_two_outputs(c, tool, os.path.join(root, 'outputs'))
        check_unreadable(c, tool, os.path.join(root, 'unreadable'))
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

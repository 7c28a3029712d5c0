"""Parts of jobs, read anywhere and put together: what one scan of each job's files gives, whatever the blocks and their order."""
import os
import pickle
import random
import subprocess
import sys
import tempfile
import unittest

try:
    import pyarrow
except ImportError as e:
    raise unittest.SkipTest(str(e))

import fleet
import ncclscope
from ncclscope import parts

LINE = b'vm:1:2 [0] NCCL INFO Using network IB\n'


def files_of(plan):
    """{job: [path, ...]} of a plan."""
    found = {}
    for row in plan.to_pylist():
        found.setdefault(row['job'], []).append(os.fsdecode(row['path']))
    return found


class Parts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='ncclscope-')
        self.addCleanup(self.folder.cleanup)
        self.top = os.path.realpath(self.folder.name)

    def write(self, *names):
        for name in names:
            path = os.path.join(self.top, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as file:
                file.write(LINE)

    def test_equals_one_scan(self):
        made = fleet.make(self.top, 300)
        should = {job: ncclscope.scan(files).to_json() for job, files in made.items()}
        plan = parts.plan(self.top)
        self.assertEqual(files_of(plan), made)
        for most in (1, 7, 1000):
            blocks = parts.blocks(plan, most)
            random.Random(most).shuffle(blocks)
            read = [parts.read(block) for block in blocks]
            self.assertTrue(all(t.schema == parts.PARTS and len(t) for t in read))
            jobs = parts.Jobs(parts.merge(pyarrow.concat_tables(read)))
            self.assertEqual({job: report.to_json() for job, report in jobs.items()}, should)

    def test_rows_in_any_order(self):
        """An engine may deal rows out as it likes: those of a job that do not follow each other are parts of their own."""
        made = fleet.make(self.top, 100)
        rows = parts.plan(self.top).to_pylist()
        random.Random(1).shuffle(rows)
        read = [parts.read(pyarrow.Table.from_pylist(rows[i::4], schema=parts.FILES)) for i in range(4)]
        jobs = parts.Jobs(parts.merge(pyarrow.concat_tables(read)))
        self.assertEqual({job: report.to_json() for job, report in jobs.items()}, {job: ncclscope.scan(files).to_json() for job, files in made.items()})

    def test_all_of_one_job(self):
        fleet.make(self.top, 200)
        plan = parts.plan(self.top, by=lambda path: 'all')
        read = pyarrow.concat_tables([parts.read(block) for block in parts.blocks(plan, 16)])
        self.assertEqual(parts.Jobs(parts.merge(read))['all'].to_json(), ncclscope.scan(self.top).to_json())

    def test_blocks_travel_light(self):
        fleet.make(self.top, 300)
        plan = parts.plan(self.top)
        blocks = parts.blocks(plan, 10)
        self.assertEqual(pyarrow.concat_tables(blocks), plan)
        self.assertLess(max(len(pickle.dumps(block)) for block in blocks), len(pickle.dumps(plan)) / 5)

    def test_lost_parts(self):
        """What an engine lost, or did twice, is no smaller or larger job."""
        self.write('a/1', 'a/2', 'a/3', 'b/1')
        read = pyarrow.concat_tables([parts.read(block) for block in parts.blocks(parts.plan(self.top), 1)])
        self.assertEqual(len(parts.merge(read)), 2)
        for i in range(4):
            if i < 3:
                with self.assertRaises(ncclscope.DataError):
                    parts.merge(pyarrow.concat_tables([read.slice(0, i), read.slice(i + 1)]))
            with self.assertRaises(ncclscope.DataError):
                parts.merge(pyarrow.concat_tables([read, read.slice(i, 1)]))

    def test_which_job(self):
        self.write('x/run-7.rank0', 'x/run-7.rank1', 'x/run-8.rank0', 'y/run-7.rank0', 'README')
        at = lambda *names: [os.path.join(self.top, name) for name in names]
        each = at('README', 'x/run-7.rank0', 'x/run-7.rank1', 'x/run-8.rank0', 'y/run-7.rank0')
        self.assertEqual(files_of(parts.plan(self.top, by='file')), {path: [path] for path in each})
        self.assertEqual(files_of(parts.plan(self.top)), {self.top: each[:1], self.top + '/x': each[1:4], self.top + '/y': each[4:]})
        self.assertEqual(files_of(parts.plan(self.top, by=r'run-\d+')), {each[0]: each[:1], 'run-7': each[1:3] + each[4:], 'run-8': each[3:4]})
        self.assertEqual(files_of(parts.plan(self.top, by=r'(\w)/run-(\d+)')),
                         {each[0]: each[:1], 'x/7': each[1:3], 'x/8': each[3:4], 'y/7': each[4:]})
        self.assertEqual(files_of(parts.plan(self.top, by=lambda path: len(os.path.basename(path)))), {'6': each[:1], '11': each[1:]})
        self.assertEqual(files_of(parts.plan([each[4], each[1], each[4]], by=lambda path: 'j')), {'j': [each[4], each[1]]})

    def test_what_is_listed(self):
        """Folders as a scan walks them: by names, hidden ones not, each file once, no pipe; what is not there is told by who reads it."""
        self.write('b.log', 'a/z', 'a/.hidden', '.git/x', 'a-b/y', 'c/1')
        os.link(os.path.join(self.top, 'c/1'), os.path.join(self.top, 'c/2'))
        os.symlink('..', os.path.join(self.top, 'c', 'up'))
        os.symlink('nowhere', os.path.join(self.top, 'c', 'gone'))
        os.mkfifo(os.path.join(self.top, 'c', 'pipe'))
        listed = files_of(parts.plan(self.top, by=lambda path: 'j'))['j']
        self.assertEqual([os.path.relpath(path, self.top) for path in listed], ['a/z', 'a-b/y', 'b.log', 'c/1', 'c/gone'])
        self.assertEqual([s.name for s in ncclscope.scan(self.top).sources if not (s.problem or '').startswith('is a pipe')], listed)
        with self.subTest('relative'):
            here = os.getcwd()
            os.chdir(self.top)
            self.addCleanup(os.chdir, here)
            self.assertEqual(files_of(parts.plan('a')), {self.top + '/a': [self.top + '/a/z']})

    def test_names_that_are_no_text(self):
        name = os.path.join(os.fsencode(self.top), b'\xff\xfe.log')
        with open(name, 'wb') as file:
            file.write(LINE)
        jobs = parts.Jobs(parts.merge(parts.read(parts.plan(self.top, by='file'))))
        (job, report), = jobs.items()
        self.assertEqual(job, self.top + '/\\udcff\\udcfe.log')
        self.assertEqual(report.to_json(), ncclscope.scan(os.fsdecode(name)).to_json())

    def test_memory_of_a_worker(self):
        """It does not grow with what a worker has read before, nor with the number of files that a task reads."""
        fleet.make(self.top, 300)
        program = """
import resource, sys
from ncclscope import parts
plan = parts.plan(sys.argv[1])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
for block in parts.blocks(plan, 16):
    parts.read(block)
before = peak()
for _ in range(5):
    for block in parts.blocks(plan, 16):
        parts.read(block)
print(before, peak(), parts.read(plan).nbytes >> 20, peak())
"""
        done = subprocess.run([sys.executable, '-c', program, self.top], stdout=subprocess.PIPE, check=True)
        once, often, saved, at_once = map(int, done.stdout.split())
        self.assertLess(often, once + 8)  # MiB
        self.assertLess(at_once, often + saved + 8)

    def test_jobs(self):
        made = fleet.make(self.top, 60)
        jobs = parts.Jobs(parts.merge(parts.read(parts.plan(self.top))))
        self.assertEqual(list(jobs), sorted(made))
        table = pyarrow.table(jobs)
        self.assertEqual((table, table.schema), (jobs.to_arrow(), parts.JOBS))
        for row in table.to_pylist():
            report = ncclscope.scan(made[row['job']])
            found = [f.severity for f in report.findings]
            self.assertEqual((row['verdict'], row['errors'], row['warnings'], row['notes'], row['ranks'], row['links'], row['files']),
                             (report.verdict, found.count('error'), found.count('warning'), found.count('note'), len(report.ranks),
                              len(report.links), len(made[row['job']])))
            self.assertEqual(row['finding'], report.findings[0].id if found else None)
            self.assertEqual(row['unread'], sum(s.problem is not None for s in report.sources))
        self.assertGreater(sum(table['unread'].to_pylist()), 1)
        for name in ('links', 'source', 'findings'):
            of = lambda report: [f._row for f in report.findings] if name == 'findings' else getattr(report, name.rstrip('s') + 's')
            should = [(job, *row) for job in jobs for row in of(jobs[job])]
            self.assertEqual([tuple(row.values()) for row in jobs.table(name).to_pylist()], should)
        with self.assertRaises(ncclscope.NotFound):
            jobs.table('nothing')
        with self.assertRaises(KeyError):
            jobs['nothing']

    def test_nothing(self):
        jobs = parts.Jobs(parts.merge(parts.read(parts.plan(self.top))))
        self.assertEqual((len(jobs), len(jobs.table('links')), repr(jobs)), (0, 0, '<Jobs: 0 of 0 files>'))
        self.assertEqual(jobs.table('links').schema.names[:2], ['job', 'comm'])

    def test_urls(self):
        try:
            import fsspec
        except ImportError as e:
            self.skipTest(str(e))
        memory = fsspec.filesystem('memory')
        for name in ('x/1', 'x/2', 'y/1', 'none/1'):
            memory.pipe('/runs/' + name, LINE)
        plan = parts.plan(['memory://runs', 'memory://gone/1'])
        memory.rm('/runs/none/1')
        self.assertEqual({job: len(paths) for job, paths in files_of(plan).items()},
                         {'memory://gone': 1, 'memory:///runs/none': 1, 'memory:///runs/x': 2, 'memory:///runs/y': 1})
        jobs = parts.Jobs(parts.merge(parts.read(plan)))
        self.assertEqual(jobs.to_arrow()['unread'].to_pylist(), [1, 0, 0, 1])
        self.assertEqual(jobs['memory:///runs/x'].to_json(), ncclscope.scan('memory://runs/x').to_json())


if __name__ == '__main__':
    unittest.main()

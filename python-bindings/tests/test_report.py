"""Reports: the same as the command's, from one scan or many, in threads and processes."""
import concurrent.futures
import glob
import json
import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import ncclscope

LOGS = os.path.join(os.environ['TESTDATA'], 'logs')
PLAIN = os.path.join(LOGS, '2.28.9', 'h200x8-p2p-disabled-shm.log')
TOOL = os.environ['NCCLSCOPE']


def of_command(*arguments):
    return json.loads(subprocess.run([TOOL, '--json', *arguments], stdout=subprocess.PIPE, check=False).stdout)


def verdict_of(path):
    return ncclscope.scan(path).to_dict()


class Reports(unittest.TestCase):
    def test_equals_the_command(self):
        logs = sorted(glob.glob(os.path.join(LOGS, '*', '*.log*')))
        self.assertGreater(len(logs), 50)
        for path in logs:
            report = ncclscope.scan(path)
            should = of_command(path)
            self.assertEqual(report.to_dict(), should, path)
            self.assertEqual(report.verdict, should['verdict'])
            self.assertEqual(report.ok, should['verdict'] == 'ok')
            self.assertEqual([f.id for f in report.findings], [f['id'] for f in should['findings']])
            self.assertEqual([(x.src, x.dst, x.via) for x in report.links], [(x['src'], x['dst'], x['via']) for x in should['links']])

    def test_findings(self):
        report = ncclscope.scan(PLAIN, expect='nvlink')
        finding = next(f for f in report.findings if f.id == 'transport/shm-within-node')
        self.assertEqual((finding.severity, len(finding.pairs), finding.hosts), ('warning', 8, ['vm']))
        self.assertIn('NCCL_P2P_DISABLE', finding.fix + finding.cause)
        with open(PLAIN, encoding='utf-8') as file:
            lines = file.read().split('\n')
        self.assertTrue(finding.evidence)
        for e in finding.evidence:
            self.assertIn(e.text.strip()[-40:], lines[e.line - 1])
        self.assertEqual([e.state for e in report.expectations], ['broken'])
        with self.assertRaises(ncclscope.FindingsError) as raised:
            report.raise_for_findings()
        self.assertEqual(raised.exception.findings[0].severity, 'warning')
        report.raise_for_findings('error')
        hostile = ncclscope.scan(b'vm:1:2 [0] NCCL INFO NCCL_DEBUG_FILE set by environment to <script>\n'
                                 b'vm:1:2 [0] misc/x.cc:1 NCCL WARN Cuda failure <script>alert(1)</script>\n')
        self.assertIn('<script>', hostile.to_text(verbose=True))
        self.assertNotIn('<script>', hostile._repr_html_())
        self.assertIn('&lt;script&gt;', hostile._repr_html_())
        with self.assertRaises(ncclscope.InvalidArgument):
            report.expect('no-such-word')

    def test_rows(self):
        report = ncclscope.scan(PLAIN)
        self.assertEqual(len(report.ranks), 8)
        self.assertEqual(report.links[-1], list(report.links)[-1])
        self.assertEqual(report.links[2:4], list(report.links)[2:4])
        columns = report.links.columns()
        self.assertEqual(columns['via'], [x.via for x in report.links])
        self.assertIsNone(report.links[0].net_dev)
        with self.assertRaises(IndexError):
            report.links[8]
        with self.assertRaises(AttributeError):
            report.no_such_table

    def test_sources(self):
        with open(PLAIN, 'rb') as file:
            data = file.read()
        should = ncclscope.scan(PLAIN).to_dict()
        for source in (data, [data], (data[i:i + 999] for i in range(0, len(data), 999))):
            got = ncclscope.scan(source).to_dict()
            for report in (got, should):
                report['sources'][0].pop('name', None)
            self.assertEqual(got, should)
        with open(PLAIN, 'rb') as file:
            self.assertEqual(ncclscope.scan(file).verdict, 'findings')

    def test_pipe(self):
        """A named pipe is read from its first byte."""
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, 'fifo')
            os.mkfifo(fifo)
            writer = subprocess.Popen(['cp', PLAIN, fifo])
            report = ncclscope.scan(fifo)
            self.assertEqual((writer.wait(), report.sources[0].bytes), (0, os.path.getsize(PLAIN)))

    def test_missing(self):
        report = ncclscope.scan('/no/such/log')
        self.assertFalse(report.ok)
        self.assertIn('No such file', report.sources[0].problem)

    def test_stream(self):
        with open(PLAIN, 'rb') as file:
            data = file.read()
        with ncclscope.Stream() as stream:
            for i in range(0, len(data), 4096):
                stream.feed(PLAIN, data[i:i + 4096])
                self.assertIn(stream.report().verdict, ('findings', 'no-evidence', 'no-nccl-lines', 'ok'))
            stream.end(PLAIN)
            self.assertEqual(stream.report().to_dict(), of_command(PLAIN))
            self.assertEqual(stream.findings()[0].id, ncclscope.scan(PLAIN).findings[0].id)

    def test_interleaved(self):
        """Streams that come together, in whatever pieces, are what one scan of their files is."""
        names = [PLAIN, os.path.join(LOGS, '2.28.9', 'h200x8-small-devshm.log'), os.path.join(LOGS, '2.30.7', 'h200x4-p2p-disabled-shm.log')]
        should = ncclscope.scan(names).to_dict()
        for seed in range(3):
            pick, rest = random.Random(seed), {}
            with ncclscope.Stream() as stream:
                for name in names:
                    stream.feed(name, b'')
                    with open(name, 'rb') as file:
                        rest[name] = file.read()
                while rest:
                    name = pick.choice(sorted(rest))
                    size = pick.randint(1, 4000)
                    stream.feed(name, rest[name][:size])
                    rest[name] = rest[name][size:]
                    if not rest[name]:
                        del rest[name]
                        stream.end(name)
                self.assertEqual(stream.report().to_dict(), should)

    def test_store(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'runs.db')
            subprocess.run([TOOL, '-q', '--db', path, PLAIN], stdout=subprocess.DEVNULL, check=False)
            self.assertEqual(ncclscope.scan(path).to_dict(), of_command(PLAIN))
            store = ncclscope.Store(path)
            self.assertEqual(store.query('SELECT count(*) AS n FROM link')[0]['n'], 8)
            # A lock that this process has stays, whatever is read of the file meanwhile.
            db = sqlite3.connect(path, isolation_level=None)
            db.execute('BEGIN IMMEDIATE')
            ncclscope.scan(path)
            store.query('SELECT 1')
            write = 'import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0.1).execute("DELETE FROM meta")'
            other = subprocess.run([sys.executable, '-c', write, path], stderr=subprocess.PIPE, check=False)
            self.assertIn(b'locked', other.stderr)
            db.execute('ROLLBACK')
            db.close()
            with self.assertRaises(ncclscope.DataError):
                ncclscope.Store(PLAIN)

    def test_diff_explain_and_facts(self):
        machine = os.path.join(os.environ['TESTDATA'], 'machines', 'h200x4.json')
        log = os.path.join(LOGS, '2.30.7', 'h200x4-p2p-disabled-shm.log')
        a, b = ncclscope.scan(PLAIN), ncclscope.scan(log, facts=machine)
        self.assertTrue(ncclscope.diff(a, a)['same'])
        self.assertFalse(ncclscope.diff(a, b)['same'])
        self.assertEqual(len(b.fact_gpus), 4)
        self.assertEqual(b.confirm()['schema'], 'ncclscope.confirm/1')
        self.assertIn('means', ncclscope.explain('transport/shm-within-node'))
        self.assertIn('CONNECT', ncclscope.explain('vm:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM').upper())
        with self.assertRaises(ncclscope.NotFound):
            ncclscope.explain('nothing that anybody prints')

    def test_threads_and_processes(self):
        logs = sorted(glob.glob(os.path.join(LOGS, '2.28.9', '*.log')))[:12]
        should = [verdict_of(path) for path in logs]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(verdict_of, logs)), should)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('fork')) as pool:
            self.assertEqual(list(pool.map(verdict_of, logs)), should)

    def test_one_thread_at_a_time(self):
        """Streams of one model that are fed by several threads: each feed is done whole or refused, and nothing is lost of what was taken."""
        with open(PLAIN, 'rb') as file:
            data = file.read()
        with ncclscope.Stream() as stream:
            for i in range(4):
                stream.feed('pod-%d' % i, b'')

            def feed(i):
                at = 0
                while at < len(data):
                    try:
                        stream.feed('pod-%d' % i, data[at:at + 20000])
                    except RuntimeError:
                        continue
                    at += 20000
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                list(pool.map(feed, range(4)))
            for i in range(4):
                stream.end('pod-%d' % i)
            self.assertEqual([s.lines for s in stream.report().sources], [data.count(b'\n')] * 4)

    def test_nothing_is_left(self):
        """No descriptor, and no file, for each scan, read or store."""
        def once():
            report = ncclscope.scan([PLAIN, b'vm:1:2 [0] NCCL INFO Using network IB\n'])
            report.findings[0].evidence
            list(ncclscope.open(PLAIN))
            next(iter(ncclscope.open(PLAIN)))
        once()
        before = len(os.listdir('/proc/self/fd'))
        for _ in range(100):
            once()
        self.assertEqual(len(os.listdir('/proc/self/fd')), before)

    def test_progress_and_its_errors(self):
        told = []
        ncclscope.scan([PLAIN, PLAIN + '-none'], progress=lambda *p: told.append(p), jobs=2)
        self.assertTrue(told and told[-1][2:] == (2, 2), told)
        with self.assertRaises(ZeroDivisionError):
            ncclscope.scan(PLAIN, progress=lambda *p: 1 / 0)

    def test_interrupt(self):
        """Ctrl-C ends a scan, and a reader, of a pipe that nobody writes to."""
        programs = ('import ncclscope, sys; print("go", flush=True); ncclscope.scan(sys.argv[1])',
                    'import ncclscope, os, sys; fd = os.open(sys.argv[1], os.O_RDONLY); print("go", flush=True); list(ncclscope.open(fd))')
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, 'fifo')
            os.mkfifo(fifo)
            held = os.open(fifo, os.O_RDWR)
            for program in programs:
                p = subprocess.Popen([sys.executable, '-c', program, fifo], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                p.stdout.readline()
                p.send_signal(signal.SIGINT)
                _, err = p.communicate(timeout=60)
                self.assertIn(b'KeyboardInterrupt', err)
            os.close(held)


if __name__ == '__main__':
    unittest.main()

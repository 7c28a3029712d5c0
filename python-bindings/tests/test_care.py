"""What a program that embeds the package counts on: errors, memory, threads, processes, signals."""
import asyncio
import concurrent.futures
import glob
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import ncclscope
from ncclscope import _core, errors

TESTDATA = os.environ['TESTDATA']
LOGS = os.path.join(TESTDATA, 'logs')
PLAIN = os.path.join(LOGS, '2.28.9', 'h200x8-p2p-disabled-shm.log')
MACHINE = os.path.join(TESTDATA, 'machines', 'h200x4.json')
OF_MACHINE = os.path.join(LOGS, '2.30.7', 'h200x4-p2p-disabled-shm.log')
HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'libncclscope', 'include', 'ncclscope.h')
TOOL = os.environ['NCCLSCOPE']


def verdict_of(path):
    return ncclscope.scan(path).verdict


def rss_kib():
    with open('/proc/self/statm', encoding='ascii') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE') // 1024


class Errors(unittest.TestCase):
    def test_a_class_for_each_code(self):
        with open(HEADER, encoding='utf-8') as file:
            codes = {int(n) for n in re.findall(r'^    NCCLSCOPE_E\w+ = (-\d+)', file.read(), re.M)}
        self.assertEqual(codes, set(range(-9, 0)))
        made = [errors.of(code, 'why') for code in codes]
        self.assertEqual(len({type(e) for e in made}), len(codes))
        for code, e in zip(codes, made):
            self.assertEqual(str(e), 'why')
            self.assertTrue(isinstance(e, MemoryError) if code == -1 else isinstance(e, ncclscope.Error) and e.code == code, e)

    def test_each_as_it_comes(self):
        saved = bytearray(_core.Model(ncclscope.reading.grammar()).save())
        with tempfile.TemporaryDirectory() as folder:
            rows = os.path.join(folder, 'rows')
            with open(rows, 'w', encoding='utf-8') as file:
                file.write('acme = ACME {\n')
            cases = ((lambda: ncclscope.scan(PLAIN, expect='nvlnk'), ncclscope.InvalidArgument, 'nvlnk'),
                     (lambda: ncclscope.open(folder + '/none'), ncclscope.ReadError, 'No such file'),
                     (lambda: ncclscope.scan(PLAIN, pods=PLAIN), ncclscope.DataError, ''),
                     (lambda: ncclscope.scan(PLAIN, facts=PLAIN), ncclscope.DataError, 'no facts'),
                     (lambda: ncclscope.Store(PLAIN), ncclscope.DataError, PLAIN),
                     (lambda: ncclscope.open(PLAIN, patterns=rows), ncclscope.PatternError, 'ACME'),
                     (lambda: ncclscope.explain('nothing at all'), ncclscope.NotFound, 'no rule'),
                     (lambda: list(ncclscope.open(b'\xfd7zXZ\x00' + bytes(99))), ncclscope.Unsupported, 'xz'),
                     (lambda: _core.Model(ncclscope.reading.grammar(), bytes(saved[:8])), ncclscope.DataError, ''))
            for call, of_class, words in cases:
                with self.assertRaises(of_class) as raised:
                    call()
                self.assertIs(type(raised.exception), of_class)
                self.assertIn(words, str(raised.exception))
                self.assertGreater(len(str(raised.exception)), 5)
            said = subprocess.run([TOOL, '--patterns', rows, PLAIN], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False).stderr.decode()
            with self.assertRaises(ncclscope.PatternError) as raised:
                ncclscope.scan(PLAIN, patterns=rows)
            self.assertIn(str(raised.exception), said)  # the library's sentence, as the command prints it

    def test_of_another_release(self):
        saved = bytearray(_core.Model(ncclscope.reading.grammar()).save())
        saved[8] ^= 4  # bytes 8 to 15 tell the release
        with self.assertRaisesRegex(ncclscope.OtherRelease, 'another release'):
            _core.Model(ncclscope.reading.grammar(), bytes(saved))


class Machine(unittest.TestCase):
    def test_confirm(self):
        should = json.loads(subprocess.run([TOOL, 'confirm', '--json', '--facts', MACHINE, OF_MACHINE], stdout=subprocess.PIPE, check=False).stdout)
        self.assertEqual(ncclscope.confirm(OF_MACHINE, MACHINE), should)
        report = ncclscope.scan(OF_MACHINE, facts=MACHINE)
        self.assertEqual(ncclscope.confirm(report), should)
        self.assertEqual(ncclscope.confirm(report, report.facts), should)
        for facts in (None, MACHINE):
            with self.assertRaises(ncclscope.InvalidArgument):
                ncclscope.confirm(ncclscope.scan(OF_MACHINE), facts)
        with self.assertRaises(ncclscope.NotFound):
            ncclscope.scan(OF_MACHINE).confirm()
        self.assertEqual(ncclscope.confirm([OF_MACHINE])['schema'], 'ncclscope.confirm/1')  # of this machine, whatever it has

    def test_asyncio(self):
        async def both():
            return await asyncio.gather(*(asyncio.get_running_loop().run_in_executor(None, ncclscope.confirm, OF_MACHINE, MACHINE) for _ in range(2)))
        a, b = asyncio.run(both())
        self.assertEqual(a, b)


class SideBySide(unittest.TestCase):
    def test_processes(self):
        logs = sorted(glob.glob(os.path.join(LOGS, '2.28.9', '*.log')))[:6]
        should = [verdict_of(path) for path in logs]
        for way in ('fork', 'spawn', 'forkserver'):
            with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(way)) as pool:
                self.assertEqual(list(pool.map(verdict_of, logs)), should, way)

    def test_fork_beside_threads(self):
        """Whatever lock a thread holds while another one forks, the child reads."""
        program = '''
import glob, os, sys, threading, ncclscope
from ncclscope import reading
logs, ended = glob.glob(sys.argv[1] + "/*/*.log")[:40], False
ncclscope.scan(logs[0])             # tempfile has a lock of its own until it was used once
def busy():
    while not ended:
        reading._default = None     # so that rows are always being compiled
        ncclscope.scan(logs[:6])
threads = [threading.Thread(target=busy) for _ in range(3)]
for t in threads:
    t.start()
for i in range(40):
    child = os.fork()
    if child == 0:
        os._exit(0 if ncclscope.scan(logs[i]).sources[0].lines else 1)
    if os.waitpid(child, 0)[1]:
        os._exit(1)
ended = True
'''
        done = subprocess.run([sys.executable, '-c', program, LOGS], stderr=subprocess.PIPE, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_a_stream_of_threads(self):
        """Pods that are fed by a thread each, beside one that asks for reports: nobody is refused."""
        with open(PLAIN, 'rb') as file:
            data = file.read()
        with ncclscope.Stream() as stream:
            def feed(i):
                for at in range(0, len(data), 3000):
                    stream.feed('pod-%d' % i, data[at:at + 3000])
                stream.end('pod-%d' % i)
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                fed = [pool.submit(feed, i) for i in range(3)]
                while not all(f.done() for f in fed):
                    self.assertLessEqual(len(stream.report().sources), 3)
                for f in fed:
                    f.result()
            self.assertEqual([s.lines for s in stream.report().sources], [data.count(b'\n')] * 3)

    def test_the_lock_is_given_up(self):
        """Another thread runs while one reads: it counts on while a log is scanned, read by columns, or saved and merged."""
        with open(PLAIN, 'rb') as file:
            data = file.read() * 100
        counted, ended = [0], threading.Event()

        def count():
            while not ended.is_set():
                counted[0] += 1
                time.sleep(0.0005)
        other = threading.Thread(target=count)
        other.start()
        before, switch = sys.getswitchinterval(), 1000
        sys.setswitchinterval(switch)  # nobody is made to give the lock up
        try:
            with tempfile.NamedTemporaryFile() as file:
                file.write(data)
                file.flush()
                for call in (lambda: ncclscope.scan(file.name), lambda: ncclscope.open(os.open(file.name, os.O_RDONLY)).table('CONNECT')):
                    at = counted[0]
                    call()
                    self.assertGreater(counted[0] - at, 3)
        finally:
            sys.setswitchinterval(before)
            ended.set()
            other.join()


class NothingIsLeft(unittest.TestCase):
    def test_memory_and_descriptors(self):
        def once():
            report = ncclscope.scan(PLAIN)
            report.findings[0].evidence, list(report.links)
            report.links.__arrow_c_stream__()
            table = ncclscope.open(PLAIN).table('CONNECT')
            table['via'], table.__arrow_c_stream__(), list(ncclscope.open(PLAIN))[-1].fields
            with ncclscope.capture() as cap, open(PLAIN, 'rb') as file, open(os.environ['NCCL_DEBUG_FILE'].replace('%h', 'vm').replace('%p', '1'), 'wb') as to:
                to.write(file.read())
            cap.report.to_text()
        for _ in range(20):
            once()
        before, descriptors = rss_kib(), len(os.listdir('/proc/self/fd'))
        for _ in range(int(os.environ.get('SCANS', 200))):
            once()
        self.assertEqual(len(os.listdir('/proc/self/fd')), descriptors)
        self.assertLess(rss_kib() - before, 4096)

    def test_interrupted_columns(self):
        """Ctrl-C ends what reads a descriptor by columns, be it silent or without an end."""
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, 'fifo')
            os.mkfifo(fifo)
            held = os.open(fifo, os.O_RDWR)
            for name in (fifo, '/dev/zero'):
                program = 'import ncclscope, os, sys; fd = os.open(sys.argv[1], os.O_RDONLY); print("go", flush=True); ncclscope.open(fd).table("CONNECT")'
                p = subprocess.Popen([sys.executable, '-c', program, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                p.stdout.readline()
                time.sleep(0.2)
                p.send_signal(signal.SIGINT)
                _, err = p.communicate(timeout=60)
                self.assertIn(b'KeyboardInterrupt', err)
            os.close(held)


if __name__ == '__main__':
    unittest.main()

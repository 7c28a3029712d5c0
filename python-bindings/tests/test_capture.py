"""capture(): in one process, and in jobs of torch.distributed whose ranks write what NCCL once wrote, into the files that NCCL would."""
import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import ncclscope

LOG = os.path.join(os.environ['TESTDATA'], 'logs', '2.30.7', 'h200x4-p2p-disabled-shm.log')
with open(LOG, 'rb') as recorded_log:
    LINES = recorded_log.read().splitlines(True)
PIDS = sorted({m.group(1) for m in (re.match(rb'[\w.-]+:(\d+):', line) for line in LINES) if m}, key=int)
PARTS = [b''.join(line for line in LINES if b':%s:' % pid in line) for pid in PIDS]  # of each process
NAMES = ('NCCL_DEBUG', 'NCCL_DEBUG_SUBSYS', 'NCCL_DEBUG_FILE')

# What every rank runs: the folder argv[1] has what a process of NCCL's wrote, in a file for each; argv[2] is for the test.
PROGRAM = '''
import json, os, signal, socket, sys, warnings
import torch.distributed as dist
import ncclscope
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])

def nccl_speaks():
    assert os.environ["NCCL_DEBUG"] == "INFO" and "GRAPH" in os.environ["NCCL_DEBUG_SUBSYS"]
    name = os.environ["NCCL_DEBUG_FILE"].replace("%h", socket.gethostname().split(".")[0]).replace("%p", str(os.getpid()))
    with open(os.path.join(sys.argv[1], str(rank)), "rb") as file, open(name, "wb") as to:
        to.write(file.read())

def told(cap):
    print(json.dumps([rank, cap.report and cap.report.to_dict()]))

'''
WHOLE = '''
with ncclscope.capture(folder=sys.argv[2]) as cap:
    dist.init_process_group("gloo")
    nccl_speaks()
told(cap)
'''
READ_BEFORE_THE_END = '''
with ncclscope.capture() as cap:
    dist.init_process_group("gloo")
    nccl_speaks()
    cap.read()
    dist.destroy_process_group()
told(cap)
'''
DESTROYED = READ_BEFORE_THE_END.replace('    cap.read()\n', '')
ONE_GROUP = '''
dist.init_process_group("gloo")
pair = dist.new_group([2, 3])
with ncclscope.capture(group=pair if rank > 1 else None) if rank > 1 else open(os.devnull) as cap:
    if rank > 1:
        nccl_speaks()
if rank > 1:
    told(cap)
'''
ONE_FILE = '''
os.environ["NCCL_DEBUG_FILE"] = os.path.join(sys.argv[2], "all.log")
dist.init_process_group("gloo")
with ncclscope.capture() as cap:
    dist.barrier()
    if rank == 0:
        nccl_speaks()
    dist.barrier()
told(cap)
'''
DIES = '''
with warnings.catch_warnings(record=True) as warned, ncclscope.capture() as cap:
    dist.init_process_group("gloo")
    nccl_speaks()
    dist.barrier()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
assert rank or any("other ranks" in str(w.message) for w in warned), warned
if rank == 0:
    told(cap)
'''
RAISES = '''
try:
    with ncclscope.capture() as cap:
        dist.init_process_group("gloo")
        nccl_speaks()
        1 / 0
except ZeroDivisionError:
    told(cap)
'''


def job(body, ranks=4, folder='', fine=True):
    """Run `body` on so many ranks: {rank: its report as a dict, or None}."""
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    env = {name: value for name, value in os.environ.items() if name not in NAMES}
    env.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), WORLD_SIZE=str(ranks), GLOO_SOCKET_IFNAME='lo', OMP_NUM_THREADS='1')
    told = {}
    with tempfile.TemporaryDirectory() as recorded:
        for i, part in enumerate(PARTS):
            with open(os.path.join(recorded, str(i)), 'wb') as to:
                to.write(part)
        started = [subprocess.Popen([sys.executable, '-c', PROGRAM + body, recorded, folder], env=dict(env, RANK=str(i)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                   for i in range(ranks)]
        for p in started:
            out, err = p.communicate(timeout=300)
            if fine and p.returncode:
                raise AssertionError(err.decode())
            told.update(json.loads(line) for line in out.decode().splitlines())
    return told


def without_names(report):
    for source in report['sources']:
        del source['name']
    return report


def of_processes(*which):
    return without_names(ncclscope.scan([[PARTS[i]] for i in which]).to_dict())


class OneProcess(unittest.TestCase):
    def setUp(self):
        self.before = {name: os.environ.pop(name, None) for name in NAMES}

    def tearDown(self):
        for name in NAMES:
            os.environ.pop(name, None)
        os.environ.update({name: value for name, value in self.before.items() if value is not None})

    def speak(self, name=None):
        with open(LOG, 'rb') as file, open(name or os.environ['NCCL_DEBUG_FILE'].replace('%h', 'vm').replace('%p', str(os.getpid())), 'wb') as to:
            to.write(file.read())

    def test_block(self):
        os.environ['NCCL_DEBUG'] = 'WARN'
        with ncclscope.capture() as cap:
            self.assertEqual((os.environ['NCCL_DEBUG'], os.environ['NCCL_DEBUG_SUBSYS']), ('INFO', 'INIT,ENV,GRAPH,NET'))
            folder = os.path.dirname(os.environ['NCCL_DEBUG_FILE'])
            self.assertIsNone(cap.report)
            self.speak()
            self.assertEqual(len(cap.files), 1)
        self.assertEqual({name: os.environ.get(name) for name in NAMES}, {'NCCL_DEBUG': 'WARN', 'NCCL_DEBUG_SUBSYS': None, 'NCCL_DEBUG_FILE': None})
        self.assertFalse(os.path.exists(folder))
        self.assertEqual(without_names(cap.report.to_dict()), without_names(ncclscope.scan(LOG).to_dict()))

    def test_nothing_is_lowered(self):
        with tempfile.TemporaryDirectory() as folder:
            mine = {'NCCL_DEBUG': 'trace', 'NCCL_DEBUG_SUBSYS': 'ALL', 'NCCL_DEBUG_FILE': os.path.join(folder, 'my%%-%p-%x.log')}
            os.environ.update(mine)
            with ncclscope.capture() as cap:
                self.assertEqual({name: os.environ[name] for name in NAMES}, mine)
                self.assertEqual(cap.files, [])
                self.speak(os.path.join(folder, 'my%%-%d-%%x.log' % os.getpid()))
            self.assertEqual(without_names(cap.report.to_dict()), without_names(ncclscope.scan(LOG).to_dict()))
            self.assertEqual({name: os.environ[name] for name in NAMES}, mine)
            self.assertEqual(len(os.listdir(folder)), 1)

    def test_nccl_said_nothing(self):
        with ncclscope.capture() as cap:
            pass
        self.assertEqual((cap.report.verdict, cap.report.ok), ('no-nccl-lines', False))
        self.assertIn('NCCL was at work before', cap.report.sources[0].problem)
        self.assertIn('NCCL was at work before', cap.report.to_text())

    def test_exception(self):
        with self.assertRaises(ZeroDivisionError):
            with ncclscope.capture() as cap:
                self.speak()
                1 / 0
        self.assertEqual(len(cap.report.ranks), 4)
        self.assertNotIn('NCCL_DEBUG_FILE', os.environ)

    def test_read_within(self):
        with tempfile.TemporaryDirectory() as folder:
            with ncclscope.capture(folder=os.path.join(folder, 'logs')) as cap:
                self.speak()
                self.assertEqual(cap.read().verdict, 'findings')
            self.assertEqual([len(files) for _, _, files in os.walk(folder)], [0, 0, 1])
            self.assertEqual(ncclscope.scan(folder).verdict, cap.report.verdict)

    def test_processes_of_this_one(self):
        """What a process starts inherits the variables: its logs are here too."""
        with ncclscope.capture() as cap:
            for i in range(2):
                name = os.environ['NCCL_DEBUG_FILE'].replace('%h', 'vm').replace('%p', str(i))
                subprocess.run([sys.executable, '-c', 'import sys; open(sys.argv[1], "w").write(sys.argv[2])', name, 'vm:%d:1 [0] NCCL INFO Bootstrap : Using lo\n' % i], check=True)
        self.assertEqual([p.pid for p in cap.report.processes], [0, 1])


@unittest.skipUnless(importlib.util.find_spec('torch'), 'torch is not here')
class Jobs(unittest.TestCase):
    maxDiff = 2000

    def test_recorded(self):
        self.assertEqual(len(PARTS), 4)

    def test_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            told = job(WHOLE, folder=folder)
            self.assertEqual(sum(len(files) for _, _, files in os.walk(folder)), 4)
        should = of_processes(0, 1, 2, 3)
        self.assertEqual(len(should['links']), 4)
        self.assertEqual((without_names(told[0]), told[1], told[2], told[3]), (should, None, None, None))

    def test_read_before_the_end(self):
        told = job(READ_BEFORE_THE_END)
        self.assertEqual((without_names(told[0]), told[1]), (of_processes(0, 1, 2, 3), None))

    def test_destroyed(self):
        told = job(DESTROYED, ranks=2)
        self.assertEqual([without_names(told[i]) for i in range(2)], [of_processes(0), of_processes(1)])

    def test_one_group(self):
        told = job(ONE_GROUP)
        self.assertEqual((sorted(told), without_names(told[2]), told[3]), ([2, 3], of_processes(2, 3), None))

    def test_one_file(self):
        """A file that all ranks share counts once."""
        with tempfile.TemporaryDirectory() as folder:
            told = job(ONE_FILE, ranks=2, folder=folder)
        self.assertEqual((without_names(told[0]), told[1]), (of_processes(0), None))

    def test_a_rank_dies(self):
        told = job(DIES, ranks=2, fine=False)
        self.assertEqual(without_names(told[0]), of_processes(0))

    def test_raises(self):
        told = job(RAISES, ranks=2)
        self.assertEqual([without_names(told[i]) for i in range(2)], [of_processes(0), of_processes(1)])


if __name__ == '__main__':
    unittest.main()

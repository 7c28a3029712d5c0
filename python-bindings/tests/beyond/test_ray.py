"""A Ray cluster of several nodes on this machine: what one process finds, also where a process and a node of it are killed in the middle."""
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest

try:
    import ray
    import ray.data
    from ray.cluster_utils import Cluster
except ImportError as e:
    raise unittest.SkipTest(str(e))

import fleet
import ncclscope
import ncclscope.ray
from ncclscope import parts

def parent_of(pid):
    with open('/proc/%d/stat' % pid, encoding='utf-8') as file:
        return int(file.read().rpartition(')')[2].split()[1])


class OnRay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(initialize_head=True, head_node_args={'num_cpus': 0})
        cls.nodes = {}  # by the process that starts the workers of each
        for _ in range(3):
            cls.add_node()
        ray.init(address=cls.cluster.address, logging_level=logging.ERROR, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        logging.getLogger('ray.data').setLevel(logging.ERROR)

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()
        cls.cluster.shutdown()

    @classmethod
    def add_node(cls):
        node = cls.cluster.add_node(num_cpus=1)
        cls.nodes[node.all_processes['raylet'][0].process.pid] = node

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='ncclscope-')
        self.addCleanup(folder.cleanup)
        self.top = os.path.realpath(folder.name)

    def should(self, made):
        return {job: ncclscope.scan(files).to_json() for job, files in made.items()}

    def equals(self, jobs, should):
        self.assertEqual({job: report.to_json() for job, report in jobs.items()}, should)

    def test_equals_one_process(self):
        made = fleet.make(self.top, 200)
        jobs = ncclscope.ray.scan(self.top, block=8)
        self.equals(jobs, self.should(made))
        self.assertEqual(jobs.to_arrow().schema, parts.JOBS)
        links = ncclscope.ray.dataset(self.top).map_batches(parts.table, fn_args=['links'], batch_format='pyarrow')
        self.assertEqual(links.count(), len(jobs.table('links')))
        whole = ncclscope.ray.scan(self.top, by=lambda path: 'all', block=8)
        self.assertEqual(whole['all'].to_json(), ncclscope.scan(self.top).to_json())
        self.assertEqual(len(ncclscope.ray.scan([])), 0)

    def test_killed_in_the_middle(self):
        """One file is a pipe: who reads it waits, and is killed there: first the process, then its whole node. Then the pipe gives the log."""
        made = fleet.make(self.top, 200)
        should = self.should(made)
        paths = [f for files in made.values() for f in files]
        with fleet.Pipe(paths[len(paths) // 2]) as pipe:
            done = []
            run = threading.Thread(target=lambda: done.append(ncclscope.ray.scan(paths, block=4)))
            run.start()
            first = pipe.reader()
            os.kill(first, signal.SIGKILL)
            second = pipe.reader(but={first})
            lost = parent_of(second)
            self.cluster.remove_node(self.nodes.pop(lost), allow_graceful=False)
            self.addCleanup(self.add_node)
            third = pipe.reader(but={first, second})
            self.assertIn(parent_of(third), self.nodes)
            pipe.give()
            run.join(fleet.PATIENCE_S)
        self.equals(done[0], should)
        self.assertEqual(sorted(n['Alive'] for n in ray.nodes()), [False, True, True, True])

    def test_documented(self):
        """What docs/python.md shows, in a folder with some runs."""
        with open(os.path.join(fleet.EXAMPLES, '..', 'python.md'), encoding='utf-8') as file:
            snippet, = re.findall(r'\n((?:    .*\n|\n)*    jobs = ncclscope\.ray\.scan.*\n(?:    .*\n)*)', file.read())
        made = fleet.make(self.top, 30)
        os.mkdir(os.path.join(self.top, 'runs'))
        for job in made:
            os.rename(job, os.path.join(self.top, 'runs', os.path.basename(job)))
        done = subprocess.run([sys.executable, '-c', textwrap.dedent(snippet)], cwd=self.top, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env=dict(os.environ, RAY_ADDRESS=self.cluster.address))
        self.assertEqual(done.returncode, 0, done.stderr)
        for job in made:
            self.assertIn(os.path.join(self.top, 'runs', os.path.basename(job)).encode() + b' ', done.stdout)

    def test_s3(self):
        try:
            import s3fs
            from moto.server import ThreadedMotoServer
        except ImportError as e:
            self.skipTest(str(e))
        logging.getLogger('werkzeug').setLevel(logging.ERROR)
        server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
        server.start()
        self.addCleanup(server.stop)
        options = {'key': 'of-nobody', 'secret': 'of-nobody', 'endpoint_url': 'http://%s:%d' % server.get_host_and_port()}
        made = fleet.make(self.top, 50)
        store = s3fs.S3FileSystem(**options)
        store.mkdir('runs')
        for files in made.values():
            for path in files:
                if not os.path.islink(path):
                    store.put(path, 's3://runs' + path[len(self.top):])
        jobs = ncclscope.ray.scan('s3://runs', block=8, storage_options=options)
        should = {}
        for job, files in made.items():
            report = ncclscope.scan([path for path in files if not os.path.islink(path)])
            should['s3://runs' + job[len(self.top):]] = report.to_json().replace(self.top, 's3://runs')
        self.equals(jobs, should)


if __name__ == '__main__':
    unittest.main()

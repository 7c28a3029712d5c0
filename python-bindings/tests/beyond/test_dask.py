"""docs/examples/dask_jobs.py, on workers of their own, one of which is killed in the middle: what one process finds."""
import os
import signal
import tempfile
import threading
import unittest

try:
    import dask.distributed
    import pyarrow
except ImportError as e:
    raise unittest.SkipTest(str(e))

import fleet
import ncclscope

dask_jobs = fleet.example('dask_jobs')


class OnDask(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='ncclscope-')
        self.addCleanup(folder.cleanup)
        self.made = fleet.make(folder.name, 200)
        self.should = {job: ncclscope.scan(files).to_json() for job, files in self.made.items()}
        self.client = dask.distributed.Client(n_workers=3, threads_per_worker=1, dashboard_address=None)
        self.addCleanup(self.client.close)

    def test_equals_one_process(self):
        jobs = dask_jobs.scan(sorted(self.made), block=8)
        self.assertEqual({job: report.to_json() for job, report in jobs.items()}, self.should)

    def test_killed_in_the_middle(self):
        paths = [f for files in self.made.values() for f in files]
        with fleet.Pipe(paths[len(paths) // 2]) as pipe:
            done = []
            run = threading.Thread(target=lambda: done.append(dask_jobs.scan(paths, block=4)))
            run.start()
            first = pipe.reader()
            os.kill(first, signal.SIGKILL)
            pipe.reader(but={first})
            pipe.give()
            run.join(fleet.PATIENCE_S)
        self.assertEqual({job: report.to_json() for job, report in done[0].items()}, self.should)

    def test_nothing(self):
        self.assertEqual(len(dask_jobs.scan([])), 0)


if __name__ == '__main__':
    unittest.main()

"""docs/examples/spark_jobs.py, on processes of their own, one of which is killed in the middle: what one process finds."""
import os
import shutil
import signal
import sys
import tempfile
import threading
import unittest

try:
    import pyarrow
    from pyspark.sql import SparkSession
except ImportError as e:
    raise unittest.SkipTest(str(e))
if not shutil.which('java'):
    raise unittest.SkipTest('there is no java')

import fleet
import ncclscope

spark_jobs = fleet.example('spark_jobs')


class OnSpark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ['PYSPARK_PYTHON'] = sys.executable
        cls.spark = (SparkSession.builder.master('local[3,4]')  # 3 at a time, each tried 4 times
                     .config('spark.ui.enabled', False).config('spark.ui.showConsoleProgress', False).config('spark.driver.host', '127.0.0.1').config('spark.driver.bindAddress', '127.0.0.1')
                     .config('spark.sql.shuffle.partitions', 8).config('spark.log.level', 'ERROR').getOrCreate())

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='ncclscope-')
        self.addCleanup(folder.cleanup)
        self.made = fleet.make(folder.name, 200)
        self.should = {job: ncclscope.scan(files).to_json() for job, files in self.made.items()}

    def test_equals_one_process(self):
        jobs = spark_jobs.scan(self.spark, sorted(self.made), block=8)
        self.assertEqual({job: report.to_json() for job, report in jobs.items()}, self.should)

    def test_killed_in_the_middle(self):
        paths = [f for files in self.made.values() for f in files]
        with fleet.Pipe(paths[len(paths) // 2]) as pipe:
            done = []
            run = threading.Thread(target=lambda: done.append(spark_jobs.scan(self.spark, paths, block=4)))
            run.start()
            first = pipe.reader()
            os.kill(first, signal.SIGKILL)
            pipe.reader(but={first})
            pipe.give()
            run.join(fleet.PATIENCE_S)
        self.assertEqual({job: report.to_json() for job, report in done[0].items()}, self.should)

    def test_nothing(self):
        self.assertEqual(len(spark_jobs.scan(self.spark, [])), 0)


if __name__ == '__main__':
    unittest.main()

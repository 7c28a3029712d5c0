"""The snippets of README.md and docs/python.md run as they stand."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
LOG = os.path.join(os.environ['TESTDATA'], 'logs', '2.28.9', 'h200x8-p2p-disabled-shm.log')


class Docs(unittest.TestCase):
    def test_snippets(self):
        tried = 0
        for page in ('README.md', os.path.join('docs', 'python.md')):
            with open(os.path.join(ROOT, page), encoding='utf-8') as file:
                snippets = re.findall(r'```python\n(.*?)```', file.read(), re.S)
            self.assertTrue(snippets, page)
            for snippet in snippets:
                with tempfile.TemporaryDirectory() as folder:
                    shutil.copy(LOG, os.path.join(folder, 'job.log'))
                    env = dict(os.environ, PATH=os.path.dirname(os.environ['NCCLSCOPE']) + os.pathsep + os.environ['PATH'])
                    done = subprocess.run([sys.executable, '-c', snippet], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, b''), snippet)
                    self.assertTrue(done.stdout.strip(), snippet)
                    tried += 1
        self.assertGreaterEqual(tried, 6)


if __name__ == '__main__':
    unittest.main()

"""S3 and HTTP, by servers on this machine: the same as the files."""
import functools
import http.server
import logging
import os
import threading
import unittest

try:
    import aiohttp
    import botocore.exceptions
    import s3fs
    from moto.server import ThreadedMotoServer
except ImportError as e:
    raise unittest.SkipTest(str(e))

import ncclscope

FOLDER = os.path.join(os.environ['TESTDATA'], 'logs', '2.30.7')


class S3(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
        logging.getLogger('werkzeug').setLevel(logging.ERROR)  # else each request is told
        cls.server.start()
        host, port = cls.server.get_host_and_port()
        cls.options = {'key': 'of-nobody', 'secret': 'of-nobody', 'endpoint_url': 'http://%s:%d' % (host, port)}
        store = s3fs.S3FileSystem(**cls.options)
        store.mkdir('logs')
        cls.names = sorted(os.listdir(FOLDER))
        for name in cls.names:
            store.put(os.path.join(FOLDER, name), 'logs/run-1/' + name)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def scan(self, *arguments, **named):
        return ncclscope.scan(*arguments, storage_options=self.options, **named)

    def test_equals_the_files(self):
        should = ncclscope.scan(FOLDER).to_json()
        for source in ('s3://logs', 's3://logs/run-1', 's3://logs/*/*.log*', ['s3://logs/run-1/' + name for name in self.names]):
            for jobs in (1, 4):
                got = self.scan(source, jobs=jobs).to_json()
                self.assertEqual(got.replace('s3://logs/run-1', FOLDER), should, source)
        records = [(r.line, r.message) for r in ncclscope.open('s3://logs/run-1/' + self.names[0], storage_options=self.options)]
        self.assertEqual(records, [(r.line, r.message) for r in ncclscope.open(os.path.join(FOLDER, self.names[0]))])

    def test_grows(self):
        """What was listed before is listed anew: logs come, and grow."""
        other = s3fs.S3FileSystem(skip_instance_cache=True, **self.options)  # as if elsewhere
        with open(os.path.join(FOLDER, 'h200x4-p2p-disabled-shm.log'), 'rb') as file:
            log = file.read()
        other.mkdir('grows')
        other.pipe('grows/1.log', log[:5000])
        s3fs.S3FileSystem(**self.options).ls('grows')  # a notebook looks what there is
        other.pipe('grows/1.log', log)
        other.pipe('grows/2.log', log[:7000])
        for source in ('s3://grows', 's3://grows/*.log', ['s3://grows/1.log', 's3://grows/2.log']):
            self.assertEqual([s.bytes for s in self.scan(source).sources], [len(log), 7000])
        records = ncclscope.open('s3://grows/1.log', storage_options=self.options)
        self.assertEqual(sum(1 for _ in records), sum(1 for _ in ncclscope.open(log)))

    def test_problems(self):
        report = self.scan(['s3://logs/none.log', 's3://logs/run-1/' + self.names[0], 's3://no-such-bucket/'])
        self.assertEqual([s.problem is None for s in report.sources], [False, True, False])

    def test_nobody_answers(self):
        """A client's own class of error, which is no OSError, is told as well."""
        options = dict(self.options, endpoint_url='http://127.0.0.1:9', config_kwargs={'retries': {'max_attempts': 0}})
        with self.assertRaises(botocore.exceptions.EndpointConnectionError):
            s3fs.S3FileSystem(**options).ls('logs')
        source, = ncclscope.scan('s3://logs/x.log', storage_options=options).sources
        self.assertIn('127.0.0.1', source.problem)


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *unused):
        pass


class Http(unittest.TestCase):
    def test_equals_the_files(self):
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Silent, directory=FOLDER))
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        top = 'http://127.0.0.1:%d' % server.server_port
        should = ncclscope.scan(FOLDER).to_json()
        self.assertEqual(ncclscope.scan(top + '/').to_json().replace(top, FOLDER), should)
        for name in sorted(os.listdir(FOLDER)):
            got = ncclscope.scan('%s/%s?signed=1' % (top, name)).to_json()
            self.assertEqual(got.replace(top, FOLDER).replace('?signed=1', ''), ncclscope.scan(os.path.join(FOLDER, name)).to_json())
        source, = ncclscope.scan(top + '/none.log').sources
        self.assertIn('cannot open: FileNotFoundError', source.problem)


if __name__ == '__main__':
    unittest.main()

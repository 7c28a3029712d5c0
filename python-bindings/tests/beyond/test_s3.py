"""S3, by a server on this machine: the same as the files."""
import logging
import os
import unittest

try:
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


if __name__ == '__main__':
    unittest.main()

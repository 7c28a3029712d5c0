"""URLs, by file systems of fsspec's that need no network: the same as the files, and told where they cannot be read."""
import io
import os
import tempfile
import unittest
import zipfile

try:
    import fsspec
except ImportError as e:
    raise unittest.SkipTest(str(e))

import ncclscope

LOGS = os.path.join(os.environ['TESTDATA'], 'logs')
FOLDER = os.path.join(LOGS, '2.30.7')
PLAIN = os.path.join(LOGS, '2.28.9', 'h200x8-p2p-disabled-shm.log')
PACKED = os.path.join(LOGS, '2.30.7', 'h200x4-two-nodes.log.gz')


def bytes_of(path):
    with open(path, 'rb') as file:
        return file.read()


def nameless(report):
    """The report but for the names of its sources."""
    told = report.to_dict()
    for source in told['sources']:
        source.pop('name')
    return told


class Broken(io.BytesIO):
    """Gives a half, and fails."""

    def __init__(self, data):
        super().__init__(data)
        self.half = len(data) // 2

    def read(self, size=-1):
        if self.tell() >= self.half:
            raise ZeroDivisionError('the client of a store raises\0 what it likes \udcff')
        return super().read(min(size, self.half - self.tell()))


class Urls(unittest.TestCase):
    def setUp(self):
        self.memory = fsspec.filesystem('memory')
        self.memory.store.clear()
        self.memory.pseudo_dirs[:] = ['']

    def put(self, folder):
        for name in os.listdir(folder):
            self.memory.pipe('/logs/' + name, bytes_of(os.path.join(folder, name)))

    def test_one_file(self):
        for path in (PLAIN, PACKED):
            self.memory.pipe('/logs/x', bytes_of(path))
            report = ncclscope.scan('memory://logs/x')
            self.assertEqual([s.name for s in report.sources], ['memory://logs/x'])
            self.assertEqual(nameless(report), nameless(ncclscope.scan(path)))
            self.assertEqual([(r.line, r.message) for r in ncclscope.open('memory://logs/x')], [(r.line, r.message) for r in ncclscope.open(path)])

    def test_many_files(self):
        """A folder, a pattern, a list, and what lies here in between; as many at a time as are wanted."""
        self.put(FOLDER)
        names = sorted(os.listdir(FOLDER))
        should = nameless(ncclscope.scan(FOLDER))
        self.memory.pipe('/logs/.hidden', b'')
        for jobs in (1, 3):
            for url in ('memory://logs', 'memory://logs/', 'memory://logs/*.log*', ['memory://logs/' + n for n in names * 2]):
                report = ncclscope.scan(url, jobs=jobs)
                self.assertEqual([s.name.rpartition('/')[2] for s in report.sources], names)
                self.assertEqual(nameless(report), should, url)
            half = len(names) // 2
            mixed = [os.path.join(FOLDER, n) for n in names[:half]] + ['memory://logs/' + n for n in names[half:]]
            self.assertEqual(nameless(ncclscope.scan(mixed, jobs=jobs)), should)

    def test_order_of_folders(self):
        """As a scan walks: by names within each folder, not by whole paths."""
        for name in ('a.log', 'a/z.log', 'a/.b/x.log', 'a-b/y.log'):
            self.memory.pipe('/top/' + name, b'vm:1:2 [0] NCCL INFO Using network IB\n')
        self.assertEqual([s.name for s in ncclscope.scan('memory://top').sources],
                         ['memory:///top/a/z.log', 'memory:///top/a-b/y.log', 'memory:///top/a.log'])

    def test_names_that_look_like_patterns(self):
        self.memory.pipe('/logs/[0]*.log', bytes_of(PLAIN))
        self.memory.pipe('/logs/0.log', b'')
        report = ncclscope.scan('memory://logs/[0]*.log')
        self.assertEqual([s.name for s in report.sources], ['memory://logs/[0]*.log'])

    def test_chains(self):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, 'w') as file:
            file.write(PLAIN, 'run/a.log')
            file.write(PACKED, 'run/b.log')
        self.memory.pipe('/x.zip', packed.getvalue())
        report = ncclscope.scan('zip://run::memory://x.zip')
        self.assertEqual([s.name for s in report.sources], ['zip://run/%s.log::memory://x.zip' % n for n in 'ab'])
        self.assertEqual(nameless(report), nameless(ncclscope.scan([PLAIN, PACKED])))

    def test_problems(self):
        packed = bytes_of(PACKED)
        inputs = {'whole': bytes_of(PLAIN), 'half.gz': packed[:len(packed) // 2], 'damaged.gz': packed[:9000] + b'damage' + packed[9000:]}
        with tempfile.TemporaryDirectory() as folder:
            for name, data in inputs.items():
                self.memory.pipe('/' + name, data)
                with open(os.path.join(folder, name), 'wb') as file:
                    file.write(data)
            should = ncclscope.scan([os.path.join(folder, name) for name in inputs])
        names = ['memory://' + name for name in inputs]
        report = ncclscope.scan(names)
        self.assertEqual(nameless(report), nameless(should))
        self.assertEqual([s.problem is None for s in report.sources], [True, False, False])
        self.memory.pipe('/x.zst', b'\x28\xb5\x2f\xfd' + b'zstd')
        report = ncclscope.scan(['memory://none.log', names[0], 'memory://x.zst', 'memory://none/*'])
        told = [s.problem for s in report.sources]
        self.assertIsNone(told[1])
        for problem, words in zip((told[0], told[2], told[3]), ('cannot open: FileNotFoundError', 'zstd', 'cannot open')):
            self.assertIn(words, problem)
        with self.assertRaises(ncclscope.ReadError):
            ncclscope.open('memory://none.log')

    def test_a_client_that_fails(self):
        class Store(fsspec.implementations.memory.MemoryFileSystem):
            protocol = 'broken'
            store = {}

            def _open(self, path, mode='rb', **unused):
                return Broken(bytes_of(PLAIN))

            def isfile(self, path):
                return True
        fsspec.register_implementation('broken', Store, clobber=True)
        source, = ncclscope.scan('broken://x.log').sources
        self.assertEqual(source.problem, 'cannot read: ZeroDivisionError: the client of a store raises? what it likes ?')
        self.assertEqual(source.bytes, os.path.getsize(PLAIN) // 2)

    def test_what_is_not_installed(self):
        with self.assertRaises(ValueError):
            ncclscope.scan('nosuch://bucket/x.log')

    def test_options(self):
        class Store(fsspec.implementations.memory.MemoryFileSystem):
            protocol = 'told'
            store = {'/x.log': None}

            def __init__(self, key=None, **options):
                super().__init__(**options)
                self.key = key

            def isfile(self, path):
                return True

            def _open(self, path, mode='rb', **unused):
                return io.BytesIO(b'vm:1:2 [0] NCCL INFO Using network %s\n' % self.key)
        fsspec.register_implementation('told', Store, clobber=True)
        self.assertIn('IB', ncclscope.scan('told://x.log', storage_options={'key': b'IB'}).to_json())
        rec, = ncclscope.open('told://x.log', storage_options={'key': b'Socket'})
        self.assertIn('Socket', rec.message)


if __name__ == '__main__':
    unittest.main()

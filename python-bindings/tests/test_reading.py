"""Records: from whatever source, kept or not, and by columns."""
import glob
import io
import os
import subprocess
import sys
import unittest

import ncclscope

LOGS = os.path.join(os.environ['TESTDATA'], 'logs')
PLAIN = os.path.join(LOGS, '2.28.9', 'h200x8-p2p-disabled-shm.log')
HEADS = ('line', 'host', 'pid', 'tid', 'device')
PACKED = os.path.join(LOGS, '2.30.7', 'h200x4-two-nodes.log.gz')


def said(rec):
    return (rec.kind, rec.line, rec.level, rec.host, rec.pid, rec.tid, rec.device, rec.message, rec.location, rec.time, rec.torn, rec.physical,
            rec.family, rec.offset, rec.repeated, tuple(rec.fields.items()))


class Reading(unittest.TestCase):
    def sources(self, path):
        with open(path, 'rb') as file:
            data = file.read()
        yield 'path', path
        yield 'bytes', data
        yield 'file', io.BytesIO(data)
        yield 'pieces', (data[i:i + 1001] for i in range(0, len(data), 1001))

    def test_sources(self):
        for path in (PLAIN, PACKED):
            should = [said(rec) for rec in ncclscope.open(path)]
            self.assertGreater(len(should), 200)
            for name, source in self.sources(path):
                self.assertEqual([said(rec) for rec in ncclscope.open(source)], should, name)
            fd = os.open(path, os.O_RDONLY)
            self.assertEqual([said(rec) for rec in ncclscope.open(fd)], should)
            os.close(fd)

    def test_kept(self):
        """A record says the same when the reader has gone on, or is gone."""
        should = [said(rec) for rec in ncclscope.open(PLAIN)]
        kept = list(ncclscope.open(PLAIN))
        self.assertEqual([said(rec) for rec in kept], should)
        first = next(iter(ncclscope.open(PLAIN)))
        self.assertEqual(said(first), should[0])

    def test_fields(self):
        rec = next(rec for rec in ncclscope.open(PLAIN) if rec.kind == 'CONNECT')
        self.assertEqual((rec['src'], rec['dst'], rec['via'], rec['channel']), (5, 6, 'SHM/direct/direct', 0))
        self.assertEqual(rec.get('nothing', 7), 7)
        with self.assertRaises(KeyError):
            rec['nothing']

    def test_columns(self):
        """Every kind of many logs: its columns are what its records say, None where they do not."""
        kinds = set()
        for path in sorted(glob.glob(os.path.join(LOGS, '*', '*.log*')))[::4]:
            by_kind = {}
            for rec in ncclscope.open(path):
                by_kind.setdefault(rec.kind, []).append(rec)
            for kind, records in by_kind.items():
                should = {name: [getattr(rec, name) for rec in records] for name in HEADS}
                for name in dict.fromkeys(name for rec in records for name in rec.fields):
                    should[name + '_' if name in HEADS else name] = [rec.get(name) for rec in records]
                table = ncclscope.open(path).table(kind)
                self.assertEqual(table.columns(), should, (path, kind))
                self.assertEqual((len(table), table.keys(), list(table), table.kind), (len(records), tuple(should), list(should), kind))
            kinds |= set(by_kind)
        self.assertGreater(len(kinds), 70)

    def test_column(self):
        table = ncclscope.open(PLAIN).table('CONNECT')
        self.assertEqual(len(table), 32)
        self.assertEqual((table['src'][0], table['via'][0]), (5, 'SHM/direct/direct'))
        self.assertTrue('src' in table and 'nothing' not in table)
        self.assertEqual(dict(table), table.columns())
        with self.assertRaises(KeyError):
            table['nothing']
        none = ncclscope.open(PLAIN).table('NO_SUCH_KIND')
        self.assertEqual((len(none), none.columns()), (0, {name: [] for name in HEADS}))
        self.assertIn('32 CONNECT', repr(table))

    def test_column_of_large_numbers(self):
        """Beyond 63 bits it is said as it is, beyond 64 a table cannot say it."""
        log = ''.join('vm:1:2 [0] NCCL INFO Channel %d/0 : 0[0] -> 1[1] via P2P/IPC\n' % n for n in (7, 2**63, 2**64))
        table = ncclscope.open(log.encode()).table('CONNECT')
        self.assertEqual((table['channel'], table['line']), ([7, 2**63, None], [1, 2, 3]))
        self.assertEqual([rec['channel'] for rec in ncclscope.open(log.encode())], [7, 2**63, str(2**64)])

    def test_column_interrupted(self):
        def pieces():
            with open(PLAIN, 'rb') as file:
                yield file.read(9000)
            raise ZeroDivisionError
        with self.assertRaises(ZeroDivisionError):
            ncclscope.open(pieces()).table('CONNECT')

    def test_own_rows(self):
        log = b'vm:1:2 [0] NCCL INFO ACME: 4 lanes to node7\n'
        path = os.path.join(os.environ['PYTHONPATH'], 'patterns')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('acme_lanes = ACME: {lanes:u} lanes to {peer:w}\n')
        rec, = ncclscope.open(log, patterns=path)
        self.assertEqual((rec.kind, rec['lanes'], rec['peer']), ('acme_lanes', 4, 'node7'))
        with self.assertRaises(ncclscope.ReadError):
            ncclscope.open(log, patterns=path + '-none')

    def test_errors(self):
        with self.assertRaises(ncclscope.ReadError) as raised:
            ncclscope.open('/no/such/log')
        self.assertEqual(raised.exception.errno, 2)
        with self.assertRaises(ncclscope.Unsupported):
            list(ncclscope.open(b'\x28\xb5\x2f\xfd' + b'zstd'))

        class Broken:
            def read(self, size):
                raise ZeroDivisionError(size)
        with self.assertRaises(ZeroDivisionError):
            list(ncclscope.open(Broken()))
        with self.assertRaises(ncclscope.ReadError):
            list(ncclscope.open(987654))

    def test_nothing_else_is_imported(self):
        """Packages that some of it needs are imported there alone."""
        program = 'import ncclscope, sys; ncclscope.scan(sys.argv[1]); print({"fsspec", "pyarrow", "ray", "numpy"} & set(sys.modules))'
        done = subprocess.run([sys.executable, '-c', program, PLAIN], stdout=subprocess.PIPE, check=True)
        self.assertEqual(done.stdout, b'set()\n')

    def test_hostile(self):
        rec, = ncclscope.open(b'vm:1:2 [0] NCCL INFO NCCL_X set by environment to \xff\xfe\n')
        self.assertEqual(rec.message.encode('utf-8', 'surrogateescape')[-2:], b'\xff\xfe')


if __name__ == '__main__':
    unittest.main()

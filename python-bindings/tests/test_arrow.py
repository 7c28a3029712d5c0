"""The Arrow C stream of a table, read by its specification alone: the same as the rows."""
import ctypes
import glob
import os
import unittest

import ncclscope

LOGS = os.path.join(os.environ['TESTDATA'], 'logs')
P = ctypes.c_void_p


class Schema(ctypes.Structure):
    pass


Schema._fields_ = [('format', ctypes.c_char_p), ('name', ctypes.c_char_p), ('metadata', ctypes.c_char_p), ('flags', ctypes.c_int64),
                   ('n_children', ctypes.c_int64), ('children', ctypes.POINTER(ctypes.POINTER(Schema))), ('dictionary', ctypes.POINTER(Schema)),
                   ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))), ('private_data', P)]


class Array(ctypes.Structure):
    pass


Array._fields_ = [('length', ctypes.c_int64), ('null_count', ctypes.c_int64), ('offset', ctypes.c_int64), ('n_buffers', ctypes.c_int64),
                  ('n_children', ctypes.c_int64), ('buffers', ctypes.POINTER(P)), ('children', ctypes.POINTER(ctypes.POINTER(Array))),
                  ('dictionary', ctypes.POINTER(Array)), ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))), ('private_data', P)]


class Stream(ctypes.Structure):
    pass


Stream._fields_ = [('get_schema', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
                   ('get_next', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
                   ('get_last_error', ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
                   ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ('private_data', P)]


def values(schema, array):
    """A column as a list of Python's values."""
    n = array.length
    bit = lambda bits, i: bits[i // 8] >> (i % 8) & 1
    said = ctypes.string_at(array.buffers[0], (n + 7) // 8) if array.buffers[0] else b'\xff' * (n // 8 + 1)
    if schema.dictionary:
        words = values(schema.dictionary[0], array.dictionary[0])
        found = [words[k] if 0 <= k < len(words) else None for k in (ctypes.c_int32 * n).from_address(array.buffers[1])]
    elif schema.format == b'l':
        found = list((ctypes.c_int64 * n).from_address(array.buffers[1]))
    elif schema.format == b'L':
        found = list((ctypes.c_uint64 * n).from_address(array.buffers[1]))
    elif schema.format == b'g':
        found = list((ctypes.c_double * n).from_address(array.buffers[1]))
    elif schema.format == b'b':
        bits = ctypes.string_at(array.buffers[1], n // 8 + 1)
        found = [bool(bit(bits, i)) for i in range(n)]
    else:
        assert schema.format == b'u', schema.format
        ends = (ctypes.c_int32 * (n + 1)).from_address(array.buffers[1])
        text = ctypes.string_at(array.buffers[2], ends[n])
        found = [text[ends[i]:ends[i + 1]].decode('utf-8') for i in range(n)]
    found = [v if bit(said, i) else None for i, v in enumerate(found)]
    assert found.count(None) == array.null_count
    return found


def columns_of(rows):
    return columns_of_capsule(rows.__arrow_c_stream__())


def columns_of_capsule(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = P, [ctypes.py_object, ctypes.c_char_p]
    stream = ctypes.cast(get(capsule, b'arrow_array_stream'), ctypes.POINTER(Stream))
    schema = Schema()
    assert stream[0].get_schema(stream, ctypes.byref(schema)) == 0 and schema.format == b'+s'
    names = [schema.children[i][0].name.decode() for i in range(schema.n_children)]
    found = {name: [] for name in names}
    while True:
        array = Array()
        assert stream[0].get_next(stream, ctypes.byref(array)) == 0
        if not array.release:
            break
        assert array.n_children == len(names)
        for i, name in enumerate(names):
            assert array.children[i][0].length == array.length
            found[name] += values(schema.children[i][0], array.children[i][0])
        array.release(ctypes.byref(array))
    schema.release(ctypes.byref(schema))
    stream[0].release(stream)
    return found


def as_arrow(v):
    return v.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace') if isinstance(v, str) else v


class Arrow(unittest.TestCase):
    def test_every_table(self):
        full = set()
        machine = os.path.join(os.environ['TESTDATA'], 'machines', 'h200x4.json')
        for path in sorted(glob.glob(os.path.join(LOGS, '*', '*.log')))[::3]:
            report = ncclscope.scan(path, facts=machine, expect='nvlink')
            for name in ncclscope.tables:
                rows = report._rows(name)
                full |= {name} if len(rows) else set()
                should = {c: [as_arrow(v) for v in vs] for c, vs in rows.columns().items()}
                self.assertEqual(columns_of(rows), should, (path, name))
        self.assertGreater(len(full), 35)

    def test_large_and_hostile(self):
        lines = [b'vm:1:2 [0] NCCL INFO Channel %02d/0 : %d[%d] -> %d[%d] via P2P/\xff%d' % (i % 2, i % 8, i % 8, (i + 1) % 8, (i + 1) % 8, i) for i in range(70000)]
        rows = ncclscope.scan(b'\n'.join(lines)).link_channels
        self.assertEqual(columns_of(rows)['channel'], rows.columns()['channel'])
        envs = ncclscope.scan(b'vm:1:2 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_\xff\xe2\x82\n').env_values
        self.assertEqual([v.encode('utf-8', 'surrogateescape') for v in envs.columns()['value']], [b'mlx5_\xff\xe2\x82'])
        self.assertEqual(columns_of(envs)['value'], ['mlx5_\ufffd\ufffd\ufffd'])

    def test_every_kind(self):
        kinds = set()
        for path in sorted(glob.glob(os.path.join(LOGS, '*', '*.log')))[::5]:
            for kind in {rec.kind for rec in ncclscope.open(path)}:
                table = ncclscope.open(path).table(kind)
                should = {c: [as_arrow(v) for v in vs] for c, vs in table.columns().items()}
                self.assertEqual(columns_of(table), should, (path, kind))
                kinds.add(kind)
        self.assertGreater(len(kinds), 60)
        none = ncclscope.open(b'').table('CONNECT')
        self.assertEqual(columns_of(none), none.columns())

    def test_kind_large_and_hostile(self):
        lines = [b'vm-%d:1:2 [0] NCCL INFO Channel %d/0 : 0[0] -> 1[1] via P2P/\xff%d\n' % (i % 5, i % 3 or 2**63 + i, i) for i in range(70000)]
        table = ncclscope.open(b''.join(lines)).table('CONNECT')
        should = {c: [as_arrow(v) for v in vs] for c, vs in table.columns().items()}
        self.assertEqual((len(table), table['via'][69999]), (70000, 'P2P/\udcff69999'))
        self.assertEqual(columns_of(table), should)

    def test_a_kind_outlives_its_table(self):
        """Arrays lend the columns: these go with the last of both."""
        table = ncclscope.open(os.path.join(LOGS, '2.28.9', 'h200x8-p2p-disabled-shm.log')).table('CONNECT')
        should = table.columns()
        capsule = table.__arrow_c_stream__()
        del table
        self.assertEqual(columns_of_capsule(capsule), should)

    def test_nobody_takes_it(self):
        report = ncclscope.scan(os.path.join(LOGS, '2.28.9', 'h200x8-p2p-disabled-shm.log'))
        for _ in range(100):
            report.links.__arrow_c_stream__()


if __name__ == '__main__':
    unittest.main()

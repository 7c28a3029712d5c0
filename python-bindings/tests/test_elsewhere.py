"""What others make of it, where they are installed: pyarrow, polars, duckdb, pandas, ClearML, MLflow."""
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import ncclscope

LOGS = os.path.join(os.environ['TESTDATA'], 'logs')
PLAIN = os.path.join(LOGS, '2.28.9', 'h200x8-p2p-disabled-shm.log')
PACKED = os.path.join(LOGS, '2.30.7', 'h200x4-two-nodes.log.gz')
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'examples')


def needs(*names):
    missing = [name for name in names if not importlib.util.find_spec(name)]
    return unittest.skipIf(missing, 'not here: ' + ', '.join(missing))


def valid(column):
    """As Arrow has texts: bytes that are no UTF-8 are U+FFFD."""
    return [v.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace') if isinstance(v, str) else v for v in column]


def lent():
    """Every table of a report, and every kind of record, that has rows."""
    for path in (PLAIN, PACKED):
        report = ncclscope.scan(path, expect='nvlink')
        for name in ncclscope.tables:
            if len(report._rows(name)):
                yield name, report._rows(name)
        for kind in sorted({rec.kind for rec in ncclscope.open(path)}):
            yield kind, ncclscope.open(path).table(kind)


class Tables(unittest.TestCase):
    @needs('pyarrow')
    def test_pyarrow(self):
        import pyarrow
        tried = 0
        for name, rows in lent():
            table = pyarrow.table(rows)
            table.validate(full=True)
            self.assertEqual(table.to_pydict(), {c: valid(values) for c, values in rows.columns().items()}, name)
            tried += 1
        self.assertGreater(tried, 60)
        connections = pyarrow.table(ncclscope.open(PLAIN).table('CONNECT'))
        self.assertEqual(str(connections.schema.field('via').type), 'dictionary<values=string, indices=int32, ordered=0>')
        self.assertEqual(str(connections.schema.field('src').type), 'int64')

    @needs('pyarrow')
    def test_nothing_is_copied(self):
        """Two tables of one are over the same memory, and outlive what they are of."""
        import pyarrow
        records = ncclscope.open(PLAIN).table('CONNECT')
        a, b = pyarrow.table(records), pyarrow.table(records)
        for name in a.column_names:
            self.assertEqual(*([buffer and buffer.address for buffer in t.column(name).chunk(0).buffers()] for t in (a, b)))
        should = records.columns()
        del records, b
        self.assertEqual(a.to_pydict(), should)

    @needs('polars')
    def test_polars(self):
        import polars
        for name, rows in lent():
            frame = polars.DataFrame(rows)
            self.assertEqual(frame.to_dict(as_series=False), {c: valid(values) for c, values in rows.columns().items()}, name)
            other = polars.from_arrow(rows)
            self.assertTrue(frame.equals(other if isinstance(other, polars.DataFrame) else other.struct.unnest()), name)

    @needs('pandas', 'pyarrow')
    def test_pandas(self):
        import pandas
        report = ncclscope.scan(PLAIN)
        frame = pandas.DataFrame(report.links.columns())
        self.assertEqual(list(frame['path']), [x.path for x in report.links])
        if hasattr(pandas.DataFrame, 'from_arrow'):
            frame = pandas.DataFrame.from_arrow(ncclscope.open(PLAIN).table('CONNECT'))
            self.assertEqual(frame.groupby('via', observed=True).size().to_dict(), {'SHM/direct/direct': 32})

    @needs('duckdb')
    def test_duckdb(self):
        import duckdb
        links = ncclscope.scan(PLAIN).links  # noqa: F841 - DuckDB looks for names of SQL among variables
        records = ncclscope.open(PLAIN).table('CONNECT')  # noqa: F841
        self.assertEqual(duckdb.sql('SELECT path, count(*) FROM links GROUP BY path').fetchall(), [('shm', 8)])
        self.assertEqual(duckdb.sql('SELECT via, count(*), max(channel) FROM records GROUP BY via').fetchall(), [('SHM/direct/direct', 32, 3)])


class Trackers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copy(PLAIN, os.path.join(self.folder, 'job.log'))
        self.report = ncclscope.scan(os.path.join(self.folder, 'job.log'))
        self.counts = {severity: sum(f.severity == severity for f in self.report.findings) for severity in ('error', 'warning', 'note')}
        self.assertEqual(self.counts, {'error': 0, 'warning': 2, 'note': 1})

    def run_example(self, program, **variables):
        done = subprocess.run([sys.executable, '-c', program, os.path.join(self.folder, 'job.log')], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, PYTHONPATH=os.pathsep.join([os.environ['PYTHONPATH'], EXAMPLES]), HOME=self.folder, **variables), check=False)
        self.assertEqual(done.returncode, 0, done.stdout.decode())

    @needs('clearml')
    def test_clearml(self):
        self.run_example('from clearml import Task; Task.set_offline(True); import clearml_report; clearml_report.main()',
                         CLEARML_CACHE_DIR=os.path.join(self.folder, 'cache'))
        session, = [os.path.join(at, name) for at, _, names in os.walk(self.folder) for name in names if name.endswith('.zip')]
        with zipfile.ZipFile(session) as session:
            found = {os.path.basename(name): session.read(name).decode() for name in session.namelist()}
        self.assertEqual(found['nccl-report.txt'], self.report.to_text(columns=120, verbose=True))
        self.assertEqual(json.loads(found['nccl-report-json.json']), self.report.to_dict())
        self.assertEqual(json.loads(found['task.json'])['tags'], ['nccl:findings'])
        told = {m['variant']: m['value'] for line in found['metrics.jsonl'].splitlines() for m in json.loads(line)}
        self.assertEqual(told, dict({'nccl %ss' % severity: n for severity, n in self.counts.items()}, **{'nccl ok': 0}))

    @needs('mlflow')
    def test_mlflow(self):
        self.run_example('import mlflow_report; mlflow_report.main()', MLFLOW_TRACKING_URI='file:' + os.path.join(self.folder, 'runs'), MLFLOW_ALLOW_FILE_STORE='true')
        found = {}
        for at, _, names in os.walk(os.path.join(self.folder, 'runs')):
            for name in names:
                with open(os.path.join(at, name), encoding='utf-8') as file:
                    found[name] = file.read()
        self.assertEqual(found['report.txt'], self.report.to_text(columns=120, verbose=True))
        self.assertEqual(json.loads(found['report.json']), self.report.to_dict())
        self.assertEqual(found['nccl.verdict'], 'findings')
        for name, value in dict({severity + 's': n for severity, n in self.counts.items()}, ok=0).items():
            self.assertEqual(float(found['nccl.' + name].split()[1]), value, name)


if __name__ == '__main__':
    unittest.main()

"""The types that the package tells: of its tables, as the library describes them, and of its extension; mypy --strict has nothing to say."""
import ast
import importlib.util
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

import ncclscope
from ncclscope import _core, columns

PACKAGE = os.path.dirname(ncclscope.__file__)
LOG = os.path.join(os.environ['TESTDATA'], 'logs', '2.28.9', 'h200x8-p2p-disabled-shm.log')
OF_TYPE = {0: 'int', 1: 'float', 2: 'str', 4: 'bool'}  # enum ncclscope_type; 3: words

RIGHT = '''
import ncclscope
from ncclscope.columns import Link
report = ncclscope.scan("job.log")
link: Link = report.links[0]
print(link.path == "nvlink", [e.line for f in report.findings for e in f.evidence if f.severity == "error"])
for rec in ncclscope.open("job.log"):
    print(rec.line + 1, rec["src"])
print(ncclscope.open("job.log").table("CONNECT")["src"], report.communicators[0].nranks)
'''
WRONG = {'report.linkz': 'attr-defined', 'report.links[0].pth': 'attr-defined', 'report.links[0].path == "nvlnk"': 'comparison-overlap',
         'report.links[0].src.upper()': 'union-attr', 'report.findings[0].severty': 'attr-defined', 'ncclscope.scan(logs="a")': 'call-arg'}


def classes_of(name):
    with open(os.path.join(PACKAGE, name), encoding='utf-8') as file:
        tree = ast.parse(file.read())
    return tree, {c.name: c for c in tree.body if isinstance(c, ast.ClassDef)}


def mypy(folder, *arguments):
    done = subprocess.run([sys.executable, '-m', 'mypy', '--strict', '--no-error-summary', '--cache-dir', os.path.join(folder, 'cache'), *arguments],
                          env=dict(os.environ, MYPYPATH=os.path.dirname(PACKAGE)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode()


class Types(unittest.TestCase):
    def test_tables(self):
        with open(os.path.join(PACKAGE, 'columns.pyi'), encoding='utf-8') as file:
            source = file.read()
        tree, classes = classes_of('columns.pyi')
        words = {a.targets[0].id: ast.get_source_segment(source, a.value) for a in tree.body if isinstance(a, ast.Assign)}

        def members(name):
            return {a.target.id: ast.get_source_segment(source, a.annotation) for a in classes[name].body if isinstance(a, ast.AnnAssign)}
        for table in ncclscope.tables.values():
            typed = members(table.title)
            self.assertEqual(tuple(typed), table.type._fields, table.name)
            for (name, type_, unit, _), told in zip(table.columns, typed.values()):
                if type_ in OF_TYPE:
                    self.assertEqual(told, 'Optional[%s]' % OF_TYPE[type_], (table.name, name))
                else:
                    self.assertTrue(words[told[len('Optional['):-1]].startswith('Literal["'), (table.name, name, unit))
            self.assertIs(getattr(columns, table.title), table.type)
        self.assertEqual(set(members('Tables')), {t.rows for t in ncclscope.tables.values()})
        self.assertEqual(members('FindingColumns'), members('Finding'))
        report = ncclscope.scan(LOG)
        for name, told in members('Tables').items():
            self.assertEqual('Rows[%s]' % getattr(report, name).table.title, told)
        for name, all_words in words.items():
            self.assertGreater(all_words.count('"'), 2, name)
        self.assertIn(report.links[0].path, ast.literal_eval(words['_Path'][len('Literal'):]))

    def test_rows_travel(self):
        rows = list(ncclscope.scan(LOG).links)
        self.assertEqual(pickle.loads(pickle.dumps(rows)), rows)
        self.assertIn('lines: that say it (records)', columns.Link.__doc__)

    def test_extension(self):
        """_core.pyi names what the extension has, and no more."""
        tree, classes = classes_of('_core.pyi')
        functions = {f.name for f in tree.body if isinstance(f, ast.FunctionDef)}
        self.assertEqual(set(classes) | functions, {name for name in vars(_core) if not name.startswith('__')})
        for name, of_class in classes.items():
            told = {m.target.id if isinstance(m, ast.AnnAssign) else m.name for m in of_class.body}
            has = {m for m in vars(getattr(_core, name)) if not m.startswith('__')}
            self.assertEqual({m for m in told if not m.startswith('__')}, has, name)
            self.assertLessEqual(told - {'__new__'}, set(dir(getattr(_core, name))), name)

    @unittest.skipUnless(importlib.util.find_spec('mypy'), 'mypy is not here')
    def test_strict(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(mypy(folder, '-p', 'ncclscope'), '')
            program = os.path.join(folder, 'program.py')
            with open(program, 'w', encoding='utf-8') as file:
                file.write(RIGHT)
            self.assertEqual(mypy(folder, program), '')
            with open(program, 'w', encoding='utf-8') as file:
                file.write('import ncclscope\nreport = ncclscope.scan("job.log")\n' + ''.join(line + '\n' for line in WRONG))
            told = mypy(folder, program).splitlines()
            self.assertEqual({int(line.split(':')[1]): line.rsplit('[', 1)[-1].rstrip(']') for line in told if ' error: ' in line},
                             {i + 3: code for i, code in enumerate(WRONG.values())})

    @unittest.skipUnless(importlib.util.find_spec('mypy'), 'mypy is not here')
    def test_stubs_of_the_extension(self):
        done = subprocess.run([sys.executable, '-m', 'mypy.stubtest', 'ncclscope._core', '--ignore-missing-stub'], cwd=os.path.dirname(PACKAGE),
                              env=dict(os.environ, MYPYPATH=os.path.dirname(PACKAGE)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout.decode())


if __name__ == '__main__':
    unittest.main()

"""run.py CORE TOOL STUB [--all] - the tests of the package, as it would be installed: its modules, the extension CORE and the types STUB in one folder.

A test that needs a package which is not installed is not tried, and told. With --all it has failed: .ci/python-extras.sh installs them."""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    core, os.environ['NCCLSCOPE'], stub = (os.path.abspath(a) for a in sys.argv[1:4])
    with tempfile.TemporaryDirectory(prefix='ncclscope-') as folder:
        package = os.path.join(folder, 'ncclscope')
        os.mkdir(package)
        modules = os.path.join(HERE, '..', 'ncclscope')
        for name in os.listdir(modules):
            if name.endswith(('.py', '.pyi', '.typed')):
                os.symlink(os.path.join(os.path.abspath(modules), name), os.path.join(package, name))
        os.symlink(stub, os.path.join(package, 'columns.pyi'))
        os.symlink(core, os.path.join(package, '_core.abi3.so'))
        sys.path.insert(0, folder)
        os.environ['PYTHONPATH'] = folder
        found = unittest.defaultTestLoader.discover(HERE, 'test_*.py')
        done = unittest.TextTestRunner(stream=sys.stdout).run(found)
    for test, why in done.skipped:
        print('not tried: %s: %s' % (test.id(), why))
    return 0 if done.wasSuccessful() and done.testsRun and not (done.skipped and '--all' in sys.argv) else 1


if __name__ == '__main__':
    sys.exit(main())

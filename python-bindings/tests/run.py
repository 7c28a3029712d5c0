"""run.py CORE TOOL STUB [NAME|--all] - the tests of the package, as it would be installed: its modules, the extension CORE and the types STUB in one
folder; or those of beyond/test_NAME.py, which need other packages: 77 is returned where one is not there. "many ENGINE N" runs beyond/many.py.

A test that needs a package which is not installed is not tried, and told. With --all it has failed: .ci/python-extras.sh installs them."""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BEYOND = os.path.join(HERE, 'beyond')
SKIPPED = 77


def run(where, which, left_out):
    """What is returned: `left_out` where a test was not tried."""
    found = unittest.defaultTestLoader.discover(where, which)
    done = unittest.TextTestRunner(stream=sys.stdout).run(found)
    for test, why in done.skipped:
        print('not tried: %s: %s' % (test.id(), why))
    if not done.wasSuccessful() or not done.testsRun:
        return 1
    return left_out if done.skipped else 0


def many(engine, n):
    sys.path.insert(0, BEYOND)
    import many as by_hand
    return by_hand.main(engine, int(n))


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
        if sys.argv[4:5] == ['many']:
            return many(*sys.argv[5:])
        if sys.argv[4:] and sys.argv[4] != '--all':
            return run(BEYOND, 'test_%s.py' % sys.argv[4], SKIPPED)
        return run(HERE, 'test_*.py', '--all' in sys.argv)


if __name__ == '__main__':
    sys.exit(main())

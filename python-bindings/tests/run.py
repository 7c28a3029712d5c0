"""run.py CORE TOOL [NAME] - the tests of the package, as it would be installed: its modules and the extension CORE in one folder; or those of
beyond/test_NAME.py, which need other packages: 77 is returned where one is not there. "many ENGINE N" runs beyond/many.py."""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BEYOND = os.path.join(HERE, 'beyond')
SKIPPED = 77


def run(where, which):
    found = unittest.defaultTestLoader.discover(where, which)
    done = unittest.TextTestRunner(stream=sys.stdout).run(found)
    for test, why in done.skipped:
        print('skipped: %s: %s' % (test, why))
    if not done.wasSuccessful() or not done.testsRun:
        return 1
    return SKIPPED if done.skipped else 0


def many(engine, n):
    sys.path.insert(0, BEYOND)
    import many as by_hand
    return by_hand.main(engine, int(n))


def main():
    core, os.environ['NCCLSCOPE'] = (os.path.abspath(a) for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix='ncclscope-') as folder:
        package = os.path.join(folder, 'ncclscope')
        os.mkdir(package)
        modules = os.path.join(HERE, '..', 'ncclscope')
        for name in os.listdir(modules):
            if name.endswith('.py'):
                os.symlink(os.path.join(os.path.abspath(modules), name), os.path.join(package, name))
        os.symlink(core, os.path.join(package, '_core.abi3.so'))
        sys.path.insert(0, folder)
        os.environ['PYTHONPATH'] = folder
        if sys.argv[3:4] == ['many']:
            return many(*sys.argv[4:])
        return run(BEYOND, 'test_%s.py' % sys.argv[3]) if len(sys.argv) > 3 else run(HERE, 'test_*.py')


if __name__ == '__main__':
    sys.exit(main())

"""run.py CORE TOOL - the tests of the package, as it would be installed: its modules and the extension CORE in one folder."""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


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
        found = unittest.defaultTestLoader.discover(HERE, 'test_*.py')
        done = unittest.TextTestRunner(stream=sys.stdout).run(found)
    return 0 if done.wasSuccessful() and done.testsRun else 1


if __name__ == '__main__':
    sys.exit(main())

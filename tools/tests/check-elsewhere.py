"""check-elsewhere.py TOOL ELSEWHERE - the locale of the process means nothing: the same program, once it has set another one (ELSEWHERE,
by TEST_LOCALE), gives the same bytes of every log, as JSON and as text, of the inputs of rules, and of a folder, whose files it reads in
their order."""
import os
import sys
import tempfile

import harness


def same(checks, tools, where, *args):
    results = [harness.run(tool, *args) for tool in tools]
    for what in ('out', 'err', 'code'):
        checks.true(where, '%s of %s is another' % (what, ' '.join(args[:2])),
                    getattr(results[0], what) == getattr(results[1], what))


def main():
    tools, checks = sys.argv[1:3], harness.Checks()
    for name in harness.log_names():
        same(checks, tools, name, '--json', harness.log_path(name))
        same(checks, tools, name, '-v', harness.log_path(name))
    rules = os.path.join(harness.TESTDATA, 'rules')
    for name in sorted(os.listdir(rules)):
        same(checks, tools, name, '-v', os.path.join(rules, name))
    same(checks, tools, 'coverage', 'grammar', '--coverage', '--json', harness.log_path('seed/pods-shm-socket.log'))
    with tempfile.TemporaryDirectory() as folder:
        for name in ('b', 'A', 'a', 'B', '_', '\u0131'):
            with open(os.path.join(folder, name), 'w') as f:
                f.write('node1:%d:1 [0] NCCL INFO NCCL version 2.27.3+cuda12.9\n' % (ord(name)))
        same(checks, tools, 'names of files', '--json', folder)
    same(checks, tools, 'a file that is not there', '--json', '/no/such/log')
    return checks.end()


if __name__ == '__main__':
    sys.exit(main())

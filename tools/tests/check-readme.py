#!/usr/bin/env python3
"""check-readme.py TOOL: the commands of README.md do what it says: its first one prints what stands there, and each of its list runs, on recorded logs.

kubectl is a stand-in that prints such a log. A line that needs a program which is not installed (jq, sqlite3) is told, and not counted."""
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

import harness

TOOL = os.path.abspath(sys.argv[1])
ROOT = os.path.join(harness.HERE, '..', '..')
LOG = harness.log_path('2.28.9/h200x8-p2p-disabled-shm.log')
GOOD = harness.log_path('2.28.9/h200x8-default.log.gz')
KUBECTL = '''#!/bin/sh
case "$*" in
*--prefix*) sed 's,^,[pod/train-0/main] ,' job.log ;;
*) cat job.log ;;
esac
'''
ANSWERS = (0, 1, 4, 5)  # nothing to mend, something, no answer in the log, no GPU here; but never a word that it does not know, or a file


def readme():
    with open(os.path.join(ROOT, 'README.md'), encoding='utf-8') as file:
        return file.read()


def lay(folder):
    """The files that the commands name."""
    for name in ('job.log', 'bad.log', 'pod0.log', 'pod1.log', 'logs/rank-0.log', 'archive/job-1/rank-0.log', 'archive/job-2/rank-0.log'):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        shutil.copy(LOG, os.path.join(folder, name))
    shutil.copy(GOOD, os.path.join(folder, 'good.log'))
    for name, log in (('a.db', LOG), ('b.db', GOOD)):
        harness.run(TOOL, '-q', '--db', os.path.join(folder, name), log)
    shutil.copy(os.path.join(harness.TESTDATA, 'pods', 'one-node.json'), os.path.join(folder, 'pods.json'))
    with open(os.path.join(folder, 'my.txt'), 'w', encoding='utf-8') as file:
        file.write('acme_lanes = ACME: {lanes:u} lanes to {peer:w}\n')
    os.mkdir(os.path.join(folder, 'bin'))
    os.symlink(TOOL, os.path.join(folder, 'bin', 'ncclscope'))
    with open(os.path.join(folder, 'bin', 'kubectl'), 'w', encoding='utf-8') as file:
        file.write(KUBECTL)
    os.chmod(os.path.join(folder, 'bin', 'kubectl'), stat.S_IRWXU)


def main():
    checks = harness.Checks()
    log, printed = re.search(r'```\n\$ build/tools/ncclscope (\S+)\n(.*?)```', readme(), re.S).groups()
    checks.equal('README.md', 'what its first command prints', harness.run(TOOL, log, cwd=ROOT).out.decode().strip('\n'), printed.strip('\n'))
    lines, = [block.splitlines() for block in re.findall(r'```sh\n(.*?)```', readme(), re.S) if '\nncclscope' in '\n' + block]
    with tempfile.TemporaryDirectory() as folder:
        lay(folder)
        env = harness.environment(PATH=os.path.join(folder, 'bin') + os.pathsep + os.environ['PATH'])
        for line in lines:
            missing = [name for name in ('jq', 'sqlite3') if name in line and not shutil.which(name)]
            if missing:
                print('not tried, for there is no %s: %s' % (missing[0], line))
                continue
            done = subprocess.run(['bash', '-o', 'pipefail', '-c', line], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
            checks.true(line, 'exit %d, %s' % (done.returncode, done.stderr.decode()), done.returncode in ANSWERS and (done.stdout or done.returncode == 5 or '-o ' in line))
    checks.true('README.md', 'lists %d commands' % len(lines), len(lines) >= 20)
    return checks.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""check-output.py TOOL - where it writes: never onto an input, whole or not at all, and said when it could not.

Every case looks at the files afterwards, not only at the exit code."""
import concurrent.futures
import os
import resource
import stat
import subprocess
import sys
import tempfile

import harness

LOG = harness.log_path('2.28.9/h200x2-p2p-disabled-shm.log')
FACTS = os.path.join(harness.TESTDATA, 'machines')


def facts_file():
    return os.path.join(FACTS, sorted(n for n in os.listdir(FACTS) if n.endswith('.json'))[0])


def put(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, 'wb') as f:
        f.write(data)
    return path


def get(path):
    with open(path, 'rb') as f:
        return f.read()


def leftovers(folder):
    return [n for n in os.listdir(folder) if n.startswith('.') or n.endswith('.part')]


def sh(tool, command, folder, **limits):
    """A shell's command, TOOL in it: (exit code, standard error). What is closed, limited or appended to is the shell's to do."""
    def limit():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))
    env = harness.environment(TOOL=tool)
    p = subprocess.run(['bash', '-c', command], cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                       timeout=harness.LIMIT_S, preexec_fn=limit)
    return p.returncode, p.stderr.decode('utf-8', 'replace')


def check_inputs(c, tool, folder):
    """However the input is spelled, it is what it was."""
    log = get(LOG)
    put(folder, 'a.log', log)
    put(folder, 'facts.json', get(facts_file()))
    put(folder, 'pod.json', b'{"kind": "List", "items": []}')
    put(folder, 'rows', b'lanes = lanes {lanes:u}\n')
    os.mkdir(os.path.join(folder, 'logs'))
    put(folder, 'logs/b.log', log)
    os.symlink('a.log', os.path.join(folder, 'link.log'))
    os.link(os.path.join(folder, 'a.log'), os.path.join(folder, 'hard.log'))
    before = {n: get(os.path.join(folder, n)) for n in ('a.log', 'logs/b.log', 'facts.json', 'pod.json', 'rows')}
    for command in ('-o a.log a.log', '-o link.log a.log', '-o a.log link.log', '-o hard.log a.log', '-o ./logs/../a.log a.log',
                    '-o a.log < a.log', '-o logs/b.log logs', '-o pod.json --pod pod.json a.log', '-o rows --patterns rows a.log',
                    '-o facts.json --facts facts.json a.log', 'probe --facts facts.json --save facts.json', '--db a.log a.log',
                    '- < a.log >> a.log', 'a.log >> a.log', 'diff a.log logs/b.log >> a.log'):
        code, said = sh(tool, '"$TOOL" ' + command, folder)
        c.equal(command, 'exit code', code, 3)
        c.true(command, 'what is wrong is not said: %r' % said, 'one of the inputs' in said or 'not a database' in said)
        for name, data in before.items():
            c.true(command, name + ' is changed', get(os.path.join(folder, name)) == data)
            put(folder, name, data)
    code, said = sh(tool, '"$TOOL" -o both --db both a.log', folder)
    c.equal('one name for report and store', 'exit code', code, 3)
    c.true('one name for report and store', 'no store is there', get(os.path.join(folder, 'both')).startswith(b'SQLite'))
    c.equal('inputs', 'files left', leftovers(folder), [])


def check_nodes(c, tool, folder):
    """Devices and pipes are written to, never replaced; a disk, and a link that leads nowhere or is not ours, not even that."""
    os.mkfifo(os.path.join(folder, 'pipe'))
    os.symlink('pipe', os.path.join(folder, 'to-pipe'))
    os.symlink('/dev/null', os.path.join(folder, 'null'))
    os.symlink('nowhere', os.path.join(folder, 'dangling'))
    put(folder, 'one.txt', b'old')
    os.symlink('one.txt', os.path.join(folder, 'to-one'))
    for what in ('-o null a.log', 'probe --facts facts.json --save null'):
        code, _ = sh(tool, '"$TOOL" ' + what, folder)
        c.true(what, 'exit code %d' % code, code in (0, 1))
        c.true(what, '/dev/null is no device', stat.S_ISCHR(os.stat('/dev/null').st_mode))
        c.true(what, 'the link is gone', os.path.islink(os.path.join(folder, 'null')))
    code, _ = sh(tool, 'cat to-pipe > got & "$TOOL" -q -o to-pipe a.log; code=$?; wait; exit $code', folder)
    c.equal('pipe', 'exit code', code, 1)
    c.true('pipe', 'nothing came', b'NCCL_P2P_DISABLE' in get(os.path.join(folder, 'got')))
    code, said = sh(tool, '"$TOOL" -o dangling a.log', folder)
    c.equal('dangling', 'exit code and words', (code, 'link to nothing' in said), (3, True))
    code, _ = sh(tool, '"$TOOL" -q -o to-one a.log', folder)
    c.equal('own link', 'exit code', code, 1)
    c.true('own link', 'its file is as it was', get(os.path.join(folder, 'one.txt')) != b'old')
    c.true('own link', 'the link is gone', os.path.islink(os.path.join(folder, 'to-one')))
    code, said = sh(tool, '"$TOOL" --db /dev/null a.log', folder)
    c.equal('store in a device', 'exit code', (code, 'no regular file' in said), (3, True))
    c.true('store in a device', 'a journal lies beside it', not os.path.exists('/dev/null-journal'))
    put(folder, 'kept', b'first\n')
    code, _ = sh(tool, '"$TOOL" -q -o /dev/stdout a.log >> kept', folder)
    c.true('/dev/stdout', 'what the shell appends to was replaced', get(os.path.join(folder, 'kept')).startswith(b'first\n '))
    if os.geteuid() == 0:                                     # only root can lay a link in another's name
        open_to_all = os.path.join(folder, 'tmp')
        os.mkdir(open_to_all)
        os.chmod(open_to_all, 0o1777)
        os.symlink('../one.txt', os.path.join(open_to_all, 'report'))
        os.lchown(os.path.join(open_to_all, 'report'), 12345, 12345)
        put(folder, 'one.txt', b'old')
        for what in ('-o tmp/report a.log', 'probe --facts facts.json --save tmp/report'):
            code, said = sh(tool, '"$TOOL" ' + what, folder)
            c.equal(what, 'exit code', code, 3)
            c.equal(what, 'the file behind it', get(os.path.join(folder, 'one.txt')), b'old')


def check_whole(c, tool, folder):
    """No room: the old file stays. Room: the new one has its rights, and nothing lies about."""
    for command in ('-v --json -o report a.log', 'probe --facts facts.json --save report'):
        put(folder, 'report', b'good and old\n')
        os.chmod(os.path.join(folder, 'report'), 0o640)
        code, said = sh(tool, '"$TOOL" ' + command, folder, RLIMIT_FSIZE=1024)
        c.equal(command, 'without room', (code, 'report: cannot write: File too large' in said), (3, True))
        c.equal(command, 'the old file', get(os.path.join(folder, 'report')), b'good and old\n')
        code, _ = sh(tool, '"$TOOL" ' + command, folder)
        c.true(command, 'exit code %d' % code, code in (0, 1))
        c.true(command, 'the old file is still there', get(os.path.join(folder, 'report'))[:1] == b'{')
        c.equal(command, 'rights', oct(os.stat(os.path.join(folder, 'report')).st_mode & 0o777), oct(0o640))
    new = os.path.join(folder, 'new')
    sh(tool, 'umask 027; "$TOOL" -o new a.log', folder)
    c.equal('new file', 'rights', oct(os.stat(new).st_mode & 0o777), oct(0o640))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:    # each whole, the last one stays
        runs = list(pool.map(lambda _: sh(tool, '"$TOOL" probe --facts facts.json --save many', folder), range(16)))
    c.true('at once', '%r' % [r for r in runs if r[0] not in (0, 1)], all(r[0] in (0, 1) for r in runs))
    c.equal('at once', 'what is left', get(os.path.join(folder, 'many')), get(os.path.join(folder, 'report')))
    c.equal('whole', 'files left', leftovers(folder), [])


def check_said(c, tool, folder):
    """Every command looks at what became of its words."""
    for command in ('a.log', '--json a.log', '--unknown a.log', 'diff a.log logs/b.log', 'explain transport/shm-within-node',
                    "explain 'NCCL INFO Using network IB'", "explain 'no such line'", 'grammar', 'grammar --coverage a.log', 'version',
                    '--version', '--help', 'scan --help', 'explain --help', 'probe --help', 'grammar --help',
                    'probe --facts facts.json', 'probe --facts facts.json --save -', 'confirm --facts facts.json a.log'):
        for where, why in (('> /dev/full', 'No space left on device'), ('>&-', 'Bad file descriptor')):
            code, said = sh(tool, '"$TOOL" %s %s' % (command, where), folder)
            c.equal(command + ' ' + where, 'exit code', code, 3)
            c.equal(command + ' ' + where, 'words', said, 'ncclscope: standard output: cannot write: %s\n' % why)
    _, said = sh(tool, '"$TOOL" --json -v a.log | true', folder)
    c.equal('a closed pipe', 'words', said, '')


def main():
    tool = os.path.abspath(sys.argv[1])
    c = harness.Checks()
    with tempfile.TemporaryDirectory(prefix='output-') as folder:
        check_inputs(c, tool, folder)
        check_nodes(c, tool, folder)
        check_whole(c, tool, folder)
        check_said(c, tool, folder)
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""check-install.py BUILD SOURCE SANITIZE: what is installed can be used by somebody who has nothing else.

The build is installed into an empty folder. Every example of docs/examples and of the README, and every public header by itself, is compiled against that folder
with pkg-config alone, as C99 and as C++11, linked with the shared and with the static library, and the examples are run. The command runs there
too, finds its library by the loader's own means (no RUNPATH), and its manual pages are there."""
import glob
import os
import shlex
import subprocess
import sys
import tempfile

import harness

BUILD, SOURCE, SANITIZE = sys.argv[1:4]
STRICT = ['-pedantic-errors', '-Wall', '-Wextra', '-Werror']
LOG = harness.log_path('2.28.9/h200x2-p2p-disabled-shm.log')
RUNS = {  # example: arguments, input, what it must print
    'watch': ([], LOG, ('NCCL_P2P_DISABLE=1', 'Remove the variable')),
    'paths': ([LOG], None, ('rank 0 to 1: shm (stated), SHM/direct/direct', 'transport/shm-within-node', 'h200x2-p2p-disabled-shm.log:')),
    'own_pattern': (['{dir}/own.log'], None, ('line 2: lanes=4 peer=n2\n',)),
    'readme': ([LOG], None, ('transport/shm-within-node: ',)),
    'parts': ([LOG, LOG], None, (' bytes\n', 'transport/shm-within-node: ')),
    'store': (['{dir}/runs.db', LOG], None, ('path=shm links=2\n',)),
}
wrong = []
checks = 0


def check(what, holds, shown=''):
    global checks
    checks += 1
    if not holds:
        wrong.append('%s %s' % (what, shown[-900:]))


def run(*command, env=None, stdin=None):
    with open(stdin or os.devnull, 'rb') as file:
        return subprocess.run(command, stdin=file, capture_output=True, text=True, errors='replace', timeout=120, env=env)


def pkg_config(env, *args):
    done = run('pkg-config', *args, env=env)
    check('pkg-config ' + ' '.join(args), done.returncode == 0, done.stderr)
    return shlex.split(done.stdout)


def sanitizers():
    return [] if SANITIZE == 'none' else ['-fsanitize=' + SANITIZE]


def compilers():
    yield 'C99', [os.environ.get('CC', 'cc'), '-std=c99', '-D_POSIX_C_SOURCE=200809L', '-x', 'c'], ('-x', 'none')
    yield 'C++11', [os.environ.get('CXX', 'c++'), '-std=c++11', '-x', 'c++'], ('-x', 'none')


def headers(root, env):
    flags = pkg_config(env, '--cflags', 'ncclscope')
    include = os.path.join(root, 'usr', 'include')
    for path in sorted(glob.glob(os.path.join(include, '**', '*.h'), recursive=True)):
        for name, compiler, _ in compilers():
            done = run(*compiler, *STRICT, *flags, '-fsyntax-only', path, env=env)
            check('%s as %s' % (os.path.relpath(path, include), name), done.returncode == 0, done.stderr)


def example(path, root, env, folder):
    name = os.path.basename(path)[:-2]
    args, stdin, words = RUNS[name]
    packages = ['ncclscope'] + ['sqlite3'] * (name == 'store')
    for language, compiler, none in compilers():
        for kind in ('shared', 'static'):
            program = os.path.join(folder, '%s-%s-%s' % (name, language, kind))
            flags = pkg_config(env, *(['--static'] if kind == 'static' else []), '--cflags', '--libs', *packages)
            if kind == 'static':  # this library alone: not every system has archives of the others
                flags = ['-l:libncclscope.a' if f == '-lncclscope' else f for f in flags]
            done = run(*compiler, *STRICT, '-Wno-missing-field-initializers', path, *none, *flags, *sanitizers(), '-o', program, env=env)
            check('%s as %s, %s' % (name, language, kind), done.returncode == 0, done.stderr)
            if done.returncode:
                continue
            needs = run('readelf', '-d', program).stdout
            check('%s, %s: what it needs' % (name, kind), ('libncclscope' in needs) == (kind == 'shared'), needs)
            done = run(program, *(a.format(dir=folder) for a in args), env=env, stdin=stdin)
            check('%s runs' % program, done.returncode == 0 and all(w in done.stdout for w in words), done.stdout + done.stderr)


def command(root, env):
    tool = os.path.join(root, 'usr', 'bin', 'ncclscope')
    done = run(tool, LOG, env=env)
    check('the command', done.returncode == 1 and 'NCCL_P2P_DISABLE=1' in done.stdout, done.stdout + done.stderr)
    dynamic = run('readelf', '-d', tool).stdout
    check('no RUNPATH', 'RUNPATH' not in dynamic and 'RPATH' not in dynamic, dynamic)
    for page in ('man1/ncclscope.1', 'man3/libncclscope.3'):
        path = os.path.join(root, 'usr', 'share', 'man', page)
        check(page, os.path.exists(path) and os.path.getsize(path) > 500)


def main():
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as folder:
        done = run('meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', root)
        check('meson install', done.returncode == 0, done.stdout + done.stderr)
        for path in glob.glob(os.path.join(root, '*')):  # whatever the prefix was
            if os.path.basename(path) != 'usr':
                sys.exit('check-install.py: the prefix is not below /usr')
        if os.path.isdir(os.path.join(root, 'usr', 'local')):
            os.rename(os.path.join(root, 'usr', 'local'), os.path.join(root, 'local'))
            os.rmdir(os.path.join(root, 'usr'))
            os.rename(os.path.join(root, 'local'), os.path.join(root, 'usr'))
        library = [os.path.dirname(p) for p in glob.glob(os.path.join(root, 'usr', 'lib*', '**', 'libncclscope.so'), recursive=True)]
        config = glob.glob(os.path.join(root, 'usr', '**', 'ncclscope.pc'), recursive=True)
        check('library and .pc', len(library) == 1 and len(config) == 1, str(library + config))
        with open(config[0], encoding='utf-8') as file:
            text = file.read()
        with open(config[0], 'w', encoding='utf-8') as file:  # where it would be installed is here
            file.write('prefix=%s/usr\n' % root + text.split('\n', 1)[1])
        with open(os.path.join(folder, 'own.log'), 'w', encoding='utf-8') as file:
            file.write('n1:1:1 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\nn1:1:1 [0] NCCL INFO ACME/Fabric: 4 lanes to n2\n')
        paths = os.environ.get('PKG_CONFIG_PATH', '')
        env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(config[0]) + (':' + paths if paths else ''), LD_LIBRARY_PATH=library[0])
        headers(root, env)
        with open(os.path.join(SOURCE, 'README.md'), encoding='utf-8') as file, open(os.path.join(folder, 'readme.c'), 'w', encoding='utf-8') as out:
            out.write(file.read().split('```c\n')[1].split('```')[0])
        found = sorted(glob.glob(os.path.join(SOURCE, 'docs', 'examples', '*.c')) + [os.path.join(folder, 'readme.c')])
        check('examples', {os.path.basename(p)[:-2] for p in found} == set(RUNS), str(found))
        for path in found:
            example(path, root, env, folder)
        command(root, env)
    print('\n'.join(wrong))
    print('%d checks, %d wrong' % (checks, len(wrong)))
    return 1 if wrong or not checks else 0


sys.exit(main())

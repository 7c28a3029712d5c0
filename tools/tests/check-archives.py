#!/usr/bin/env python3
"""check-archives.py TOOL - what is packed gives what lies in it: a stream its text, an archive the report of the folder that was packed;
cut and damaged ones what came before, a sentence and exit 3; hostile ones nothing worse."""
import bz2
import gzip
import io
import json
import lzma
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import harness

LOGS = ('2.28.9/h200x2-p2p-disabled-shm.log', '2.28.9/h200x8-rank-missing.log', '2.27.3/h200x4-pod-per-gpu.log')
CUTS = 12


def command(*words):
    """Bytes through a program of the machine, where it is there."""
    return (lambda data: subprocess.run(words, input=data, capture_output=True, check=True).stdout) if shutil.which(words[0]) else None


STREAMS = {'gzip': gzip.compress, 'xz': lzma.compress, 'bzip2': bz2.compress, 'lzma': lambda d: lzma.compress(d, lzma.FORMAT_ALONE),
           'zstd': command('zstd', '-c'), 'lz4': command('lz4', '-c'), 'lzip': command('lzip', '-c'), 'compress': command('compress', '-c')}
STREAMS = {name: pack for name, pack in STREAMS.items() if pack}


def write(path, data):
    with open(path, 'wb') as f:
        f.write(data)
    return path


def tarred(files, form=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w', format=form) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(files, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def without_names(report, prefix):
    """The report as it would be of a folder: names without the archive's, and without what tells how many bytes were packed how."""
    text = json.dumps(report).replace(json.dumps(prefix)[1:-1] + '/', '')
    report = json.loads(text)
    for source in report['sources']:
        del source['bytes'], source['format']
    return report


def check_streams(c, tool, folder, files):
    name, log = next(iter(files.items()))
    plain, code = harness.report(tool, write(os.path.join(folder, 'plain.log'), log))
    for form, pack in STREAMS.items():
        path = write(os.path.join(folder, 'log.' + form), pack(log))
        for how, (report, is_) in (('as a file', harness.report(tool, path)), ('through a pipe', harness.report(tool, stdin=pack(log)))):
            source = report['sources'][0]
            c.equal(form, 'exit code ' + how, is_, code)
            c.equal(form, 'format ' + how, source['format'], form)
            c.equal(form, 'bytes ' + how, source['bytes'], len(pack(log)))
            for member in ('lines', 'nccl_lines', 'truncated'):
                c.equal(form, member + ' ' + how, source[member], plain['sources'][0][member])
            for member in ('links', 'communicators', 'verdict'):
                c.equal(form, member + ' ' + how, json.dumps(report[member]), json.dumps(plain[member]))


def check_archives(c, tool, folder, files):
    """The same files in a folder, and packed in each way."""
    home = os.path.join(folder, 'home')
    for name, data in files.items():
        os.makedirs(os.path.dirname(os.path.join(home, name)), exist_ok=True)
        write(os.path.join(home, name), data)
    one = ('--group-by', 'all')                                # strangers, here, are one job
    should, code = harness.report(tool, *one, home)
    should = without_names(should, home)
    ordered = dict(sorted(files.items()))
    tar = tarred(ordered)
    forms = {'pax.tar': tar, 'gnu.tar': tarred(ordered, tarfile.GNU_FORMAT), 'ustar.tar': tarred(ordered, tarfile.USTAR_FORMAT),
             'deflated.zip': zipped(ordered), 'stored.zip': zipped(ordered, zipfile.ZIP_STORED)}
    forms.update({'tar.' + form: pack(tar) for form, pack in STREAMS.items()})
    for form, data in forms.items():
        path = write(os.path.join(folder, form), data)
        report, is_ = harness.report(tool, *one, path)
        c.equal(form, 'exit code', is_, code)
        c.equal(form, 'report', without_names(report, path), should)
        piped, is_ = harness.report(tool, *one, stdin=data)
        c.equal(form, 'exit code through a pipe', is_, code)
        c.equal(form, 'report through a pipe', without_names(piped, '-'), should)
        c.equal(form, 'report by two jobs', harness.report(tool, '-j', '2', *one, path, write(path + '.log', b''))[0]['links'], report['links'])


def check_passed_over(c, tool, folder, log):
    """What is no file that somebody put there: folders, links, devices, hidden names, what a Mac adds."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w') as archive:
        for name, kind in (('d', tarfile.DIRTYPE), ('link', tarfile.SYMTYPE), ('hard', tarfile.LNKTYPE), ('null', tarfile.CHRTYPE), ('fifo', tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, 'a.log'
            archive.addfile(info)
        for name in ('./d/a.log', 'd/.a.log.swp', '.git/a.log', '/etc/a.log', '../../a.log'):
            info = tarfile.TarInfo(name)
            info.size = len(log)
            archive.addfile(info, io.BytesIO(log))
    path = write(os.path.join(folder, 'odd.tar'), out.getvalue())
    report, _ = harness.report(tool, '--group-by', 'all', path)
    c.equal('odd members', 'sources', [s['name'][len(path):] for s in report['sources']], ['/./d/a.log', '//etc/a.log', '/../../a.log'])
    c.true('odd members', 'a file was unpacked', sorted(os.listdir(folder)) == sorted(set(os.listdir(folder)) - {'a.log'}))
    for name, data in (('empty.tar', tarred({})), ('folders.tar', tarred({})[:512] + bytes(10240))):
        result = harness.run(tool, write(os.path.join(folder, name), data))
        c.true(name, 'exit code %d' % result.code, result.code in (3, 4))
    nested = write(os.path.join(folder, 'nested.tar'), tarred({'in.tar': tarred({'a.log': log}), 'b.log': log}))
    result = harness.run(tool, nested)
    c.equal('archive within an archive', 'exit code', result.code, 3)
    c.true('archive within an archive', 'nothing names it: %r' % result.err, b'nested.tar/in.tar: is a tar archive, which is not read here' in result.err)


def check_damage(c, tool, folder, files):
    """Cut anywhere, and with bytes changed: never a crash, always the exit code of damage or of what is there, and a sentence."""
    rng = random.Random(11)
    tar = tarred(files)
    whole = {'log.' + form: pack(next(iter(files.values()))) for form, pack in STREAMS.items() if form != 'compress'}
    whole.update({'tar.' + form: pack(tar) for form, pack in STREAMS.items() if form != 'compress'})
    whole.update({'a.tar': tar, 'a.zip': zipped(files)})
    for form, data in whole.items():
        for at in [1, 7, 20] + [rng.randrange(len(data)) for _ in range(CUTS)]:
            result = harness.run(tool, write(os.path.join(folder, 'cut.' + form), data[:at]))
            c.true('%s cut at %d of %d' % (form, at, len(data)), 'exit code %d: %r' % (result.code, result.err[:200]), result.code in ((3, 4) if at < 12 else (3,)) or
                   (form in ('a.tar', 'a.zip') and result.code in (1, 4)))
            c.true('%s cut at %d' % (form, at), 'a tick', '\u2713' not in result.out.decode() or result.code == 1)
        for _ in range(CUTS):
            wrong = bytearray(data)
            for at in rng.sample(range(len(data)), 3):
                wrong[at] ^= 1 << rng.randrange(8)
            result = harness.run(tool, '--json', '--group-by', 'all', write(os.path.join(folder, 'wrong.' + form), bytes(wrong)))
            c.true(form + ' with wrong bytes', 'exit code %d' % result.code, result.code in (0, 1, 3, 4))
            json.loads(result.out.decode('utf-8'))


def check_limits(c, tool, folder):
    """A bomb: a few KB that are a gigabyte. It costs time, not memory, and an endless line is no reason to end."""
    bomb = write(os.path.join(folder, 'bomb.xz'), lzma.compress(b'vm:1:1 [0] NCCL INFO Using network Socket\n' + bytes(200 << 20)))
    result = subprocess.run(['sh', '-c', 'ulimit -v %d; exec "$0" --json "$1"' % (4 << 20), tool, bomb], capture_output=True, env=harness.environment(), check=False)
    c.true('bomb', 'exit code %d %r' % (result.returncode, result.stderr[:200]), result.returncode == 4 or b'Sanitizer' in result.stderr)


def main():
    tool = sys.argv[1]
    c = harness.Checks()
    if not harness.reads_archives(tool):
        print('built without libarchive')
        return 77
    files = {}
    for i, name in enumerate(LOGS):
        with open(harness.log_path(name), 'rb') as f:
            files['node-%d/rank.log' % i] = f.read()
    with tempfile.TemporaryDirectory(prefix='archives-') as folder:
        check_streams(c, tool, folder, files)
        check_archives(c, tool, folder, files)
        check_passed_over(c, tool, folder, next(iter(files.values())))
        check_damage(c, tool, folder, files)
        check_limits(c, tool, folder)
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""check-input.py TOOL - inputs that are no whole log: a clear sentence, the right exit code, never a crash or a hang.

Exit 3: an input could not be read, or is damaged as a file; what could be read is still reported.
Exit 4: it was read, and holds no NCCL line."""
import bz2
import gzip
import io
import json
import lzma
import os
import random
import sys
import tempfile
import zipfile

import harness


def put(folder, name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data)
    return path


def jpeg():
    """The head of a picture, and what compressed pictures hold: every byte, newlines and NULs among them."""
    rng = random.Random(7)
    head = b'\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x01\x00\x48\x00\x48\x00\x00'
    return head + bytes(rng.randrange(256) for _ in range(70000)) + b'\xff\xd9'


def expect(c, tool, what, paths, code, verdict, says='', stdin=b''):
    """Text and JSON of these inputs: both forms, the same exit code. Verdict None: it may be any."""
    paths = ('--group-by', 'all', *paths)                      # strangers, here, are one job
    text = harness.run(tool, *paths, stdin=stdin)
    out, err = text.out.decode('utf-8', 'replace'), text.err.decode('utf-8', 'replace')
    c.equal(what, 'exit code', text.code, code)
    c.true(what, 'the report is empty', out.strip())
    c.true(what, 'nothing says %r: %r %r' % (says, out[:300], err), says in err)
    c.true(what, 'standard error is silent', err.strip() or code != 3)
    c.true(what, 'standard error speaks: %r' % err, not err.strip() or code == 3)
    report, json_code = harness.report(tool, *paths, stdin=stdin)
    c.equal(what, 'exit code with --json', json_code, code)
    c.equal(what, 'verdict', report['verdict'], verdict or report['verdict'])
    return report


def check_nothing(c, tool, folder):
    """Read whole, and no NCCL in it."""
    os.mkdir(os.path.join(folder, 'empty-folder'))
    put(folder, 'no-logs/deep/er/readme.md', b'# NCCL\n\nSet `NCCL_DEBUG=INFO`; then grep "NCCL INFO" in the log.\n')
    put(folder, 'hidden/.git/config', b'[core]\n')
    inputs = {
        'photo.jpg': jpeg(),
        'empty.log': b'',
        'newlines.log': b'\n' * 1000,
        'train.log': b'step 1 loss 3.2\nRuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1, NCCL version 2.18.1\n',
        'nul.log': bytes(100000),
        'one-line.log': b'x' * 3000000,
        'one-byte.log': b'\x1f',
        'utf32.log': 'vm:1:1 [0] NCCL INFO Using network Socket\n'.encode('utf-32'),
        'empty.log.gz': gzip.compress(b''),
        'photo.jpg.gz': gzip.compress(jpeg()),
    }
    for name, data in inputs.items():
        path = put(folder, name, data)
        failed = name == 'train.log'                          # no line of NCCL, and the program says that NCCL failed
        report = expect(c, tool, name, [path], 1 if failed else 4, 'no-nccl-lines')
        c.equal(name, 'bytes', report['sources'][0]['bytes'], len(data))
        c.equal(name, 'truncated', report['sources'][0]['truncated'], False)
    for name in ('empty-folder', 'no-logs', 'hidden'):
        expect(c, tool, name, [os.path.join(folder, name)], 4, 'no-nccl-lines')
    expect(c, tool, 'empty standard input', ['-'], 4, 'no-nccl-lines')
    expect(c, tool, 'picture on standard input', [], 4, 'no-nccl-lines', stdin=jpeg())


def check_unreadable(c, tool, folder, log):
    missing = os.path.join(folder, 'missing.log')
    report = expect(c, tool, 'missing', [missing], 3, 'no-nccl-lines', 'missing.log: cannot open: No such file')
    c.equal('missing', 'sources', len(report['sources']), 1)
    good = put(folder, 'good.log', log)
    report = expect(c, tool, 'missing beside good', [missing, good], 3, 'findings', 'missing.log')
    c.equal('missing beside good', 'lines', [s['lines'] for s in report['sources']], [0, log.count(b'\n')])
    if os.geteuid():                                          # root reads everything
        locked = put(folder, 'locked.log', log)
        os.chmod(locked, 0)
        expect(c, tool, 'locked', [locked], 3, 'no-nccl-lines', 'Permission denied')


def check_damaged(c, tool, folder, log):
    packed = gzip.compress(log, 6, mtime=0)
    wrong = bytearray(packed)
    wrong[len(wrong) // 2:len(wrong) // 2 + 8] = b'\xff' * 8
    bad_sum = packed[:-8] + b'\0\0\0\0' + packed[-4:]
    damaged = (('half', packed[:len(packed) // 2], 5), ('last byte missing', packed[:-1], 80),
               ('head only', packed[:2], 0), ('header only', packed[:10], 0),
               ('wrong bytes', bytes(wrong), 5), ('wrong checksum', bad_sum, 80),
               ('text behind', packed + b'vm:1:1 [0] NCCL INFO x\n', 80), ('second half', packed + packed[:200], 80))
    for name, data, least in damaged:
        path = put(folder, name + '.log.gz', data)
        verdict = 'findings' if least == 80 else None if least else 'no-nccl-lines'
        report = expect(c, tool, name, [path], 3, verdict, name + '.log.gz')
        lines = report['sources'][0]['lines']
        c.true(name, '%d lines were read, not %d' % (lines, least), lines >= least)
        c.equal(name, 'truncated', report['sources'][0]['truncated'], True)
        c.equal(name, 'bytes', report['sources'][0]['bytes'], len(data))
    # What gzip allows: several members, and zeros behind them as tapes write.
    half = log.index(b'\n', len(log) // 2) + 1
    members = gzip.compress(log[:half]) + gzip.compress(log[half:])
    for name, data in (('two members', members), ('zeros behind', packed + bytes(5000))):
        report, code = harness.report(tool, put(folder, name + '.log.gz', data))
        c.equal(name, 'exit code', code, 1)
        c.equal(name, 'lines', report['sources'][0]['lines'], log.count(b'\n'))
        c.equal(name, 'truncated', report['sources'][0]['truncated'], False)


def check_refused(c, tool, folder, log):
    """What nobody unpacks here is named with its format, and no tick stands over it; alone, in a directory, through a pipe."""
    packed = {'log.7z': (b'7z\xbc\xaf\x27\x1c' + log, 'a 7z archive'), 'log.sz': (b'\xff\x06\0\0sNaPpY' + log, 'compressed by snappy')}
    if not harness.reads_archives(tool):
        packed.update({'log.xz': (lzma.compress(log), 'compressed by xz'), 'log.zip': (zipped({'a.log': log}), 'a zip archive')})
    healthy = open(harness.log_path('2.28.9/h200x2-default.log'), 'rb').read()
    for name, (data, words) in packed.items():
        path = put(folder, 'packed-%s/bad.%s' % (name, name), data)
        good = put(folder, 'packed-%s/good.log' % name, healthy)
        says = 'is %s, which is not read: unpack it first (' % words
        expect(c, tool, name, [path], 3, 'no-nccl-lines', says)
        expect(c, tool, name + ' through a pipe', [], 3, 'no-nccl-lines', 'standard input: ' + says, stdin=data)
        expect(c, tool, name + ' beside a healthy log', [os.path.dirname(path)], 3, None, says)
        c.true(name, 'a tick stands over it', '\u2713' not in harness.run(tool, os.path.dirname(path)).out.decode())
        c.true(name, 'no tick stands over the healthy log', '\u2713' in harness.run(tool, good).out.decode())
    text = b'BZhost1:7:7 [0] NCCL INFO Using network Socket\n' * 3    # begins as bzip2 does, and is a log
    report, _ = harness.report(tool, put(folder, 'host.log', text))
    c.equal('a host named BZhost1', 'NCCL lines', report['sources'][0]['nccl_lines'], 3)


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def check_once(c, tool, folder, log):
    """Each file once, however many links lead to it; a link that leads back into its own folder ends nowhere."""
    inner = os.path.join(folder, 'links')
    path = put(folder, 'links/run.log', log)
    os.symlink('.', os.path.join(inner, 'again'))
    os.symlink('..', os.path.join(inner, 'up'))
    os.symlink('run.log', os.path.join(inner, 'latest.log'))
    os.link(path, os.path.join(inner, 'hard.log'))
    os.mkdir(os.path.join(inner, 'other'))
    os.symlink('../../links', os.path.join(inner, 'other', 'back'))
    os.rename(os.path.join(inner, 'up'), os.path.join(inner, 'other', 'up'))    # leads to `inner`: nothing beside it is read
    for paths in ([inner], [inner, path], [path, path], [path, os.path.join(inner, 'again', 'hard.log')]):
        report, code = harness.report(tool, *paths)
        c.equal(paths, 'lines', [s['lines'] for s in report['sources']], [log.count(b'\n')])
        c.equal(paths, 'exit code', code, 1)


def check_special(c, tool, folder, log):
    """What lies in a directory and is no file is told, not waited for; so is a link to nothing."""
    put(folder, 'special/a.log', log)
    os.mkfifo(os.path.join(folder, 'special', 'pipe'))
    report = expect(c, tool, 'a pipe in a directory', [os.path.join(folder, 'special')], 3, 'findings', 'pipe: is a pipe')
    c.equal('a pipe in a directory', 'sources', len(report['sources']), 2)
    put(folder, 'dangling/a.log', log)
    os.symlink('gone.log', os.path.join(folder, 'dangling', 'b.log'))
    expect(c, tool, 'a link to nothing', [os.path.join(folder, 'dangling')], 3, 'findings', 'b.log: cannot open')
    deep = os.path.join(folder, 'deep')
    put(folder, 'deep/' + 'd/' * 60 + 'a.log', log)
    report, _ = harness.report(tool, deep)
    c.equal('sixty folders deep', 'lines', [s['lines'] for s in report['sources']], [log.count(b'\n')])


def check_documents(c, tool, folder, log):
    """A document of JSON on one line, longer than any line of a log: read whole, each entry with its own stream's pod."""
    lines = [line for line in log.decode().splitlines()]
    pods = [('train-%d' % n, [line.replace('vm:', 'node%d:' % n) for line in lines]) for n in range(8)]
    loki = json.dumps({'status': 'success', 'data': {'result': [
        {'stream': {'app': 't', 'pod': pod}, 'values': [['17%017d' % i, line] for i, line in enumerate(said)]} for pod, said in pods]}})
    elastic = json.dumps({'hits': {'hits': [{'_source': {'message': line, 'kubernetes': {'pod': {'name': pod}}}}
                                            for pod, said in pods for line in said]}})
    plain = put(folder, 'plain.log', '\n'.join(line for _, said in pods for line in said).encode())
    should, _ = harness.report(tool, plain)
    for name, text in (('Loki', loki), ('Elasticsearch', elastic)):
        c.true(name, '%d bytes are no long line' % len(text), len(text) > 65536)
        report, code = harness.report(tool, put(folder, name + '.json', text.encode()))
        c.equal(name, 'exit code', code, 1)
        c.equal(name, 'pods', sorted({(p['host'], p['pod']) for p in report['processes']}),
                [('node%d' % n, 'train-%d' % n) for n in range(8)])
        c.equal(name, 'NCCL lines', report['sources'][0]['nccl_lines'], should['sources'][0]['nccl_lines'])
        c.equal(name, 'connections', len(report['links']), len(should['links']))
        c.equal(name, 'cut lines', report['sources'][0]['cut_lines'], 0)
        whole = report['sources'][0]['nccl_lines']
        report, _ = harness.report(tool, put(folder, name + '-cut.json', text[:len(text) // 2].encode()))
        c.true(name + ', cut', '%d lines' % report['sources'][0]['nccl_lines'], whole * 0.4 < report['sources'][0]['nccl_lines'] < whole * 0.6)
    # A healthy beginning, and what failed behind the first 64 KiB, in a document and behind a progress bar without a line end.
    failed = 'vm:1:1 [0] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer node2<4000>'
    healthy = open(harness.log_path('2.28.9/h200x2-default.log'), encoding='utf-8').read().splitlines()
    filler = ['step %d loss 0.1' % i for i in range(8000)]
    bar = ''.join('\r%3d%%|####  | %d/8000' % (i // 80, i) for i in range(8000))
    for name, text in (('document', json.dumps([{'log': line} for line in healthy + filler + [failed]])),
                       ('bar', '\n'.join(healthy) + '\n' + bar + '\r' + failed + '\n'),
                       ('dump', '\n'.join(healthy) + '\n' + 'x' * 200000 + ' ' + failed + '\n')):
        report, _ = harness.report(tool, put(folder, name + '.log', text.encode()))
        c.true(name, 'the warning is not there', any('Connection closed by remote peer' in w['text'] for w in report['warnings']))
        c.true(name, 'a tick', '\u2713' not in harness.run(tool, os.path.join(folder, name + '.log')).out.decode())


def check_endless(c, tool, log_file):
    """A file of rows, facts or pods that never ends, ends here at a limit."""
    for option in ('--patterns', '--facts', '--pod'):
        result = harness.run(tool, option, '/dev/zero', log_file)
        c.true(option, 'exit code %d' % result.code, result.code in (2, 3))
        c.true(option, 'not told: %r' % result.err, b'/dev/zero: is too large' in result.err)


def harmful(data):
    """The first character that moves a terminal, changes the order of a line or is none, or None."""
    for ch in data.decode('utf-8', 'surrogateescape'):
        n = ord(ch)
        if ((n < 32 and n != 10) or 0x7f <= n <= 0x9f or n in (0x61c, 0x200e, 0x200f) or 0x2028 <= n <= 0x202e
                or 0x2066 <= n <= 0x206f or 0xfdd0 <= n <= 0xfdef or 0xdc80 <= n <= 0xdcff or n & 0xfffe == 0xfffe):
            return '%04x' % n
    return None


HOSTILE = (b'\x1b]0;owned\x07\x1b[31m\x9b31m\x08\x7f\xc2\x9b\xff'
           + '\u202e\u2066\u2069\u200e\u200f\u061c\u2028\u2029\ufdd0\uffff\U0001fffe'.encode())


def hostile_log():
    return b'\n'.join([
        b'node1:7:7 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1' + HOSTILE + b'\0',
        b'node1:7:7 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 60 commId 0x5 - Init START',
        b'node1:7:7 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct',
        b'node1:7:7 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] [send] via NET/' + HOSTILE + b'/0',
        b'node1:7:7 [0] x.cc:1 NCCL WARN Error: failed to extend /dev/shm/' + HOSTILE + b' to 5 bytes, error: ' + HOSTILE + b' (28)',
        b'node1:7:7 [0] x.cc:1 NCCL WARN nobody knows ' + HOSTILE,
        b'[rank0]: RuntimeError: ' + HOSTILE]) + b'\n'


def check_controls(c, tool, folder):
    """What a terminal would obey never leaves the tool: neither from the log nor from the name of a file or an option."""
    name = 'a\x1b[2Jb\u202ec\u009b'.encode() + b'\x9b'
    path = put(folder.encode(), name + b'.log', hostile_log())
    none = put(folder.encode(), name + b'.none', b'nothing\n')
    rows = put(folder.encode(), name + b'.rows', b'x = {\n')
    other = harness.log_path('2.28.9/h200x2-p2p-disabled-shm.log')
    for args in (['--color=never', path], ['-v', path], ['-q', path], ['--json', path], ['--unknown', path], [none],
                 ['grammar', '--coverage', path], ['grammar', '--coverage', '--json', path],
                 ['diff', '-v', path, other], ['diff', '--json', path, other], ['diff', none, other],
                 ['-o', os.path.join(none, b'no'), path], ['--db', os.path.join(none, b'no'), path],
                 ['--patterns', rows, path], ['--patterns', none + b'no', path], ['--pod', none, path],
                 ['--facts', none, path], ['--expect', name, path], ['confirm', path, '--facts', none],
                 [b'--' + name], [none + b'no'], ['explain', HOSTILE],
                 ['explain', b'Channel 00/0 : 0[0] -> 1[1] via P2P/' + HOSTILE]):
        result = harness.run(tool, *args)
        for what, data in (('standard output', result.out), ('standard error', result.err)):
            c.equal(repr(args), what, harmful(data), None)


def main():
    tool = sys.argv[1]
    c = harness.Checks()
    with open(harness.log_path('2.28.9/h200x2-p2p-disabled-shm.log'), 'rb') as f:
        log = f.read()
    with tempfile.TemporaryDirectory(prefix='input-') as folder:
        check_nothing(c, tool, os.path.join(folder))
        check_unreadable(c, tool, folder, log)
        check_damaged(c, tool, folder, log)
        check_documents(c, tool, folder, log)
        check_endless(c, tool, harness.log_path('2.28.9/h200x2-p2p-disabled-shm.log'))
        check_refused(c, tool, folder, log)
        check_once(c, tool, folder, log)
        check_special(c, tool, folder, log)
        check_controls(c, tool, folder)
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""check-rules.py TOOL: every finding in a log where it must be raised and in one where it must not.

testdata/rules/<id with a dot for the slash>.txt holds both kinds:

    ==== raised warning configuration likely by=env/p2p-disabled "words of its title"
    @job hosts=a,b ranks=4 version=2.28.9 via=P2P/CUMEM net=NET/Socket/0
    a:10:10 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1
    ==== silent
    @log 2.28.9/h200x8-default.log.gz

Behind `raised` stand, in any order, what must hold: severity, class, confidence, its root (by=ID, by=- for none), the row of
causes.def that explains it (why=NAME), part of its cause (because="words"), part of its advice (fix="words"), what none of these says (unsaid="words"),
part of what it costs (cost="words", cost=- for nothing), its count (count=N), a line that it shows (see="words"), parts of its title. `silent`
may be followed by `but` and a severity: the finding may be there, but not above it. `@job` writes the lines of a healthy job (see `job`), `@log`
those of a recorded one, `@threads` a line of each of so many threads; `---- NAME` begins another input; `---- facts MACHINE gpus.1.nvlinks_up=16 ...` gives --facts with that file of
testdata/machines, changed so (`*` is each, `-` takes a key away); `---- args ARGUMENT...` adds to the command line, where {dir} is the folder of inputs and
{pods} testdata/pods.
Every id of rules.def must have both kinds, every CAUSE of causes.def a section that reaches it."""
import glob
import gzip
import json
import os
import re
import shlex
import sys
import tempfile

import harness

PODS = os.path.join(harness.TESTDATA, 'pods')
TABLES = os.path.join(harness.HERE, '..', '..', 'libncclscope', 'tables')


def job(hosts='vm', ranks='2', version='2.28.9', via='P2P/CUMEM', net='NET/IB/0/GDRDMA', split='0', coll='', nvls='0'):
    """A healthy job: `ranks` over `hosts` in blocks, joined in a ring, `via` within a host and `net` between two; split=1: no connections;
    coll=24 nvls=16: the lines that count nodes and channels."""
    hosts, n = hosts.split(','), int(ranks)
    per = -(-n // len(hosts))
    lines = []
    who = ['%s:%d:%d [%d] NCCL INFO ' % (hosts[r // per], 100 + r, 100 + r, r % per) for r in range(n)]
    for r in range(n):
        lines.append(who[r] + 'NCCL version %s' % (version if '+' in version else version + '+cuda12.4'))
    for word in ('START', 'COMPLETE'):
        for r in range(n):
            lines.append(who[r] + 'ncclCommInitRank comm 0x%x rank %d nranks %d cudaDev %d nvmlDev %d busId %x000 commId 0xfeed - Init %s'
                         % (0x1000 + r, r, n, r % per, r % per, r % per + 1, word))
        for r in range(n if coll and word == 'START' else 0):
            lines.append(who[r] + 'comm 0x%x rank %d nRanks %d nNodes %d localRanks %d localRank %d MNNVL 0'
                         % (0x1000 + r, r, n, len(hosts), per, r % per))
            lines.append(who[r] + '%s coll channels, 0 collnet channels, %s nvls channels, 32 p2p channels, 32 p2p channels per peer'
                         % (coll, nvls))
    for r in range(n if split == '0' else 0):
        peer = (r + 1) % n
        path = via if r // per == peer // per else net
        sides = (('[send] ', r), ('[receive] ', peer)) if path.startswith('NET') else (('', r),)
        for side, at in sides:
            lines.append(who[at] + 'Channel 00/0 : %d[%d] -> %d[%d] %svia %s' % (r, r % per, peer, peer % per, side, path))
    return lines


def recorded(name):
    path = harness.log_path(name)
    with (gzip.open if path.endswith('.gz') else open)(path, 'rt', encoding='utf-8', errors='surrogateescape') as file:
        return file.read().split('\n')[:-1]


class Section:
    def __init__(self, head):
        words = shlex.split(head)
        self.raised = words[0] == 'raised'
        self.words = words[1:]
        self.files, self.args, self.facts = [('log', [])], [], None

    def add(self, line):
        if line.startswith('---- facts '):
            self.facts = shlex.split(line)[2:]
        elif line.startswith('---- args '):
            self.args += shlex.split(line[10:])
        elif line.startswith('---- '):
            self.files.append((line[5:].strip(), []))
        elif line.startswith('@job'):
            self.files[-1][1].extend(job(**dict(re.findall(r' (\w+)=(.*?)(?= \w+=|$)', line))))
        elif line.startswith('@threads '):
            self.files[-1][1].extend('vm:100:%d [0] NCCL INFO P2P Chunksize set to 131072' % (1000 + i) for i in range(int(line[9:])))
        elif line.startswith('@log '):
            self.files[-1][1].extend(recorded(line[5:].strip()))
        else:
            self.files[-1][1].append(line)


def changed(words):
    """The facts of a machine as JSON text, with `gpus.*.mig=true` and the like done to them."""
    with open(os.path.join(harness.TESTDATA, 'machines', words[0] + '.json'), encoding='utf-8') as file:
        facts = json.load(file)
    for change in words[1:]:
        path, value = change.split('=', 1)
        group, *where, key = path.split('.')
        items = facts[group] if where else [facts[group]]
        for item in items if where in ([], ['*']) else [items[int(where[0])]]:
            if value == '-':
                item.pop(key, None)
            else:
                item[key] = json.loads(value) if re.fullmatch(r'-?[0-9]+|true|false', value) else value
    return json.dumps(facts)


def sections(path):
    out = []
    with open(path, encoding='utf-8') as file:
        for line in file.read().split('\n')[:-1]:
            if line.startswith('==== '):
                out.append(Section(line[5:]))
            elif out and not (line.startswith('#') and not out[-1].files[-1][1]):
                out[-1].add(line)
    return out


def misfits(finding, words):
    """Which of the words do not hold."""
    for word in words:
        if word.startswith('by='):
            if (finding['caused_by'] or '-') != word[3:]:
                yield '%s, not %s' % (word, finding['caused_by'])
        elif word in ('note', 'warning', 'error'):
            if finding['severity'] != word:
                yield '%s, not %s' % (word, finding['severity'])
        elif word in ('fault', 'configuration', 'by-design', 'visibility', 'unknown'):
            if finding['class'] != word:
                yield '%s, not %s' % (word, finding['class'])
        elif word in ('certain', 'likely', 'possible'):
            if finding['confidence'] != word:
                yield '%s, not %s' % (word, finding['confidence'])
        elif word.startswith('why='):
            if word[4:] not in finding['cause_ids']:
                yield '%s, not %s' % (word, finding['cause_ids'])
        elif word.startswith('because='):
            if word[8:] not in (finding['cause'] or ''):
                yield '%s, not %s' % (word, finding['cause'])
        elif word.startswith('unsaid='):
            if word[7:] in '%s\n%s\n%s' % (finding['title'], finding['cause'], finding['fix']):
                yield '%s, but it is said' % word
        elif word.startswith('fix='):
            if word[4:] not in finding['fix']:
                yield '%s, not %s' % (word, finding['fix'])
        elif word.startswith('cost='):
            cost = finding['cost'] or '-'
            if word[5:] not in cost or word == 'cost=-' != 'cost=' + cost:
                yield '%s, not %s' % (word, finding['cost'])
        elif word.startswith('count='):
            if finding['count'] != int(word[6:]):
                yield '%s, not %d' % (word, finding['count'])
        elif word.startswith('see='):
            if not any(word[4:] in shown['text'] for shown in finding['evidence']):
                yield '%s, not %s' % (word, [shown['text'] for shown in finding['evidence']])
        elif word not in finding['title']:
            yield '"%s" in its title: %s' % (word, finding['title'])


def check(tool, checks, reached, rule, number, section):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, lines in section.files:
            if lines:
                paths.append(os.path.join(folder, name))
                with open(paths[-1], 'w', encoding='utf-8', errors='surrogateescape') as file:
                    file.write('\n'.join(lines) + '\n')
        if section.facts:
            section.args += ['--facts', os.path.join(folder, 'facts.json')]
            with open(section.args[-1], 'w', encoding='utf-8') as file:
                file.write(changed(section.facts))
        report, _ = harness.report(tool, *[a.replace('{dir}', folder).replace('{pods}', PODS) for a in section.args], *paths)
    found = [f for f in report['findings'] if f['id'] == rule]
    reached.update(name for f in report['findings'] for name in f['cause_ids'])
    what = '%s, section %d' % (rule, number)
    others = ', '.join(f['id'] for f in report['findings'])
    if section.raised:
        fits = [f for f in found if not list(misfits(f, section.words))]
        why = '; '.join(list(misfits(found[0], section.words))) if found else 'not raised, but ' + (others or 'nothing')
        checks.true(what, why, bool(fits))
    elif section.words[:1] == ['but']:
        order = ['note', 'warning', 'error']
        loud = [f for f in found if order.index(f['severity']) > order.index(section.words[1])]
        checks.true(what, 'raised as ' + (loud[0]['severity'] if loud else ''), not loud)
    else:
        checks.true(what, 'raised: ' + (found[0]['title'] if found else ''), not found)


def ids_of(table, row):
    with open(os.path.join(TABLES, table), encoding='utf-8') as file:
        return re.findall(row, file.read(), re.M)


def main():
    tool, checks, reached = sys.argv[1], harness.Checks(), set()
    ids = ids_of('rules.def', r'^RULE\(\w+, "([^"]+)"')
    folder = os.path.join(harness.TESTDATA, 'rules')
    for path in sorted(glob.glob(os.path.join(folder, '*.txt'))):
        rule = os.path.basename(path)[:-4].replace('.', '/', 1)
        checks.true(rule, 'is no rule', rule in ids)
        for number, section in enumerate(sections(path), 1):
            check(tool, checks, reached, rule, number, section)
    for rule in ids:
        path = os.path.join(folder, rule.replace('/', '.', 1) + '.txt')
        kinds = {s.raised for s in sections(path)} if os.path.exists(path) else set()
        checks.true(rule, 'lacks a log that raises it, or one that does not', kinds == {True, False})
    for name in ids_of('causes.def', r'^CAUSE\(\w+, (\w+),'):
        checks.true(name, 'no section of any rule reaches this row of causes.def', name in reached)
    return checks.end()


if __name__ == '__main__':
    sys.exit(main())

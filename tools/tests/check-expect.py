#!/usr/bin/env python3
"""check-expect.py TOOL - every log of testdata/logs against expect.json: what was true when it was recorded.

Nothing in expect.json was taken from the product: findings come from what was done to the job (testdata/README.md),
numbers from the raw log. Per log, or list of `logs` read together:
  verdict, exit     of the report
  worst             the highest severity of all findings
  findings          must be raised: at least with this severity; where given with this class, confidence, caused_by,
                    ranks, and a title that matches `says`. Any other warning or error is wrong,
  may               except these
  absent            must not be raised, not even as a note
  paths             all paths between ranks, with their proof
  has               some element of that list of the report has these values
  versions drivers nccl_lines connections   and communicators as [nranks, ranks seen]

Communicators, the one that each connection belongs to, and notes that follow from single lines are judged by
rawlog.py too. At the end: does every rule of the product fire in some log and stay silent in another?"""
import collections
import json
import os
import re
import sys

import harness
import rawlog

SEVERITY = ['note', 'warning', 'error']
# Here the lines that name a communicator are torn, so the second reading knows less than expect.json.
TORN = {'2.30.7/h200x4-two-nodes.log.gz', '2.32.3/h200x1-default.log.gz'}


def find(report, rule):
    return [f for f in report['findings'] if f['id'] == rule]


def check_finding(c, name, report, rule, wanted):
    found = find(report, rule)
    c.true(name, '%s is not raised' % rule, found)
    if not found:
        return
    level = max(SEVERITY.index(f['severity']) for f in found)
    c.true(name, '%s is a %s, not a %s' % (rule, SEVERITY[level], wanted['severity']),
           level >= SEVERITY.index(wanted['severity']))
    for key in ('class', 'confidence', 'caused_by', 'ranks'):
        if key in wanted:
            values = [f[key] for f in found]
            c.true(name, '%s: %s is %r, not %r' % (rule, key, values, wanted[key]), wanted[key] in values)
    if 'says' in wanted:
        c.true(name, '%s: no title says %r: %r' % (rule, wanted['says'], [f['title'] for f in found]),
               any(re.search(wanted['says'], f['title'] + ' ' + (f['detail'] or '')) for f in found))
    for f in found:
        c.true(name, '%s shows no evidence' % rule, f['evidence'] or rule in ('log/unknown-lines', 'log/no-channels'))
        c.true(name, '%s has no words' % rule, f['title'] and f['cause'] and f['fix'])


def check_findings(c, name, report, e):
    for rule, wanted in e['findings'].items():
        check_finding(c, name, report, rule, wanted)
    for f in report['findings']:
        allowed = 'warning' if f['id'] in e.get('may', ()) else e['findings'].get(f['id'], {}).get('severity', 'note')
        c.true(name, '%s is raised as %s: %s' % (f['id'], f['severity'], f['title']),
               allowed != 'note' or f['severity'] == 'note')
    for rule in e.get('absent', ()):
        c.true(name, '%s is raised' % rule, not find(report, rule))
    worst = max([SEVERITY.index(f['severity']) for f in report['findings']], default=0)
    c.equal(name, 'worst severity', SEVERITY[worst], e['worst'])


def check_notes(c, name, report, e, log):
    """What single lines decide."""
    def said(variable, *values):
        return any(v in values for v in log.env.get(variable, {}).values())
    torn = any(source['torn_lines'] for source in report['sources'])
    partial = any(not b.parent and len({x.rank for x in g}) < b.nranks and all(x.complete for x in g)
                  for g in log.communicators for b in g)
    decided = {
        'env/nvls-disabled': said('NCCL_NVLS_ENABLE', '0'),
        'env/p2p-disabled': said('NCCL_P2P_DISABLE', '1') or said('NCCL_P2P_LEVEL', 'LOC'),
        'env/shm-disabled': said('NCCL_SHM_DISABLE', '1'),
        'log/no-channels': not e['connections'],
        'log/torn': torn,
    }
    if name not in TORN:
        decided['log/partial'] = partial
    for rule, is_so in decided.items():
        c.equal(name, rule + ' is raised', bool(find(report, rule)), bool(is_so))
    return {rule for rule, is_so in decided.items() if is_so}


def matches(item, wanted):
    return all(item.get(k) == v for k, v in wanted.items()) if isinstance(wanted, dict) else item == wanted


def check_facts(c, name, report, e):
    c.equal(name, 'verdict', report['verdict'], e['verdict'])
    c.equal(name, 'nccl_versions', report['nccl_versions'], e['versions'])
    c.equal(name, 'cuda_drivers', report['cuda_drivers'], e['drivers'])
    c.equal(name, 'nccl_lines', report['totals']['nccl_lines'], e['nccl_lines'])
    c.equal(name, 'connections', report['totals']['connections'], e['connections'])
    communicators = sorted([x['nranks'], x['members']] for x in report['communicators'])
    c.equal(name, 'communicators', communicators, e['communicators'])
    for key, wanted in e.get('has', {}).items():
        c.true(name, '%s holds no %r' % (key, wanted), any(matches(item, wanted) for item in report[key]))
    if 'paths' in e:
        c.equal(name, 'paths', {x['path']: x['proof'] for x in report['links']}, e['paths'])


def members_of(report):
    return {x['id']: frozenset((r['rank'], r['host'], r['pid']) for r in x['ranks']) for x in report['communicators']}


def check_communicators(c, name, report, log):
    """Who is in which, which connection belongs to which, and whether it leaves the host."""
    members = members_of(report)
    c.equal(name, 'members of communicators', sorted(map(sorted, members.values())),
            sorted(sorted((b.rank, b.who[1], b.who[2]) for b in g) for g in log.communicators))
    c.true(name, 'no communicator has the id %s' % sorted(log.ids() - set(members)), log.ids() <= set(members))
    links = collections.Counter()
    for x in report['links']:
        links[members.get(x['comm']), x['src'], x['dst'], x['direction'], x['via']] += x['lines']
    c.equal(name, 'connections of communicators', dict(links), dict(log.connections))
    for x in report['links']:
        host = {rank: h for rank, h, _ in members.get(x['comm'], ())}
        if x['src'] in host and x['dst'] in host:
            scope = 'node' if host[x['src']] == host[x['dst']] else 'cluster'
            c.equal(name, 'scope of %d -> %d in %s' % (x['src'], x['dst'], x['comm']), x['scope'], scope)


def check_rules(c, tool_rules, must, raised):
    """Every rule has a log where it must fire and a log where it stays silent."""
    for rule in tool_rules:
        c.true(rule, 'no log of expect.json makes it fire', rule in must)
        c.true(rule, 'it fires in every log', any(rule not in ids for ids in raised.values()))


def rule_ids():
    path = os.path.join(harness.HERE, '..', '..', 'libncclscope', 'src', 'rules', 'table.c')
    with open(path, encoding='utf-8') as f:
        return re.findall(r'\.id = "([^"]+)"', f.read())


def main():
    tool = sys.argv[1]
    with open(os.path.join(harness.HERE, 'expect.json'), encoding='utf-8') as f:
        expected = json.load(f)
    c, raised, must = harness.Checks(), {}, set()
    covered = {log for name, e in expected.items() for log in e.get('logs', [name])}
    c.equal('expect.json', 'logs', sorted(covered), harness.log_names())
    for name, e in expected.items():
        paths = [harness.log_path(log) for log in e.get('logs', [name])]
        report, code = harness.report(tool, *paths)
        log = rawlog.Log(paths)
        raised[name] = {f['id'] for f in report['findings']}
        c.equal(name, 'exit code', code, e['exit'])
        check_facts(c, name, report, e)
        check_findings(c, name, report, e)
        must |= check_notes(c, name, report, e, log) | set(e['findings'])
        if name not in TORN:
            check_communicators(c, name, report, log)
    check_rules(c, rule_ids(), must, raised)
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

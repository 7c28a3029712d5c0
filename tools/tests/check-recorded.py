#!/usr/bin/env python3
"""check-recorded.py TOOL - small jobs on real GPUs, each with one known fault, or none, and many releases of NCCL: testdata/faults/FAULT/RELEASE.log.gz.

truth.json says what was done to the job, not what the product made of it:
  worst   the highest severity of all findings, a healthy job's is `note`
  first   ids, of which the first finding that is more than a note has one
  any     an id that some finding has, where it is a note
  says    an expression that the title and the cause of that finding match
  absent  ids that no finding has
  broken  lines that another writer broke into so that each piece looks whole
  but     the same for one release, whose lines tell more or less
Each log is read whole, too: no more lines of NCCL's are unknown than other writers have torn."""
import json
import os
import re
import sys

import harness

PLACE = os.path.join(harness.HERE, '..', '..', 'testdata', 'faults')
SEVERITY = ['note', 'warning', 'error']


def check_log(c, tool, fault, release, truth):
    name = '%s/%s' % (fault, release)
    wanted = {**truth, **truth.get('but', {}).get(release, {})}
    report, _ = harness.report(tool, os.path.join(PLACE, fault, release + ".log.gz"))
    found = report['findings']
    worst = max([SEVERITY.index(f['severity']) for f in found], default=0)
    c.equal(name, 'worst severity', SEVERITY[worst], wanted['worst'])
    shown = [f for f in found if (f['severity'] != 'note' and not f['caused_by'] if 'first' in wanted else f['id'] == wanted.get('any'))][:1]
    if 'first' in wanted:
        c.true(name, 'first is %r' % [f['id'] for f in shown], shown and shown[0]['id'] in wanted['first'])
    elif 'any' in wanted:
        c.true(name, '%s is not raised' % wanted['any'], shown)
    for f in shown:
        words = f['title'] + ' ' + (f['cause'] or '')
        c.true(name, 'it does not say %r: %s' % (wanted['says'], words), re.search(wanted['says'], words))
    for rule in wanted.get('absent', ()):
        c.true(name, '%s is raised' % rule, all(f['id'] != rule for f in found))
    totals = report['totals']
    c.true(name, '%d lines are not known, and %d torn' % (totals['unknown_lines'], totals['torn_lines']),
           totals['unknown_lines'] <= totals['torn_lines'] + wanted.get('broken', 0))


def main():
    tool = sys.argv[1]
    c = harness.Checks()
    with open(os.path.join(PLACE, 'truth.json'), encoding='utf-8') as f:
        truth = json.load(f)
    c.equal('truth.json', 'faults', sorted(truth), sorted(d for d in os.listdir(PLACE) if d != 'truth.json'))
    for fault, wanted in truth.items():
        for log in sorted(os.listdir(os.path.join(PLACE, fault))):
            check_log(c, tool, fault, log[:-len('.log.gz')], wanted)
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""check-trouble.py TOOL - no tick over a line that tells of trouble.

Each example of other.def stands at the end of a log in which all went well so far. If the line alone tells that a process, a job or a run
failed, the report must say so above its notes; the lines named below are parts that tell nothing without what stands around them, or are told
beside the paths, as an end that somebody gave the job."""
import gzip
import os
import re
import sys

import harness

TABLE = os.path.join(harness.HERE, '..', '..', 'libncclscope', 'include', 'ncclscope', 'other.def')
MODEL = os.path.join(harness.HERE, '..', '..', 'libncclscope', 'src', 'model', 'other.c')
WELL = '2.28.9/h200x8-default.log.gz'

# Of a larger message, whose head says what it is about: torchrun's summary, ncclras' answer, stacks, nccl-tests, Open MPI's box, a dump.
PARTS = {
    'RUN_ROOT', 'RUN_TIME', 'RUN_HOST', 'RUN_RANK', 'RUN_REASON', 'RAS_COMM', 'RAS_BEHIND', 'RAS_LAUNCHED', 'RAS_NONE', 'RAS_RANK',
    'RAS_COUNTS', 'RAS_STATES', 'RAS_STATE', 'RAS_RANK_STATE', 'RAS_RANK_NONE', 'RAS_ERRORS', 'FRAME_IN_NCCL', 'FRAME_OF_UCX',
    'FRAME_OF_BUILD', 'FRAME_OF_GDB', 'FRAME_NULL', 'TEST_VERSION', 'TEST_BEGIN', 'MPI_PROCESS', 'TOPO_XML', 'PANIC_REASON'}
# An end from outside, told in the verdict's second line; SHARP, which NCCL goes on without; a host that another launcher did not reach.
BESIDE = {'SLURM_LIMIT', 'JOB_LIMIT', 'ENDED_BY_HAND', 'SHARP_NO_MANAGER', 'SHARP_NO_RESOURCE', 'SSH_FAILED'}


def well_so_far():
    """A healthy log without its end."""
    with gzip.open(os.path.join(harness.LOGS, WELL)) as f:
        return b''.join(line for line in f if not re.search(rb'Destroy|Abort|Out of bounds|Avg bus', line))


def examples():
    with open(TABLE, encoding='utf-8') as f:
        rows = re.findall(r'NCCLSCOPE_OTHER\(\s*\d+,\s*([A-Z0-9_]+),\s*"(?:[^"\\]|\\.)*",\s*"((?:[^"\\]|\\.)*)"\)', f.read())
    return [(kind, text.encode('utf-8').decode('unicode_escape')) for kind, text in rows]


def plain_kinds():
    """Those of which the model says that they tell of no trouble."""
    with open(MODEL, encoding='utf-8') as f:
        source = f.read()
    start = source.index('static const ncclscope_kind plain[]')
    return set(re.findall(r'NCCLSCOPE_KIND_([A-Z0-9_]+)', source[start:source.index('};', start)]))


def main():
    tool = sys.argv[1]
    checks = harness.Checks()
    log, plain, ticks = well_so_far(), plain_kinds(), set()
    checks.true('the log', 'no tick without the line', harness.run(tool, '-', stdin=log).out.decode('utf-8').startswith(' ✓'))
    for kind, line in examples():
        if kind in plain:
            continue
        ticked = harness.run(tool, '-', stdin=log + line.encode('utf-8') + b'\n').out.decode('utf-8').startswith(' ✓')
        ticks.update([kind] if ticked else [])
        checks.true(kind, 'a tick over: ' + line[:100], not ticked or kind in PARTS | BESIDE)
    checks.equal('the lists', 'kinds that need not be in them', sorted((PARTS | BESIDE) - ticks), [])
    return checks.end()


if __name__ == '__main__':
    sys.exit(main())

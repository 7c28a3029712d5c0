#!/usr/bin/env python3
"""check-live.py TOOL - testdata/machines/h200x4-live, where all was taken within minutes on one kind of machine: what the probe
says against what nvidia-smi and nvbandwidth said, and what `confirm` makes of each job's log against the bandwidth that the
job measured itself (rank 0 printed it)."""
import gzip
import json
import os
import re
import sys

import harness

LIVE = os.path.join(harness.TESTDATA, 'machines', 'h200x4-live')
METHODS = {'memcpy_read_ce': 'ce-read', 'memcpy_write_ce': 'ce-write', 'memcpy_read_sm': 'sm-read', 'memcpy_write_sm': 'sm-write', 'latency_sm': 'latency'}
P2P = {'r': 'p2p_read', 'w': 'p2p_write', 'n': 'p2p_nvlink', 'a': 'p2p_atomics', 'p': 'p2p_pci'}
GOOD, SLOW, SLOWER = 'as-good-as-the-hardware-allows', 'confirmed-fallback', 'slower-mode'
# Jobs: the verdict of pairs that use P2P (all others fell back), and how near the factor comes. Sockets inside one machine carry
# 2.6 to 3.9 GB/s from one run to the next of the same job there, so a factor of theirs is no better than that. Between two host
# names of two GPUs each a run over sockets alone is no measure: what was recorded elsewhere is told.
JOBS = {'default': (GOOD, None), 'p2p-disabled-shm': (GOOD, 0.1), 'p2p-read': (SLOWER, 0.1), 'pod-per-gpu': (GOOD, 0.25),
        'two-nodes': (GOOD, 0.15), 'p2p-shm-disabled-socket': (GOOD, 0.25)}


def text(name):
    with open(os.path.join(LIVE, name), encoding='utf-8') as f:
        return f.read()


def facts(name):
    return json.loads(text(name))


def table(lines):
    """{(row, column): cell} of what nvidia-smi or nvbandwidth printed below a head."""
    rows = [line.split() for line in lines]
    return {(int(r[0].removeprefix('GPU')), k): cell for r in rows for k, cell in enumerate(r[1:5]) if cell not in ('X', 'N/A')}


def check_states(c):
    pairs = {(p['from'], p['to']): p for p in facts('measured.json')['pairs']}
    for letter, key in P2P.items():
        theirs = table(line for line in text('topo-p2p-%s.txt' % letter).split('\n') if re.match(r' GPU\d', line))
        c.equal('topo -p2p', letter, {at: p[key] for at, p in pairs.items()}, theirs)


def check_copies(c):
    measured = facts('measured.json')['measured']
    for part in text('nvbandwidth.txt').split('Running ')[1:]:
        method = METHODS[re.match(r'device_to_device_(\w+)\.', part).group(1)]
        theirs = table(line for line in part.split('\n') if re.match(r' \d ', line))
        ours = {(m['from'], m['to']): m.get('mb_s', m.get('ns')) for m in measured if m['method'] == method}
        c.equal('nvbandwidth', method + ': pairs', set(ours), set(theirs))
        for at, value in theirs.items():
            far = ours[at] / (1 if method == 'latency' else 1000) / float(value) - 1
            c.true('nvbandwidth', '%s %s: %.1f %% apart' % (method, at, 100 * far), abs(far) < 0.03)


def log_of(job):
    with gzip.open(os.path.join(LIVE, job + '.log.gz'), 'rt', encoding='utf-8') as f:
        return f.read()


def bandwidth(log):
    """What the job itself measured, in GB/s."""
    return float(re.search(r'# allreduce bytes=67108864 .*busbw=([\d.]+)', log).group(1))


def verdicts(log, of_p2p):
    """{{(rank, GPU), (rank, GPU)}: verdict}, of the connections as NCCL printed them; no two communicators join a pair differently here."""
    lines = re.findall(r'(\d+)\[(\d+)\] -> (\d+)\[(\d+)\] (?:\[\w+\] )?via (\w+)', log)
    return {frozenset(((int(a), int(x)), (int(b), int(y)))): of_p2p if family == 'P2P' else SLOW for a, x, b, y, family in lines}


def check_jobs(c, tool):
    best = bandwidth(log_of('default'))
    for job, (of_p2p, near) in JOBS.items():
        args = 'confirm', '--facts', os.path.join(LIVE, 'collectives.json'), os.path.join(LIVE, job + '.log.gz')
        result, truth = harness.run(tool, *args, '--json'), verdicts(log_of(job), of_p2p)
        told = {frozenset(zip(p['ranks'], p['gpus'])): p['verdict'] for p in json.loads(result.out)['pairs']}
        c.equal(job, 'verdicts', told, truth)
        c.equal(job, 'exit code', result.code, 0 if set(truth.values()) == {GOOD} else 1)
        if near:
            said = float(re.search(r'cost +([\d.]+)x (?:in NCCL|on 8 H200)', harness.run(tool, *args).out.decode()).group(1))
            true = best / bandwidth(log_of(job))
            c.true(job, 'says %gx, and the job measured %.2fx' % (said, true), abs(said / true - 1) <= near)


def main():
    c = harness.Checks()
    check_states(c)
    check_copies(c)
    check_jobs(c, sys.argv[1])
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

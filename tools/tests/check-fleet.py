#!/usr/bin/env python3
"""check-fleet.py TOOL - what recurs over many jobs: of 200 nodes those that were made bad are named, and no other; one of two releases; nothing
where findings fall on anybody."""
import csv
import io
import json
import os
import random
import sys
import tempfile

import harness

NODES = ['node%03d' % i for i in range(200)]


def job(rng, hosts, bad, version='2.28.9', env=''):
    """A rank a host, joined in a ring; on a bad one the NIC goes through host memory."""
    comm, lines = rng.getrandbits(64), []
    who = ['%s:%d:%d [0] NCCL INFO ' % (h, 1000 + r, 1000 + r) for r, h in enumerate(hosts)]
    for r, w in enumerate(who):
        lines += [w + 'NCCL version %s+cuda12.4' % version] + ([w + env] if env else [])
        lines += [w + 'ncclCommInitRank comm 0x%x rank %d nranks %d cudaDev 0 nvmlDev 0 busId 1000 commId 0x%x - Init %s' % (4096 + r, r, len(hosts), comm, s)
                  for s in ('START', 'COMPLETE')]
        lines.append(w + 'comm 0x%x rank %d nRanks %d nNodes %d localRanks 1 localRank 0 MNNVL 0' % (4096 + r, r, len(hosts), len(hosts)))
    for r, h in enumerate(hosts):
        gdr, n = '' if h in bad else '/GDRDMA', len(hosts)
        lines += [who[r] + 'Channel 00/0 : %d[0] -> %d[0] [receive] via NET/IB/0%s' % ((r - 1) % n, r, gdr),
                  who[r] + 'Channel 00/0 : %d[0] -> %d[0] [send] via NET/IB/0%s' % (r, (r + 1) % n, gdr)]
    return '\n'.join(lines) + '\n'


def fill(folder, texts):
    os.makedirs(folder)
    for i, text in enumerate(texts):
        with open(os.path.join(folder, 'run-%05d.log' % i), 'w', encoding='utf-8') as f:
            f.write(text)
    return folder


def recurring(tool, folder):
    return list(csv.DictReader(io.StringIO(harness.run(tool, 'fleet', '--csv', folder).out.decode('utf-8'), newline='')))


def check_nodes(c, tool, root, seed):
    rng = random.Random(seed)
    bad = rng.sample(NODES, 3)
    jobs = [rng.sample(NODES, 8) for _ in range(400)]
    folder = fill(os.path.join(root, 'nodes-%d' % seed), [job(rng, hosts, bad) for hosts in jobs])
    rows = recurring(tool, folder)
    c.equal('seed %d' % seed, 'who recurs', sorted((r['kind'], r['name'], r['finding']) for r in rows), sorted(('host', b, 'net/gdr-off') for b in bad))
    for r in rows:
        c.equal(r['name'], 'jobs', (int(r['jobs']), int(r['jobs_with_it'])), (sum(r['name'] in j for j in jobs),) * 2)
        c.equal(r['name'], 'jobs with the finding', int(r['jobs_with_finding']), sum(bool(set(bad) & set(j)) for j in jobs))
    report = json.loads(harness.run(tool, 'fleet', '--json', folder).out)
    c.equal('json', 'counts', [report[k] for k in ('schema', 'jobs', 'hosts')], ['ncclscope.fleet/1', 400, len(set(sum(jobs, [])))])
    c.equal('json', 'names', [o['name'] for o in report['recurring']], [r['name'] for r in rows])
    table = harness.run(tool, folder).out.decode('utf-8')
    text = harness.run(tool, 'fleet', folder).out.decode('utf-8')
    c.true('table', 'what recurs does not stand below it', text in table and all(b in text for b in bad))


def check_release(c, tool, root):
    """One release sets a variable that costs: it is the release, and the variable with it, not a host."""
    rng = random.Random(5)
    texts = []
    for _ in range(200):
        old = rng.random() < 0.3
        hosts = rng.sample(NODES, 4)
        texts.append(job(rng, hosts, hosts if old else [], '2.21.5' if old else '2.28.9'))
    rows = recurring(tool, fill(os.path.join(root, 'releases'), texts))
    c.equal('release', 'what recurs', [(r['kind'], r['name']) for r in rows if r['kind'] != 'host'], [('nccl', '2.21.5+cuda12.4')])
    c.equal('release', 'hosts', [r['name'] for r in rows if r['kind'] == 'host'], [])


def check_chance(c, tool, root):
    """Findings that fall on anybody name nobody; neither do two jobs."""
    rng = random.Random(6)
    texts = []
    for _ in range(300):
        hosts = rng.sample(NODES[:40], 4)
        texts.append(job(rng, hosts, hosts if rng.random() < 0.2 else []))
    c.equal('chance', 'what recurs', recurring(tool, fill(os.path.join(root, 'chance'), texts)), [])
    few = fill(os.path.join(root, 'few'), [job(rng, NODES[:2], NODES[:1]), job(rng, NODES[2:4], [])])
    c.equal('two jobs', 'what recurs', recurring(tool, few), [])
    c.equal('no log', 'exit code', harness.run(tool, 'fleet', os.path.join(root, 'missing')).code, 3)
    c.equal('no input', 'exit code', harness.run(tool, 'fleet').code, 2)


def main():
    tool = sys.argv[1]
    c = harness.Checks()
    with tempfile.TemporaryDirectory(prefix='fleet-') as root:
        for seed in (1, 2, 3):
            check_nodes(c, tool, root, seed)
        check_release(c, tool, root)
        check_chance(c, tool, root)
    return c.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""check-probe.py TOOL NVML OLD_NVML CUDA NCCL CLOCK: `ncclscope probe` on recorded machines, played by libraries that stand in for the driver's.

The tool opens them as it opens the driver's own. Each scene is a file of testdata/machines, changed where it says; what the probe tells must be
what the scene holds, and the findings those that it names. No check waits for a time: the tool's clock is CLOCK's, which stands until a library hangs."""
import atexit
import copy
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

import harness

TOOL, NVML, OLD_NVML, CUDA, NCCL, CLOCK = sys.argv[1:7]
MACHINES = os.path.join(harness.TESTDATA, 'machines')
MEASURE = ('--json', '--measure', '--memory', '16')
PLAYED_NODE = ('driver', 'cuda_driver')  # the rest of the node is of the machine that the test runs on
PRELOADED = ' '.join(filter(None, (CLOCK, os.environ.get('LD_PRELOAD'))))
wrong = []
checks = 0


def machine(name):
    with open(os.path.join(MACHINES, name + '.json'), encoding='utf-8') as file:
        return json.load(file)


def recorded_log(name, folder):
    """A recorded log as plain text, for the library that plays NCCL to print."""
    path = os.path.join(harness.TESTDATA, 'logs', name)
    out = os.path.join(folder, os.path.basename(name) + '.txt')
    with (gzip.open if name.endswith('.gz') else open)(path, 'rb') as file, open(out, 'wb') as plain:
        plain.write(file.read())
    return out


def probe(facts, *args, nvml=NVML, cuda=CUDA, trouble='', **more):
    with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
        json.dump(facts, file)
        file.flush()
        env = dict(os.environ, NCCLSCOPE_NVML=nvml, NCCLSCOPE_CUDA=cuda, NCCLSCOPE_FAKE=file.name,
                   NCCLSCOPE_FAKE_TROUBLE=trouble, NCCLSCOPE_NCCL=NCCL, LD_PRELOAD=PRELOADED,
                   # a crash shall look as it does to users
                   ASAN_OPTIONS='handle_segv=0:verify_asan_link_order=0', **more)
        return subprocess.run([TOOL, 'probe', *args], env=env, capture_output=True, text=True, timeout=120)


def check(name, what, holds, shown=''):
    global checks
    checks += 1
    if not holds:
        wrong.append('%s: %s%s' % (name, what, ': ' + str(shown)[:600] if shown != '' else ''))


def findings(report):
    """Those above a note."""
    return sorted({f['id'] for f in report['findings'] if f['severity'] != 'note'})


def scene(name, facts, raised=(), **how):
    """Plays the facts: they come back as they are, with these findings above a note, and the exit code of those."""
    run = probe(facts, '--json', **how)
    check(name, 'exit', run.returncode == (1 if raised else 0), '%d %s' % (run.returncode, run.stderr))
    report = json.loads(run.stdout)
    check(name, 'findings', findings(report) == sorted(raised), findings(report))
    check(name, 'gpus', report['facts']['gpus'] == facts['gpus'], report['facts']['gpus'])
    check(name, 'pairs', report['facts']['pairs'] == facts['pairs'], report['facts']['pairs'][:1])
    for key in PLAYED_NODE:
        check(name, key, report['facts']['node'].get(key) == facts['node'].get(key), report['facts']['node'])
    return report


def changed(facts, gpu=None, pair=None, which=lambda x: True):
    facts = copy.deepcopy(facts)
    for g in facts['gpus']:
        if gpu and which(g):
            g.update(gpu)
    for p in facts['pairs']:
        if pair and which(p):
            p.update(pair)
    return facts


def without(facts, *keys):
    facts = copy.deepcopy(facts)
    for item in facts['gpus'] + facts['pairs']:
        for key in keys:
            item.pop(key, None)
    return facts


def healthy_and_broken(base):
    scene('as recorded', base)
    down = changed(base, gpu={'nvlinks_up': 16}, which=lambda g: g['index'] == 1)
    for p in down['pairs']:
        if 1 in (p['from'], p['to']):
            p.update(path='NV16', nvlinks=16)
    scene('a link down', down, ['probe/nvlink-down'])
    scene('the fabric is being set up', without(changed(base, gpu={'fabric_state': 'in-progress'}), 'fabric_status', 'fabric_clique',
                                                'fabric_health', 'fabric_cluster'), ['probe/fabric-not-ready'])
    scene('the fabric failed', changed(base, gpu={'fabric_status': 23}, which=lambda g: g['index'] == 2), ['probe/fabric-not-ready'])
    scene('no P2P through the chipset', changed(base, pair={'p2p_read': 'CNS', 'p2p_write': 'CNS', 'can_access': False}),
          ['probe/p2p-not-supported'])
    report = scene('no P2P on this model', changed(base, pair={'p2p_read': 'GNS', 'p2p_write': 'GNS', 'can_access': False}))
    check('no P2P on this model', 'a note', [f['class'] for f in report['findings']] == ['by-design'], report['findings'])
    scene('CUDA alone says no', changed(base, pair={'can_access': False}), ['probe/p2p-not-supported'])
    scene('MIG', changed(changed(base, gpu={'mig': True}), pair={'can_access': False}))
    scene('half of the lanes', changed(base, gpu={'pcie_width': 8}, which=lambda g: g['index'] == 0), ['probe/pcie-degraded'])
    pcie = without(changed(changed(base, gpu={'nvlinks_up': 0, 'nvlinks_max': 0}), pair={'path': 'PIX', 'nvlinks': 0, 'p2p_nvlink': 'NS'}),
                   'nvlink_version', 'nvlink_remote', 'nvlink_mb_s')
    scene('GPUs on PCIe', pcie)
    two = copy.deepcopy(base)
    two['gpus'] = two['gpus'][:2]
    two['pairs'] = [p for p in two['pairs'] if max(p['from'], p['to']) < 2]
    for g in two['gpus']:
        g.update(nvlink_remote='gpu', nvlinks_up=4, nvlinks_max=4)
    for p in two['pairs']:
        p.update(path='NV4', nvlinks=4)
    scene('links from GPU to GPU', two)
    hidden = copy.deepcopy(base)
    for key in ('cuda_index', 'vmm', 'handle_fd', 'handle_fabric', 'multicast', 'gpudirect_rdma', 'dma_buf'):
        hidden['gpus'][3].pop(key)
    for p in hidden['pairs']:
        if 3 in (p['from'], p['to']):
            for key in ('can_access', 'performance_rank', 'native_atomics'):
                p.pop(key)
    scene('a GPU that CUDA does not see', hidden)


def an_old_driver(base):
    old = without(base, 'nvlink_remote', 'nvlink_mb_s', 'fabric_state', 'fabric_status', 'fabric_clique', 'fabric_health', 'fabric_cluster')
    for g in old['gpus']:
        g['nvlink_remote'] = 'other'
    run = probe(base, '--json', nvml=OLD_NVML)
    report = json.loads(run.stdout)
    check('an old driver', 'gpus', report['facts']['gpus'] == old['gpus'], report['facts']['gpus'][:1])
    check('an old driver', 'exit', run.returncode == 0, run.returncode)


def trouble(base):
    """What the driver does wrong costs its own facts: the tool says so in one sentence, and goes on."""
    for function, what, probe_, words in (('p2p_status', 'crash', 'nvml', 'crashed (signal 11)'),
                                          ('count', 'exit', 'nvml', 'ended the process'),
                                          ('init', '9', 'nvml', 'Driver Not Loaded'),
                                          ('cuInit', '802', 'cuda', 'fabric manager'),
                                          ('cuDeviceCanAccessPeer', 'crash', 'cuda', 'crashed (signal 11)'),
                                          ('cuDeviceGet@3', '999', 'cuda', 'device 2: unknown error (999)'),
                                          ('fabric', 'hang', 'nvml', 'did not answer within 30 seconds'),
                                          ('by_index:2', '15', 'nvml', 'GPU 2: GPU is lost')):
        name = '%s %s' % (function, what)
        run = probe(base, '--json', trouble='%s=%s' % (function, what))
        report = json.loads(run.stdout)
        skipped = report['facts']['skipped']
        check(name, 'told', [s['probe'] for s in skipped] == [probe_] and words in skipped[0]['reason'], skipped)
        check(name, 'the others', len(report['facts']['gpus']) == len(base['gpus']), len(report['facts']['gpus']))
        if what == 'hang':
            continue
        text = probe(base, trouble='%s=%s' % (function, what))
        check(name, 'text', words in ' '.join(text.stdout.split()), text.stdout)


def variables(base):
    """Of a configuration file, as NCCL takes them: up to the end of the line, the first word is the name."""
    with tempfile.TemporaryDirectory() as home:
        with open(os.path.join(home, '.nccl.conf'), 'w') as file:
            file.write('# NCCL_DEBUG=WARN\nNCCL_P2P_LEVEL=PHB\nNCCL_IB_HCA=mlx5_0,mlx5_1 \n\nNCCL_ALGO=Ring')
        facts = json.loads(probe(base, '--json', HOME=home).stdout)['facts']
    found = {v['name']: v['value'] for v in facts['variables'] if v['from'].startswith(home)}
    check('variables', 'of a file', found == {'NCCL_P2P_LEVEL': 'PHB', 'NCCL_IB_HCA': 'mlx5_0,mlx5_1 ', 'NCCL_ALGO': 'Ring'}, found)


def numbers(base):
    """Of saved facts: a number that no integer holds is not said; it becomes no other."""
    text = json.dumps(base | {'schema': 'ncclscope.facts/1'} | {'node': base['node'] | {'memlock_bytes': 10 ** 20, 'open_files': 7}})
    with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
        file.write(text)
        file.flush()
        run = subprocess.run([TOOL, 'probe', '--json', '--facts', file.name], capture_output=True, text=True, timeout=120)
    node = json.loads(run.stdout)['facts']['node']
    check('numbers', 'too large', (node.get('memlock_bytes'), node['open_files']) == (None, 7), node)


def no_driver(base):
    run = probe(base, nvml='/nowhere/libnvidia-ml.so.1', cuda='/nowhere/libcuda.so.1')
    check('no driver', 'exit', run.returncode == 5, run.returncode)
    check('no driver', 'one sentence', run.stdout == '' and run.stderr.count('\n') == 1, run.stdout + run.stderr)


def saved(base):
    """--save on one machine, --facts on another: the same text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'facts.json')
        here = probe(base, '--save', path)
        there = probe({}, '--facts', path, nvml='/nowhere', cuda='/nowhere')
        check('saved', 'text', here.stdout == there.stdout and here.stdout, there.stdout + there.stderr)
        with open(path, 'rb') as file:
            first = file.read()
        again = probe({}, '--facts', path, '--save', '-', nvml='/nowhere', cuda='/nowhere')
        check('saved', 'bytes', again.stdout.encode() == first, again.stdout[:200])
        for bad, code in ((b'', 3), (b'{}', 3), (b'[', 3), (first[:len(first) // 2], 3), (b'{"schema": "ncclscope.facts/2"}', 3),
                          (b'{"schema": "ncclscope.facts/1", "gpus": 7, "pairs": [[]], "node": []}', 5)):
            with open(path, 'wb') as file:
                file.write(bad)
            run = probe({}, '--facts', path)
            check('saved', 'bad file %r' % bad[:40], run.returncode == code and run.stdout == '' and run.stderr.count('\n') == 1,
                  '%d %s %s' % (run.returncode, run.stdout, run.stderr))


def figure(facts, a, b, method):
    found = [m for m in facts['measured'] if (m['from'], m['to'], m['method']) == (a, b, method)]
    return found[0] if len(found) == 1 else {}


def measured(base):
    """What the machine measured once comes out again, when a library plays that it takes so long. Both ways at once are played as one way."""
    methods = ('ce-write', 'ce-read', 'sm-write', 'sm-read', 'shm', 'ce-both', 'latency')
    run = probe(base, *MEASURE)
    facts = json.loads(run.stdout)['facts']
    check('measured', 'exit', run.returncode == 0 and facts['skipped'] == [], '%d %s' % (run.returncode, facts['skipped']))
    check('measured', 'figures', len(facts['measured']) == 7 * 12, len(facts['measured']))
    for m in base['measured']:
        ours = figure(facts, m['from'], m['to'], m['method'])
        for key in ('mb_s', 'ns'):
            near = 0.1 if m['method'] in ('shm', 'ce-both') else 0.002
            check('measured', str(m), (key in m) == (key in ours) and abs(ours.get(key, 0) - m.get(key, 0)) <= near * m.get(key, 0), ours)
        check('measured', 'verified', ours.get('wrong_words') == m.get('wrong_words'), ours)
    one = json.loads(probe(base, *MEASURE, '--pairs', '3-1').stdout)['facts']
    check('measured', 'one pair', sorted((m['from'], m['to'], m['method']) for m in one['measured']) ==
          sorted((a, b, m) for a, b in ((1, 3), (3, 1)) for m in methods), one['measured'])
    apart = probe(changed(base, pair={'can_access': False}), *MEASURE, '--pairs', '0-1')
    check('measured', 'no P2P', {m['method'] for m in json.loads(apart.stdout)['facts']['measured']} == {'shm'}, apart.stdout[-300:])


def measured_wrong(base):
    """A slow pair and wrong data are found, and nothing else; trouble costs its figures and is told."""
    slow = copy.deepcopy(base)
    for m in slow['measured']:
        if (m['from'], m['to']) == (2, 0) and m['method'] == 'ce-write':
            m['mb_s'] = 120000
    for name, facts, wanted in (('a slow pair', slow, ['probe/slow-pair']), ('wrong data', copy.deepcopy(base), ['probe/data-mismatch'])):
        if name == 'wrong data':
            figure(facts, 1, 3, 'sm-read')['wrong_words'] = 7
        run = probe(facts, *MEASURE)
        report = json.loads(run.stdout)
        check(name, 'findings', run.returncode == 1 and findings(report) == wanted, '%d %s' % (run.returncode, findings(report)))
        pairs = [f['pairs'] for f in report['findings'] if f['id'] in wanted]
        check(name, 'pair', pairs == [[[0, 2]]] or pairs == [[[1, 3]]], pairs)
        there = probe({}, '--json', '--facts', saved_as(json.dumps(facts)))
        check(name, 'from a file', findings(json.loads(there.stdout)) == wanted, there.stdout[-300:])
    full = changed(base, gpu={'memory_used_bytes': base['gpus'][0]['memory_bytes'] - 1000}, which=lambda g: g['index'] == 3)
    for name, facts, trouble_, words, figures in (
            ('out of memory', base, 'cuMemAlloc=2', 'GPU 0: ', 0), ('no PTX', base, 'cuModuleLoadData=218', '(218)', 0),
            ('crash', base, 'cuLaunchKernel=crash', 'crashed (signal 11)', 0), ('a copy fails', base, 'cuMemcpyAsync=700', '(700)', 0),
            ('no context', base, 'cuDevicePrimaryCtxRetain=2', 'GPU 2: ', 0), ('in use', full, '', 'GPU 3 has only 0 MiB', 6 * 7)):
        run = probe(facts, *MEASURE, trouble=trouble_)
        report = json.loads(run.stdout)
        check(name, 'told', words in ' '.join(s['reason'] for s in report['facts']['skipped']), report['facts']['skipped'])
        check(name, 'figures', len(report['facts'].get('measured', [])) == figures, len(report['facts'].get('measured', [])))
        check(name, 'facts', report['facts']['gpus'] == facts['gpus'])
    for trouble_, words, least in (('cuMemcpyAsync@3000=crash', 'crashed (signal 11)', 10), ('cuEventSynchronize@60=hang', 'did not answer', 3)):
        run = probe(base, *MEASURE, trouble=trouble_)
        facts = json.loads(run.stdout)['facts']
        told = ' '.join(s['reason'] for s in facts['skipped'])
        check(trouble_, 'what was there', least <= len(facts.get('measured', [])) < 84, len(facts.get('measured', [])))
        check(trouble_, 'told', words in told and 'that was at: ' in told, told)
    run = probe(base, *MEASURE, trouble='cuCtxEnablePeerAccess@20=711')
    told = json.loads(run.stdout)['facts']['skipped']
    check('too many peers', 'told', '(711)' in told[0]['reason'] and 'given up after it failed' in told[-1]['reason'], told)
    for args in (['--seconds', '0'], ['--pairs', '0-9'], ['--pairs', '1-1'], ['--pairs', '0-1,'], ['--pairs', 'a-b'], ['--memory', '3'],
                 ['--memory', '1x'], ['--measure', '--facts', 'x']):
        run = probe(base, *([] if '--measure' in args else ['--measure']), *args)
        check('usage', ' '.join(args), run.returncode == 2 and run.stdout == '' and run.stderr.count('\n') == 1, run.stderr)


def own_runs(base):
    """NCCL is run, a process for each GPU: its log is read, and the figures are those that are played."""
    with tempfile.TemporaryDirectory() as folder:
        logs = {'NCCLSCOPE_FAKE_LOG': recorded_log('2.28.9/h200x4-default.log.gz', folder),
                'NCCLSCOPE_FAKE_LOG_2': recorded_log('2.30.7/h200x4-p2p-disabled-shm.log', folder)}
        kept = os.path.join(folder, 'kept.log')
        run = probe(base, '--json', '--nccl', '--memory', '2', '--env', 'NCCL_P2P_DISABLE=1', '--log', kept, **logs)
        report = json.loads(run.stdout)
        check('nccl', 'exit', run.returncode == 0 and report['facts']['skipped'] == [], run.stderr + str(report['facts']['skipped']))
        ours = report['facts']['collectives']
        check('nccl', 'arms', [(c['arm'], c['operation'], c['path'], c['via'].split('/')[0]) for c in ours] ==
              [(arm, op, path, via) for arm, path, via in (('default', 'nvlink', 'P2P'), ('NCCL_P2P_DISABLE=1', 'shm', 'SHM'))
               for op in ('all-reduce', 'send-recv')], ours)
        for c in ours:
            should = [m for m in base['collectives'] if all(m[k] == c[k] for k in ('arm', 'operation', 'bytes'))]
            check('nccl', 'figure', len(should) == 1 and abs(should[0]['us'] - c['us']) <= 1 and c['ranks'] == 4 and c['wrong_words'] == 0, c)
            bus = c['bytes'] / c['us'] * (1.5 if c['operation'] == 'all-reduce' else 1)
            check('nccl', 'bus bandwidth', abs(bus - c['mb_s']) <= 0.05 * bus, c)
        with open(kept, 'rb') as file:
            lines = sorted(file.read().split(b'\n'))
        should = [b''] + [line for path in logs.values() for line in open(path, 'rb').read().split(b'\n')
                          for r in range(4) if b'[%d] NCCL ' % r in line]  # of a torn line both ranks print it
        check('nccl', 'its log', sorted(should) == lines, '%d lines, not %d' % (len(lines), len(should)))
        text = probe(base, '--nccl', '--memory', '2', '--env', 'NCCL_P2P_DISABLE=1', **logs).stdout
        check('nccl', 'text', 'default: P2P/CUMEM, nvlink' in text and 'NCCL_P2P_DISABLE=1: SHM' in text and 'x the time of default' in text, text)
        read = saved_as(json.dumps(report['facts'] | {'schema': 'ncclscope.facts/1'}))
        again = json.loads(probe({}, '--json', '--facts', read).stdout)
        check('nccl', 'from a file', again['facts'].get('collectives') == ours, again['facts'].get('collectives'))
        wrong_sum = copy.deepcopy(base)
        wrong_sum['collectives'][0]['wrong_words'] = 3
        run = probe(wrong_sum, '--json', '--nccl', '--memory', '2', **logs)
        check('nccl', 'wrong data', run.returncode == 1 and findings(json.loads(run.stdout)) == ['probe/data-mismatch'], run.stdout[-500:])
        run = probe(base, '--json', '--nccl', '--memory', '2', NCCLSCOPE_FAKE_LAZY='1', **logs)
        check('nccl', 'work that is not done', findings(json.loads(run.stdout)) == ['probe/data-mismatch'], run.stdout[-300:])
        full = changed(base, gpu={'memory_used_bytes': base['gpus'][0]['memory_bytes'] - 1000}, which=lambda g: g['index'] == 3)
        run = probe(full, '--nccl', '--memory', '2', **logs)
        check('nccl', 'no room', run.returncode == 5 and 'rank 3 (GPU 3): it has only 0 MiB' in run.stderr, run.stderr)
        ignoring = subprocess.run(['sh', '-c', 'trap "" CHLD; exec "$0" probe --nccl --memory 2 -q', TOOL], capture_output=True, text=True, timeout=100,
                                  env=dict(os.environ, NCCLSCOPE_NVML=NVML, NCCLSCOPE_CUDA=CUDA, NCCLSCOPE_NCCL=NCCL,
                                           NCCLSCOPE_FAKE=os.path.join(MACHINES, 'h200x4.json'), LD_PRELOAD=PRELOADED,
                                           ASAN_OPTIONS='verify_asan_link_order=0', **logs))
        check('nccl', 'SIGCHLD ignored', ignoring.returncode == 0 and '4 GPUs' in ignoring.stdout, ignoring.stdout + ignoring.stderr)
        for trouble_, words, code in (('ncclCommInitRank=2', 'rank 1 (GPU 1): NCCL answers: unhandled system error', 5),
                                      ('ncclAllReduce=crash', 'crashed (signal 11)', 5), ('ncclGetUniqueId=3', '(3)', 5),
                                      ('ncclAllReduce=hang', 'did not end within 40 seconds', 5)):
            run = probe(base, '--nccl', '--memory', '2', '--seconds', '40', trouble=trouble_, **logs)
            check('nccl', trouble_, run.returncode == code and words in run.stderr and run.stderr.count('\n') == 1, '%d %s' % (run.returncode, run.stderr))
        run = probe(base, '--nccl', '--libnccl', '/nowhere/libnccl.so.2')
        check('nccl', 'no library', run.returncode == 5 and '/nowhere/libnccl.so.2' in run.stderr, run.stderr)
        for args in (['--nccl', '--env', 'x'], ['--nccl', '--env', 'CUDA_VISIBLE_DEVICES=1'], ['--nccl', '--env', ''], ['--nccl', '--env', '1=2'], ['--env', 'A=1']):
            run = probe(base, *args)
            check('usage', ' '.join(args), run.returncode == 2 and run.stdout == '' and run.stderr.count('\n') == 1, '%d %s' % (run.returncode, run.stderr))


def saved_as(text):
    with tempfile.NamedTemporaryFile('w', suffix='.json', delete=False) as file:
        file.write(text)
    atexit.register(os.remove, file.name)
    return file.name


def matrix():
    """The matrix is what nvidia-smi printed on the same machine, but for its underline."""
    for name in sorted(os.listdir(MACHINES)):
        if not name.endswith('.topo-m.txt'):
            continue
        with open(os.path.join(MACHINES, name), encoding='utf-8') as file:
            theirs = [line.replace('\x1b[4m', '').replace('\x1b[0m', '') for line in file.read().split('\n')]
        theirs = theirs[:theirs.index('')]
        run = probe(machine(name[:-len('.topo-m.txt')]))
        ours = run.stdout.split('\n')
        at = next(i for i, line in enumerate(ours) if line.startswith('\tGPU0'))
        check(name, 'matrix', ours[at:at + len(theirs)] == theirs, ours[at:at + len(theirs)])


def main():
    base = machine('h200x4')
    began = time.time()
    healthy_and_broken(base)
    an_old_driver(base)
    trouble(base)
    variables(base)
    numbers(base)
    no_driver(base)
    saved(base)
    matrix()
    measured(base)
    measured_wrong(base)
    own_runs(base)
    print('\n'.join(wrong))
    print('%d checks, %d wrong, %.0f s' % (checks, len(wrong), time.time() - began))
    return 1 if wrong or not checks else 0


sys.exit(main())

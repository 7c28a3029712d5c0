"""growth_shapes.py - logs that have many of one thing, of lines as NCCL prints them: what growth.py makes, and has read."""
import json


def line(host, pid, tid, dev, text):
    return '%s:%d:%d [%d] NCCL INFO %s' % (host, pid, tid, dev, text)


def begin(host, pid, dev, version='2.28.9'):
    return [line(host, pid, pid, dev, 'Bootstrap: Using eth0:192.0.2.1<0>'),
            line(host, pid, pid, dev, 'cudaDriverVersion 13000'),
            line(host, pid, pid, dev, 'NCCL version %s+cuda13.0' % version)]


def init(host, pid, dev, comm, rank, nranks, comm_id, what, func='ncclCommInitRank', bus=None):
    return line(host, pid, pid, dev, '%s comm 0x%x rank %d nranks %d cudaDev %d nvmlDev %d busId %x%s - Init %s' % (
        func, comm, rank, nranks, dev, dev, bus or (0x1a000 + dev * 0x1000), ' commId 0x%x' % comm_id if comm_id else '', what))


def name(n):
    """A commId as NCCL makes it: 64 bits without order."""
    return (n * 0x9E3779B97F4A7C15 + 0x1234567) % 2**63 | 2**60


def connect(host, pid, dev, src, dst, via='P2P/CUMEM', channel=0):
    return line(host, pid, pid, dev, 'Channel %02d/0 : %d[%d] -> %d[%d] via %s' % (channel, src, src % 8, dst, dst % 8, via))


def one_log(lines):
    return {'job.log': '\n'.join(lines) + '\n'}


# ---- communicators ----

def ranks_without_id(n):
    """Pairs of ranks of processes that print no commId, as up to 2.14."""
    out = []
    for i in range(n):
        host, pid = 'node%d' % (i // 8), 1000 + i % 8
        out += [line(host, pid, pid, i % 8, 'NCCL version 2.14.3+cuda11.7'),
                line(host, pid, pid, i % 8, 'comm 0x7f%08x rank %d nranks 2 cudaDev %d busId %x - Init COMPLETE' % (
                    i * 4096, i % 2, i % 8, 0x1a000 + i % 8 * 0x1000))]
    return one_log(out)


def comms_without_id(n):
    """One process makes one communicator after the other, and no line says which is which."""
    out = []
    for pid in (1000, 1001):
        out.append(line('vm', pid, pid, pid - 1000, 'NCCL version 2.14.3+cuda11.7'))
        out += [line('vm', pid, pid, pid - 1000, 'comm 0x7f%08x rank %d nranks 2 cudaDev %d busId %x - Init COMPLETE' % (
            i * 4096, pid - 1000, pid - 1000, 0x1a000 + 0x1000 * (pid - 1000))) for i in range(n // 2)]
    return one_log(out)


def pointer_used_again(n):
    out = begin('vm', 100, 0)
    for i in range(n):
        out += [init('vm', 100, 0, 0x5581f00d0000, 0, 2, name(i), 'START'),
                init('vm', 100, 0, 0x5581f00d0000, 0, 2, name(i), 'COMPLETE'),
                line('vm', 100, 100, 0, 'comm 0x5581f00d0000 rank 0 nranks 2 cudaDev 0 busId 1a000 - Destroy COMPLETE')]
    return one_log(out)


def comms_with_batches(n):
    out = begin('vm', 100, 0)
    for i in range(n):
        comm = 0x5581f00d0000 + i * 4096
        out += [init('vm', 100, 0, comm, 0, 2, name(i), 'START'), init('vm', 100, 0, comm, 0, 2, name(i), 'COMPLETE'),
                connect('vm', 100, 0, 0, 1), connect('vm', 100, 0, 0, 1, channel=1), line('vm', 100, 100, 0, 'Connected all rings')]
    return one_log(out)


def jobs_one_after_another(n):
    """In one file, on one machine, each of new processes: a directory of results put together."""
    out = []
    for i in range(n):
        for dev in (0, 1):
            pid = 1000 + 2 * i + dev
            out += begin('vm', pid, dev) + [init('vm', pid, dev, 0x5581f00d0000, dev, 2, name(i), 'START'),
                                            line('vm', pid, pid, dev, 'NVLS multicast support is not available on dev %d' % dev),
                                            init('vm', pid, dev, 0x5581f00d0000, dev, 2, name(i), 'COMPLETE'),
                                            connect('vm', pid, dev, dev, 1 - dev), line('vm', pid, pid, dev, 'Connected all rings')]
    return one_log(out)


def batches_of_old_comms(n):
    """The communicators come first, their connections when they are first used."""
    out, comms = begin('vm', 100, 0), [0x5581f00d0000 + i * 4096 for i in range(n)]
    for i, comm in enumerate(comms):
        out += [init('vm', 100, 0, comm, 0, 4, name(i), 'START'), init('vm', 100, 0, comm, 0, 4, name(i), 'COMPLETE')]
    for i in range(n):
        out += [connect('vm', 100, 0, 0, 1 + i % 3), line('vm', 100, 100, 0, 'Connected all rings')]
    return one_log(out)


def links_of_a_batch(n):
    out = begin('vm', 100, 0) + [init('vm', 100, 0, 0x5581f00d0000, 0, n + 1, name(1), 'START'),
                                 init('vm', 100, 0, 0x5581f00d0000, 0, n + 1, name(1), 'COMPLETE')]
    out += [connect('vm', 100, 0, 0, i + 1, 'NET/IB/0/GDRDMA') for i in range(n)]
    return one_log(out)


def distinct_ids(n):
    out = begin('vm', 100, 0)
    for i in range(n):
        comm = 0x5581f00d0000 + i * 4096
        out += [init('vm', 100, 0, comm, 0, 2, name(i), 'START'), init('vm', 100, 0, comm, 0, 2, name(i), 'COMPLETE')]
    return one_log(out)


def split_lines(i, comm, parent, colour, said):
    """`said`: what stands of the communicator behind its bus id."""
    said %= {'parent': parent, 'nth': i + 1, 'colour': colour, 'id': name(colour + 1)}
    return [line('vm', 100, 100, 0, 'ncclCommSplit comm 0x%x rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1a000 %s- Init %s' % (comm, said, 'START')),
            line('vm', 100, 100, 0, 'ncclCommSplit comm 0x%x rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1a000 %s - Init %s' % (
                comm, said.rstrip(), 'COMPLETE'))]


def splits_of(n, said, pointers):
    """Children of one parent, in four colours; `pointers`: how many NCCL uses for them, in turn."""
    parent = 0x5581e00d0000
    out = begin('vm', 100, 0) + [init('vm', 100, 0, parent, 0, 8, name(0), what) for what in ('START', 'COMPLETE')]
    for i in range(n):
        comm = 0x5581f00d0000 + i % pointers * 4096
        out += split_lines(i, comm, parent, i % 4, said)
        out.append(line('vm', 100, 100, 0, 'comm 0x%x rank 0 nranks 2 cudaDev 0 busId 1a000 - Destroy COMPLETE' % comm))
    return one_log(out)


def splits(n):
    """2.27: the parent, how many children it had made, and an id."""
    return splits_of(n, 'commId 0x%(id)x parent 0x%(parent)x childCount %(nth)d color %(colour)d key 0 ', n)


def splits_of_one_pointer(n):
    return splits_of(n, 'commId 0x%(id)x parent 0x%(parent)x childCount %(nth)d color %(colour)d key 0 ', 1)


def splits_of_one_id(n):
    """Up to 2.22 all children of a parent and colour have one commId."""
    return splits_of(n, 'parent 0x%(parent)x color %(colour)d key 0 commId 0x%(id)x ', n)


def splits_without_id(n):
    return splits_of(n, 'parent 0x%(parent)x splitCount %(nth)d color %(colour)d key 0', n)


def lost_beginnings(n):
    """Communicators of which half the ranks lost the line with their id."""
    out = []
    for i in range(n // 2):
        comm = 0x5581f00d0000 + i * 4096
        for rank in range(2):
            host, pid = 'node%d' % (i // 4), 100 + 2 * (i % 4) + rank
            text = '%s rank %d nranks 2 cudaDev %d nvmlDev %d busId %x' % ('ncclCommInitRank comm 0x%x' % comm, rank, rank, rank,
                                                                         0x1a000 + rank * 0x1000)
            out.append(line(host, pid, pid, rank, text + (' commId 0x%x' % name(i) if not rank else '') + ' - Init COMPLETE'))
    return one_log(out)


def ranks_of_a_ring(n):
    out = []
    for i in range(n):
        host, pid, comm = 'node%d' % (i // 8), 100 + i % 8, 0x5581f00d0000 + i * 4096
        out += [init(host, pid, i % 8, comm, i, n, name(1), 'START'), init(host, pid, i % 8, comm, i, n, name(1), 'COMPLETE'),
                line(host, pid, pid, i % 8, 'Channel %02d/0 : %d[%d] -> %d[%d] via %s' % (
                    0, i, i % 8, (i + 1) % n, (i + 1) % 8, 'P2P/CUMEM' if i % 8 != 7 else 'NET/IB/0/GDRDMA'))]
    return one_log(out)


def ranks_of_a_node(n):
    """A ring whose ranks NCCL counts as of one host."""
    out = []
    for i in range(n):
        pid, comm = 100 + i, 0x5581f00d0000 + i * 4096
        out += [init('vm', pid, i % 8, comm, i, n, name(1), 'START', bus=0x1000 * (i + 1)),
                init('vm', pid, i % 8, comm, i, n, name(1), 'COMPLETE', bus=0x1000 * (i + 1)),
                connect('vm', pid, i % 8, i, (i + 1) % n, 'SHM/direct/direct')]
    return one_log(out)


def listed_rings(n):
    """Channels, rings and trees of one process, which names its communicator late."""
    out = begin('vm', 100, 0)
    for i in range(n):
        out += [line('vm', 100, 100, 0, 'Channel %02d/%d :    0   1' % (i % 32, 32)),
                line('vm', 100, 100, 0, 'Trees [0] 1/-1/-1->0->-1')]
        if i % 4 == 3:
            out.append(init('vm', 100, 0, 0x5581f00d0000 + i * 4096, 0, 2, name(i), 'COMPLETE'))
    return one_log(out)


def failed_ranks(n):
    """Each process fails in its initialisation."""
    out = []
    for i in range(n):
        host, pid = 'node%d' % (i // 8), 100 + i % 8
        out += [init(host, pid, i % 8, 0x5581f00d0000 + i * 4096, i, n, name(1), 'START'),
                '%s:%d:%d [%d] misc/socket.cc:484 NCCL WARN socketPollConnect: connect to 192.0.2.1<%d> returned Connection refused, '
                'exceeded error retry count (35)' % (host, pid, pid, i % 8, 10000 + i),
                line(host, pid, pid, i % 8, 'bootstrap.cc:310 -> 6'), line(host, pid, pid, i % 8, 'init.cc:1234 -> 6')]
    return one_log(out)


def hung_ranks(n):
    """Half the ranks begin, and do not end."""
    out = []
    for i in range(n):
        host, pid, comm = 'node%d' % (i // 8), 100 + i % 8, 0x5581f00d0000 + i * 4096
        out.append(init(host, pid, i % 8, comm, i, n, name(1), 'START'))
        if i % 2:
            out.append(init(host, pid, i % 8, comm, i, n, name(1), 'COMPLETE'))
    return one_log(out)


def missing_ranks(n):
    """Of each communicator one of two ranks is missing."""
    out = []
    for i in range(n):
        host, pid, comm = 'node%d' % (i // 8), 100 + i % 8, 0x5581f00d0000 + i * 4096
        out.append(init(host, pid, i % 8, comm, 0, 2, name(i), 'START'))
    return one_log(out)


def calls(n):
    """Each rank calls a collective."""
    out = []
    for i in range(n):
        host, pid, comm = 'node%d' % (i // 8), 100 + i % 8, 0x5581f00d0000 + i * 4096
        out += [init(host, pid, i % 8, comm, i, n, name(1), 'START'), init(host, pid, i % 8, comm, i, n, name(1), 'COMPLETE'),
                line(host, pid, pid, i % 8, 'AllReduce: opCount %x sendbuff 0x7f0000000000 recvbuff 0x7f0000000000 count %d datatype 7 op 0 '
                     'root 0 comm 0x%x [nranks=%d] stream 0x5581f0ad0000' % (i % 7, 1024 + i % 7, comm, n))]
    return one_log(out)


# ---- processes and hosts ----

def hosts(n):
    out = []
    for i in range(n):
        out += begin('node%d' % i, 100, 0) + [init('node%d' % i, 100, 0, 0x5581f00d0000, i, n, name(1), 'START')]
    return one_log(out)


def hosts_by_one_communicator_each(n):
    out = []
    for i in range(n):
        for rank in range(2):
            out += [init('node%d' % i, 100 + rank, rank, 0x5581f00d0000, rank, 2, name(i), what) for what in ('START', 'COMPLETE')]
    return one_log(out)


def torn_names(n):
    """A process whose lines other writers cut into: each time another host seems to speak."""
    out = []
    for i in range(n):
        out += [line('node-a', 100, 1000 + i, 0, 'Using network IB')] * 4
        out.append(line('node-%dxb' % i, 100, 1000 + i, 0, 'Using network IB'))
    return one_log(out)


def variables(n):
    """Each process tells its variables."""
    out = []
    for i in range(n):
        host, pid = 'node%d' % (i // 8), 100 + i % 8
        out += [line(host, pid, pid, i % 8, 'NCCL_P2P_DISABLE set by environment to 1'),
                line(host, pid, pid, i % 8, 'NCCL_SOCKET_IFNAME set by environment to eth%d' % i),
                init(host, pid, i % 8, 0x5581f00d0000, i, n, name(1), 'START')]
    return one_log(out)


def networks(n):
    """Each host has NICs of its own."""
    out = []
    for i in range(n):
        host = 'node%d' % i
        out += [line(host, 100, 100, 0, 'NET/IB : Using [0]mlx5_%d:1/IB [1]mlx5_%d:1/RoCE [RO]; OOB eth0:192.0.2.1<0>' % (i, i + 1)),
                line(host, 100, 100, 0, 'Using network IB'),
                line(host, 100, 100, 0, 'NET/IB : GPU Direct RDMA Enabled for HCA 0 \'mlx5_%d\'' % i),
                line(host, 100, 100, 0, 'GPU Direct RDMA Disabled for GPU 0 / HCA %d (distance 9 > 5)' % i)]
    return one_log(out)


def threads(n):
    """Thread ids without an end: a flood, as of a program that makes a thread for each call."""
    out = begin('vm', 100, 0)
    out += ['vm:100:%d [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM' % (1000 + i) for i in range(n)]
    return one_log(out)


def silent_threads(n):
    out = begin('vm', 100, 0)
    out += ['vm:100:%d [0] NCCL INFO P2P Chunksize set to 131072' % (1000 + i) for i in range(n)]
    return one_log(out)


# ---- what goes wrong, and who tells it ----

def warnings(n):
    words = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta', 'iota', 'kappa']

    def spelt(i):
        return ' '.join(words[int(d)] for d in str(i))
    return one_log(['vm:%d:%d [0] misc/socket.cc:484 NCCL WARN Something of %s went wrong' % (100 + i % 64, 100 + i % 64, spelt(i))
                    for i in range(n)])


def watchdog(n):
    out = []
    for i in range(n):
        head = '[rank%d]:[E709 17:05:38.162555850 ProcessGroupNCCL.cpp:632] ' % i
        out += [head + '[Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=20585, OpType=ALLREDUCE, NumelIn=1259621, '
                'NumelOut=1259621, Timeout(ms)=600000) ran for 600031 milliseconds before timing out.' % i,
                head + '[PG ID 0 PG GUID 0(default_pg) Rank %d]  failure detected by watchdog at work sequence id: 20585 PG status: last '
                'enqueued work: 20589, last completed work: 20584' % i]
    return one_log(out)


def watchdog_of_groups(n):
    """As many groups as ranks."""
    return one_log(['[rank%d]:[E709 17:05:38.162814866 ProcessGroupNCCL.cpp:2271] [PG ID %d PG GUID %d(mesh_%d) Rank %d]  failure detected by '
                    'watchdog at work sequence id: 5 PG status: last enqueued work: 9, last completed work: 4' % (i, i, i, i, i)
                    for i in range(n)])


def ras(n):
    out = ['#0-0 (78db921d1c117b4a) MISMATCH', '  Communicator ranks have different AllReduce operation counts',
           '  %d ranks have launched up to operation 64' % (2 * n)]
    out += ['  Rank %d has launched up to operation 60 -- GPU %d managed by process %d on node node%d' % (i, i % 8, 1000 + i, i // 8)
            for i in range(n)]
    return one_log(out)


def ras_lost(n):
    return one_log(['DEAD', '  %d job processes are considered dead (unreachable via the RAS network)' % n] + [
        '  Process %d on node node%d managing GPU %d' % (1000 + i, i // 8, i % 8) for i in range(n)])


def killed_tasks(n):
    return one_log(['srun: error: node%d: task %d: Killed' % (i // 8, i) for i in range(n)])


def crashes(n):
    return one_log(['[node%d:%d:0:%d] Caught signal 11 (Segmentation fault: address not mapped to object at address (nil))' % (
        i // 8, 1000 + i, 1000 + i) for i in range(n)])


def exceptions(n):
    out = []
    for i in range(n):
        out += ['[rank%d]: Traceback (most recent call last):' % i, '[rank%d]:   File "/home/u/train.py", line 3, in <module>' % i,
                '[rank%d]: RuntimeError: expected %d and got %d' % (i, i, i + 1)]
    return one_log(out)


def caught_exceptions(n):
    out = begin('vm', 1, 0)
    for i in range(n):
        out += ['Traceback (most recent call last):', '  File "/home/u/train.py", line 3, in main', 'ValueError: bad %d' % i]
    return one_log(out + ['step %d loss 2.%d' % (s, s) for s in range(1, 20)])


def outlived_errors_of_gpus(n):
    return one_log(begin('vm', 1, 0) + [
        'kernel: NVRM: Xid (PCI:0000:4e:00): 48, pid=%d, name=python, An uncorrectable double bit error (DBE) has been detected' % i
        for i in range(n)] + ['Segmentation fault (core dumped)'] + ['step %d loss 2.%d' % (s, s) for s in range(1, 20)])


def ports_that_came_back(n):
    return one_log(['vm:%d:%d [0] transport/net_ib.cc:94 NCCL WARN NET/IB : mlx5_0:1 Got async event : port %s' % (i, i, state)
                    for state in ('error', 'active') for i in range(100, n + 100)])


def torchruns(n):
    out = []
    for i in range(n):
        out += ['Root Cause (first observed failure):', '[0]:', '  time      : 2026-01-02_03:04:05', '  host      : node%d' % i,
                '  rank      : %d (local_rank: 0)' % i, '  exitcode  : -6 (pid: 1234)']
    return one_log(out)


def closed_by_peers(n):
    return one_log(['vm%d:%d:%d [%d] NCCL INFO [Service thread] Connection closed by localRank %d' % (
        i // 8, 100 + i % 8, 200 + i % 8, i % 8, (i + 1) % 8) for i in range(n)])


# ---- the machine ----

def paths_of_machines(n):
    """A dump of each machine's paths."""
    out = []
    for i in range(n):
        host = 'node%d' % i
        out += [line(host, 100, 100, 0, text) for text in (
            '=== System : maxBw 40.0 totalBw 240.0 ===', 'CPU/0-0 (1/1/2)', '+ PCI[24.0] - GPU/0-1a000 (0)',
            '+ NVL[240.0] - NVS/0', 'GPU/0-1a000 :GPU/0-1a000 (0/5000.0/LOC) GPU/0-1b000 (2/240.0/NVL) CPU/0-0 (1/24.0/PHB)')]
        out += [init(host, 100, 0, 0x5581f00d0000, i, n, name(1), 'START')]
    return one_log(out)


def tests(n):
    """Rows of nccl-tests."""
    return one_log(['#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong'] + [
        '  %11d  %12d     float     sum      -1    %.2f    %.2f    %.2f      0    %.2f    %.2f    %.2f      0' % (
            1024 + 4 * i, 256 + i, 10 + i % 7, 1.0, 1.5, 11 + i % 7, 1.0, 1.5) for i in range(n)])


def lone_lists(n):
    """Processes of nccl-tests each of which lists itself alone, and then their rows."""
    return one_log(['#  Rank  0 Group  0 Pid %d on node%d device  0 [0x03] NVIDIA A100-PCIE-40GB' % (1000 + i, i) for i in range(n)] + [
        '  %11d  %12d     float     sum      -1    %.2f    %.2f    %.2f      0    %.2f    %.2f    %.2f      0' % (
            1024 + 4 * i, 256 + i, 10 + i % 7, 1.0, 1.5, 11 + i % 7, 1.0, 1.5) for i in range(n)])


def one_long_line(n):
    """Lines of another program that grow themselves, each with words for which it is looked at closely: what an expression tries again and
    again within one of them shows in seconds alone."""
    words = ' the quick brown fox: jumps [over] the lazy dog, and so on |' * n
    return one_log(['WARNING request %d failed in 5s, exit code 1, NCCL_ALGO=, died: %s' % (i, words) for i in range(8)])


def python_crashes(n):
    out = []
    for i in range(n):
        mark = '(Worker pid=%d) ' % i
        out += [mark + 'Fatal Python error: Segmentation fault', mark + 'Current thread 0x00007f2ea0870640 (most recent call first):',
                mark + '  File "/job/model.py", line 3 in forward']
    return one_log(out)


def still_watchdogs(n):
    return one_log(["[rank%d]:[F ProcessGroupNCCL.cpp:1169] [PG 0 Rank %d] [PG 0 Rank %d] ProcessGroupNCCL's watchdog got stuck for 600 seconds" % (
        i, i, i) for i in range(n)])


def listed_alike(n):
    """Ranks of one torchrun's summary that end by one signal."""
    out = []
    for i in range(n):
        out += ['[%d]:' % i, '  time      : 2026-01-02_03:04:05', '  host      : node0', '  rank      : %d (local_rank: %d)' % (i + 1, i + 1),
                '  exitcode  : -11 (pid: %d)' % (1000 + i)]
    return one_log(out + ['Root Cause (first observed failure):', '[0]:', '  time      : 2026-01-02_03:04:05', '  rank      : 0 (local_rank: 0)',
                          '  exitcode  : -11 (pid: 999)'])


# ---- inputs ----

def small_files(n):
    """A file a rank, as NCCL_DEBUG_FILE makes them; each process stands in two of them."""
    files = {}
    for i in range(n):
        rank = i // 2
        host, pid = 'node%d' % (rank // 8), 100 + rank % 8
        comm = 0x5581f00d0000 + rank * 4096
        lines = begin(host, pid, rank % 8) + [init(host, pid, rank % 8, comm, rank, n, name(1), 'START')] if i % 2 == 0 else []
        lines += [line(host, pid, pid, rank % 8, 'NET/OFI Libfabric provider associates MRs with endpoints'),
                  line(host, pid, pid, rank % 8, 'Channel 0%d/0 : %d[%d] -> %d[%d] via P2P/CUMEM' % (
                      i % 2, rank, rank % 8, rank + 1, (rank + 1) % 8))]
        files['rank%06d.%d.log' % (rank, i % 2)] = '\n'.join(lines) + '\n'
    return files


def files_of_one_name(n):
    """Pods, each a file, that all see the host name and process 1 of a container."""
    files = {}
    for i in range(n):
        lines = begin('worker', 1, 0) + [init('worker', 1, 0, 0x5581f00d0000, i, n, name(1), what) for what in ('START', 'COMPLETE')]
        files['pod%06d.log' % i] = '\n'.join(lines) + '\n'
    return files


def ranks_of_a_large_old_communicator(n):
    """One communicator of n ranks that print no commId, and whom each is joined to by P2P."""
    out = []
    for i in range(n):
        host, pid = 'node%d' % (i // 8), 1000 + i % 8
        out += [line(host, pid, pid, i % 8, 'comm 0x7f%08x rank %d nranks %d cudaDev %d busId %x - Init COMPLETE' % (
            i * 4096, i, n, i % 8, 0x1a000 + i % 8 * 0x1000)),
                line(host, pid, pid, i % 8, 'Channel 00 : %d[%x] -> %d[%x] via P2P/IPC' % (
                    i, 0x1a000 + i % 8 * 0x1000, i // 8 * 8 + (i + 1) % 8, 0x1a000 + (i + 1) % 8 * 0x1000))]
    return one_log(out)


def one_id_again(n):
    """A fixed id (NCCL_COMM_ID), for one communicator after the other."""
    out = begin('vm', 100, 0)
    for i in range(n):
        comm = 0x5581f00d0000 + i * 4096
        out += [init('vm', 100, 0, comm, 0, 1, name(1), 'START'), init('vm', 100, 0, comm, 0, 1, name(1), 'COMPLETE')]
    return one_log(out)


def unused_comms(n):
    """Communicators that are made and destroyed, and one that is used again and again."""
    used = 0x5581e00d0000
    out = begin('vm', 100, 0)
    for i in range(n):
        comm = 0x5581f00d0000 + i * 4096
        out += [init('vm', 100, 0, comm, 0, 2, name(i), 'START'), init('vm', 100, 0, comm, 0, 2, name(i), 'COMPLETE'),
                line('vm', 100, 100, 0, 'comm 0x%x rank 0 nranks 2 cudaDev 0 busId 1a000 - Destroy COMPLETE' % comm)]
    out += [init('vm', 100, 0, used, 0, n + 1, name(n), what) for what in ('START', 'COMPLETE')]
    for i in range(n):
        out += [connect('vm', 100, 0, 0, 1 + i), line('vm', 100, 100, 0, 'Connected all rings')]
    return one_log(out)


def failed_communicators(n):
    """Each of a communicator of its own whose other rank never came, and each fails."""
    out = []
    for i in range(n):
        host, pid = 'node%d' % (i // 8), 100 + i % 8
        out += [init(host, pid, i % 8, 0x5581f00d0000 + i * 4096, 0, 2, name(i), 'START'),
                '%s:%d:%d [%d] misc/socket.cc:484 NCCL WARN socketPollConnect: connect to 192.0.2.1<%d> returned Connection timed out, '
                'exceeded error retry count (35)' % (host, pid, pid, i % 8, 10000 + i),
                line(host, pid, pid, i % 8, 'init.cc:1234 -> 6')]
    return one_log(out)


def told_twice(n):
    """The same log given twice."""
    lines = []
    for i in range(n):
        host, pid, comm = 'node%d' % (i // 8), 100 + i % 8, 0x5581f00d0000 + i * 4096
        lines += [init(host, pid, i % 8, comm, i, n, name(1), what) for what in ('START', 'COMPLETE')]
    text = '\n'.join(lines) + '\n'
    return {'first.log': text, 'second.log': text}


def rotated(n):
    """A process whose log goes on in a second file: there its communicators are destroyed."""
    first, second = begin('vm', 100, 0), []
    for i in range(n):
        comm = 0x5581f00d0000 + i * 4096
        first += [init('vm', 100, 0, comm, 0, 2, name(i), what) for what in ('START', 'COMPLETE')]
        second += [connect('vm', 100, 0, 0, 1), line('vm', 100, 100, 0, 'Connected all rings'),
                   line('vm', 100, 100, 0, 'comm 0x%x rank 0 nranks 2 cudaDev 0 busId 1a000 - Destroy COMPLETE' % comm)]
    return {'job.1.log': '\n'.join(first) + '\n', 'job.2.log': '\n'.join(second) + '\n'}


def different_variables(n):
    out = begin('vm', 100, 0) + [line('vm', 100, 100, 0, 'NCCL_X%06d set by environment to 1' % i) for i in range(n)]
    return one_log(out)


def net_devices(n):
    """A machine of so many NICs, told in lines of 16."""
    out = begin('vm', 100, 0)
    for i in range(0, n, 16):
        out.append(line('vm', 100, 100, 0, 'NET/IB : Using ' + ' '.join('[%d]mlx5_%d:1/IB' % (k, k) for k in range(i, i + 16)) +
                        ' [RO]; OOB eth0:192.0.2.1<0>'))
    return one_log(out)


def gdr_pairs(n):
    out = begin('vm', 100, 0)
    out += [line('vm', 100, 100, 0, 'GPU Direct RDMA Enabled for GPU %x / HCA %d (distance 4 <= 5), read 0 mode Default' % (0x1a000 + i, i))
            for i in range(n)]
    return one_log(out)


def closed_by_lost(n):
    """Of each host one rank vanishes."""
    out = []
    for i in range(n):
        out += [line('node%d' % i, 100 + k, 200 + k, k, '[Service thread] Connection closed by localRank 7') for k in range(2)]
    return one_log(out)


def closed_in_groups(n):
    """A rank of many groups vanishes: to its peers it has another local rank in each, and some of what they see close is their own."""
    out = [line('vm', 100 + p, 1000 + k, p, 'comm 0x%x%d rank %d nranks 3 cudaDev %d busId %d0 commId 0x%xa - Init COMPLETE' % (
        k + 1, p, p, p, p, k + 1)) for k in range(n) for p in range(2)]
    out += [line('vm', 100 + p, 900000 + k, p, '[Service thread] Connection closed by localRank %d' % (p, 2)[k % 2])
            for k in range(n) for p in range(2)]
    return one_log(out)


def closed_by_strangers(n):
    """Something at NCCL's port that is no rank, and many connections that end behind it."""
    out = begin('vm', 99, 0)
    out.append('vm:99:99 [0] misc/socket.cc:428 NCCL WARN socketFinalizeAccept: wrong magic 4f484320 != 4e43434c')
    for i in range(n):
        out += [line('vm', 100 + i, 100 + i, i % 8, 'NCCL version 2.28.9+cuda13.0'),
                'vm:%d:%d [%d] misc/socket.cc:47 NCCL WARN socketProgress: Connection closed by remote peer 192.0.2.%d<%d>' % (
                    100 + i, 100 + i, i % 8, 1 + i % 250, 30000 + i)]
    return one_log(out)


def shared_gpus(n):
    """All ranks on one GPU, each told beside the one before it."""
    out = []
    for i in range(n):
        out += begin('vm', 100 + i, 0)
        out.append('vm:%d:%d [0] init.cc:795 NCCL WARN Duplicate GPU detected : rank %d and rank %d both on CUDA device 31000' % (
            100 + i, 100 + i, i, i + 1))
    return one_log(out)


def limited_channels(n):
    out = []
    for i in range(n):
        host = 'node%d' % i
        out += [line(host, 100, 100, 0, text) for text in (
            'Bootstrap: Using eth0:10.%d.%d.2<0>' % (i // 250, i % 250), 'NCCL version 2.28.9+cuda13.0', 'NCCL_MAX_NCHANNELS set by environment to 2.')]
        out += [init(host, 100, 0, 0x5581f00d0000, i, n, name(1), 'START'),
                line(host, 100, 100, 0, '2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels'),
                init(host, 100, 0, 0x5581f00d0000, i, n, name(1), 'COMPLETE')]
    return one_log(out)


def nodes_of_one_gpu(n):
    """A communicator over as many nodes as ranks, without its connections: each rank says that it has no P2P within its node."""
    out = []
    for i in range(n):
        host = name(i)
        out += [init(host, 100, 0, 0x5581f00d0000, i, n, name(1), 'START'), line(host, 100, 100, 0, 'Check P2P Type isAllDirectP2p 0 directMode 0'),
                init(host, 100, 0, 0x5581f00d0000, i, n, name(1), 'COMPLETE')]
    return one_log(out)


def commands(n):
    """A script of runs, each by its command."""
    out = []
    for i in range(n):
        out += ['+ mpirun -np 2 -x NCCL_P2P_DISABLE=1 -x NCCL_DEBUG=INFO ./train'] + [
            line('vm', 100 + 2 * i + k, 100 + 2 * i + k, k, 'NCCL version 2.18.5+cuda12.2') for k in range(2)]
    return one_log(out)


def pods_in_a_ring(n):
    """As many host names as ranks, joined by P2P."""
    out = []
    for i in range(n):
        out.append(line('pod%d' % i, 100, 100, 0, 'Bootstrap: Using eth0:10.%d.%d.2<0>' % (i // 250, i % 250)))
    for what in ('START', 'COMPLETE'):
        out += [init('pod%d' % i, 100, 0, 0x5581f00d0000, i, n, name(1), what, bus=0x1000 + 16 * i) for i in range(n)]
    out += [connect('pod%d' % i, 100, 0, i, (i + 1) % n) for i in range(n)]
    return one_log(out)


def ras_json(n):
    ranks = [{'rank': i, 'host': '192.0.2.%d' % (i % 250), 'pid': 100 + i, 'cuda_dev': i % 8, 'nvml_dev': i % 8, 'missing': False,
              'init_state': 0, 'async_error': 0, 'finalize_called': False, 'destroy_flag': False, 'abort_flag': False,
              'collective_counts': {'AllReduce': 60 + i % 3}} for i in range(n)]
    return one_log(json.dumps({'nccl_version': '2.28.9', 'communicators_count': 1, 'communicators': [
        {'hash': '0x78db921d1c117b4a', 'size': n, 'ranks': ranks}]}, indent=2).splitlines())


def matrices(n):
    """nvidia-smi topo -m of each host."""
    out = []
    for _ in range(n):
        out += ['\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity', 'GPU0\t X \tNV18\t0-47\t0', 'GPU1\tNV18\t X \t0-47\t0', '']
    return one_log(out)


def unknown_lines(n):
    return one_log([line('vm', 100, 100, 0, 'A plugin of ours says %d and %x' % (i, i * 7919)) for i in range(n)])


def torn_lines(n):
    return one_log([x for i in range(n) for x in (
        'vm:100:100 [0] NCCL INFO Channel 00/0 : %d[0] -> %d[1] viavm:101:101 [1] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via P2P/CUMEM' % (
            i, i + 1), ' P2P/CUMEM')])


def pod_file(pods):
    return json.dumps({'apiVersion': 'v1', 'kind': 'List', 'items': pods})


def pod(n, env, limits):
    return {'kind': 'Pod', 'metadata': {'name': 'train-%d' % n},
            'spec': {'nodeName': 'node-%d' % n, 'containers': [{'name': 'train', 'env': env, 'resources': {'limits': limits}}]}}


LITTLE = '\n'.join(begin('train-0', 100, 0) + [init('train-0', 100, 0, 0x5581f00d0000, 0, 1, name(1), 'START')]) + '\n'


def pod_variable_repeated(n):
    return {'job.log': LITTLE, 'pods.json': pod_file([pod(0, [{'name': 'NCCL_DEBUG', 'value': str(i)} for i in range(n)],
                                                          {'nvidia.com/gpu': '8'})])}


def pod_variables(n):
    return {'job.log': LITTLE, 'pods.json': pod_file([pod(0, [{'name': 'NCCL_X%06d' % i, 'value': str(i)} for i in range(n)],
                                                          {'nvidia.com/gpu': '8'})])}


def pod_limits(n):
    env = [{'name': 'NCCL_X%06d' % i, 'value': '1'} for i in range(n)]
    return {'job.log': LITTLE, 'pods.json': pod_file([pod(0, env, {'example.com/r%d' % i: '1' for i in range(n)})])}


def pods(n):
    log = []
    for i in range(n):
        log += begin('train-%d' % i, 100, 0)
    return {'job.log': '\n'.join(log) + '\n',
            'pods.json': pod_file([pod(i, [{'name': 'NCCL_P2P_DISABLE', 'value': '1'}], {'nvidia.com/gpu': '8'}) for i in range(n)])}


def pod_containers(n):
    p = pod(0, [], {})
    p['spec']['containers'] = [{'name': 'c%d' % i, 'env': [{'name': 'NCCL_DEBUG', 'value': str(i)}], 'resources': {'limits': {
        'nvidia.com/gpu': '1'}}, 'volumeMounts': [{'name': 'v%d' % i, 'mountPath': '/dev/shm'}]} for i in range(n)]
    p['spec']['volumes'] = [{'name': 'v%d' % i, 'emptyDir': {'medium': 'Memory'}} for i in range(n)]
    return {'job.log': LITTLE, 'pods.json': pod_file([p])}


# Of each: the N of the test, and that of the table.
SHAPES = {
    ranks_without_id: (400, 5000), comms_without_id: (400, 5000), pointer_used_again: (300, 5000), comms_with_batches: (150, 5000),
    batches_of_old_comms: (150, 5000), links_of_a_batch: (600, 20000), distinct_ids: (200, 10000), splits: (200, 10000), splits_of_one_pointer: (200, 10000),
    splits_of_one_id: (200, 10000), splits_without_id: (200, 10000),
    lost_beginnings: (200, 10000), ranks_of_a_ring: (150, 16000), ranks_of_a_node: (200, 8000), listed_rings: (400, 10000),
    nodes_of_one_gpu: (200, 10000),
    failed_ranks: (120, 10000), hung_ranks: (400, 10000), missing_ranks: (300, 10000), calls: (300, 10000), hosts: (300, 40000),
    hosts_by_one_communicator_each: (150, 10000), torn_names: (300, 10000), variables: (120, 10000), networks: (200, 10000), threads: (400, 50000),
    silent_threads: (400, 50000), warnings: (400, 10000), watchdog: (260, 10000), watchdog_of_groups: (300, 5000), ras: (400, 10000),
    ras_lost: (400, 10000), killed_tasks: (400, 10000), crashes: (400, 10000), exceptions: (400, 10000), caught_exceptions: (400, 10000), outlived_errors_of_gpus: (400, 10000),
    ports_that_came_back: (400, 10000), torchruns: (300, 5000),
    closed_by_peers: (400, 10000), paths_of_machines: (150, 10000), tests: (600, 20000), small_files: (120, 5000),
    files_of_one_name: (200, 5000), pod_variable_repeated: (400, 5000), pod_variables: (400, 5000), pod_limits: (400, 2500),
    pods: (150, 5000), pod_containers: (300, 2500),
    ranks_of_a_large_old_communicator: (120, 10000), one_id_again: (300, 10000), unused_comms: (120, 5000),
    failed_communicators: (120, 5000), told_twice: (200, 10000), rotated: (120, 5000), different_variables: (150, 10000),
    net_devices: (320, 16000), gdr_pairs: (300, 10000), closed_by_lost: (200, 10000), closed_in_groups: (200, 10000), closed_by_strangers: (120, 5000),
    shared_gpus: (200, 10000), limited_channels: (150, 10000), commands: (200, 5000), pods_in_a_ring: (150, 10000), ras_json: (200, 10000), matrices: (200, 10000),
    lone_lists: (300, 10000), one_long_line: (20, 250), python_crashes: (300, 10000), still_watchdogs: (400, 10000), listed_alike: (300, 10000),
    unknown_lines: (400, 20000), torn_lines: (300, 10000), jobs_one_after_another: (150, 5000),
}

#!/usr/bin/env python3
"""Count what an NCCL log holds: the independent truth for the product's `totals`.

    count.py FILE...           one JSON object per file
    count.py --torn FILE...    the torn physical lines: number, reasons, text

This file shares no code and no tables with the product. It may be slow and it may read a
file twice, so it can afford what a streaming reader cannot: it knows every host of the log
before it judges a line. Where the two disagree, look at the raw line.

The meaning of each count is that of `totals` in the JSON report. In short:
  nccl_lines   markers `NCCL INFO|WARN|ATTN|DIAG|TRACE|CALL`, several per line if need be, plus bare
               `NCCL version X` lines
  torn_lines   physical lines on which some writer cut another (see torn_reasons below)
  connections  whole records of `... via X`, by X

Standard library only.
"""
import argparse
import collections
import gzip
import json
import os
import re
import sys

# ------------------------------------------------------------------ wrappers around a line

ANSI = re.compile(r'\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)')
HTML = (('&lt;', '<'), ('&gt;', '>'), ('&quot;', '"'), ('&#39;', "'"), ('&amp;', '&'))


def unwrap(line):
    """The text as the program wrote it, without what carried it.

    {"log":"host:1:1 [0] NCCL INFO ...\\n","stream":"stdout","time":"..."}   docker json-file
    ... 0[0] -&gt; 1[1] via P2P/IPC                                          pasted from HTML
    """
    if line.startswith('{"') and '"log":' in line:
        try:
            line = json.loads(line)['log'].rstrip('\n')
        except (ValueError, KeyError, TypeError, AttributeError):
            pass                                    # cut JSON: look at it as it stands
    line = ANSI.sub('', line)
    if '&' in line:
        for name, char in HTML:
            line = line.replace(name, char)
    return line.rstrip('\r')


# What launchers and clocks put before the host. Several may stack, in any order.
DATE = r'\d{4}[-/]\d\d[-/]\d\d'
TIME = r'\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?'
PREFIXES = [
    r'%s[T _]%s (?:stdout|stderr) [FP] ' % (DATE, TIME),      # CRI: 2024-01-02T03:04:05.6Z stdout F
    r'\[%s[T _]%s\] ?' % (DATE, TIME),                        # NCCL: [2025-01-02 03:04:05.678]
    r'%s[T _]%s ' % (DATE, TIME),                             # RFC3339 stamps of the runtime
    r'\[%s\] ?' % TIME,                                       # NCCL with a short custom format
    r'\[[A-Za-z_]+\d+\]: ?',                                  # torchrun: [default3]: and [rank3]:
    r'\[\d+,\d+\]<std(?:out|err|diag)>: ?',                   # mpirun: [1,3]<stdout>:
    r'\[pod/[^/\s]+/[^\]\s]+\] ',                             # kubectl logs --prefix: [pod/NAME/CONTAINER]
    r'\([^()\n]*\bpid=\d+[^()\n]*\) ?',                       # Ray: (RayWorker pid=1, ip=1.2.3.4)
]
TAIL_PREFIX = re.compile(r'(?:%s)+$' % '|'.join(PREFIXES), re.A)
LINE_PREFIX = re.compile('|'.join(PREFIXES + [                # these are too plain to be looked for inside a line
    r' *\d+: ',                                               # srun -l: `3: `, ` 3: `
    r'[A-Za-z0-9][\w.-]* +\| ',                               # docker compose: `name  | `
    r'(?=[a-z0-9.]*[a-z.-])(?=[a-z.]*[0-9-])[a-z0-9][a-z0-9.-]*'  # stern: `pod-0 container `; a pod's
    r' [a-z0-9][a-z0-9-]* ',                                  # name has a digit or a hyphen
]), re.A)


def peel(text):
    """The text, and the text again after each recognised launcher prefix on its left."""
    m = True
    while m:
        yield text
        m = LINE_PREFIX.match(text)
        text = text[m.end():] if m else text


def strip_prefixes(text):
    return list(peel(text))[-1]


# ------------------------------------------------------------------ records inside a line

# Not after a letter, digit, _, quote, backquote or bar: `NCCL_DEBUG=INFO`, grep 'NCCL INFO'.
MARKER = re.compile(r'''(?<![A-Za-z0-9_"'`|])NCCL (INFO|WARN|ATTN|DIAG|TRACE|CALL)(?=[ \t]|$)''')
HEADER = re.compile(r'([A-Za-z0-9.][A-Za-z0-9._-]*):(\d+):(\d+)( \[-?\d+\])?', re.A)
# What may stand between `host:pid:tid [dev]` and the marker, by level.
BETWEEN = {
    'INFO': re.compile(r' '),
    'WARN': re.compile(r' \S.*:\d+(?: \(.*\))? '),            # misc/socket.cc:50, f(int, a::b*):353, x.cc:1 (func)
    'ATTN': re.compile(r' \S.*:\d+(?: \(.*\))? '),
    'DIAG': re.compile(r' '),                                 # host:pid NCCL DIAG: of no thread
    'TRACE': re.compile(r' \d+\.\d+ \S.*:\d+ '),              # 12.345678 func:90
    'CALL': re.compile(r' '),
}
BANNER = re.compile(r'[NR]CCL version :? ?\d+\.\d+\S*(?: \S+:\S+)?\s*', re.A)   # RCCL adds `HEAD:b502725`

Header = collections.namedtuple('Header', 'start end host pid')


def headers(text, known):
    """All `host:pid:tid [dev]` in text. A cut line leaves foreign text glued to the host
    (`delay 0vm:830:830 [2]`): if the same pid is known under a shorter name that ends the
    word, and more often, the host begins there."""
    for m in HEADER.finditer(text):
        host, pid, start = m.group(1), m.group(2), m.start()
        if not m.group(4) and not text.startswith(' NCCL CALL', m.end()):
            continue                                          # only CALL has no [dev]
        if len(host) < 3 and host.isdigit() or re.search(r'T\d\d$', host):
            continue                                          # 13:22:23 [1]: a clock
        for i in range(1, len(host)):
            if known[host[i:], pid] > known[host, pid]:
                start, host = start + i, host[i:]
                break
        yield Header(start, m.end(), host, pid)


class Record:
    """One marker with the header found before it (None: damaged or missing) and its message."""

    def __init__(self, level, header, raw, cut):
        self.level, self.header = level, header
        self.raw, self.message = raw, raw.strip()
        self.cut = cut                                        # the next header ends it, not the line


def split_records(text, known):
    """([records], [headers without a record], [those of them that no marker follows])"""
    marks = list(MARKER.finditer(text))
    heads = list(headers(text, known))
    used, records = set(), []
    for i, m in enumerate(marks):
        left = marks[i - 1].end() if i else 0
        head = None
        for h in heads:                                       # the last one that fits wins
            if left <= h.start and h.end <= m.start() and \
                    BETWEEN[m.group(1)].fullmatch(text, h.end, m.start()):
                head = h
        if head:
            used.add(head)
        right = marks[i + 1].start() if i + 1 < len(marks) else len(text)
        ends = [h.start for h in heads if m.end() <= h.start < right]
        end = min(ends) if ends else right
        raw = text[m.end():end]
        if end < len(text):
            raw = TAIL_PREFIX.sub('', raw)                    # the next record's time stamp
        records.append(Record(m.group(1), head, raw, end < len(text)))
    last = marks[-1].end() if marks else 0
    spare = [h for h in heads if h not in used
             and not re.match(r' \S.*:\d+ NCCL ABORT\b', text[h.end:])]    # a whole line of NCCL 2.3-2.6
    return records, spare, [h for h in spare if h.start >= last]


# ------------------------------------------------------------------ connections

NET_TAIL = r'(?:/GDRDMA(?:\(PCI\))?)?'
VIA = '|'.join([
    r'P2P/(?:common device|direct pointer|IPC|CUMEM|MNNVL|indirect/\d+\[[0-9a-f]+\])(?:/read)?(?:/CE)?',
    r'direct shared memory',                                  # up to 2.12
    r'SHM/(?:direct|CE)/(?:direct|CE)', r'SHM/direct',        # 2.13+; 2.30.7
    r'NET/[^/]+/\d+(?:\(\d+\))?' + NET_TAIL + r'(?:/GDCopy)?(?:/Shared)?',
    r'COLLNET/[^/]+/\d+' + NET_TAIL,
])
RANK = r'\d+(?:\[[0-9a-f]+\])?'
CONNECTION = re.compile(                                      # Channel 00/0 : 3[3] -> 0[0] [send] via NET/IB/0
    r'(?:(?:Channel|Ring) \d+(?:/\d+)? : %s -> %s (?:\[(?:send|receive)\] )?' % (RANK, RANK) +
    r'|Coll(?:Net)? \d+(?:/\d+)? : \d+ \[(?:send|receive)\] )via (%s)' % VIA, re.A)
# A message that wants to be a connection. Ring lists (`Channel 00/02 :  0 1`, `Ring 00 : 3 -> 0 -> 1`)
# and the receiver's mirror of TRACE builds (`0[0] <- 1[1] via ...`) do not.
WANTS = re.compile(r'(?:Channel|Ring) \d+(?:/\d+)? : \d+\[|(?:Channel|Ring|Coll(?:Net)?) \d.* via\b'
                   r'|.* via (?:P2P|SHM|NET|COLLNET|direct shared)', re.A)
# Said after X by others: RCCL ` comm 0x.. nRanks 16`, Ray ` [repeated 2x across cluster]`.
AFTER_VIA = re.compile(r'( comm 0x[0-9a-f]+ nRanks \d+)?\s*( \[repeated \d+x across cluster\].*)?$')


def via_of(message):
    """X of a whole connection record; '' for one that is cut; None for any other message."""
    if not WANTS.match(message) or ' <- ' in message:
        return None
    m = CONNECTION.fullmatch(AFTER_VIA.sub('', message))
    return m.group(1) if m else ''


def family(via):
    return 'SHM' if via.startswith('direct shared') else via.split('/')[0]


# ------------------------------------------------------------------ the rest of a cut record

# Tails that nobody but NCCL writes, recognised wherever they stand.
RESIDUE = re.compile(
    r'(?:.*\] |.{0,9}\b)via (?:%s)\s*' % VIA +                 # ] -> 4[4] via P2P/CUMEM
    r'|.*/-?\d+->-?\d+->-?\d+.*'                               # 9] 3/-1/-1->2->1 [20] 3/-1/-1->2->1
    r'|.*(?:^|[0-9a-f]) ?- (?:Init (?:START|COMPLETE)|(?:Destroy|Abort) COMPLETE)\s*'
    r'|.*(?:rest|delay) \d+\.\d+\)\s*', re.A)                 # connections 0.02, rest 0.01)
TREE = re.compile(r'(?:\[N\] -?N/-?N/-?N->-?N->-?N ?)+')


def shape(message):
    """A message without its numbers: two records of one kind have one shape."""
    text = re.sub(r'0x[0-9a-f]+|[0-9a-f]*\d[0-9a-f.]*', 'N', message.strip())
    return TREE.sub('T', text)


class Pending:
    """Beginnings of records whose end has not come yet. A headerless line is the rest of one
    if both together have the shape of a whole record of this log (or are a whole connection):
        ... ring 0.000068, delay 0vm:830:830 [2] NCCL INFO Bootstrap timings ...
        .000001)
    """

    def __init__(self, shapes):
        self.shapes, self.open = shapes, collections.deque(maxlen=64)

    def add(self, beginning):
        self.open.append(beginning)

    def completes(self, rest):
        for beginning in list(self.open):
            text = beginning + rest
            if text.startswith(' NCCL INFO '):                # the cut went through the marker itself
                return True
            if shape(text) in self.shapes or via_of(text.strip()):
                self.open.remove(beginning)
                return True
        return False


# ------------------------------------------------------------------ one file

def torn_reasons(text, records, spare, lonely, pending):
    """Why this physical line is torn; an empty list if it is not. Feeds `pending`."""
    reasons = []
    if len(records) > 1:
        reasons.append('two markers')
    if any(r.header is None for r in records):
        reasons.append('header damaged or missing')
    heads = [r.header for r in records[:1] if r.header] or lonely[:1]
    foreign = strip_prefixes(text[:heads[0].start]).strip() if heads else ''
    if foreign:
        reasons.append('foreign text before the header')
    if lonely:
        reasons.append('header without marker')
    if any(via_of(r.message) == '' for r in records):
        reasons.append('via cut short')
    if not records and not lonely and any(
            rest.strip() and (RESIDUE.fullmatch(rest) or pending.completes(rest)) for rest in peel(text)):
        reasons.append('rest of a record')
    # What is left open here and may be completed by a later line.
    if foreign:
        for beginning in list(pending.open):
            pending.add(beginning + foreign)                  # a middle piece, cut once more
    for r in records:
        if r.cut:
            pending.add(r.raw)
    for h in spare:                                           # `host:1:1 [0] NC` + other text
        start = os.path.commonprefix([' NCCL INFO ', text[h.end:]])
        if len(start) > 1:
            pending.add(start)
    return reasons


def read(path):
    with open(path, 'rb') as f:
        data = f.read()
    size = len(data)
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    pieces = data.split(b'\n')
    if not pieces[-1]:
        pieces.pop()                                          # newline-ended: no empty last line
    return size, [p.decode('utf-8', 'replace') for p in pieces]


def count(path):
    """(the counts, [(line number, reasons, text)])"""
    size, raw = read(path)
    lines = [unwrap(piece) for piece in raw]

    # First pass: the processes and the shapes of undamaged records.
    known, shapes = collections.Counter(), set()
    for text in lines:
        records, spare, _ = split_records(text, collections.Counter())
        if len(records) == 1 and not spare and records[0].header and \
                not strip_prefixes(text[:records[0].header.start]).strip():
            known[records[0].header.host, records[0].header.pid] += 1
            shapes.add(shape(records[0].message))

    # Second pass: count.
    nccl = warns = 0
    connections, torn, pending = collections.Counter(), [], Pending(shapes)
    for number, text in enumerate(lines, 1):
        records, spare, lonely = split_records(text, known)
        nccl += len(records)
        warns += sum(r.level == 'WARN' for r in records)
        if not records and BANNER.fullmatch(strip_prefixes(text)):
            nccl += 1
        for r in records:
            via = via_of(r.message)
            if via:
                connections[via] += 1
        reasons = torn_reasons(text, records, spare, lonely, pending)
        if reasons:
            torn.append((number, reasons, text))

    transports = collections.Counter()
    for via, n in connections.items():
        transports[family(via)] += n
    return {
        'name': os.path.basename(path), 'bytes': size, 'lines': len(lines),
        'nccl_lines': nccl, 'warn_lines': warns, 'torn_lines': len(torn),
        'connections': dict(sorted(connections.items())),
        'transports': dict(sorted(transports.items())),
        'gdrdma': sum(n for via, n in connections.items() if 'GDRDMA' in via),
    }, torn


def main():
    parser = argparse.ArgumentParser(description='Count what an NCCL log holds.')
    parser.add_argument('--torn', action='store_true', help='list the torn lines instead')
    parser.add_argument('file', nargs='+')
    args = parser.parse_args()
    for path in args.file:
        counts, torn = count(path)
        if args.torn:
            for number, reasons, text in torn:
                print('%s:%d: [%s] %s' % (path, number, ', '.join(reasons), text))
        else:
            print(json.dumps(counts))
    return 0


if __name__ == '__main__':
    sys.exit(main())

"""A second, slow reading of a raw log, for what testdata/count.py does not count: who speaks, which
communicators there are, which of them each connection belongs to. Shares nothing with the product.

Communicators are born by `Init START` lines (or `Init COMPLETE`, where the former is torn). A child is
told from its siblings by its parent and by how many children of that parent its process had before.
"""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'testdata'))
import count                                                  # noqa: E402

INIT = re.compile(
    r'(?:\[Rank \d+\] )?(?:\w+ )?comm (?P<ptr>0x[0-9a-f]+) rank (?P<rank>\d+) nranks (?P<nranks>\d+) cudaDev -?\d+'
    r'(?: nvmlDev -?\d+)?(?: busId \w+)?(?: commId (?P<before>0x[0-9a-f]+)(?= parent))?'
    r'(?: parent (?P<parent>0x[0-9a-f]+)(?: (?:split|child)Count (?P<split>\d+))? color (?P<color>-?\d+) key -?\d+)?'
    r'(?: commId (?P<id>0x[0-9a-f]+))? ?- Init (?P<what>START|COMPLETE)')
CONNECTION = re.compile(r'(?:Channel|Ring) \d+(?:/\d+)? : (?P<src>\d+)(?:\[\w+\])? -> (?P<dst>\d+)(?:\[\w+\])?'
                        r' (?:\[(?P<way>send|receive)\] )?via')
ENV = re.compile(r'(\w+) set by environment to (.*?)\.?$')
VERSION = re.compile(r'[NR]CCL version :? ?(\d+\.\d+\S*)')
DRIVER = re.compile(r'cudaDriverVersion (\d+)$')


class Birth:
    """One rank of one communicator, as its process tells it."""

    def __init__(self, who, m, nth, parent):
        self.who, self.rank, self.nranks = who, int(m['rank']), int(m['nranks'])
        self.parent, self.complete = parent, False
        self.id = m['before'] if parent else m['id']          # from 2.31 on a child's line says its own
        # 2.21 and 2.22 print an id that is a hash of parent and color: the same one for every split.
        self.key = ((m['before'], 0) if m['before'] else (parent.key, m['split'] or nth, m['color']) if parent
                    else (m['id'], nth if m['id'] is None else 0))


class Log:
    """All that is read of some files, as if they were one job's."""

    def __init__(self, paths):
        self.hosts = collections.defaultdict(set)             # name -> pids
        self.env = collections.defaultdict(dict)              # name -> {process: value}
        self.versions, self.drivers = [], []
        self.births = []
        self.connections = collections.Counter()              # (members, src, dst, direction, via) -> lines
        self._links = []                                      # (birth or None, src, dst, direction, via)
        self._last, self._by_pointer, self._children = {}, {}, collections.Counter()
        for i, path in enumerate(paths):
            self._read(i, path)
        groups = collections.defaultdict(list)
        for b in self.births:
            groups[b.key].append(b)
        self.communicators = list(groups.values())
        members = {b: frozenset((x.rank, x.who[1], x.who[2]) for x in g) for g in self.communicators for b in g}
        for birth, *link in self._links:
            self.connections[(members[birth] if birth else None, *link)] += 1

    def shapes(self):
        """Sorted (nranks, ranks seen, ranks complete) of every communicator."""
        return sorted([g[0].nranks, len({b.rank for b in g}), len({b.rank for b in g if b.complete})]
                      for g in self.communicators)

    def ids(self):
        """The printed ids of the communicators that nobody split off another."""
        return {b.id for g in self.communicators for b in g if b.id}

    def _read(self, source, path):
        lines = [count.unwrap(piece) for piece in count.read(path)[1]]
        known = collections.Counter()
        for text in lines:
            records, spare, _ = count.split_records(text, collections.Counter())
            if len(records) == 1 and not spare and records[0].header and \
                    not count.strip_prefixes(text[:records[0].header.start]).strip():
                known[records[0].header.host, records[0].header.pid] += 1
        for text in lines:
            records, _, _ = count.split_records(text, known)
            for r in records:
                if r.header:
                    who = (source, r.header.host, int(r.header.pid))
                    self.hosts[r.header.host].add(int(r.header.pid))
                    self._message(who, r.message)
                else:
                    self._unowned(r.message)
            if not records and count.BANNER.fullmatch(count.strip_prefixes(text)):
                self._version(count.strip_prefixes(text))

    def _version(self, text):
        m = VERSION.match(text)
        if m and m[1] not in self.versions:
            self.versions.append(m[1])

    def _unowned(self, message):
        m, via = CONNECTION.match(message), count.via_of(message)
        if m and via:
            self._links.append((None, int(m['src']), int(m['dst']), m['way'], via))

    def _message(self, who, message):
        m = INIT.fullmatch(message)
        if m:
            self._init(who, m)
            return
        m, via = CONNECTION.match(message), count.via_of(message)
        if m and via:
            self._links.append((self._last.get(who), int(m['src']), int(m['dst']), m['way'], via))
            return
        m = ENV.fullmatch(message)
        if m:
            self.env[m[1]][who[1:]] = m[2]
            return
        m = DRIVER.match(message)
        if m and int(m[1]) not in self.drivers:
            self.drivers.append(int(m[1]))
        self._version(message)

    def _init(self, who, m):
        birth = self._by_pointer.get((who, m['ptr']))
        if m['what'] == 'START' or birth is None or birth.complete:
            parent = self._by_pointer.get((who, m['parent'])) if m['parent'] else None
            base = (who, parent or m['nranks'])
            birth = Birth(who, m, self._children[base], parent)
            self._children[base] += 1
            self._by_pointer[who, m['ptr']] = self._last[who] = birth
            self.births.append(birth)
        birth.complete = birth.complete or m['what'] == 'COMPLETE'

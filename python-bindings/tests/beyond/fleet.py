"""Logs of many jobs, made of the recorded ones: each is cut into a file for some of its processes, as NCCL_DEBUG_FILE=%h.%p would. And a pipe
in place of one of them, at which whoever reads it waits."""
import glob
import gzip
import importlib
import os
import re
import sys
import time

LOGS = os.path.join(os.environ['TESTDATA'], 'logs')
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'docs', 'examples')
PATIENCE_S = 240
PRINTED_BY = re.compile(rb'(\d+):\d+ (?:\[\d+\] )?NCCL ')


def recorded():
    """The recorded logs, unpacked, each once."""
    texts = []
    for path in sorted(glob.glob(os.path.join(LOGS, '*', '*.log*'))):
        with gzip.open(path) if path.endswith('.gz') else open(path, 'rb') as file:
            texts.append(file.read())
    return texts


def cut(text, n):
    """The lines of a log in up to n files: those of one process are in one, and lines that name none stay with the line before."""
    files, of = [[] for _ in range(n)], {}
    at = 0
    for line in text.splitlines(True):
        found = PRINTED_BY.search(line)
        if found:
            at = of.setdefault(found.group(1), len(of) % n)
        files[at].append(line)
    return [b''.join(lines) for lines in files if lines]


def make(folder, least):
    """At least so many files in a folder for each job: {folder: [file, ...]}, in the order of names. Some are packed, some are damaged or are not
    there."""
    texts, jobs, made = recorded(), {}, 0
    while made < least:
        i = len(jobs)
        job = os.path.join(folder, 'job-%05d' % i)
        os.mkdir(job)
        for k, part in enumerate(cut(texts[i % len(texts)], 1 + i % 9)):
            path = os.path.join(job, 'rank-%02d.log' % k)
            packed = gzip.compress(part) if (i + k) % 5 == 0 else part
            with open(path, 'wb') as file:
                file.write(packed[:len(packed) // 2] if i % 11 == 3 and k == 1 else packed)
        if i % 13 == 4:
            os.symlink('nowhere', os.path.join(job, 'rank-99.log'))
        jobs[job] = [os.path.join(job, name) for name in sorted(os.listdir(job))]
        made += len(jobs[job])
    return jobs


class Pipe:
    """A pipe where a log was, until it is given: the processes that read it are in the middle of their work."""

    def __init__(self, path):
        self.path = os.path.realpath(path)
        with open(path, 'rb') as file:
            self.log = file.read()
        assert len(self.log) < 65536  # which a pipe holds
        os.unlink(path)
        os.mkfifo(path)
        self.end = os.open(path, os.O_RDWR)

    def _readers(self):
        found = set()
        for link in glob.glob('/proc/[0-9]*/fd/*'):
            try:
                if os.readlink(link) == self.path:
                    found.add(int(link.split('/')[2]))
            except OSError:
                continue
        return found - {os.getpid()}

    def reader(self, but=frozenset()):
        """The process that reads it, when none of `but` does any longer."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            readers = self._readers()
            if readers and not readers & but:
                return min(readers)
            time.sleep(0.1)
        raise TimeoutError('nobody reads %s' % self.path)

    def give(self):
        """The log, to its end."""
        os.write(self.end, self.log)
        self.close()

    def close(self):
        if self.end >= 0:
            os.close(self.end)
            self.end = -1

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


def example(name):
    """A program of docs/examples, as a module."""
    sys.path.insert(0, EXAMPLES)
    return importlib.import_module(name)

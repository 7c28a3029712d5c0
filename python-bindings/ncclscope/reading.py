"""The records of a log, one after the other."""

import itertools
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, Iterable, Iterator, Optional, Sequence, Tuple, Union

from . import _core, errors, urls

Source = Union[str, bytes, "os.PathLike[str]", Any]
_default: Optional[_core.Grammar] = None
_grammars: "weakref.WeakSet[_core.Grammar]" = weakref.WeakSet()
_making = threading.Lock()  # held while a grammar is made, and while this process forks


def grammar(patterns: Optional[str] = None) -> _core.Grammar:
    """The known lines; of a file of your own too. The one without is made once."""
    global _default
    with _making:
        if patterns is None and _default is not None:
            return _default
        made = _core.Grammar() if patterns is None else _core.Grammar(os.fspath(patterns))
        _grammars.add(made)
        if patterns is None:
            _default = made
        return made


def _before_fork() -> None:
    """A thread that compiles rows holds a lock of PCRE2 now and then, for which a child would wait without end: all are compiled before."""
    _making.acquire()
    if threading.active_count() > 1:
        for known in list(_grammars):
            known.prepare()


os.register_at_fork(before=_before_fork, after_in_parent=_making.release, after_in_child=_making.release)


def open_log(source: Source, patterns: Optional[str] = None, storage_options: urls.Options = None) -> _core.Reader:
    """The records of a log, one after the other.

    `source`: a path, a URL, bytes, a file object, a descriptor, or an iterator of bytes (an HTTP response, a pipe).
    `storage_options`: what fsspec's file system of a URL is told.
    ReadError where a path cannot be opened, or `patterns` not be read, PatternError for a row in it; while it is read Unsupported for zstd, xz
    and the like, DataError behind the last good record of damaged gzip, and what `source` raises.
    """
    known = grammar(patterns)
    if urls.is_url(source):
        return _core.Reader(known, read=_url(source, storage_options).read)
    if isinstance(source, int):
        return _core.Reader(known, fd=source)
    if isinstance(source, (str, os.PathLike)):
        file = _File(source)
        return _core.Reader(known, read=file.read)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _core.Reader(known, read=_Pieces([bytes(source)]).read)
    if hasattr(source, "read"):
        return _core.Reader(known, read=source.read)
    return _core.Reader(known, read=_Pieces(source).read)


def _url(url: Any, options: urls.Options) -> Any:
    try:
        return urls.opened(url, options)
    except OSError as e:
        raise errors.of(-3, "%s: %s" % (url, urls.words("open", e)), e.errno or 0) from None


def gather(paths: Sequence[str], known: _core.Grammar, jobs: int = 1, progress: Optional[Callable[[int, int, int, int], Any]] = None,
           most_memory: int = 0, options: urls.Options = None) -> _core.Model:
    """What files, folders and URLs say as one job, in their order: a model that grows. `jobs` inputs are read at a time."""
    runs: Dict[Tuple[str, ...], None] = {}  # in order, each once: a URL, or neighbours that lie on this machine
    for remote, run in itertools.groupby(paths, urls.is_url):
        runs.update(dict.fromkeys([(one,) for url in run for one in urls.expanded(url, options)] if remote else [tuple(run)]))

    def part_of(run: Sequence[str]) -> _core.Model:
        part = _core.Model(known)
        if urls.is_url(run[0]):
            urls.read(part, known, run[0], options)
        else:
            part.read([os.fsencode(path) for path in run], jobs, progress, most_memory)
        return part

    if len(runs) == 1:
        return part_of(*runs)
    model = _core.Model(known)
    with ThreadPoolExecutor(jobs) as pool:
        for part in pool.map(part_of, runs) if jobs > 1 else map(part_of, runs):
            model.merge(part)
    return model


class _File:
    """A file without a buffer of Python's: read() gives bytes."""

    def __init__(self, path: Any):
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as e:
            raise errors.of(-3, "%s: cannot open: %s" % (os.fspath(path), e.strerror), e.errno or 0) from None

    def read(self, size: int) -> bytes:
        return os.read(self._fd, size)

    def __del__(self) -> None:
        if hasattr(self, "_fd"):
            os.close(self._fd)


class _Pieces:
    """read(size) of an iterator of bytes."""

    def __init__(self, pieces: Iterable[bytes]):
        self._pieces: Iterator[bytes] = iter(pieces)
        self._piece, self._at = b"", 0

    def read(self, size: int) -> bytes:
        while self._at == len(self._piece):
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._piece, self._at = bytes(piece), 0
        out = self._piece[self._at:self._at + size]
        self._at += len(out)
        return out

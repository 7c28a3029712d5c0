"""The records of a log, one after the other."""

import os
import threading
import weakref
from typing import Any, Iterable, Iterator, Optional, Union

from . import _core, errors

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


def open_log(source: Source, patterns: Optional[str] = None) -> _core.Reader:
    """The records of a log, one after the other.

    `source`: a path, bytes, a file object, a descriptor, or an iterator of bytes (an HTTP response, a pipe).
    ReadError where a path cannot be opened, or `patterns` not be read, PatternError for a row in it; while it is read Unsupported for zstd, xz
    and the like, DataError behind the last good record of damaged gzip, and what `source` raises.
    """
    known = grammar(patterns)
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

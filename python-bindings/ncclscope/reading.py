"""The records of a log, one after the other."""

import os
from typing import Any, Iterable, Iterator, Optional, Union

from . import _core, errors

Source = Union[str, bytes, "os.PathLike[str]", Any]
_default: Optional[_core.Grammar] = None


def grammar(patterns: Optional[str] = None) -> _core.Grammar:
    """The known lines; of a file of your own too. The one without is made once."""
    global _default
    if patterns is not None:
        return _core.Grammar(os.fspath(patterns))
    if _default is None:
        _default = _core.Grammar()
    return _default


def open_log(source: Source, patterns: Optional[str] = None) -> _core.Reader:
    """The records of a log, one after the other.

    `source`: a path, bytes, a file object, a descriptor, or an iterator of bytes (an HTTP response, a pipe).
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

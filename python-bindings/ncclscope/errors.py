"""What can go wrong: one class for each code of the library, with its sentence."""


class Error(Exception):
    """Something that the library could not do; its text is the library's own sentence."""

    code = 0


class InvalidArgument(Error, ValueError):
    """An argument that cannot be meant."""

    code = -2


class ReadError(Error, OSError):
    """The system refused: a file that is not there, a disk that is full. `errno` is its reason, or 0."""

    code = -3


class DataError(Error, ValueError):
    """A container (gzip, database, JSON) is damaged, or none of its kind."""

    code = -4


class PatternError(Error, ValueError):
    """A template that cannot be compiled."""

    code = -5


class NotFound(Error, LookupError):
    """No such field, name or thing."""

    code = -6


class Unsupported(Error):
    """Not in this build, or made by a newer version."""

    code = -7


class OtherRelease(Error):
    """Made by another release: a saved model, whose logs are to be read again."""

    code = -8


class Stopped(Error):
    """The caller wanted no more."""

    code = -9


_by_code = {c.code: c for c in (InvalidArgument, ReadError, DataError, PatternError, NotFound, Unsupported, OtherRelease, Stopped)}


def of(code: int, text: str, system: int = 0) -> Exception:
    """The exception for a code of the library; the extension asks here."""
    if code == -1:
        return MemoryError(text)
    made = _by_code.get(code, Error)(text)
    if isinstance(made, ReadError):
        made.errno = system
    return made

"""URLs of logs (s3://, gs://, https://, memory:// ...): listed, opened and read by fsspec, which is imported where one is given."""

import importlib
import re
from typing import Any, List, Mapping, Optional, Tuple

from . import _core, errors

Options = Optional[Mapping[str, Any]]
_URL = re.compile(r"([A-Za-z][\w+.-]*::)*[A-Za-z][\w+.-]*://")
_PIECE = 1 << 20  # bytes
_BLOCK = 8 << 20  # bytes that are asked of a store at a time


def is_url(path: Any) -> bool:
    """Is it a URL, "s3://bucket/x.log", also a chain of them, "zip://x.log::s3://bucket/x.zip"?"""
    return isinstance(path, str) and _URL.match(path) is not None


def _system(url: str, options: Options) -> Tuple[Any, str]:
    """The file system of a URL, and the path there. ImportError and ValueError say what is missing for it."""
    system, path = importlib.import_module("fsspec.core").url_to_fs(url, **(options or {}))
    system.invalidate_cache(path)  # logs grow, and come: what it was listed as before is not asked
    return system, path


def _found(system: Any, path: str) -> List[str]:
    """The files that a pattern matches, or that lie in and below a folder, by their names as a scan of a folder has them."""
    below: List[Tuple[str, str]] = []  # a file, and its name below what is asked for
    if re.search(r"[*?[]", path):
        for hit, what in system.glob(path, detail=True).items():
            below += [(hit, "")] if what["type"] == "file" else [(f, f[len(hit):]) for f in system.find(hit)]
    else:
        below += [(f, f[len(path):]) for f in system.find(path)]
    return sorted((f for f, rest in below if "/." not in "/" + rest.lstrip("/")), key=lambda f: f.split("/"))


def _pathed(url: str) -> int:
    """Which link of a chain has the path."""
    return next(i for i, link in enumerate(url.split("::")) if "://" in link)


def folder(url: str) -> str:
    """The URL of the folder that a file lies in."""
    links, at = url.split("::"), _pathed(url)
    head = links[at].rpartition("/")[0]
    links[at] = head + "/" if head.endswith(":/") else head
    return "::".join(links)


def _named(url: str, system: Any, path: str) -> str:
    """The URL of a file that was found where `url` is the pattern or the folder."""
    links, at = url.split("::"), _pathed(url)
    return "::".join(links[:at] + [system.unstrip_protocol(path)] + links[at + 1:])


def expanded(url: str, options: Options = None) -> List[str]:
    """The URL of a file stands for itself, a folder for the files in and below it, a pattern (*, ?, []) for those that it matches. What is
    not there, or is not to be listed, stands for itself: who reads it is told why."""
    system, path = _system(url, options)
    try:
        alone = not url.endswith("/") and system.isfile(path)  # a web server's index is a file too
        files = [] if alone else _found(system, path)
    except Exception:  # a store's client raises what it likes
        files = []
    return list(dict.fromkeys(_named(url, system, f) for f in files)) or [url]


def opened(url: str, options: Options = None) -> Any:
    """The file behind a URL, to read bytes of. Whatever its file system raises."""
    system, path = _system(url, options)
    return system.open(path, "rb", block_size=_BLOCK)


def words(doing: str, e: BaseException) -> str:
    """What a file system's client raised, as the problem of a source."""
    why = getattr(e, "strerror", None) or "%s: %s" % (type(e).__name__, e)
    return ("cannot %s: %s" % (doing, why)).encode("utf-8", "replace").decode().replace("\0", "?")


def _feed(feed: _core.Feed, url: str, options: Options) -> Optional[str]:
    """All of it, piece by piece. What was wrong, in words."""
    doing = "open"
    try:
        with opened(url, options) as file:
            doing = "read"
            for piece in iter(lambda: file.read(_PIECE), b""):
                feed.feed(piece)
    except MemoryError:
        raise
    except errors.Error as e:  # what it is packed in is damaged, or not known
        return str(e)
    except Exception as e:  # a store's client raises what it likes
        return words(doing, e)
    return None


def read(model: _core.Model, known: _core.Grammar, url: str, options: Options = None) -> None:
    """What a URL holds, into a model that grows. What cannot be read is told as its problem."""
    _system(url, options)  # a file system that is not installed is no problem of a log
    feed = _core.Feed(known, model, url)
    feed.end(_feed(feed, url, options))

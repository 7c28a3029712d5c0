"""Logs that still grow."""

import threading
from typing import Any, Dict, Optional

from . import _core
from .reading import grammar
from .report import Finding, Report
from .rows import Rows


class Stream:
    """Logs that still grow: feed what comes, ask for a report at any time.

        with ncclscope.Stream() as s:
            s.feed("pod-0", data)
            print(s.report().to_text())

    Threads may feed it, and ask it for reports: one of them at a time, the others wait.
    """

    def __init__(self, patterns: Optional[str] = None):
        self._grammar = grammar(patterns)
        self._model = _core.Model(self._grammar)
        self._feeds: Dict[str, _core.Feed] = {}
        self._lock = threading.Lock()

    def feed(self, name: str, data: bytes) -> None:
        """Bytes of the stream of that name, cut anywhere, gzip too; some 0.5 us a line. InvalidArgument behind its end."""
        with self._lock:
            if name not in self._feeds:
                self._feeds[name] = _core.Feed(self._grammar, self._model, name)
            self._feeds[name].feed(data)

    def end(self, name: str) -> None:
        """The stream has ended. KeyError where none of that name was fed."""
        with self._lock:
            self._feeds[name].end()

    def report(self) -> Report:
        """What is known so far; the streams go on."""
        with self._lock:
            for feed in self._feeds.values():
                feed.flush()
            known = self._model.snapshot()
        return Report(known)

    def findings(self) -> Rows[Finding]:
        """The findings of what is known so far."""
        return self.report().findings

    def close(self) -> None:
        """End all streams."""
        with self._lock:
            for feed in self._feeds.values():
                feed.end()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

"""Logs that still grow."""

from typing import Any, Dict, Optional, Sequence

from . import _core
from .reading import grammar
from .report import Finding, Report


class Stream:
    """Logs that still grow: feed what comes, ask for a report at any time.

        with ncclscope.Stream() as s:
            s.feed("pod-0", data)
            print(s.report().to_text())
    """

    def __init__(self, patterns: Optional[str] = None):
        self._grammar = grammar(patterns)
        self._model = _core.Model(self._grammar)
        self._feeds: Dict[str, _core.Feed] = {}

    def feed(self, name: str, data: bytes) -> None:
        """Bytes of the stream of that name, cut anywhere."""
        if name not in self._feeds:
            self._feeds[name] = _core.Feed(self._grammar, self._model, name)
        self._feeds[name].feed(data)

    def end(self, name: str) -> None:
        """The stream has ended."""
        self._feeds[name].end()

    def report(self) -> Report:
        """What is known so far; the streams go on."""
        for feed in self._feeds.values():
            feed.flush()
        return Report(self._model.snapshot())

    def findings(self) -> Sequence[Finding]:
        """The findings of what is known so far."""
        return self.report().findings

    def close(self) -> None:
        """End all streams."""
        for feed in self._feeds.values():
            feed.end()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

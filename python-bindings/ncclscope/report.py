"""What logs add up to: scan, judge, report."""

import html
import json
import os
import tempfile
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from . import _core, columns, errors, urls
from .reading import Source, gather, grammar
from .rows import Rows, tables
from .store import Store, is_store

_SEVERITIES = ("note", "warning", "error")
_VERBOSE = 4


class Finding(columns.FindingColumns):
    """Something that is wrong, or worth to know: every column of the table `finding`, and what belongs to it."""

    def __init__(self, report: "Report", place: int, row: Any):
        self._report, self._place, self._row = report, place, row

    @property
    def evidence(self) -> List["columns.Evidence"]:
        """The lines that it rests on, with the name of their input as `name`."""
        return self._report._of_finding("evidence", self._place)

    @property
    def ranks(self) -> List[int]:
        """Ranks that it is about, of its communicator; some, where `ranks_more` tells of others."""
        return [r.rank for r in self._report._of_finding("finding_rank", self._place)]

    @property
    def pairs(self) -> List[Tuple[int, int]]:
        """Pairs of ranks that it is about."""
        return [(r.a, r.b) for r in self._report._of_finding("finding_pair", self._place)]

    @property
    def hosts(self) -> List[str]:
        """Hosts that it is about."""
        return [r.host for r in self._report._of_finding("finding_host", self._place)]

    def __repr__(self) -> str:
        return "<Finding %s (%s): %s>" % (self.id, self.severity, self.title)


class FindingsError(errors.Error):
    """Raised by Report.raise_for_findings: what was found, as text; `findings` has them."""

    def __init__(self, text: str, findings: Sequence[Finding]):
        super().__init__(text)
        self.findings = findings


class Report(columns.Tables):
    """A job, as its logs tell it. Every table of the model is an attribute by the name of its rows: `links`, `ranks`, `comms`, `hosts`,
    `envs`, ...: a sequence of named tuples, None where the log does not say."""

    def __init__(self, model: _core.Model, facts: Optional[_core.Facts] = None):
        self._model, self._judged, self.facts = model, _core.Findings(model), facts
        self._made: Dict[str, Rows[Any]] = {}
        self._children: Dict[str, Dict[int, List[Any]]] = {}

    def _rows(self, table: str) -> Rows[Any]:
        if table not in self._made:
            owner = self._model if tables[table].owner == "model" else self._judged
            self._made[table] = Rows(tables[table], owner)
        return self._made[table]

    def _of_finding(self, table: str, place: int) -> List[Any]:
        if table not in self._children:
            by: Dict[int, List[Any]] = {}
            for row in self._rows(table):
                by.setdefault(row.finding, []).append(row)
            self._children[table] = by
        return self._children[table].get(place, [])

    @property
    def communicators(self) -> Rows["columns.Comm"]:
        """The communicators: `comms` by its long name."""
        return self._rows("comm")

    @property
    def env(self) -> Rows["columns.Env"]:
        """The variables of all processes: `envs`."""
        return self._rows("env")

    @property
    def findings(self) -> Rows[Finding]:
        """What was found, the gravest first."""
        return Rows(tables["finding"], self._judged, lambda i, row: Finding(self, i, row))

    @property
    def verdict(self) -> str:
        """"ok", "findings", "no-evidence" or "no-nccl-lines"."""
        return self._rows("outcome")[0].verdict  # type: ignore[no-any-return]

    @property
    def ok(self) -> bool:
        """Does the log prove its paths, and nothing is to be mended? "no-evidence" is not ok."""
        return self.verdict == "ok"

    def at_least(self, severity: str) -> List[Finding]:
        """The findings of "note", "warning" or "error" and above, the gravest first. ValueError for another word."""
        least = _SEVERITIES.index(severity)
        return [f for f in self.findings if _SEVERITIES.index(f.severity) >= least]

    def raise_for_findings(self, severity: str = "warning") -> None:
        """FindingsError, which has them, where there are findings of this severity or above: for preflight checks."""
        found = self.at_least(severity)
        if found:
            raise FindingsError(self.to_text(verdict=True).strip(), found)

    def expect(self, expected: str) -> bool:
        """Hold a list like "nvlink,no-socket,ranks=16" against the report; True if nothing of it is broken. InvalidArgument for a word that is
        none; docs/contract.md has them."""
        self._judged.expect(expected)
        self._made.pop("expectation", None)
        return all(e.state != "broken" for e in self._rows("expectation"))

    def to_json(self) -> str:
        """The whole report as one line of JSON, schema ncclscope.report/1."""
        return self._judged.report("json")

    def to_dict(self) -> Dict[str, Any]:
        """The same as a dict."""
        return json.loads(self.to_json())  # type: ignore[no-any-return]

    def to_text(self, columns: int = 80, verbose: bool = False, verdict: bool = False) -> str:
        """As the command prints it, `columns` characters wide; `verdict`: the first lines alone; `verbose`: notes, pairs and ranks in full."""
        return self._judged.report("text", columns, (_VERBOSE if verbose else 0) | (8 if verdict else 0))

    def confirm(self) -> Dict[str, Any]:
        """The log against the facts that the scan was given: a verdict for each pair of ranks, schema ncclscope.confirm/1. NotFound
        where it was given none."""
        return json.loads(self._judged.report("json", 0, 0, "confirm"))  # type: ignore[no-any-return]

    def _repr_html_(self) -> str:
        return "<pre>%s</pre>" % html.escape(self.to_text(columns=120))

    def __repr__(self) -> str:
        return "<Report %s: %d findings, %d ranks, %d connections>" % (self.verdict, len(self.findings), len(self.ranks), len(self.links))


def _model_of_store(path: str) -> _core.Model:
    """By Python's own SQLite: two copies of it in one process, each with the file open, would drop each other's locks."""
    return _core.Model(grammar(), Store(path).saved())


def _spool(source: Any, folder: str, number: int) -> str:
    """What is no path lies in a file for the scan: bytes, a file object, an iterator of bytes."""
    path = os.path.join(folder, "source-%d" % number)
    with open(path, "wb") as to:
        if isinstance(source, (bytes, bytearray, memoryview)):
            to.write(source)
        elif hasattr(source, "read"):
            for piece in iter(lambda: source.read(1 << 20), b""):
                to.write(piece)
        else:
            for piece in source:
                to.write(piece)
    return path


def scan(sources: Union[Source, Iterable[Source]], *, pods: Optional[Union[str, Iterable[str]]] = None,
         facts: Optional[Union[str, _core.Facts]] = None, expect: Optional[str] = None, jobs: Optional[int] = None,
         progress: Optional[Callable[[int, int, int, int], Any]] = None, patterns: Optional[str] = None,
         most_memory: int = 0, storage_options: urls.Options = None) -> Report:
    """Read logs of one job, and judge them.

    `sources`: a path, a list of them (files, folders, "-"), bytes, a file object, or an iterator of bytes; gzip is unpacked. Also URLs that
    fsspec knows (s3://bucket/x.log), of a file, a folder or a pattern; `storage_options` is what its file system is told.
    `pods`: files of `kubectl get pod -o json`. `facts`: what `ncclscope probe --save` wrote, or probe().
    `expect`: "nvlink,no-socket,ranks=16". `jobs`: inputs that are read at a time. `progress`: called some times a second with bytes read,
    bytes in all, inputs read, inputs in all. `most_memory`: bytes that the model may take; 0: any. Both know of no URLs.

    A source that cannot be read is no error: its `problem` says why. KeyboardInterrupt ends it, also while an input is silent.
    """
    listed: List[Source]
    if isinstance(sources, (str, bytes, bytearray, memoryview, os.PathLike)) or hasattr(sources, "read"):
        listed = [sources]
    else:
        listed = list(sources)
        if listed and all(isinstance(s, (bytes, bytearray)) for s in listed):
            listed = [listed]
    known = _core.Facts(facts) if isinstance(facts, (str, os.PathLike)) else facts
    with tempfile.TemporaryDirectory(prefix="ncclscope-") as folder:
        paths = [os.fspath(s) if isinstance(s, (str, os.PathLike)) else _spool(s, folder, i) for i, s in enumerate(listed)]
        if len(paths) == 1 and is_store(paths[0]):
            model = _model_of_store(paths[0])
        else:
            model = gather(paths, grammar(patterns), jobs or 1, progress, most_memory, storage_options)
    model.finish()
    for path in [pods] if isinstance(pods, (str, os.PathLike)) else pods or []:
        model.pods(path)
    if known is not None:
        model.facts(known)
    report = Report(model, known)
    if expect is not None:
        report.expect(expect)
    return report


def diff(a: Report, b: Report) -> Dict[str, Any]:
    """What is not the same in two runs, schema ncclscope.diff/1."""
    return json.loads(a._judged.diff(b._judged, "json")[0])  # type: ignore[no-any-return]


def explain(what: str) -> str:
    """What the id of a finding means, or what a line of a log says and proves; NotFound where nobody knows either."""
    return _core.explain(grammar(), what)


def probe() -> _core.Facts:
    """What this machine's GPUs, links and container offer, asked in some seconds; nothing is set or changed. Without a GPU the rest is there."""
    return _core.Facts()

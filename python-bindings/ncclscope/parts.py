"""Jobs whose logs are read in many places, in tables of Arrow (needs pyarrow): which files are which job, what is read of them as bytes, and
what comes of them together. Any engine that carries tables can stand between the steps:

    files = parts.plan("s3://logs/")                                      # one row for each file
    read = [parts.read(block) for block in parts.blocks(files, 16)]       # anywhere, in any order
    jobs = parts.Jobs(parts.merge(pyarrow.concat_tables(read)))           # all rows of a job in one place
    print(jobs["s3://logs/job-17"].to_text())

What comes of a job is, byte for byte, what ncclscope.scan gives of its files in one process.
"""

import itertools
import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, Iterator, List, Mapping, Set, Tuple, Union

import pyarrow

from . import _core, errors, urls
from .reading import gather, grammar
from .report import Report
from .rows import Rows, tables

By = Union[str, Callable[[str], str]]
_AT_ONCE = 16  # URLs that are listed at a time

FILES = pyarrow.schema([("job", pyarrow.string()), ("place", pyarrow.int64()), ("of", pyarrow.int64()), ("path", pyarrow.binary())])
"""Of plan(), a row for each file: its job, its place in it, of how many, and its path as the system has it (os.fsencode), or its URL."""
PARTS = pyarrow.schema([("job", pyarrow.string()), ("place", pyarrow.int64()), ("files", pyarrow.int64()), ("of", pyarrow.int64()),
                        ("model", pyarrow.binary())])
"""Of read(), a row for each run of files: their job, the place of the first, how many they are, of how many, and what they say, saved."""
JOBS = pyarrow.schema([("job", pyarrow.string()), ("verdict", pyarrow.string()), ("finding", pyarrow.string()), ("errors", pyarrow.int64()),
                       ("warnings", pyarrow.int64()), ("notes", pyarrow.int64()), ("ranks", pyarrow.int64()), ("links", pyarrow.int64()),
                       ("files", pyarrow.int64()), ("unread", pyarrow.int64()), ("model", pyarrow.binary())])
"""Of merge(), a row for each job: its name; what Report.verdict says; the id of the gravest finding, or null; how many findings there are of
each severity, how many ranks, connections, files, and of these such as were not read, or not to their end; and all of it, saved."""


# ---- which files are which job ----

def _walk(path: str, seen: Set[Tuple[int, int]]) -> Iterator[str]:
    """The files in and below a folder, as a scan of it reads them; what cannot be listed stands for itself."""
    try:
        state = os.stat(path)
        names = sorted(os.listdir(path), key=os.fsencode)
    except OSError:
        yield path
        return
    if (state.st_dev, state.st_ino) in seen:
        return
    seen.add((state.st_dev, state.st_ino))
    for name in names:
        inner = os.path.join(path, name)
        if name.startswith("."):
            continue
        if os.path.isdir(inner):
            yield from _walk(inner, seen)
        elif os.path.isfile(inner) or not os.path.exists(inner):  # no pipe: it may never end
            yield inner


def _listed(path: str, options: urls.Options) -> List[str]:
    if urls.is_url(path):
        return urls.expanded(path, options)
    path = os.path.abspath(path)  # whoever reads it stands elsewhere
    return list(_walk(path, set())) if os.path.isdir(path) else [path]


def _job_by(by: By) -> Callable[[str], str]:
    """The function from a path to the name of its job."""
    if callable(by):
        return by
    if by == "file":
        return str
    if by == "dir":
        return lambda path: urls.folder(path) if urls.is_url(path) else os.path.dirname(path)
    pattern = re.compile(by)

    def found(path: str) -> str:
        match = pattern.search(path)
        return path if match is None else "/".join(g or "" for g in match.groups()) or match.group()
    return found


def _identity(path: str) -> Any:
    """What all names of one file have in common; of a URL itself."""
    try:
        state = os.stat(path)
    except OSError:
        return path
    return state.st_dev, state.st_ino


def plan(paths: Any, by: By = "dir", storage_options: urls.Options = None) -> pyarrow.Table:
    """Which files there are, and which job each is of: a table FILES, the files of a job behind each other, in the order of a scan.

    `paths`: a path or a URL, or a list of them; a folder stands for the files in and below it, a pattern in a URL for those that it matches.
    `by`: what is one job. "dir": the files of one folder; "file": each file; a function from a path to the name of its job; or a regular
    expression that is searched in the path: what its groups hold, joined by "/", or all that it matches, is the name; a file that it does
    not match is a job of its own.
    """
    job_of = _job_by(by)
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    jobs: Dict[str, Dict[Any, bytes]] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for path in itertools.chain.from_iterable(pool.map(lambda p: _listed(os.fspath(p), storage_options), given)):
            job = str(job_of(path)).encode("utf-8", "backslashreplace").decode()
            jobs.setdefault(job, {}).setdefault(_identity(path), os.fsencode(path))
    return _table(FILES, [(job, place, len(jobs[job]), path) for job in sorted(jobs) for place, path in enumerate(jobs[job].values())])


def _table(schema: pyarrow.Schema, rows: List[Tuple[Any, ...]]) -> pyarrow.Table:
    columns = zip(*rows) if rows else [()] * len(schema)
    return pyarrow.table([pyarrow.array(list(c), t) for c, t in zip(columns, schema.types)], schema=schema)


def blocks(files: pyarrow.Table, most: int) -> List[pyarrow.Table]:
    """The table in pieces of at most `most` files, each with memory of its own: a slice would be sent with all of the table."""
    return [files.take(list(range(i, min(i + most, len(files))))) for i in range(0, len(files), most)]


# ---- what is read of them ----

def read(files: pyarrow.Table, storage_options: urls.Options = None) -> pyarrow.Table:
    """What some rows of plan() say: a table PARTS, a row for each run of files that follow each other in a job. What cannot be read is told
    in it, as the `problem` of its source. Memory: the model of one run, which grows with its ranks and connections, and what was saved."""
    rows = sorted(zip(*(files[name].to_pylist() for name in FILES.names)))
    parts = []
    for (job, _), run in itertools.groupby(enumerate(rows), lambda r: (r[1][0], r[1][1] - r[0])):
        found = [row for _, row in run]
        model = gather([os.fsdecode(row[-1]) for row in found], grammar(), options=storage_options)
        parts.append((job, found[0][1], len(found), found[0][2], model.save()))
    return _table(PARTS, parts)


# ---- what comes of them together ----

def _report(saved: bytes) -> Report:
    model = _core.Model(grammar(), saved)
    model.finish()
    return Report(model)


def _summary(job: str, saved: bytes) -> Tuple[Any, ...]:
    report = _report(saved)
    severities = report._rows("finding").columns()["severity"]
    problems = report.sources.columns()["problem"]
    return (job, report.verdict, report.findings[0].id if severities else None, severities.count("error"), severities.count("warning"),
            severities.count("note"), len(report.ranks), len(report.links), len(problems), len(problems) - problems.count(None), saved)


def _merged(job: str, runs: List[Tuple[int, int, int, bytes]]) -> bytes:
    model = _core.Model(grammar())
    at = 0
    for place, files, of, saved in runs:
        if place != at:
            break
        model.merge(_core.Model(grammar(), saved))
        at += files
    else:
        if at == of:
            return model.save()
    raise errors.of(-4, "%s: its parts are not the whole of it, each once: file %d of %d is missing, or is there again" % (job, at + 1, of))


def merge(parts: pyarrow.Table) -> pyarrow.Table:
    """All parts of some jobs to a table JOBS, a row for each. DataError where parts of a job are missing. Memory: the parts, and the model of
    one job."""
    rows = sorted(zip(*(parts[name].to_pylist() for name in PARTS.names)))
    return _table(JOBS, [_summary(job, _merged(job, [row[1:] for row in run])) for job, run in itertools.groupby(rows, lambda row: row[0])])


def _with_job(job: str, report: Report, name: str) -> pyarrow.Table:
    """Rows of a report by the name of their table, "finding_pair", or as the report calls them, "links"."""
    rows = report._rows(name) if name in tables else getattr(report, name, None)
    if not isinstance(rows, Rows):
        raise errors.of(-6, "a report has no table %s" % name)
    return pyarrow.table(rows).add_column(0, "job", pyarrow.array([job] * len(rows), pyarrow.string()))


def table(jobs: pyarrow.Table, name: str) -> pyarrow.Table:
    """Of the reports of all these jobs one table, "links", "findings", "ranks" ..., with the name of the job in front of each row."""
    none = _with_job("", Report(_core.Model(grammar()).snapshot()), name).slice(0, 0)
    each = zip(jobs["job"].to_pylist(), jobs["model"].to_pylist())
    return pyarrow.concat_tables([none] + [_with_job(job, _report(saved), name) for job, saved in each])


class Jobs(Mapping[str, Report]):
    """What came of many jobs, by their names: jobs["job-17"] is its Report, made when it is asked for. pyarrow.table(jobs), polars and duckdb
    take it as the table JOBS."""

    def __init__(self, table: pyarrow.Table):
        self._table = table.select(JOBS.names).sort_by("job")
        self._at = {job: i for i, job in enumerate(self._table["job"].to_pylist())}

    def __getitem__(self, job: str) -> Report:
        return _report(self._table["model"][self._at[job]].as_py())

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)

    def to_arrow(self) -> pyarrow.Table:
        """One row for each job, by name: the table JOBS."""
        return self._table

    def table(self, name: str) -> pyarrow.Table:
        """Of all reports one table, "links", "findings", "ranks" ..., with the name of the job in front of each row."""
        return table(self._table, name)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        verdicts = self._table["verdict"].to_pylist()
        told = ", ".join("%d %s" % (verdicts.count(v), v) for v in sorted(set(verdicts)))
        return "<Jobs: %d of %d files%s>" % (len(self), sum(self._table["files"].to_pylist()), told and ": " + told)

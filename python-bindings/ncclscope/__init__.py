"""ncclscope reads the debug log of NCCL, and says which path each pair of GPUs uses, whether it is the right one, and if not, why.

    import ncclscope
    report = ncclscope.scan("job.log")
    print(report.to_text())
    for f in report.findings:
        print(f.severity, f.id, f.title, f.fix)
"""

from ._core import Facts, Grammar, Reader, Record, RecordTable, version
from .errors import DataError, Error, InvalidArgument, NotFound, OtherRelease, PatternError, ReadError, Stopped, Unsupported
from .job import capture
from .machine import confirm
from .reading import open_log as open
from .report import Finding, FindingsError, Report, diff, explain, probe, scan
from .rows import Rows, tables
from .store import Store
from .stream import Stream

__version__ = version()
__all__ = ["scan", "open", "diff", "explain", "probe", "confirm", "capture", "Report", "Finding", "FindingsError", "Stream", "Store", "Reader", "Record", "RecordTable", "Rows",
           "Grammar", "Facts", "tables", "version", "Error", "InvalidArgument", "ReadError", "DataError", "PatternError", "NotFound",
           "Unsupported", "OtherRelease", "Stopped"]

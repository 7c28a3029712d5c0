"""NCCL's log of the job that this process is a rank of: captured while it runs, put together on rank 0."""

import os
import re
import shutil
import socket
import sys
import tempfile
import warnings
from typing import Any, Dict, List, Optional, Tuple

from . import _core
from .reading import grammar
from .report import Report

_NOTHING = ("NCCL wrote nothing here: no communicator was made within the block, or NCCL was at work before it, "
            "which looks at NCCL_DEBUG and NCCL_DEBUG_FILE once in a process")
_Part = Tuple[Optional[Tuple[str, int]], bytes]  # the file that several ranks may share, and the saved model of one of them


def _settings(file: str) -> Dict[str, str]:
    """The variables to set, so that NCCL says what a report needs; what says as much already, or names a file, stays."""
    wanted = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,ENV,GRAPH,NET", "NCCL_DEBUG_FILE": file}
    now = {name: os.environ.get(name, "") for name in wanted}
    if now["NCCL_DEBUG"].upper() not in ("INFO", "TRACE"):
        now["NCCL_DEBUG"] = ""
    return {name: value for name, value in wanted.items() if not now[name]}


def _expanded(file: str) -> str:
    """The name that NCCL makes of NCCL_DEBUG_FILE in this process: %h is the host up to its first dot, %p the process, %% a %."""
    known = {"h": socket.gethostname().split(".")[0], "p": str(os.getpid()), "%": "%"}
    return re.sub("%(.)", lambda found: known.get(found.group(1), found.group(0)), file)


def _model_of(paths: List[str], nothing: str) -> _core.Model:
    """A model that grows, of logs of this process; `nothing`: what they are called where there are none."""
    model = _core.Model(grammar())
    for path in paths or [nothing]:
        feed = _core.Feed(grammar(), model, os.path.basename(path))
        problem: Optional[str] = None if paths else _NOTHING
        try:
            if paths:
                with open(path, "rb") as file:
                    for piece in iter(lambda: file.read(1 << 20), b""):
                        feed.feed(piece)
        except OSError as e:
            problem = str(e)
        feed.end(problem)
    return model


def _gathered(part: _Part, group: Any) -> Optional[List[_Part]]:
    """The parts of all ranks, on the first of them; None on the others. Without a group of torch.distributed: its own."""
    dist: Any = sys.modules.get("torch.distributed")
    if dist is None or not dist.is_available() or not dist.is_initialized():
        return [part]
    first = dist.get_rank(group) == 0
    parts: Optional[List[Any]] = [None] * dist.get_world_size(group) if first else None
    dist.gather_object(part, parts, dst=0 if group is None else dist.get_global_rank(group, 0), group=group)
    return parts


def _merged(parts: List[_Part]) -> Report:
    model, seen = _core.Model(grammar()), set()
    for file, saved in parts:
        if file is None or file not in seen:
            model.merge(_core.Model(grammar(), saved))
        seen.add(file)
    model.finish()
    return Report(model)


class capture:
    """What NCCL says within a block, as a report: on rank 0 of a torch.distributed job the report of all ranks.

        with ncclscope.capture() as cap:
            torch.distributed.init_process_group("nccl")
            ...
        if cap.report is not None:      # None on the other ranks
            print(cap.report.to_text())

    It begins before NCCL does, for NCCL looks at its variables once in a process. NCCL_DEBUG is INFO within (TRACE stays TRACE),
    NCCL_DEBUG_SUBSYS is INIT,ENV,GRAPH,NET unless it is set, and NCCL_DEBUG_FILE a file in a fresh folder; behind the block they are as they
    were. An NCCL_DEBUG_FILE that is set already stays, and is read.

    `folder`: where that fresh folder is made, and kept; without it, it is gone behind the block. `group`: ranks of torch.distributed that
    put their logs together, all of which leave the block (or call read()); None: all. Each reads its own log, and sends 120 to 4,200 bytes.

    Where the group was destroyed within the block, or an exception leaves it, or the others are gone, each rank has the report of its own log.
    """

    def __init__(self, folder: Any = None, group: Any = None):
        self.report: Optional[Report] = None
        self._kept, self._group = folder, group
        self._folder: Optional[str] = None  # of this process; None: NCCL_DEBUG_FILE was set
        self._before: Dict[str, Optional[str]] = {}
        self._is_read = False

    def __enter__(self) -> "capture":
        if not os.environ.get("NCCL_DEBUG_FILE"):
            if self._kept is not None:
                os.makedirs(self._kept, exist_ok=True)
            self._folder = tempfile.mkdtemp(prefix="ncclscope-", dir=self._kept)
        settings = _settings(os.path.join(self._folder or "", "%h.%p.log"))
        self._before = {name: os.environ.get(name) for name in settings}
        os.environ.update(settings)
        return self

    def __exit__(self, kind: Any, *unused: Any) -> None:
        try:
            if not self._is_read:
                self._read(alone=kind is not None)
        finally:
            for name, value in self._before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
            if self._folder and self._kept is None:
                shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def files(self) -> List[str]:
        """The logs of this process, and of those that it started, so far: names of files."""
        if self._folder:
            return sorted(os.path.join(self._folder, name) for name in os.listdir(self._folder))
        return [path for path in [_expanded(os.environ["NCCL_DEBUG_FILE"])] if os.path.exists(path)]

    def read(self) -> Optional[Report]:
        """The report of what NCCL has said so far; None on all ranks but the first. All ranks of the group call it: before
        destroy_process_group(), where that is called within the block. Reading at the end of the block is left out then."""
        return self._read(alone=False)

    def _read(self, alone: bool) -> Optional[Report]:
        files = self.files
        saved = _model_of(files, _expanded(os.environ["NCCL_DEBUG_FILE"])).save()
        shared = (files[0], os.stat(files[0]).st_ino) if files and not self._folder else None
        parts: Optional[List[_Part]] = [(shared, saved)]
        try:
            parts = parts if alone else _gathered((shared, saved), self._group)
        except RuntimeError as e:
            warnings.warn("the logs of the other ranks are not in this report: %s" % e, RuntimeWarning, stacklevel=3)
        self._is_read = True
        self.report = None if parts is None else _merged(parts)
        return self.report

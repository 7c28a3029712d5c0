"""Logs against the machine that they are of."""

from typing import Any, Dict, Iterable, Optional, Union

from . import _core, errors
from .reading import Source
from .report import Report, scan


def confirm(logs: Union[Report, Source, Iterable[Source]], facts: Optional[Union[str, _core.Facts]] = None, **options: Any) -> Dict[str, Any]:
    """What logs say of a machine's GPUs against what the machine offers: a verdict for each pair of ranks, schema ncclscope.confirm/1.

    `logs`: of one job, as scan() takes them with its `options`; or a report that was made with facts. `facts`: a file that
    `ncclscope probe --save` wrote, or Facts; None: this machine's, which is asked (some seconds; nothing is set or changed).
    InvalidArgument for a report without facts, whose logs are to be given instead. For asyncio: `await asyncio.to_thread(confirm, ...)`.
    """
    if not isinstance(logs, Report):
        return scan(logs, facts=_core.Facts() if facts is None else facts, **options).confirm()
    if logs.facts is None or facts not in (None, logs.facts):
        raise errors.of(-2, "the report was not made with these facts: give its logs, or scan them with facts=")
    return logs.confirm()

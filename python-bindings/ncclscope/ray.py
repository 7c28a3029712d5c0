"""Logs that are read by the machines of a Ray cluster (needs ray[data]).

    import ncclscope.ray
    jobs = ncclscope.ray.scan("s3://logs/2025-11/")
    for name, report in jobs.items():
        print(name, report.verdict)

What Ray's workers import has to be there: ncclscope installed on every machine, or sent along, ray.init(runtime_env={"py_modules": [ncclscope]}).
"""

from typing import Any

import pyarrow
import ray
import ray.data
from ray.data.context import ShuffleStrategy

from . import parts, urls

_MOST_PARTITIONS = 200


def dataset(paths: Any, *, by: parts.By = "dir", block: int = 16, storage_options: urls.Options = None, **of_tasks: Any) -> ray.data.Dataset:
    """The rows of scan() as a dataset of Ray's, which nothing is read for yet: to write, or to go on with where they are too many for one
    machine. `.map_batches(ncclscope.parts.table, fn_args=["links"], batch_format="pyarrow")` makes tables of them."""
    files = parts.plan(paths, by, storage_options)
    if not len(files):
        return ray.data.from_arrow(parts.JOBS.empty_table())
    blocks = ray.data.from_arrow(parts.blocks(files, block))  # a task for each
    read = blocks.map_batches(parts.read, batch_size=None, batch_format="pyarrow", fn_kwargs={"storage_options": storage_options}, **of_tasks)
    if read.context.shuffle_strategy == ShuffleStrategy.HASH_SHUFFLE:  # by actors: what they hold is lost with their machine
        read.context.shuffle_strategy = ShuffleStrategy.SORT_SHUFFLE_PULL_BASED
    jobs = len(set(files["job"].to_pylist()))
    return read.groupby("job", num_partitions=min(jobs, _MOST_PARTITIONS)).map_groups(parts.merge, batch_format="pyarrow")


def scan(paths: Any, *, by: parts.By = "dir", block: int = 16, storage_options: urls.Options = None, **of_tasks: Any) -> parts.Jobs:
    """Read the logs of many jobs in a Ray cluster, and judge each.

    `paths`: a path or a URL that fsspec knows, of a file or a folder, or a list of them; every machine sees the files under these paths.
    `by`: what is one job: "dir", the files of one folder; "file"; a regular expression, or a function, that finds its name in a path
    (ncclscope.parts.plan). `block`: files that one task reads, one after the other. `storage_options`: what fsspec's file system is told.
    `of_tasks`: what map_batches takes for the tasks that read: num_cpus=, memory=, concurrency=, runtime_env= ...

    A file that cannot be read is no error: its source's `problem` says why. A task whose machine is lost is done again by another.
    """
    made = dataset(paths, by=by, block=block, storage_options=storage_options, **of_tasks)
    found = ray.get(made.to_arrow_refs())
    return parts.Jobs(pyarrow.concat_tables([parts.JOBS.empty_table()] + [t.select(parts.JOBS.names) for t in found if len(t)]))

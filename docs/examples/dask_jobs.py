"""dask_jobs.py LOGS... - the logs of many jobs, read by Dask's workers: ncclscope.ray.scan once more, by the steps of ncclscope.parts.

    python dask_jobs.py /logs/2025-11 s3://bucket/logs

Every worker has ncclscope and pyarrow, and sees the files under the same paths."""

import sys

import dask
import pyarrow
import pyarrow.compute
from dask.distributed import Client

from ncclscope import parts


def scan(paths, by="dir", block=16, storage_options=None):
    """A task reads a block of files, another puts together what there is of a job; in the cluster of the Client that is there."""
    def merge(job, *read):
        table = pyarrow.concat_tables(read)
        return parts.merge(table.filter(pyarrow.compute.equal(table["job"], job)))

    read_for = {}
    for files in parts.blocks(parts.plan(paths, by, storage_options), block):
        task = dask.delayed(parts.read)(files, storage_options)
        for job in files["job"].unique().to_pylist():
            read_for.setdefault(job, []).append(task)
    done = dask.compute(*(dask.delayed(merge)(job, *tasks) for job, tasks in read_for.items()))
    return parts.Jobs(pyarrow.concat_tables([parts.JOBS.empty_table(), *done]))


if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1):
        for job, report in scan(sys.argv[1:]).items():
            print(job, report.verdict)

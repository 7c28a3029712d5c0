"""spark_jobs.py LOGS... - the logs of many jobs, read by Spark's executors: ncclscope.ray.scan once more, by the steps of ncclscope.parts.

    spark-submit spark_jobs.py /logs/2025-11 s3://bucket/logs       # Spark 4

Every executor has ncclscope and pyarrow, and sees the files under the same paths."""

import sys

import pyarrow
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from ncclscope import parts


def scan(spark, paths, by="dir", block=16, storage_options=None):
    """A task reads a block of files (mapInArrow), another puts together what there is of a job."""
    def read(batches):
        for batch in batches:
            yield from parts.read(pyarrow.Table.from_batches([batch]), storage_options).to_batches()

    files = parts.plan(paths, by, storage_options)
    if not len(files):
        return parts.Jobs(parts.JOBS.empty_table())
    blocks = spark.createDataFrame(files).repartition(-(-len(files) // block))
    jobs = blocks.mapInArrow(read, from_arrow_schema(parts.PARTS)).groupBy("job").applyInArrow(parts.merge, from_arrow_schema(parts.JOBS))
    return parts.Jobs(jobs.toArrow())


if __name__ == "__main__":
    session = SparkSession.builder.appName("ncclscope").getOrCreate()
    for job, report in scan(session, sys.argv[1:]).items():
        print(job, report.verdict)
    session.stop()

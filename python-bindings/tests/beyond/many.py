"""many.py - by hand, by run.py: N logs of many jobs, read by Ray, Dask or Spark and by one process; says what each took, and whether they say
the same. Every job by itself, and by Ray all logs as one job too."""
import os
import sys
import tempfile
import time

import fleet
import ncclscope


def on_ray():
    import ray
    import ncclscope.ray
    ray.init(include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    return ncclscope.ray.scan


def on_dask():
    from dask.distributed import Client
    on_dask.client = Client(threads_per_worker=1, dashboard_address=None)
    return fleet.example('dask_jobs').scan


def on_spark():
    from pyspark.sql import SparkSession
    os.environ['PYSPARK_PYTHON'] = sys.executable
    spark = SparkSession.builder.config('spark.ui.enabled', False).config('spark.log.level', 'ERROR').getOrCreate()
    return lambda *arguments, **named: fleet.example('spark_jobs').scan(spark, *arguments, **named)


def timed(words, what):
    began = time.monotonic()
    got = what()
    print('%s: %.1f s' % (words, time.monotonic() - began), flush=True)
    return got


def main(engine, least):
    with tempfile.TemporaryDirectory(prefix='ncclscope-') as folder:
        made = fleet.make(os.path.realpath(folder), least)
        files = sum(map(len, made.values()))
        print('%d logs of %d jobs, %d bytes' % (files, len(made), sum(os.path.getsize(f) for fs in made.values() for f in fs if os.path.exists(f))))
        scan = {'ray': on_ray, 'dask': on_dask, 'spark': on_spark}[engine]()
        jobs = timed('%s, a report for each job' % engine, lambda: scan(os.path.realpath(folder)))
        print(jobs)
        should = timed('one process', lambda: {job: ncclscope.scan(fs).to_json() for job, fs in made.items()})
        differ = [job for job in sorted(set(should) | set(jobs)) if job not in jobs or jobs[job].to_json() != should.get(job)]
        print('%d of %d jobs differ' % (len(differ), len(should)))
        if engine == 'ray':
            whole = timed('ray, all logs as one job', lambda: scan(os.path.realpath(folder), by=lambda path: 'all')['all'].to_json())
            one = timed('one scan', lambda: ncclscope.scan(os.path.realpath(folder)).to_json())
            print('%d bytes of JSON, %s' % (len(one), 'the same' if whole == one else 'NOT the same'))
            differ += ['all'] if whole != one else []
    return 1 if differ else 0


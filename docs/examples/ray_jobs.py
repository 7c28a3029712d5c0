"""ray_jobs.py LOGS... - the logs of many jobs, read by the workers of a Ray cluster, or of one that is started here.

    python ray_jobs.py /logs/2025-11 s3://bucket/logs

ncclscope is sent along to machines that lack it; they see the files under the same paths."""

import sys

import ray

import ncclscope
import ncclscope.ray

if __name__ == "__main__":
    ray.init(runtime_env={"py_modules": [ncclscope]})
    for job, report in ncclscope.ray.scan(sys.argv[1:]).items():
        print(job, report.verdict)

"""mlflow_report.py LOG... - the report of a job's logs at a new MLflow run: the text and the JSON as artifacts, and what can be charted.

In a training script: attach(cap.report) within mlflow.start_run(), with the report of ncclscope.capture() on rank 0.
"""
import sys

import mlflow

import ncclscope


def attach(report):
    """Add to the active run what NCCL's log says: artifacts nccl/report.txt and nccl/report.json, the tag nccl.verdict, and metrics."""
    mlflow.log_text(report.to_text(columns=120, verbose=True), "nccl/report.txt")
    mlflow.log_dict(report.to_dict(), "nccl/report.json")
    mlflow.set_tag("nccl.verdict", report.verdict)
    mlflow.log_metrics({"nccl.%ss" % severity: sum(f.severity == severity for f in report.findings) for severity in ("error", "warning", "note")})
    mlflow.log_metric("nccl.ok", int(report.ok))


def main():
    with mlflow.start_run(run_name=sys.argv[1]):
        attach(ncclscope.scan(sys.argv[1:]))


if __name__ == "__main__":
    main()

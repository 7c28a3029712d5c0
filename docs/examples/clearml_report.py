"""clearml_report.py LOG... - the report of a job's logs at a new ClearML task: the text and the JSON as artifacts, and what can be charted.

In a training script: attach(Task.current_task(), cap.report), with the report of ncclscope.capture() on rank 0.
"""
import sys

from clearml import Task

import ncclscope


def attach(task, report):
    """Add to the task what NCCL's log says: artifacts "nccl-report" and "nccl-report-json", a tag with the verdict, single values."""
    task.upload_artifact("nccl-report", report.to_text(columns=120, verbose=True), extension_name=".txt")
    task.upload_artifact("nccl-report-json", report.to_dict(), extension_name=".json")
    task.add_tags(["nccl:" + report.verdict])
    logger = task.get_logger()
    logger.report_text(report.to_text(verdict=True))
    for severity in ("error", "warning", "note"):
        logger.report_single_value("nccl %ss" % severity, sum(f.severity == severity for f in report.findings))
    logger.report_single_value("nccl ok", int(report.ok))


def main():
    task = Task.init(project_name="nccl", task_name=sys.argv[1], auto_connect_frameworks=False, auto_connect_arg_parser=False, auto_resource_monitoring=False)
    attach(task, ncclscope.scan(sys.argv[1:]))
    task.close()


if __name__ == "__main__":
    main()

#!/bin/sh
# python-extras.sh - every test of the Python package, those too that need packages of others: torch, pyarrow, polars, pandas, duckdb, kubernetes,
# ClearML, MLflow, mypy. They go into a venv (build-extras/venv, 6 GB with the torch that pip takes; PIP_EXTRA_INDEX_URL can offer a smaller one),
# and the package is built and installed there, as anybody would do it. Nothing is skipped: a package that is missing is a failure.
set -eu
cd "$(dirname "$0")/.."
. .ci/setup.sh

venv=build-extras/venv
[ -x $venv/bin/python ] || "${PYTHON:-python3}" -m venv $venv
$venv/bin/pip install --quiet torch numpy pyarrow polars pandas duckdb kubernetes clearml mlflow-skinny mypy
configure build-plain -Dbuildtype=release -Dtests=enabled -Dpython=enabled
build build-plain
TESTDATA=$PWD/testdata $venv/bin/python python-bindings/tests/run.py build-plain/python-bindings/_core.abi3.so build-plain/tools/ncclscope \
    build-plain/python-bindings/columns.pyi --all

# The wheel stands alone, and its command too.
rm -rf build-extras/wheel
$venv/bin/pip wheel --quiet --no-deps -w build-extras/wheel ./python-bindings
$venv/bin/pip install --quiet --force-reinstall --no-deps build-extras/wheel/*.whl
cd build-extras
log=../testdata/logs/2.28.9/h200x8-p2p-disabled-shm.log
[ "$(venv/bin/python -c 'import sys, ncclscope; print(ncclscope.scan(sys.argv[1]).verdict, ncclscope.columns.Link.__name__)' $log)" = "findings Link" ]
venv/bin/ncclscope -q $log >said || [ $? = 1 ]
venv/bin/python -m ncclscope -q $log | cmp - said
venv/bin/python -m mypy --config-file= --strict -c 'import ncclscope; ncclscope.scan("job.log").links[0].path'

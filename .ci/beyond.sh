#!/bin/sh
# beyond.sh [TEST... | many ENGINE N] - by hand: what of the Python package needs other packages, with all of them: URLs, S3, HTTP, Ray, Dask, and Spark where there is
# Java. They are installed in build-beyond-venv/ (2 GB); the package is built in build-beyond/ for that Python, and its types are checked.
# "many ray 10000" compares so many logs, read by an engine (ray, dask, spark), with one process.
set -eu
cd "$(dirname "$0")/.."
. .ci/setup.sh

venv=build-beyond-venv
[ -x $venv/bin/python ] || python3 -m venv $venv
$venv/bin/python -m pip install --quiet mypy fsspec aiohttp s3fs 'moto[server]' pyarrow 'ray[data]' 'dask[distributed]' pyspark pandas

configure build-beyond -Dbuildtype=release -Dtests=enabled -Dpython=enabled "-Dpython_from=$PWD/$venv/bin/python"
build build-beyond
rm -rf build-beyond/typed && mkdir build-beyond/typed # as it is installed: the types of rows are made by the build
cp -R python-bindings/ncclscope build-beyond/typed/ && cp build-beyond/python-bindings/columns.pyi build-beyond/typed/ncclscope/
$venv/bin/mypy build-beyond/typed/ncclscope
if [ "${1:-}" = many ]; then
    TESTDATA=$PWD/testdata exec $venv/bin/python python-bindings/tests/run.py build-beyond/python-bindings/_core.abi3.so build-beyond/tools/ncclscope \
        build-beyond/python-bindings/columns.pyi "$@"
fi
meson test -C build-beyond --no-rebuild --print-errorlogs --suite beyond "$@"

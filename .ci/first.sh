#!/bin/sh
# first.sh - from a fresh checkout to a first verdict: what is missing is installed, build/ is made, one real log is read.
set -eu
cd "$(dirname "$0")/.."
. .ci/setup.sh

configure build
build build

log=testdata/logs/2.28.9/h200x8-p2p-disabled-shm.log
echo "\$ build/tools/ncclscope $log"
status=0
build/tools/ncclscope "$log" || status=$?
[ "$status" -le 1 ] # 1 says that the log shows something to mend, as this one does

#!/bin/sh
# coverage.sh - which lines and branches of the library and the command the tests run. By hand; needs gcovr. The last lines are the totals.
#
# The processes that ask the drivers end by _exit, which writes no counts: a preloaded one ends them by exit.
set -eu
cd "$(dirname "$0")/.."
. .ci/setup.sh

configure build-coverage -Dbuildtype=debug -Db_coverage=true -Dtests=enabled -Dc_args=-fprofile-update=atomic
build build-coverage
gcc -shared -fPIC -x c -o build-coverage/leave.so - <<'END'
#include <stdlib.h>
void _exit(int status)
{
    exit(status);
}
END
find build-coverage -name '*.gcda' -delete
LD_PRELOAD="$PWD/build-coverage/leave.so" meson test -C build-coverage --no-rebuild --no-suite elsewhere --timeout-multiplier 5 "$@" || echo "coverage: not all tests passed"
gcovr --root . --object-directory build-coverage --filter libncclscope/src/ --filter tools/ --exclude tools/tests/ \
    --exclude-unreachable-branches --exclude-throw-branches --gcov-ignore-errors=no_working_dir_found --gcov-ignore-parse-errors=negative_hits.warn_once_per_file -s --txt build-coverage/coverage.txt

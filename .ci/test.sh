#!/bin/sh
# test.sh - every test, under the address and undefined behaviour sanitizers, with warnings as errors; with clang, where it is
# installed, a second build for its warnings. The last line is "N passed, M failed"; the exit code is 0 only when M is 0 and N is not.
set -eu
cd "$(dirname "$0")/.."
. .ci/setup.sh

bad=0
log=build-test/meson-logs/testlog.json
if configure build-test --werror -Dbuildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false -Dtests=enabled &&
    build build-test; then
    rm -f "$log"
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1; export UBSAN_OPTIONS
    meson test -C build-test --no-rebuild --print-errorlogs --timeout-multiplier 3 || bad=1
else
    echo "test: the build failed, no test was run"
    bad=1
fi

if command -v clang >/dev/null 2>&1; then
    { CC=clang configure build-clang --werror -Dbuildtype=debug && build build-clang; } ||
        { echo "test: the build with clang failed"; bad=1; }
fi

python3 - "$log" "$bad" <<'END'
import json, os, sys

path, bad = sys.argv[1], int(sys.argv[2])
results = [json.loads(line)["result"] for line in open(path, encoding="utf-8")] if os.path.exists(path) else []
passed = sum(r in ("OK", "EXPECTEDFAIL") for r in results)
skipped = results.count("SKIP")
failed = len(results) - passed - skipped
if skipped:
    print("%d skipped" % skipped)
print("%d passed, %d failed" % (passed, failed))
sys.exit(1 if bad or failed or not passed else 0)
END

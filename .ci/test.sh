#!/bin/sh
# test.sh - every test, under the address and undefined behaviour sanitizers, with warnings as errors; with clang, where it is
# installed, a second build for its warnings. The last line is "N passed, M failed" (a build that fails is one of the M); the exit
# code is 0 only when M is 0 and N is not.
set -eu
cd "$(dirname "$0")/.."
. .ci/setup.sh

results=build-test/meson-logs/testlog.json
rm -f "$results"
broken=0

# Warnings that gcc derives from the flow of the program are false now and then in instrumented code: they are no errors there.
flow='-Wno-error=nonnull -Wno-error=maybe-uninitialized -Wno-error=stringop-overflow'
if configure build-test --werror -Dbuildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false -Dtests=enabled "-Dc_args=$flow" &&
    build build-test; then
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    export UBSAN_OPTIONS
    meson test -C build-test --no-rebuild --print-errorlogs --timeout-multiplier 3 || echo "test: not all tests passed"
else
    echo "test: the build failed, so no test was run"
    broken=1
fi

# Threads have a sanitizer of their own: one test, in a build of what it needs.
{ configure build-threads -Dbuildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false -Dtests=enabled && build build-threads libncclscope/tests/test_threads libncclscope/tests/test_scan &&
    TSAN_OPTIONS=halt_on_error=1 TESTDATA=$PWD/testdata build-threads/libncclscope/tests/test_threads &&
    TSAN_OPTIONS=halt_on_error=1 TESTDATA=$PWD/testdata build-threads/libncclscope/tests/test_scan; } || {
    echo "test: threads do not share what they may"
    broken=$((broken + 1))
}

if command -v clang >/dev/null 2>&1; then
    { CC=clang configure build-clang --werror -Dbuildtype=debug && build build-clang; } || {
        echo "test: the build with clang failed"
        broken=$((broken + 1))
    }
fi

# The Python package, which no sanitizer can be in.
{ configure build-plain -Dbuildtype=release -Dtests=enabled -Dpython=enabled && build build-plain &&
    package=$(meson test -C build-plain --no-rebuild --print-errorlogs python 2>&1); } || {
    printf '%s\n' "${package:-}"
    echo "test: the Python package does not do what it should"
    broken=$((broken + 1))
}
sed -n 's/^not tried:/test: not tried, needs .ci\/python-extras.sh:/p' build-plain/meson-logs/testlog.txt

# What of it needs other packages (.ci/beyond.sh installs them): tried as far as they are here.
{ said=$(meson test -C build-plain --no-rebuild --print-errorlogs --suite beyond 2>&1); } || {
    printf '%s\n' "$said"
    echo "test: the Python package does not do beyond this machine what it should"
    broken=$((broken + 1))
}
case $said in *" SKIP "*) echo "test: not tried, for its packages are not here:$(printf '%s\n' "$said" | sed -n 's/.*beyond \/ python \([a-z0-9]*\) *SKIP.*/ \1/p' | tr -d '\n')" ;; esac

# The one file that needs no other, in a root directory of its own.
{ said=$(meson test -C build-plain --print-errorlogs standalone 2>&1); } || {
    printf '%s\n' "$said"
    echo "test: the one-file program does not stand alone"
    broken=$((broken + 1))
}
case $said in *" SKIP "*) echo "test: the one-file program was not tried: no root directory can be made here" ;; esac

python3 - "$results" "$broken" <<'END'
import json, os, sys

path, broken = sys.argv[1], int(sys.argv[2])
results = [json.loads(line)["result"] for line in open(path, encoding="utf-8")] if os.path.exists(path) else []
passed = sum(result in ("OK", "EXPECTEDFAIL") for result in results)
skipped = results.count("SKIP")
failed = len(results) - passed - skipped + broken
if skipped:
    print("%d skipped" % skipped)
print("%d passed, %d failed" % (passed, failed))
sys.exit(1 if failed or not passed else 0)
END

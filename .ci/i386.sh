#!/bin/sh
# i386.sh [FOLDER]: the library and its tests as 32-bit programs, in a small Debian of their own that debootstrap makes in FOLDER (by default a new
# one under /tmp, removed at the end). By hand, as root, with a network: some minutes. The probe asks the driver, which has no 32-bit side: its test is left out.
set -eu
cd "$(dirname "$0")/.."
root=${1:-$(mktemp -d)}
trap 'umount "$root/proc" 2>/dev/null || true; [ $# -gt 0 ] || rm -rf "$root"' EXIT INT TERM
[ -d "$root/usr" ] || debootstrap --arch=i386 --variant=minbase \
    --include=gcc,g++,meson,ninja-build,pkg-config,python3,libpcre2-dev,libsqlite3-dev,zlib1g-dev,libarchive-dev,libjansson-dev,libcunit1-dev,locales bookworm "$root" >&2
rm -rf "$root/src" && mkdir "$root/src"
git archive HEAD | tar -x -C "$root/src"
mount -t proc proc "$root/proc" 2>/dev/null || true
chroot "$root" linux32 sh -c 'cd /src && { [ -d /build ] || CFLAGS=-Wno-psabi CXXFLAGS=-Wno-psabi meson setup /build --werror -Dtests=enabled -Dbuildtype=debugoptimized >/dev/null; } && ninja -C /build --quiet &&
    meson test -C /build -q --timeout-multiplier 3 $(meson test -C /build --list | sed "s/.* \/ //; s/.*://" | grep -vx "probe" | tr " " "?" | sort -u)'

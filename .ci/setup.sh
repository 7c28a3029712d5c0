# setup.sh - what a build needs, installed where it is missing; then helpers for the scripts beside this one.
# Sourced from the root of the repository. Debian and Ubuntu install by apt-get; elsewhere it says what is missing and stops.

have_library() { # name in pkg-config, package
    { command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "$1"; } ||
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$2" 2>/dev/null)" = installed ]
}

missing_packages() {
    command -v gcc >/dev/null 2>&1 || echo gcc
    command -v g++ >/dev/null 2>&1 || echo g++ # the public headers are C++ too
    command -v meson >/dev/null 2>&1 || echo meson
    command -v ninja >/dev/null 2>&1 || echo ninja-build
    command -v pkg-config >/dev/null 2>&1 || echo pkg-config
    command -v python3 >/dev/null 2>&1 || echo python3
    [ -e /usr/include/stdio.h ] || echo libc6-dev # gcc alone only recommends it
    have_library libpcre2-8 libpcre2-dev || echo libpcre2-dev
    have_library sqlite3 libsqlite3-dev || echo libsqlite3-dev
    have_library zlib zlib1g-dev || echo zlib1g-dev
    have_library jansson libjansson-dev || echo libjansson-dev
    have_library libarchive libarchive-dev || echo libarchive-dev
    have_library cunit libcunit1-dev || echo libcunit1-dev
    [ -e "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)/Python.h" ] || echo python3-dev
    [ -e /usr/share/i18n/locales/tr_TR ] || echo locales # what the tests make a locale of
}

install_packages() { # package...
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "setup: there is no apt-get here; install the equivalents of: $*" >&2
        return 1
    fi
    as_root=
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "setup: neither root nor sudo; as root: apt-get install $*" >&2
            return 1
        fi
        as_root=sudo
    fi
    echo "setup: installing $*" >&2
    $as_root apt-get -qq update >&2 || echo "setup: apt-get update failed; going on with the lists that are here" >&2
    said=$($as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "$@" 2>&1) ||
        { printf '%s\n' "$said" >&2; return 1; }
}

# Configure a build folder once; one of another checkout, or with other options, is made anew.
configure() { # folder, options of meson setup...
    folder=$1
    shift
    if [ -f "$folder/build.ninja" ] && [ "$(cat "$folder/options" 2>/dev/null)" = "$*" ] &&
        grep -qF "\"source\": \"$(pwd -P)\"" "$folder/meson-info/meson-info.json"; then
        return 0
    fi
    [ ! -d "$folder/meson-private" ] || rm -rf "$folder"
    said=$(meson setup "$folder" "$@" 2>&1) || { printf '%s\n' "$said"; return 1; }
    [ $# = 0 ] || printf '%s\n' "$*" >"$folder/options"
}

# Build what changed; silent unless it fails.
build() { # folder, targets; none: what is built by default
    folder=$1
    shift
    said=$(ninja -C "$folder" --quiet "$@" 2>&1) || { printf '%s\n' "$said"; return 1; }
}

missing=$(missing_packages)
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086 # one word per package
    install_packages $missing
fi

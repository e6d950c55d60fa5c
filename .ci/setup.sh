#!/bin/sh
# Sets up a clone; called by `make setup`. Order: system libraries, uv, .venv, the project itself.
# With the word `lock` (`make lock`) it renews requirements.lock instead.
# POSIX shell on Linux and macOS. Run it as often as you like: what is there is kept, and a run that
# was killed half-way is repaired by the next one. Package indexes are the user's own (pip's and
# uv's configuration and environment variables); none is named here.
set -eu
TASK=${1:-setup}
cd "$(dirname "$0")/.."
HERE=$(pwd -P)

STAMP=.venv/.ghostblitz-setup           # made last; holds the path of the clone it was made in
UNFINISHED=.venv/.ghostblitz-unfinished # there while packages are being written

say() { printf 'setup: %s\n' "$*"; }
die() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
trap 'die "interrupted; make setup carries on from here"' INT TERM HUP

# Two runs must not write .venv at once. The lock ends with the process, however that ends; where
# there is no flock (macOS) runs are not kept apart.
if have flock; then
    exec 9>.setup.lock
    flock -n 9 || {
        say "another set-up is at work in this folder; waiting for it"
        flock 9
    }
fi

# --- 1. Python: one that the system has; none is downloaded -----------------------------------

find_python() { # prints the first interpreter that PsychoPy supports
    for candidate in python3 python3.12 python3.11 python3.10; do
        "$candidate" -c 'if True:
            import sys
            if not (3, 10) <= sys.version_info[:2] < (3, 13):
                sys.exit(1)
            print(sys.executable)' 2>/dev/null && return 0
    done
    return 1
}
PYTHON=$(find_python) ||
    die "no Python 3.10, 3.11 or 3.12 on the PATH, and PsychoPy needs one of them; install it (Debian, Ubuntu: python3.11 or python3.12) and run make setup again"
VERSION=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
say "Python $VERSION ($PYTHON)"

# --- 2. uv that is already here, or a way to get it from PyPI ---------------------------------

find_uv() { # prints a uv that runs and knows the options used below
    for candidate in uv .uv/bin/uv; do
        have "$candidate" || continue
        case $("$candidate" --version 2>/dev/null || echo none) in
        none | "uv 0.0."* | "uv 0.1."* | "uv 0.2."* | "uv 0.3."* | "uv 0.4."*) ;;
        *) echo "$candidate" && return 0 ;;
        esac
    done
    return 1
}
UV=$(find_uv) || UV=
runs() { "$PYTHON" -c "$1" >/dev/null 2>&1; }
can_get_uv() { runs 'import ensurepip, venv' || runs 'import pip'; }

# --- 3. System libraries (Linux) --------------------------------------------------------------

# The library that the loader must find, and the Debian and Ubuntu package that brings it. Found by
# running PsychoPy in a minimal Debian 12. pyglet (the window) opens GL, GLU, X11 and fontconfig,
# psychtoolbox (the keyboard) is linked to X11, sounddevice opens PortAudio; libgl1 brings Mesa's
# drivers, fontconfig a font. The second half is Qt's, for the dialogue that PsychoPy's Runner shows.
LIBRARIES='libGL.so.1 libgl1
libGLU.so.1 libglu1-mesa
libX11.so.6 libx11-6
libfontconfig.so.1 libfontconfig1
libportaudio.so.2 libportaudio2
libEGL.so.1 libegl1
libdbus-1.so.3 libdbus-1-3
libglib-2.0.so.0 libglib2.0-0
libxkbcommon.so.0 libxkbcommon0
libxkbcommon-x11.so.0 libxkbcommon-x11-0
libxcb-cursor.so.0 libxcb-cursor0
libxcb-icccm.so.4 libxcb-icccm4
libxcb-keysyms.so.1 libxcb-keysyms1
libxcb-shape.so.0 libxcb-shape0'

missing_packages() {
    echo "$LIBRARIES" | while read -r library package; do
        runs "import ctypes; ctypes.CDLL('$library')" || printf '%s ' "$package"
    done
    if ! have Xvfb && { [ -z "${DISPLAY:-}" ] || [ "$(id -u)" = 0 ]; }; then
        printf 'xvfb ' # a virtual screen
    fi
    if [ -z "$UV" ] && ! can_get_uv; then
        printf '%s ' "python$VERSION-venv" # Debian keeps pip and ensurepip out of python3
    fi
}

export DEBIAN_FRONTEND=noninteractive
apt_install() {
    apt-get -qq -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 install "$@" </dev/null 9>&-
}

if [ "$TASK" = setup ] && [ "$(uname -s)" = Linux ]; then
    MISSING=$(missing_packages)
    MISSING=${MISSING% }
    if [ -n "$MISSING" ]; then
        have apt-get ||
            die "missing system libraries; install what your system calls these Debian packages, then run make setup again: $MISSING"
        [ "$(id -u)" = 0 ] ||
            die "missing system packages; run this, then make setup again: sudo sh -c \"apt-get update && apt-get install --no-install-recommends $MISSING\""
        say "installing system packages: $MISSING"
        LOG=$(mktemp)
        # A second try mends what a first may trip over: package lists that are missing or old, an
        # earlier apt-get that was killed.
        # shellcheck disable=SC2086 # one word per package
        apt_install $MISSING >"$LOG" 2>&1 || {
            dpkg --configure -a || true
            apt-get -qq update && apt_install -f $MISSING
        } >"$LOG" 2>&1 </dev/null 9>&- || {
            cat "$LOG" >&2
            rm -f "$LOG"
            die "apt-get could not install: $MISSING (its own words are above)"
        }
        rm -f "$LOG"
        STILL=$(missing_packages)
        [ -z "$STILL" ] || die "apt-get installed these, but they are still not found: $STILL"
    fi
    have Xvfb || say "note: tests that open a window need Xvfb: sudo apt-get install xvfb"
fi

# --- 4. uv --------------------------------------------------------------------------------------

# Debian's and Ubuntu's certificates, where the user named none: a lab's own authority is there too.
if [ -z "${SSL_CERT_FILE:-}" ] && [ -s /etc/ssl/certs/ca-certificates.crt ]; then
    export SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
fi

if [ -z "$UV" ]; then
    # The version in the lock. In a folder of the project, so that a pip that refuses to install
    # outside an environment (PEP 668) has nothing to refuse.
    WANTED=$(sed -n 's/^\(uv==[^ ;]*\).*/\1/p' requirements.lock | head -n 1)
    say "installing ${WANTED:=uv} into .uv"
    rm -rf .uv
    export PIP_REQUIRE_VIRTUALENV=0 PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1
    if runs 'import ensurepip, venv' && "$PYTHON" -m venv .uv; then
        .uv/bin/python -m pip install -q "$WANTED" </dev/null || die "pip could not install $WANTED (its own words are above)"
    else
        rm -rf .uv
        "$PYTHON" -m pip install -q --target .uv "$WANTED" </dev/null || die "pip could not install $WANTED (its own words are above)"
    fi
    UV=$(find_uv) || die "uv was installed into .uv but does not run there; delete .uv and run make setup again"
fi

# uv does not read pip's configuration; hand over the index and the certificates set there.
pip_setting() {
    for python in "$PYTHON" .uv/bin/python; do
        "$python" -m pip config get "global.$1" 2>/dev/null && return 0
    done
    return 0
}
if [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ]; then
    INDEX=${PIP_INDEX_URL:-$(pip_setting index-url)}
    [ -z "$INDEX" ] || export UV_DEFAULT_INDEX="$INDEX"
fi
if [ -z "${SSL_CERT_FILE:-}" ]; then
    CERT=${PIP_CERT:-$(pip_setting cert)}
    [ -z "$CERT" ] || export SSL_CERT_FILE="$CERT"
fi
export UV_PYTHON_DOWNLOADS=never UV_HTTP_TIMEOUT="${UV_HTTP_TIMEOUT:-120}"

# On a terminal uv shows its progress; elsewhere only what goes wrong.
[ -t 2 ] && VOICE=--color=auto || VOICE=--quiet

if [ "$TASK" = lock ]; then
    # Versions for every system and Python the project supports; no index address is written.
    # shellcheck disable=SC2086 # LOCK_ARGS are words
    "$UV" pip compile -q --universal --all-extras --python-version 3.10 --no-emit-index-url \
        --annotation-style line --custom-compile-command "make lock" ${LOCK_ARGS:-} \
        pyproject.toml --output-file requirements.lock </dev/null || die "requirements.lock could not be renewed (uv's words are above)"
    say "requirements.lock is up to date with pyproject.toml"
    exit
fi

# --- 5. .venv from the lock, and the project in it ----------------------------------------------

usable() { # a whole environment, made here, with a Python that still runs and fits
    [ ! -e "$UNFINISHED" ] &&
        { [ ! -e "$STAMP" ] || [ "$(cat "$STAMP")" = "$HERE" ]; } &&
        .venv/bin/python -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 13))' 2>/dev/null
}
rm -rf .venv.old
if ! usable; then
    if [ -e .venv ]; then
        say "replacing .venv: it is incomplete, from another place, or its Python does not fit"
        mv .venv .venv.old # in one step, so that no half of it can be taken for whole
        rm -rf .venv.old
    fi
    mkdir .venv
    : >"$UNFINISHED"
    "$UV" venv -q --allow-existing --python "$PYTHON" .venv || die "uv could not make .venv (its own words are above)"
fi
rm -f "$STAMP"

say "installing the packages of requirements.lock into .venv (the first time some minutes and 600 MB)"
: >"$UNFINISHED"
# The lock is complete, so nothing is resolved anew; what must be built (esprima, pure Python) is
# built with the versions of the lock. Compiled now, so that no session pays for it later.
"$UV" pip install "$VOICE" --python .venv/bin/python --no-deps --build-constraints requirements.lock \
    --compile-bytecode -r requirements.lock </dev/null ||
    die "the packages of requirements.lock could not be installed (uv's words are above); put that right and run make setup again"
rm -f "$UNFINISHED"
"$UV" pip install "$VOICE" --python .venv/bin/python --no-deps --no-build-isolation --reinstall -e . </dev/null ||
    die "ghostblitz itself could not be installed (uv's words are above)"
.venv/bin/python -c 'import ghostblitz_task, psychopy' ||
    die "the packages are installed but do not import (Python's words are above)"

echo "$HERE" >"$STAMP"
say "ready"

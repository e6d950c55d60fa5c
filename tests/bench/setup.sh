#!/bin/sh
# Installs what only the bench needs into .bench; called by `make bench-timing`, after `make setup`.
# A peer that cannot be installed is named and left out of the run, which says so too.
set -eu
cd "$(dirname "$0")/../.."

say() { printf 'bench: %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }
# Whether the copy of a list of packages is the one that was installed last.
same() { cmp -s "$1" "$2"; }

mkdir -p .bench/npm

# --- Expyriment, in an environment of its own --------------------------------------------------

LIST=tests/bench/requirements.txt
if ! same "$LIST" .bench/venv/requirements.txt; then
    UV=uv
    have uv || UV=.uv/bin/uv
    # uv does not read pip's configuration; hand over the index and the certificates set there.
    pip_setting() {
        for python in .uv/bin/python python3; do
            "$python" -m pip config get "global.$1" 2>/dev/null && return 0
        done
        return 0
    }
    INDEX=${PIP_INDEX_URL:-$(pip_setting index-url)}
    [ -n "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ] || [ -z "$INDEX" ] || export UV_DEFAULT_INDEX="$INDEX"
    CERT=${PIP_CERT:-$(pip_setting cert)}
    [ -n "${SSL_CERT_FILE:-}" ] || [ -z "$CERT" ] || export SSL_CERT_FILE="$CERT"
    export UV_PYTHON_DOWNLOADS=never
    say "installing Expyriment into .bench/venv"
    rm -rf .bench/venv
    if "$UV" venv --quiet --python .venv/bin/python .bench/venv &&
        "$UV" pip install --quiet --python .bench/venv/bin/python --no-deps -r "$LIST" </dev/null; then
        cp "$LIST" .bench/venv/requirements.txt
    else
        rm -rf .bench/venv
        say "Expyriment could not be installed (uv's words are above); the bench goes on without it"
    fi
fi

# --- jsPsych, and the browser that the system has ----------------------------------------------

if ! have npm; then
    say "jsPsych needs node and npm (Debian: apt-get install nodejs npm); the bench goes on without it"
elif ! same tests/bench/package.json .bench/npm/installed.json; then
    say "installing jsPsych into .bench/npm"
    cp tests/bench/package.json .bench/npm/package.json
    if npm install --prefix .bench/npm --no-package-lock --ignore-scripts --no-audit --no-fund \
        --silent </dev/null; then
        cp tests/bench/package.json .bench/npm/installed.json
    else
        rm -rf .bench/npm/node_modules
        say "jsPsych could not be installed; the bench goes on without it"
    fi
fi
have chromium || have chromium-browser ||
    say "jsPsych needs Chromium (Debian: apt-get install chromium); the bench goes on without it"

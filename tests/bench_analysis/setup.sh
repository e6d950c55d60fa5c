#!/bin/sh
# Installs the Python peers of the analysis bench into .bench/analysis-venv; called by
# `make bench-analysis`, after `make setup`. What cannot be installed is named and left out of the
# run, which says so too. R, if the system has Rscript, is used as it is.
set -eu
cd "$(dirname "$0")/../.."

say() { printf 'bench: %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

mkdir -p .bench
LIST=tests/bench_analysis/requirements.txt
if ! cmp -s "$LIST" .bench/analysis-venv/requirements.txt; then
    say "installing pingouin, statsmodels and pandas into .bench/analysis-venv"
    rm -rf .bench/analysis-venv
    # pip, since it reads the index and certificates that pip's configuration names.
    if .venv/bin/python -m venv .bench/analysis-venv &&
        .bench/analysis-venv/bin/python -m pip install --quiet --disable-pip-version-check \
            -r "$LIST" </dev/null; then
        cp "$LIST" .bench/analysis-venv/requirements.txt
    else
        rm -rf .bench/analysis-venv
        say "they could not be installed (pip's words are above); the bench goes on without them"
    fi
fi
have Rscript || say "base R needs Rscript (Debian: apt-get install r-base-core); left out"

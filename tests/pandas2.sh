#!/bin/sh
# Runs the tests of the analysis under the oldest pandas that pyproject.toml allows, in an
# environment of its own below .bench; called by `make test-pandas2`, after `make setup`.
set -eu
cd "$(dirname "$0")/.."

VENV=.bench/pandas2
OLDEST=$(sed -n 's/^ *"pandas>=\([0-9.]*\)",$/\1/p' pyproject.toml)
mkdir -p .bench
{
    grep -v '^pandas==' requirements.lock
    echo "pandas==$OLDEST.*"
} >"$VENV.txt"
if ! cmp -s "$VENV.txt" "$VENV/requirements.txt"; then
    echo "test: installing pandas $OLDEST and the other packages into $VENV"
    rm -rf "$VENV"
    # pip, since it reads the index and certificates that pip's configuration names.
    .venv/bin/python -m venv "$VENV"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r "$VENV.txt" </dev/null
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -e . </dev/null
    cp "$VENV.txt" "$VENV/requirements.txt"
fi
"$VENV/bin/python" -m pytest -n 2 -m 'not screen and not alone' \
    tests/analysis tests/captain_analysis tests/export tests/reference "$@"

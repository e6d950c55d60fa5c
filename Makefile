# The project's commands. The work of set-up is in .ci/setup.sh; each command does it first,
# which costs nothing once it is done.
.POSIX:
.PHONY: help setup demo test test-quick test-pandas2 soak bench-timing bench-analysis bench-export lint check lock clean FORCE

PYTHON = .venv/bin/python
STAMP = .venv/.ghostblitz-setup
DEMO_ARGS =
PYTEST_ARGS =
SOAK_ARGS =
BENCH_ARGS =
export LOCK_ARGS =
# Tests keep their compiled modules: they start in a third of the time.
export PYTHONDONTWRITEBYTECODE =

help:
	@echo 'make demo        play one session on a screen (a robot plays) and report on it'
	@echo '                 DEMO_ARGS=--human: you play'
	@echo 'make test        all tests'
	@echo 'make test-quick  the tests that need no screen and little time'
	@echo 'make test-pandas2  the tests of the analysis under the oldest pandas (a quarter of an hour)'
	@echo 'make soak        long sessions: memory, drift, lost events (half an hour)'
	@echo 'make bench-timing  our RTs against those of its peers; docs/timing-bench.md (35 minutes)'
	@echo 'make bench-analysis  the analysis on a million trials, and beside its peers; docs/analysis-bench.md'
	@echo 'make bench-export  a Parquet store of 10,000 participants, written and read back (2 minutes)'
	@echo 'make lint        style, types and layers'
	@echo 'make check       lint and test: what CI runs'
	@echo 'make setup       only the set-up'
	@echo 'make lock        renew requirements.lock after a change to pyproject.toml'
	@echo '                 LOCK_ARGS=--upgrade: newest versions of everything'
	@echo 'make clean       delete what set-up and tests made'

setup: $(STAMP)

# A clone that was moved has a broken .venv, so set-up runs again there.
STAMP_IS_STALE = $(shell test "$$(cat $(STAMP) 2>/dev/null)" = "$(CURDIR)" || echo FORCE)
$(STAMP): requirements.lock pyproject.toml .ci/setup.sh $(STAMP_IS_STALE)
	@sh .ci/setup.sh

demo: setup
	@.venv/bin/ghostblitz demo $(DEMO_ARGS)

# Tests run beside each other, so each computes in one thread.
test test-quick test-pandas2: export OPENBLAS_NUM_THREADS = 1

# What measures times runs by itself, after the rest. Sessions at a screen mostly wait, so there are
# more processes than cores.
test: setup
ifeq ($(strip $(PYTEST_ARGS)),)
	$(PYTHON) -m pytest -n 4 --dist worksteal -m 'not alone'
	$(PYTHON) -m pytest -m alone
else
	$(PYTHON) -m pytest $(PYTEST_ARGS)
endif

# Half an hour; the rest of the machine should be idle.
soak: setup
	$(PYTHON) -m tests.soak $(SOAK_ARGS)

# Half an hour and more; nothing else should run on the machine.
bench-timing: setup
	@sh tests/bench/setup.sh
	@$(PYTHON) -m tests.bench $(BENCH_ARGS)

# Nothing else should run on the machine.
bench-analysis: setup
	@sh tests/bench_analysis/setup.sh
	@$(PYTHON) -m tests.bench_analysis $(BENCH_ARGS)

# Nothing else should run on the machine.
bench-export: setup
	@$(PYTHON) -m tests.bench_export $(BENCH_ARGS)

test-quick: setup
	$(PYTHON) -m pytest -n 2 -m 'not slow and not screen' $(PYTEST_ARGS)

test-pandas2: setup
	@sh tests/pandas2.sh $(PYTEST_ARGS)

lint: setup
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/mypy --python-version 3.10 --no-warn-return-any --no-warn-unused-ignores
	.venv/bin/lint-imports

# Lint first, so that the last words are pytest's.
check: lint test

lock:
	@sh .ci/setup.sh lock

clean:
	rm -rf .venv .venv.old .uv .setup.lock .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .grimp_cache .bench dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Needs Python 3.11 or newer (with venv and pip) and make; everything else is installed into .venv.

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=
AGENTS ?=

BIN   := $(VENV)/bin
PIP   := $(BIN)/python -m pip install --quiet --disable-pip-version-check
MADE  := $(VENV)/.made
PLAIN := $(VENV)/.installed
DEV   := $(VENV)/.installed-dev
BUILT := pyproject.toml hatch_build.py $(wildcard src/hookonce/client/native/*.[ch])

.DEFAULT_GOAL := help
.PHONY: run test test-integration explore mutants prove lint bench bench-peers bench-soak bench-large docs clean help

run: $(PLAIN)  ## start hookonce and show what happens; without a terminal, or an agent, a demonstration
	@$(BIN)/hookonce up --or-demo

# The checks run beside the tests, which often wait; one collection writes the compiled tests that all workers then read.
test: $(DEV)  ## all checks and all tests that need nothing from outside
	@echo "lint-imports, ruff, mypy and pytest"
	@$(MAKE) --no-print-directory lint > $(VENV)/lint.log 2>&1 & lint=$$!; \
	$(BIN)/pytest --collect-only --quiet > $(VENV)/collect.log 2>&1; \
	$(BIN)/pytest -n auto -m "not integration" $(ARGS); code=$$?; \
	wait $$lint || { cat $(VENV)/lint.log; code=1; }; exit $$code

test-integration: $(DEV)  ## tests that need installed agents or services
	@echo "pytest, integration"
	@code=0; $(BIN)/pytest -m integration $(ARGS) || code=$$?; \
	if [ $$code -eq 5 ]; then \
		echo "No integration test was selected: none is marked 'integration' here, so there is nothing to fail."; \
	else exit $$code; fi

explore: $(DEV)  ## property tests with 50 times the examples, new ones each time (ARGS=tests/laws for some)
	@$(BIN)/pytest -n auto -m "hypothesis and not integration" --hypothesis-profile explore $(ARGS)

mutants: $(DEV)  ## break the code in hundreds of ways, each of which a test has to notice (ARGS="--only merge" for some)
	@$(BIN)/python tools/mutants/run.py $(ARGS)

prove: $(PLAIN)  ## run real agents offline and certify their hooks (2 GB from npm, once; AGENTS="codex cline" for some)
	@fetched=yes; $(BIN)/hookonce lab fetch $(AGENTS) || { fetched=; echo "Going on with what was fetched before."; }; \
	if [ -n "$$fetched" ] || $(BIN)/hookonce prove --pinned --dry-run $(AGENTS) > /dev/null 2>&1; then \
		$(BIN)/hookonce prove --pinned --tries 3 $(ARGS) $(AGENTS); \
	else echo "It is not enough: nothing is run."; fi

lint: $(DEV)  ## layers of imports, style, types
	@echo "lint-imports"
	@$(BIN)/lint-imports --no-cache > $(VENV)/lint-imports.log 2>&1 || { cat $(VENV)/lint-imports.log; exit 1; }
	@echo "ruff"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check src
	@echo "mypy"
	@$(BIN)/mypy --no-error-summary

bench: $(DEV)  ## measure speed on this machine (ARGS=--quick: only what agents wait for, in under 3 minutes)
	@$(BIN)/python benchmarks/latency.py $(ARGS)
ifeq ($(filter --quick,$(ARGS)),)
	@$(BIN)/python benchmarks/run.py
	@$(BIN)/python benchmarks/call_path.py
	@$(BIN)/python benchmarks/record/store.py
	@$(BIN)/python benchmarks/modules.py
	@$(BIN)/python benchmarks/install.py
	@$(BIN)/python benchmarks/intake.py
	@$(BIN)/python benchmarks/soak.py
endif

bench-peers: $(DEV)  ## measure other tools beside hookonce (some 100 MB from PyPI and npm, once; ARGS=--quick for fewer calls)
	@$(BIN)/python benchmarks/peers/peer_bench.py $(ARGS)

bench-soak: $(DEV)  ## watch the daemon's memory for an hour: 200,000 calls, then idling and bursts
	@$(BIN)/python benchmarks/soak.py --calls 200000 --minutes 60 $(ARGS)

bench-large: $(DEV)  ## measure the record with ten million events (40 GB of disk, an hour or two; goes on when stopped)
	@$(BIN)/python benchmarks/record/store.py --rows 10000000

docs: $(DEV)  ## rewrite the pages and schemas that are made from the code
	@$(BIN)/python docs/generate.py $(ARGS)

clean:  ## remove .venv, caches and build results
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "hookonce needs Python 3.11 or newer. Name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(PLAIN): $(BUILT) | $(MADE)
	@echo "installing hookonce"
	@$(PIP) -e .
	@touch $@

$(DEV): $(BUILT) | $(MADE)
	@echo "installing hookonce and its development tools"
	@$(PIP) -e '.[dev]'
	@touch $@ $(PLAIN)

# `make run` and `make test` are all a newcomer needs; each installs what it needs first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
# Folder of public data sets for the checks that want one; without it they are skipped.
DATA   ?=
export DATA
# Processes that share the tests, file by file. Each may load the default model, which takes a gigabyte.
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help install install-dev run serve test coverage test-slow fuzz lint bench bench-check docs clean

help:
	@echo "make run        install, start the service with the sample world, show a first retrieval"
	@echo "make test       install, then lint, types, import contract and the whole test suite"
	@echo "make serve      start the service alone"
	@echo "make lint       only lint, types and import contract"
	@echo "make coverage   the test suite with the lines and branches that it reaches; half as slow again"
	@echo "make test-slow  the tests that take minutes"
	@echo "make fuzz       100,000 broken files through every reader, with figures"
	@echo "make bench      the benchmarks (DATA=folder for those on public data)"
	@echo "make bench-check  the speed benchmark again; fails when a ratio is a quarter worse than docs/performance says"
	@echo "make docs       write the generated pages anew"
	@echo "make clean      remove the environment and everything derived"

# A stamp per set of packages: nothing is installed again while these files stay as they are.
$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Worldbook needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade --constraint constraints.txt pip
	$(PIP) install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install --quiet --constraint constraints.txt --group dev
	@touch $@

install: $(VENV)/.installed
install-dev: $(VENV)/.installed-dev

run: install
	@$(BIN)/worldbook demo

serve: install
	@$(BIN)/worldbook serve

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(PYTEST) -m "not slow"

coverage: install-dev
	$(PYTEST) -m "not slow" --cov --cov-report=term

test-slow: install-dev
	$(BIN)/python -m pytest -m slow

fuzz: install-dev
	$(BIN)/python -m tests.fuzz.fuzz_formats

bench: install-dev
	$(BIN)/python -m benchmarks.speed
	@if [ -z "$(DATA)" ]; then echo "Recall needs DATA=FOLDER with public data sets: python -m benchmarks.recall --help"; fi
	$(if $(DATA),$(BIN)/python -m benchmarks.recall goals --data "$(DATA)")
	$(if $(DATA),$(BIN)/python -m benchmarks.crosslingual --data "$(DATA)")

bench-check: install-dev
	$(BIN)/python -m benchmarks.speed --check

docs: install-dev
	$(BIN)/python scripts/write_settings.py
	$(BIN)/python -m benchmarks.speed.pages

clean:
	rm -rf $(VENV) .coverage* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build *.egg-info

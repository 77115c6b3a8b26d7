# Needs Python 3.11+ (with venv) and make; everything else is installed into $(VENV).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet -c constraints.txt

# One thread a process: two test workers share two cores without fighting.
THREADS := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help venv demo test test-lowest slow planted lint format bench tables figures docs \
  dist smoke release-check clean

help:
	@echo "make demo    what synthetic rows keep of the example table (MODELS=1: twelve models)"
	@echo "make test    the test suite (two workers)"
	@echo "make test-lowest  a part of it with the lowest versions of all dependencies"
	@echo "make slow    the checks that take long, and all combinations of parameters"
	@echo "make planted which test catches each of the bugs in tests/planted"
	@echo "make lint    ruff, spelling, mypy, import contracts"
	@echo "make format  let ruff rewrite the code"
	@echo "make bench   speed; with DATA=folder [RUNS=names] the runs of benchmarks.md"
	@echo "make tables  the tables of the pages that come from benchmarks/results"
	@echo "make figures  the pictures of the docs; with DATA=folder those of images, too"
	@echo "make docs    the documentation and its gallery, into docs/_build/html"
	@echo "make dist    sdist and wheel, built and checked, into dist/"
	@echo "make smoke   the wheel of dist/, installed without extras and tried out"
	@echo "make release-check  what still keeps this checkout from being released"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "skdpgen needs Python 3.11 or newer. Try: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.user: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) -e '.[plot]'
	@touch $@

$(VENV)/.developer: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) -e '.[plot,test,docs,dev]'
	@touch $@ $(VENV)/.user

venv: $(VENV)/.developer

demo: $(VENV)/.user
	$(THREADS) $(BIN)/skdpgen demo --out skdpgen-demo $(if $(MODELS),--models)

test: $(VENV)/.developer
	$(THREADS) $(BIN)/python -m pytest -n 2 --dist worksteal --durations 25 -m "not slow"

# An environment of its own, beside the usual one.
LOWEST := $(VENV)-lowest
$(LOWEST)/.ready: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet -c constraints-lowest.txt -e '.[plot,arrow,dask,test]'
	@touch $@

TESTED_LOWEST ?= tests/cli tests/datasets tests/features tests/privacy tests/tables \
  tests/test_lazy_names.py tests/test_sklearn.py tests/test_wrong_turns.py
test-lowest: $(LOWEST)/.ready
	$(THREADS) $(LOWEST)/bin/python -m pytest -n 2 --dist worksteal -m "not slow" $(TESTED_LOWEST)

slow: $(VENV)/.developer
	$(THREADS) $(BIN)/python -m pytest -n 2 -m slow

planted: $(VENV)/.developer
	$(BIN)/python -m tests.planted

lint: $(VENV)/.developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	PATH="$(abspath $(BIN)):$$PATH" lint-imports --no-cache

format: $(VENV)/.developer
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

RUNS ?= $(notdir $(basename $(wildcard benchmarks/results/tables/*.toml)))
bench: $(VENV)/.user
	$(BIN)/python -m benchmarks speed
ifdef DATA
	for name in $(RUNS); do $(BIN)/python -m benchmarks run benchmarks/results/tables/$$name.toml \
	  --data $(DATA) --jobs 2 --out bench/$$name || exit 1; done
endif

TABLES := $(BIN)/python -m benchmarks tables
tables: $(VENV)/.user
	$(TABLES) benchmarks/results/tables --into benchmarks/benchmarks.md
	$(TABLES) benchmarks/results/headline.jsonl --into docs/how_good.md
	$(TABLES) benchmarks/results/reproductions --into benchmarks/reproductions.md
	$(TABLES) benchmarks/results/speed --into benchmarks/speed.md
	$(BIN)/python benchmarks/discovery.py page benchmarks/benchmarks.md
	$(BIN)/python -m benchmarks triples
	$(BIN)/python -m benchmarks targets
	$(BIN)/python -m benchmarks nist page
	$(BIN)/python -m benchmarks paper page

figures: $(VENV)/.developer
	PYTHONPATH=. $(THREADS) $(BIN)/python docs/figures.py $(NAMES) $(if $(DATA),--data $(DATA))

# The examples of the gallery run: all of them the first time, then those that changed.
docs: $(VENV)/.developer
	$(THREADS) $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

# `build` makes the wheel from the sdist. Without isolation it needs no network.
dist: $(VENV)/.developer
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/python -m tests.release.contents dist

# In a folder of its own, so that Python cannot import the package from this one.
smoke:
	@test -e dist/*.whl || { echo "There is no wheel. Run make dist first."; exit 1; }
	folder="$$(mktemp -d)" && trap 'rm -rf "$$folder"' EXIT && \
	$(PYTHON) -m venv "$$folder/venv" && \
	"$$folder/venv/bin/python" -m pip install --quiet -c constraints.txt dist/*.whl && \
	cp tests/release/smoke.py "$$folder" && cd "$$folder" && venv/bin/python -I smoke.py

release-check: $(VENV)/.developer
	$(BIN)/python -m tests.release.ready

clean:
	rm -rf dist docs/_build docs/api/generated docs/gallery .mypy_cache .ruff_cache .pytest_cache

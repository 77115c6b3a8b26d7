# Needs Python 3.11+ (with venv) and make; everything else is installed into $(VENV).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet -c constraints.txt

# One thread a process: two test workers share two cores without fighting.
THREADS := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help venv demo test slow planted lint format bench tables figures docs clean

help:
	@echo "make demo    what synthetic rows keep of the example table (MODELS=1: twelve models)"
	@echo "make test    the test suite (two workers)"
	@echo "make slow    the checks that take long, and all combinations of parameters"
	@echo "make planted which test catches each of the bugs in tests/planted"
	@echo "make lint    ruff, mypy, import contracts"
	@echo "make format  let ruff rewrite the code"
	@echo "make bench   speed; with DATA=folder [RUNS=names] the runs of benchmarks.md"
	@echo "make tables  the tables of the pages that come from benchmarks/results"
	@echo "make figures  the pictures of the docs; with DATA=folder those of images, too"
	@echo "make docs    the documentation, into docs/_build/html"

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
	$(BIN)/skdpgen demo --out skdpgen-demo $(if $(MODELS),--models)

test: $(VENV)/.developer
	$(THREADS) $(BIN)/python -m pytest -n 2 --dist worksteal --durations 25 -m "not slow"

slow: $(VENV)/.developer
	$(THREADS) $(BIN)/python -m pytest -n 2 -m slow

planted: $(VENV)/.developer
	$(BIN)/python -m tests.planted

lint: $(VENV)/.developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
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

figures: $(VENV)/.developer
	PYTHONPATH=. $(THREADS) $(BIN)/python docs/figures.py $(NAMES) $(if $(DATA),--data $(DATA))

docs: $(VENV)/.developer
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

clean:
	rm -rf docs/_build docs/api/generated .mypy_cache .ruff_cache .pytest_cache

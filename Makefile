# Everything below works from a fresh clone with Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PLAIN := .venv/.plain
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: demo test check bench docs lint types layers docs-in-step clean

demo: $(PLAIN)
	$(BIN)/pnsight demo

test: $(STAMP)
	$(BIN)/pytest

check: lint types layers docs-in-step
	$(BIN)/pytest --everything

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

# The generated pages of the documentation must equal what the code generates today.
docs-in-step: $(STAMP)
	$(BIN)/python docs/generate.py --check

bench: $(STAMP)
	$(BIN)/python experiments/benchmarks/counting.py
	$(BIN)/python experiments/benchmarks/roll_up.py
	$(BIN)/python experiments/benchmarks/check_power.py
	$(BIN)/pnsight bench run --preset baseline --results .bench
	$(BIN)/pnsight bench show --results .bench

docs: $(STAMP)
	$(BIN)/python docs/generate.py
	$(BIN)/sphinx-build --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# The demo needs the package alone; all else also what tests and documentation need.
$(PLAIN): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing pnsight and the libraries it needs into .venv: a minute or two"
	$(PIP) .
	touch $@

$(STAMP): pyproject.toml experiments/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) '.[dev,docs]' --editable ./experiments
	touch $@

clean:
	rm -rf .venv docs/_build .mypy_cache .ruff_cache .pytest_cache

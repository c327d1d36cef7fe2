# Everything below works from a fresh clone with Python 3.11+ and make; check also needs Java 17, Chromium and PostgreSQL.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PLAIN := .venv/.plain
# make test CONSTRAINTS=constraints/lowest.txt, or newest.txt, installs those versions into a new .venv.
CONSTRAINTS ?=
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check $(addprefix --constraint ,$(CONSTRAINTS)) --editable
# A worker for each core. Each begins with a run of neighbouring tests, so that what a file's tests share is mostly made
# once, and one that has nothing left takes over some of another's.
PYTEST := $(BIN)/pytest --numprocesses auto --dist worksteal

.PHONY: demo test quick coverage check bench soak docs notebooks lint types layers docs-in-step constraints wheel hooks clean

demo: $(PLAIN)
	$(BIN)/pnsight demo

test: $(STAMP)
	$(PYTEST)

# The useful tests in half a minute: no training, no browser, few random examples.
quick: $(STAMP)
	$(PYTEST) --quick

# Which lines the tests do not run, and the share of those that they do.
coverage: $(STAMP)
	$(PYTEST) --cov --cov-report=term-missing

check: lint types layers docs-in-step
	$(PYTEST) --everything

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python .ci/constraints.py --check

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

# What the fault tests do, for longer: writers killed at random points, every bit of a model flipped, and so on.
soak: $(STAMP)
	$(BIN)/python experiments/benchmarks/soak.py

# Versions for installs that can be repeated: those of .venv, and the lowest that pyproject.toml allows.
constraints: $(STAMP)
	$(BIN)/python .ci/constraints.py

# What would be published: the wheel holds the package and nothing else.
wheel: $(STAMP)
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(BIN)/python .ci/check_wheel.py dist/*.whl

# Checks before each commit: lint, types and layers.
hooks: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pre-commit
	$(BIN)/pre-commit install

docs: $(STAMP)
	$(BIN)/python docs/generate.py
	$(BIN)/sphinx-build --fresh-env --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# The notebooks of the gallery without the other pages: fails if a cell fails.
notebooks: $(STAMP)
	$(BIN)/python docs/run_notebooks.py

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
	rm -rf .venv dist docs/_build .coverage .mypy_cache .ruff_cache .pytest_cache

# The two commands of the README are `make demo` and `make test`. Each makes its own virtual environment if there is none.
#
#   PYTHON   the Python to build the environment from, 3.11 or later   (default: python3)
#   VENV     where the environment is                                  (default: .venv)
#
# `make fuzz` has two more:
#
#   FUZZ_MINUTES   how long it runs                                    (default: 60)
#   FUZZ           further options, such as "--differences 5 --seed 7" (default: none)

PYTHON ?= python3
VENV ?= .venv
FUZZ_MINUTES ?= 60
BIN := $(VENV)/bin
# Modules are compiled when they are first imported, and most of the dependencies' modules never are.
PIP_OPTIONS := --quiet --disable-pip-version-check --no-compile
# Hundreds of processes are started by the tests; where none may keep what it has compiled, each compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE
ROOMS := engine compiled dsl journal policies sim adapters console cli

.PHONY: demo test test-all test-live conformance faults fuzz bench lint types coverage install install-dev clean

demo: install
	@PATH="$(abspath $(BIN)):$$PATH" python examples/demo.py

# Every test that takes seconds, and a few examples of every law.
test: install-dev
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow and not live"

# The rest as well: what is marked `slow`, and all examples of every law; of two rooms by `coverage`, which needs them all.
test-all: test coverage
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-ci} $(BIN)/pytest -n 2 --dist worksteal -m "(slow or hypothesis) and not live" \
	  --ignore=tests/engine --ignore=tests/dsl

# What needs a real API server: that of the Kubernetes project, which Go builds once, in about ten minutes. GPOL_LIVE=all: half an hour of kills.
test-live: install-dev
	$(BIN)/python tests/live/go_apiserver.py
	$(BIN)/pytest -n 2 --dist worksteal -m live tests/live

# Compares gpol with Kueue; needs the reference data in ../shared, and ends with 0 where everything matches that is not excused.
conformance: install
	@$(BIN)/python tests/conformance/conform.py

# What `make test-all` does in small: writers killed thousands of times, and every call to a database failing once. Takes half an hour.
faults: install-dev
	$(BIN)/python tests/faults/kill.py 2000
	$(BIN)/python tests/faults/kill.py 500 --postgres
	GPOL_FAULTS=all $(BIN)/pytest tests/faults

# Compares two cores on policies and facts that are new in every run; the seed is printed, and a difference is made small and written down.
fuzz: install-dev
	@$(BIN)/python tests/fuzz/run.py --minutes $(FUZZ_MINUTES) $(FUZZ)

# What docs/performance.md tells, measured on this machine; takes half an hour. BENCH names groups, such as BENCH="start".
bench: install-dev
	@$(BIN)/python benchmarks/bench.py $(BENCH)

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# mypy does not follow the import hook of an editable install, so it is shown the rooms as the package `gpol` through links.
types: install-dev
	@mkdir -p build/typing/gpol
	@for room in $(ROOMS); do ln -sfn "../../../$$room" "build/typing/gpol/$$room"; done
	MYPYPATH=build/typing $(BIN)/mypy $(foreach room,$(ROOMS),-p gpol.$(room))
	MYPYPATH=build/typing:benchmarks:tests/stores:tests/live:tests/live/kueue $(BIN)/mypy benchmarks

# The rooms that decide are covered line by line, and by their own tests: what only a test of another room passes through is not checked.
coverage: install-dev
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-ci} $(BIN)/pytest -n 2 --dist worksteal --cov --cov-report= tests/engine tests/dsl
	$(BIN)/coverage report --include='engine/*' --skip-covered --show-missing --fail-under=95
	$(BIN)/coverage report --include='dsl/*' --skip-covered --show-missing --fail-under=95

install: $(VENV)/.gpol

install-dev: $(VENV)/.gpol-dev

# Stamps: an environment that is newer than the project's description is up to date.
$(VENV)/.gpol: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install $(PIP_OPTIONS) --editable '.[fast]'
	@touch $@

$(VENV)/.gpol-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install $(PIP_OPTIONS) --editable '.[dev]'
	@touch $@ $(VENV)/.gpol

$(BIN)/python:
	@command -v "$(PYTHON)" > /dev/null || \
	  { echo "gpol needs Python 3.11 or later; there is no \`$(PYTHON)\` here. Name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gpol needs Python 3.11 or later; $(PYTHON) is $$("$(PYTHON)" --version 2>&1). Name another: make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' || \
	  { echo "$(PYTHON) has no venv module; install it (Debian, Ubuntu: apt install python3-venv) and run make again" >&2; exit 1; }
	"$(PYTHON)" -m venv "$(VENV)"

clean:
	rm -rf .venv build out .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

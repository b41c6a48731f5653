# make demo   lowers, propagates, compiles and runs a train step on eight virtual devices
# make test   checks style, types and layers, then runs all tests but those of test-targets
# make test-targets  installs the extras tpu and cuda12 and compiles for TPUs and GPUs
# make bench  times the start of sdy-opt, and propagation against the compiled Shardy in jaxlib
# make bench-scaling  draws how time and memory grow, for docs/performance.md

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python

.PHONY: demo test test-targets bench bench-scaling lint format clean

demo: $(VENV)/.sdy
	TF_CPP_MIN_LOG_LEVEL=2 $(RUN) -m sdy.tools.demo

test: lint
	$(RUN) -m pytest -n auto

test-targets: $(VENV)/.targets
	$(RUN) -m pytest -n auto tests/targets

bench: $(VENV)/.dev
	$(RUN) -m tests.benchmarks.startup
	$(RUN) -m tests.benchmarks.propagation

bench-scaling: $(VENV)/.dev
	$(RUN) -m pip install --quiet --editable '.[test,bench]'
	$(RUN) -m tests.benchmarks.scaling

lint: $(VENV)/.dev
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

format: $(VENV)/.dev
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

clean:
	rm -rf $(VENV) build *.egg-info

# The package alone, and the package with what tests and linters need.
$(VENV)/.sdy: pyproject.toml
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --editable .
	touch $@

$(VENV)/.dev: pyproject.toml
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --editable '.[test,dev]'
	touch $@ $(VENV)/.sdy

$(VENV)/.targets: $(VENV)/.dev
	$(RUN) -m pip install --quiet --editable '.[test,tpu,cuda12]'
	touch $@

# make demo   lowers, propagates, compiles and runs a train step on eight virtual devices
# make test   checks style, types and layers, then runs all tests but those of test-targets
# make test-compiled  compiles the hot modules of the package, and tests propagation with them
# make test-targets  installs the extras tpu and cuda12 and compiles for TPUs and GPUs
# make bench  times the start of sdy-opt, propagation against the compiled Shardy in jaxlib, and
#             explanations against propagation
# make bench-scaling  draws how time and memory grow, for docs/performance.md

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python

# The package with its hot modules compiled, in front of the sources.
COMPILED := $(CURDIR)/build/compiled
WITH_COMPILED := PYTHONSAFEPATH=1 PYTHONPATH=$(COMPILED):$(CURDIR) $(RUN)

.PHONY: demo test test-compiled test-targets bench bench-scaling lint format clean

demo: $(VENV)/.sdy
	TF_CPP_MIN_LOG_LEVEL=2 $(RUN) -m sdy.tools.demo

test: lint
	$(RUN) -m pytest -n auto

test-compiled: $(COMPILED)/.made
	$(WITH_COMPILED) -m pytest -n auto -o pythonpath= tests/unit/dialect tests/unit/ir \
	  tests/unit/passes tests/unit/propagation tests/unit/rules tests/unit/pipeline \
	  tests/differential/test_rules.py tests/differential/test_propagation.py \
	  tests/differential/test_pass_sequence.py tests/differential/test_export_pipeline.py

test-targets: $(VENV)/.targets
	$(RUN) -m pytest -n auto tests/targets

bench: $(COMPILED)/.made
	$(RUN) -m tests.benchmarks.startup
	$(WITH_COMPILED) -m tests.benchmarks.propagation
	$(RUN) -m tests.benchmarks.propagation
	$(RUN) -m tests.benchmarks.explain

bench-scaling: $(COMPILED)/.made
	$(RUN) -m pip install --quiet --editable '.[test,bench]'
	$(WITH_COMPILED) -m tests.benchmarks.scaling

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

$(COMPILED)/.made: $(VENV)/.dev setup.py $(shell find sdy -name '*.py')
	rm -rf build
	$(RUN) -m pip install --quiet --no-deps --target $(COMPILED) .
	touch $@

$(VENV)/.targets: $(VENV)/.dev
	$(RUN) -m pip install --quiet --editable '.[test,tpu,cuda12]'
	touch $@

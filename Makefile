PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.bench-ready
TESTS ?= -n 2 -m "not slow"

.PHONY: demo test check bench clean

demo: $(READY)
	$(BIN)/trechter demo

test: $(READY)
	$(BIN)/python -m pytest $(TESTS)

check: $(READY)
	$(BIN)/ruff check src tests benchmarks experiments
	$(BIN)/ruff format --check src tests benchmarks experiments
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(BENCH_READY)
	@mkdir -p bench-out
	$(BIN)/python benchmarks/sampler.py --rows 4194304 > bench-out/sampler.md
	@cat bench-out/sampler.md
	$(BIN)/python benchmarks/run.py --short --out bench-out

# What contenders and pictures need is no dependency of the package.
$(BENCH_READY): benchmarks/requirements.txt $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/requirements.txt
	@touch $@

# A checkout whose set-up was interrupted has no .ready file: it is set up anew.
$(READY): pyproject.toml
	@$(BIN)/python -c 'import pip' 2>/dev/null || { rm -rf $(VENV) && $(PYTHON) -m venv $(VENV); }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,check]'
	@touch $@

clean:
	rm -rf $(VENV) trechter-demo dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
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

bench: $(READY)
	$(BIN)/python benchmarks/sampler.py

# A checkout whose set-up was interrupted has no .ready file: it is set up anew.
$(READY): pyproject.toml
	@$(BIN)/python -c 'import pip' 2>/dev/null || { rm -rf $(VENV) && $(PYTHON) -m venv $(VENV); }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,check]'
	@touch $@

clean:
	rm -rf $(VENV) trechter-demo dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

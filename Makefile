# Everything runs in .venv, made here from pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The CPU build serves the tests; anything newer than torch's lower bound does.
TORCH ?= torch==2.13.0

.PHONY: gen check test docs lint bench probe clean

gen: $(VENV)/codegen
	$(BIN)/attnmatrix gen

check: $(VENV)/codegen
	$(BIN)/attnmatrix gen --check

test: $(VENV)/all
	$(BIN)/pytest -n 2

lint: $(VENV)/all
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(VENV)/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

bench: $(VENV)/all
	$(BIN)/python benchmarks/run.py

# Runs on the Python that has PyTorch and the kernel libraries, not on .venv.
probe:
	$(PYTHON) -m attnmatrix probe $(PROBE)

clean:
	rm -rf $(VENV) site build *.egg-info

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/codegen: $(BIN)/python pyproject.toml
	$(BIN)/pip install -q -e '.[codegen]'
	touch $@

$(VENV)/docs: $(VENV)/codegen
	$(BIN)/pip install -q -e '.[codegen,docs]'
	touch $@

$(VENV)/all: $(VENV)/codegen
	$(BIN)/pip install -q '$(TORCH)'
	$(BIN)/pip install -q -e '.[codegen,docs,kernels,test,lint]'
	touch $@

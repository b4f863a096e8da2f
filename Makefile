# make bench   run the benchmark suite on this machine and print a table
# make test    lint, types and the ordinary tests
# make slow    the tests that the ordinary run leaves out
# make gpu     GPU tests, benchmarks on the GPU beside CuPy, JAX and PyTorch where they are installed, and predictions
# make lint    lint and types only
#
# Each creates what it needs in .venv. Settings: PYTHON=python3.12, DATASET=MEDIUM, WORKERS=4,
# KERNELS="gemm atax".

PYTHON ?= python3
DATASET ?= LARGE
WORKERS ?= 2
KERNELS ?=
VENV := .venv
BIN := $(VENV)/bin
BUILT_FROM := pyproject.toml setup.py $(wildcard appyc/*.h appyc/*/*.c appyc/*/*.h)

.DEFAULT_GOAL := help
.PHONY: help bench test ordinary slow gpu lint format clean tools gpu-present

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

bench: $(VENV)/installed-bench
	@mkdir -p build
	$(BIN)/python -m benchmarks.polybench $(KERNELS) --dataset $(DATASET) --target cpu --json build/polybench-cpu.json

# Types are checked beside the tests: mypy takes half a minute of one core.
test:
	$(MAKE) --no-print-directory --jobs 2 lint ordinary

ordinary: $(VENV)/installed-test
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --timeout 300 --timeout-method thread -m "not gpu and not slow"

slow: $(VENV)/installed-test
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --timeout 1200 --timeout-method thread -m "slow and not gpu"

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# One that fails does not keep the later ones from running: a GPU is seldom at hand.
gpu: gpu-present $(VENV)/installed-gpu
	@mkdir -p build; failed=0; run() { echo "$$@"; "$$@" || failed=1; }; \
	run $(BIN)/python -m benchmarks.gpu_check $(KERNELS) --dataset $(DATASET) --json build/gpu-check.json; \
	run $(BIN)/python -m pytest -m gpu -n auto; \
	run $(BIN)/python -m benchmarks.polybench $(KERNELS) --dataset $(DATASET) --target gpu --json build/polybench-gpu.json; \
	run $(BIN)/python -m benchmarks.gpu --json build/gpu.json; \
	run $(BIN)/python -m benchmarks.gpu_static $(KERNELS) --dataset $(DATASET) --json build/gpu-static.json; \
	run env APPYC_TARGET=gpu $(BIN)/python -m benchmarks.lazy --json build/lazy-gpu.json; \
	run env APPYC_TARGET=gpu $(BIN)/python -m benchmarks.deferred --json build/deferred-gpu.json; \
	exit $$failed

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/installed-bench: EXTRAS := bench
$(VENV)/installed-test: EXTRAS := test
$(VENV)/installed-gpu: EXTRAS := gpu,test,bench
$(VENV)/installed-%: $(BUILT_FROM) | tools $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(EXTRAS)]'
	@touch $@

$(BIN)/python: | tools
	$(PYTHON) -m venv $(VENV)

# What pip cannot install, with the command that does.
tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "appyc needs Python 3.11 or newer; '$(PYTHON)' is not. Name another with: make PYTHON=python3.12 ..."; \
	  echo "  Debian, Ubuntu:  sudo apt-get install python3 python3-venv"; \
	  echo "  Fedora:          sudo dnf install python3"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "Python's venv module is missing. Install it with:"; \
	  echo "  Debian, Ubuntu:  sudo apt-get install python3-venv"; exit 1; }
	@echo '#include <stdio.h>' | "$${APPYC_CC:-$${CC:-cc}}" -E - >/dev/null 2>&1 || { \
	  echo "appyc needs a C compiler with its headers. Install one with:"; \
	  echo "  Debian, Ubuntu:  sudo apt-get install gcc libc6-dev"; \
	  echo "  Fedora:          sudo dnf install gcc glibc-devel"; \
	  echo "or name yours in APPYC_CC."; exit 1; }

gpu-present:
	@nvidia-smi -L >/dev/null 2>&1 || test -e /dev/nvidia0 || { \
	  echo "No NVIDIA GPU was found on this machine (nvidia-smi lists none): there is nothing to run."; \
	  echo "The GPU code is tested without one too, in Triton's interpreter: make test"; exit 2; }

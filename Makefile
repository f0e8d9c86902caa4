# Each target sets up what it needs. On a fresh machine this takes Python >= 3.11 and a C++20 compiler.
PYTHON ?= python3
# Compiler warnings are errors with WERROR=ON, as in the continuous integration.
WERROR ?= OFF

VENV := .venv
SANITIZE_VENV := .venv-sanitize
PEERS_VENV := .venv-peers
VENVS := $(VENV) $(SANITIZE_VENV)
BIN := $(VENV)/bin

# Directories are listed too: their time changes when a file is added or removed.
NATIVE := pyproject.toml CMakeLists.txt $(shell find cpp bindings -type d -o -name '*.[ch]pp' 2>/dev/null)
CPP := $(filter %.cpp %.hpp,$(NATIVE))

PRINT_BUILD_REQUIRES := import tomllib; \
  print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], "cmake", "ninja", sep="\n")

.DEFAULT_GOAL := help
.PHONY: help setup demo test bench bench-flop check check-isa format sanitize wheel clean

help:  ## show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

setup: $(VENV)/.installed  ## make .venv, compile, and install the package into it, editable

demo: setup  ## a first look at what the package does
	$(BIN)/python examples/demo.py

test: setup  ## run the tests
	$(BIN)/python -m pytest -n 2

bench: setup  ## time the kernels
	$(BIN)/python -m benchmarks.micro

bench-flop: setup $(PEERS_VENV)/.flop  ## compare with FLOP; goes on where it was left
	$(BIN)/python -m benchmarks.peers.flop --profile standard

check: setup check-isa  ## lint, formatting, types, layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $(CPP)

# A weak function in the object of an instruction set may be the copy that the linker keeps for
# everyone, and then the module crashes on older processors.
check-isa: setup
	@weak=$$(find build/editable-* -path '*_avx*' -name '*.o' -exec nm -C {} + | grep ' W '); \
	if [ -n "$$weak" ]; then \
	  echo "kernels_variant.cpp emits functions that other files may share:"; echo "$$weak"; exit 1; \
	fi

format: setup  ## format Python and C++
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CPP)

# Python itself is not instrumented, so the runtimes come first. libstdc++ is among them because
# the address sanitizer looks for __cxa_throw at start-up. Other libraries' allocators stay out.
sanitize: $(SANITIZE_VENV)/.installed  ## run the tests under the address and undefined-behaviour sanitizers
	LD_PRELOAD="$(foreach lib,asan ubsan stdc++,$(shell $(CXX) -print-file-name=lib$(lib).so))" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	ARROW_DEFAULT_MEMORY_POOL=system PYTHONMALLOC=malloc \
	$(SANITIZE_VENV)/bin/python -m pytest -n 2

wheel: setup  ## build a wheel into dist/
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .

clean:  ## remove everything that was made here
	rm -rf $(VENV) $(SANITIZE_VENV) $(PEERS_VENV) build dist src/qwo/_core.pyi
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find benchmarks examples src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENVS:%=%/bin/python): %/bin/python:
	$(PYTHON) -m venv $*

# The build requirements live in the environment, not in an isolated one that is thrown away,
# so that the persistent build directory stays valid and a rebuild compiles only what changed.
$(VENVS:%=%/.build-requires): %/.build-requires: pyproject.toml | %/bin/python
	$*/bin/python -c '$(PRINT_BUILD_REQUIRES)' | $*/bin/python -m pip install --quiet -r /dev/stdin
	@touch $@

$(VENV)/.installed: $(NATIVE) $(VENV)/.build-requires
	$(BIN)/python -m pip install --quiet --no-build-isolation \
	  --config-settings=cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=$(WERROR) \
	  --editable '.[dev]'
	@touch $@

$(SANITIZE_VENV)/.installed: $(NATIVE) $(SANITIZE_VENV)/.build-requires
	$(SANITIZE_VENV)/bin/python -m pip install --quiet --no-build-isolation \
	  --config-settings=build-dir=build/sanitize \
	  --config-settings=cmake.build-type=Debug \
	  --config-settings=cmake.define.QWO_SANITIZE=ON \
	  --editable '.[test]'
	@touch $@

# Other people's tools bring their own requirements, so they live apart from the package.
$(PEERS_VENV)/.flop: benchmarks/peers/requirements-flop.txt
	$(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/python -m pip install --quiet -r $<
	@touch $@

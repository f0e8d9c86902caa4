# Each target sets up what it needs. On a fresh machine this takes Python >= 3.11 and a C++20 compiler.
PYTHON ?= python3
# Compiler warnings are errors with WERROR=ON, as in the continuous integration.
WERROR ?= OFF
# Which tests `make sanitize` runs; all if it is empty.
TESTS ?=

# What Python has compiled is kept, whatever the shell says: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/pycache

VENV := .venv
SANITIZE_VENV := .venv-sanitize
# Other people's tools bring their own requirements, so they live apart from the package.
COMPARE_VENV := .venv-compare
PEERS_VENVS := .venv-peers .venv-peers-*
PROFILE ?= standard
VENVS := $(VENV) $(SANITIZE_VENV)
BIN := $(VENV)/bin

# Directories are listed too: their time changes when a file is added or removed.
NATIVE := pyproject.toml CMakeLists.txt $(shell find cpp bindings -type d -o -name '*.[ch]pp' 2>/dev/null)
CPP := $(filter %.cpp %.hpp,$(NATIVE))

# The script of the HTML report. Without npm the report shows a still picture.
NPM := $(shell command -v npm)
WEB := $(shell find web -name node_modules -prune -o -type f -print 2>/dev/null)
BUNDLE := src/qwo/report/_bundle/report.js

PRINT_BUILD_REQUIRES := import tomllib; \
  print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], "cmake", "ninja", sep="\n")

PRINT_PACKAGES := import sysconfig; print(sysconfig.get_path("purelib"))
PRINT_BORROWED := import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))
PRINT_COMPARE := import tomllib; \
  print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["compare"], sep="\n")

.DEFAULT_GOAL := help
.PHONY: help setup demo studio cpp-example docs test fuzz test-browser bench bench-flop bench-peers reproduce check check-isa format sanitize report-bundle wheel clean

help:  ## show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

setup: $(VENV)/.installed $(if $(NPM),.try-report-bundle)  ## make .venv, compile, and install the package into it, editable

# The demonstration needs the package and its figures, and none of the tools of development.
demo: $(VENV)/.built $(if $(NPM),.try-report-bundle)  ## learn the graph of nine experiments (Sachs), with a report, into demo-output/
	$(BIN)/python examples/demo.py

# In the folder of the demonstration, whose data it begins with.
studio: setup  ## learn, look, correct and learn again in a browser, on the demonstration's data
	$(BIN)/python -c "from examples.demo import write_tables; write_tables()"
	$(BIN)/qwo studio demo-output/cells.csv --folder demo-output/studio

test: setup  ## run the tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

# In the build directory of the package, whose compiled core it shares.
cpp-example: setup  ## build and run the program that uses the core without Python
	@for tree in build/editable-*/; do \
	  $(BIN)/cmake --build $$tree --target qwo_example > build/cpp-example.log || { cat build/cpp-example.log; exit 1; }; \
	  $$tree/qwo_example || exit 1; \
	done

docs: setup  ## build the documentation into build/docs/; warnings are errors
	$(BIN)/sphinx-build -W --keep-going --quiet -d build/doctrees docs build/docs

# SECONDS bounds the time of each area of inputs, SEEDS the number of its cases.
SEEDS ?= 3000
SECONDS ?= 120
fuzz: setup  ## try thousands of bad inputs: each must be refused clearly or answered rightly
	$(BIN)/python -m tests.fuzz --seeds $(SEEDS) --seconds $(SECONDS)

bench: setup  ## time the kernels
	$(BIN)/python -m benchmarks.micro

bench-flop: setup  ## compare with FLOP in depth; goes on where it was left
	$(BIN)/python -m benchmarks.peers.environments flop
	$(BIN)/python -m benchmarks.peers.flop --profile standard
	$(BIN)/python -m benchmarks.thin

# PROFILE is smoke (two minutes), standard (an hour) or full; a peer that can't be installed is reported.
bench-peers: setup  ## compare with the field; goes on where it was left
	$(BIN)/python -m benchmarks.peers.environments
	$(BIN)/python -m benchmarks.peers --profile $(PROFILE)

reproduce: setup $(COMPARE_VENV)/.installed  ## run the paper's experiments, small; goes on where it was left
	$(BIN)/qwo reproduce --profile quick --jobs 2

check: setup check-isa cpp-example  ## lint, formatting, types, layers, and the program in C++
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

# TESTS may name some of them: make sanitize TESTS="tests/properties tests/unit/test_score.py".
# Python itself is not instrumented, so the runtimes come first. libstdc++ is among them because
# the address sanitizer looks for __cxa_throw at start-up. Other libraries' allocators stay out.
sanitize: $(SANITIZE_VENV)/.installed  ## run the tests under the address and undefined-behaviour sanitizers
	LD_PRELOAD="$(foreach lib,asan ubsan stdc++,$(shell $(CXX) -print-file-name=lib$(lib).so))" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	ARROW_DEFAULT_MEMORY_POOL=system PYTHONMALLOC=malloc \
	$(SANITIZE_VENV)/bin/python -m pytest -n 2 $(TESTS)

report-bundle: $(BUNDLE)  ## bundle the script of the HTML report; takes npm

# Set-up goes on where npm cannot reach its packages.
.PHONY: .try-report-bundle
.try-report-bundle:
	@$(MAKE) --no-print-directory --silent report-bundle \
	  || echo "npm could not bundle the report's script: reports will show a still picture" >&2

# As root on Debian this installs what is missing; elsewhere it tells what to install.
test-browser: setup $(VENV)/.browser  ## test the HTML report in headless Chromium
	@$(MAKE) --no-print-directory report-bundle
	QWO_REQUIRE_BROWSER=1 $(BIN)/python -m pytest -n 2 tests/browser

wheel: setup  ## build a wheel into dist/
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .

clean:  ## remove everything that was made here
	rm -rf $(VENV) $(SANITIZE_VENV) $(COMPARE_VENV) $(PEERS_VENVS) build dist src/qwo/_core.pyi
	rm -rf web/node_modules $(dir $(BUNDLE))
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find benchmarks examples src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENVS:%=%/bin/python): %/bin/python:
	$(PYTHON) -m venv $*

# The build requirements live in the environment, not in an isolated one that is thrown away,
# so that the persistent build directory stays valid and a rebuild compiles only what changed.
$(VENVS:%=%/.build-requires): %/.build-requires: pyproject.toml | %/bin/python
	$*/bin/python -c '$(PRINT_BUILD_REQUIRES)' | $*/bin/python -m pip install --quiet -r /dev/stdin
	@touch $@

$(VENV)/.built: $(NATIVE) $(VENV)/.build-requires
	$(BIN)/python -m pip install --quiet --no-build-isolation \
	  --config-settings=cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=$(WERROR) \
	  --editable '.[plot]'
	@touch $@

# The package is there already: this adds what its extra names.
$(VENV)/.installed: $(VENV)/.built
	$(BIN)/python -m pip install --quiet 'qwo[dev]'
	@touch $@

$(SANITIZE_VENV)/.installed: $(NATIVE) $(SANITIZE_VENV)/.build-requires
	$(SANITIZE_VENV)/bin/python -m pip install --quiet --no-build-isolation \
	  --config-settings=build-dir=build/sanitize \
	  --config-settings=cmake.build-type=Debug \
	  --config-settings=cmake.define.QWO_SANITIZE=ON \
	  --editable '.[test]'
	@touch $@

# causal-learn lives apart from the package, but sees its environment and so the very same build.
$(COMPARE_VENV)/.installed: pyproject.toml | $(VENV)/.installed
	$(BIN)/python -m venv $(COMPARE_VENV)
	$(BIN)/python -c '$(PRINT_BORROWED)' > $$($(COMPARE_VENV)/bin/python -c '$(PRINT_PACKAGES)')/borrowed.pth
	$(BIN)/python -c '$(PRINT_COMPARE)' | $(COMPARE_VENV)/bin/python -m pip install --quiet -r /dev/stdin
	@touch $@

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	npm --prefix web ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(BUNDLE): $(WEB) web/node_modules/.package-lock.json
	npm --prefix web run --silent build

$(VENV)/.browser: | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet playwright
	@for package in chromium npm; do \
	  command -v $$package >/dev/null && continue; \
	  echo "installing $$package"; \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$package >/dev/null; } \
	    || { echo "please install $$package, which the tests of the report need"; exit 1; }; \
	done
	@touch $@

# Short names for the usual commands. The real build is CMakeLists.txt with CMakePresets.json.
BUILD := build/release
JOBS ?= $(shell nproc)

.PHONY: demo test build bench mutation sanitize format check clean install-packages configure

demo: configure
	cmake --build $(BUILD) --target anadrome_cli -j $(JOBS)
	$(BUILD)/bin/anadrome tour costs
	$(BUILD)/bin/anadrome tour rewind --progress

test: build check
	ctest --test-dir $(BUILD) --output-on-failure -j2

build: configure
	cmake --build $(BUILD) -j $(JOBS)

# JAX_PYTHON=/path/to/python make bench: that Python's JAX is measured beside the library.
bench: configure
	cmake --build $(BUILD) --target bench -j $(JOBS)
	@for source in bench/*.cpp; do \
	  program=$(BUILD)/bench/$$(basename $$source .cpp); \
	  [ ! -x $$program ] || $$program --benchmark_min_time=0.1 || exit 1; \
	done
	python3 bench/compare.py --program $(BUILD)/bench/workloads

# Breaks every rule of every primitive in turn: a test must notice each.
mutation: configure
	cmake --build $(BUILD) --target test_rules -j $(JOBS)
	python3 tools/mutation_proof.py --build $(BUILD) --jobs $(JOBS)

# All tests under address, undefined-behaviour and thread sanitizers. Takes two more builds, and an hour. Of the random
# programs fewer are tried: each takes a second.
sanitize: install-packages
	@for kind in asan tsan; do \
	  cmake --preset $$kind && cmake --build build/$$kind -j $(JOBS) && \
	  ANADROME_FUZZ_COUNT=300 ctest --test-dir build/$$kind --output-on-failure -j2 -E noncompile || exit 1; done

check: build
	python3 tools/check_includes.py
	python3 tools/check_sizes.py
	python3 tools/check_docs.py --build $(BUILD)

format:
	@command -v clang-format >/dev/null || { echo "format: needs the package clang-format"; exit 1; }
	git ls-files '*.h' '*.cpp' | xargs -r clang-format -i

clean:
	rm -rf build

install-packages:
	@tools/install.sh

configure: install-packages
	@[ -f $(BUILD)/build.ninja ] || cmake --preset release

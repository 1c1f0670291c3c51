# One word a task; the work is in CMakePresets.json and tools/. `make` leaves the binary at build/weir.
.PHONY: all demo test unit e2e sim bench fuzz lint format tsan clean
J ?= $(shell nproc)

all: ## build the binary
	@tools/deps.sh
	@[ -e build/release/build.ninja ] || cmake --preset release >build/cmake.log 2>&1 || { cat build/cmake.log; exit 1; }
	@cmake --build --preset release -- --quiet
	@ln -sf release/weir build/weir

unit: ## unit, golden and corpus tests under ASan and UBSan; T=log.append runs the tests of that name
	@tools/deps.sh
	@[ -e build/asan/build.ninja ] || cmake --preset asan >build/cmake.log 2>&1 || { cat build/cmake.log; exit 1; }
	@cmake --build --preset asan -- --quiet
	@WEIR_TEST_FILTER=$(T) ctest --preset asan --progress

all unit: | build
build:
	@mkdir -p build
clean: ## remove what was built
	rm -rf build

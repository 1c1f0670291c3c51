# One word a task; what a task does stands in CMakePresets.json and tools/. `make help` lists them.
.PHONY: all bench demo test test-long unit e2e e2e-flink python sim fuzz lint docs format tsan clean help
.DEFAULT_GOAL := all

all: ## build the binary: build/weir
	@tools/build.sh release weir
	@ln -sf release/weir build/weir

demo: all ## server, two tables, rows, the lake, both reads, and the proof that they are equal
	@build/weir demo

test: ## everything that proves it: unit, golden, corpus, simulator, whole system with real clients
	@tools/test.sh unit sim e2e python

test-long: ## the same with 1000 random programs (test/e2e/README.md), 1000 seeds of the simulator, and the tests marked long
	@WEIR_LONG=1 tools/test.sh unit sim e2e python

unit: ## unit, golden and corpus tests under ASan and UBSan; T=log.append runs the tests of that name
	@tools/unit.sh asan $(T)

e2e: ## the whole system, driven by pyfluss and read by pypaimon; T=kill runs the tests of that name
	@tools/e2e.sh $(if $(T),-k '$(T)')

e2e-flink: ## Flink SQL, its tiering job and the Java clients against weir; outside of `make test`. T=lake as above
	@tools/e2e_flink.sh $(if $(T),-k '$(T)')

python: ## the fixtures of python/ for other people's tests, and the examples of its README; T=lake runs those of that name
	@tools/python.sh $(if $(T),-k '$(T)')

sim: ## the simulator: SEED=n repeats one run exactly, without it a handful of seeds
	@tools/sim.sh $(SEED)

fuzz: ## fuzz one parser: F=wire_frame, for SECONDS=60; without F the list of targets
	@tools/fuzz.sh '$(F)' '$(SECONDS)'

bench: all ## weir beside the real Fluss in one run; writes docs/performance.md. ARGS='--parts log'
	@bench/compare.py $(ARGS)

tsan: ## unit, golden and corpus tests under the thread sanitizer
	@tools/unit.sh tsan $(T)

lint: ## format, layers, banned calls, sizes, words, docs, gcc -fanalyzer, clang-tidy
	@tools/lint.sh

docs: ## make the pages of the manual that come from tables: options, errors, metrics
	@tools/gen_docs.py

format: ## put the C files into the form of .clang-format
	@tools/deps.sh lint
	@git ls-files -co --exclude-standard '*.[ch]' | grep -E '^(src|test|bench)/' | xargs clang-format -i

clean: ## remove what was built
	rm -rf build

help: ## this list
	@sed -nE 's/^([a-z0-9-]+):[^#]*## (.*)/make \1|\2/p' Makefile | column -t -s '|'

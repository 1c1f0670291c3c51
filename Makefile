# One word a task; what a task does stands in CMakePresets.json and tools/. `make help` lists them.
.PHONY: all bench demo test test-long unit e2e e2e-flink python sim fuzz lint docs format tsan clean help
.DEFAULT_GOAL := all

all: ## the binary, build/weir
	@tools/build.sh release weir
	@ln -sf release/weir build/weir

demo: all ## a server, two tables, the lake, the proof that both are equal
	@build/weir demo

test: ## everything that shows it: unit, sim, e2e, python
	@tools/test.sh unit sim e2e python

test-long: ## the same with more programs and seeds, and the tests marked long
	@WEIR_LONG=1 tools/test.sh unit sim e2e python

unit: ## unit, golden, corpus tests, sanitized; T=log: those named so
	@tools/unit.sh asan $(T)

e2e: ## the whole system: pyfluss, pypaimon; T=kill: those named so
	@tools/e2e.sh $(if $(T),-k '$(T)')

e2e-flink: ## Flink SQL and the Java clients, not in `make test`; T as above
	@tools/e2e_flink.sh $(if $(T),-k '$(T)')

python: ## the fixtures of python/ and its README's examples; T as above
	@tools/python.sh $(if $(T),-k '$(T)')

sim: ## the simulator, 100 seeds; SEED=n repeats one run exactly
	@tools/sim.sh $(SEED)

fuzz: ## one parser: F=wire_frame SECONDS=60; without F the list of them
	@tools/fuzz.sh '$(F)' '$(SECONDS)'

bench: all ## beside the real Fluss; ARGS='--parts log' for a part of it
	@bench/compare.py $(ARGS)

tsan: ## the tests of `make unit` under the thread sanitizer
	@tools/unit.sh tsan $(T)

lint: ## format, layers, sizes, words, docs, gcc's analyzer, clang-tidy
	@tools/lint.sh

docs: ## the pages of docs/manual that come from tables of the source
	@tools/gen_docs.py

format: ## the form of .clang-format
	@tools/deps.sh lint
	@git ls-files -co --exclude-standard '*.[ch]' | grep -E '^(src|test|bench)/' | xargs clang-format -i

clean: ## remove what was built
	rm -rf build

help: ## this list
	@sed -nE 's/^([a-z0-9-]+):[^#]*## (.*)/make \1|\2/p' Makefile | column -t -s '|'

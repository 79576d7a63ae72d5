# The day's verbs. Each one does its own set-up; `make` alone lists them.
.PHONY: help setup demo build test test-debug test-release api interop corpus bench docs fuzz torture format lint clean

help: ## Lists the verbs.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: ## Checks what a build needs, and installs it on Debian.
	@dev/setup.sh

demo: setup ## A simulated App Store and the purchase server: buys, renews, refunds, replays and forges, and tells each step.
	swift build -c release --product assay
	python3 dev/demo.py

build: setup ## Builds the program, optimised.
	swift build -c release --product assay

test: lint test-debug api test-release ## Runs every test, in debug and in release, and checks the interface's description.

test-debug: setup
	swift test

# A miscompilation that only optimised builds show is why the tests run twice (docs/decisions.md, 6).
test-release: setup
	swift test -c release --scratch-path .build-tests

api: setup ## Checks openapi.yaml against the running server, with schemathesis.
	swift build --product assay
	dev/check-api.sh .build/debug

interop: setup ## Asks clients from PyPI what they think of the simulator and the drop-in.
	swift build --product assay
	dev/interop.sh .build/debug

corpus: setup ## Verifies the corpus and compares the drop-in with Apple's recorded answers, and prints the report.
	swift test --filter CorpusTests

bench: setup ## Measures against the floor and against OpenSSL, side by side.
	dev/bench.sh

docs: setup ## Makes the documentation of the libraries with DocC, in .build/documentation.
	dev/docs.sh

fuzz: setup ## Fuzzes each parser, ten minutes in all, and prints the executions.
	dev/fuzz.sh

torture: setup ## Flips every bit, cuts every prefix, measures the cost, and asks OpenSSL for a second opinion.
	dev/torture.sh

format: ## Formats the sources.
	swift format --in-place --recursive Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Server/Package.swift Benchmarks/Server/Sources Torture/Package.swift Torture/Sources

lint: ## Checks format and imports.
	swift format lint --strict --recursive Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Server/Package.swift Benchmarks/Server/Sources Torture/Package.swift Torture/Sources
	dev/check-imports.sh

clean: ## Removes what was built.
	rm -rf .build .build-tests Benchmarks/.build Benchmarks/Server/.build Torture/.build .build-api .build-interop .torture

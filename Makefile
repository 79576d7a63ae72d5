# The commands of daily work. Each one does its own set-up; `make` without a target lists them.
.PHONY: help setup demo build release check-release size test test-core test-debug test-release api interop corpus bench bench-large pictures docs fuzz torture format lint clean

# The repository has two packages, the root (which apps link) and Server. They share one scratch folder, so that code that both
# need is compiled once per configuration. The cached build plan in it belongs to the package that was built last, and does not
# notice new files of the other, so it is not used.
SHARED = --scratch-path .build --disable-build-manifest-caching
SERVER = --package-path Server $(SHARED)

help: ## Lists the commands.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: ## Checks the requirements of a build, and installs them on Debian.
	@dev/setup.sh

# Built as `make build` and `make test` build it, so that all three together compile everything once.
demo: ## Starts a simulated App Store and the purchase server: fifteen steps from an order to a proof, then a look around.
	@dev/demo.sh

build: setup ## Builds the program, optimised, as .build/release/assay.
	swift build -c release $(SERVER) --product assay

# In a folder of its own, because Swift's libraries inside the program change every compilation.
release: setup ## Builds the packages of a release in .build-release/dist: Debian, archive, sums, bill of materials.
	@dev/release.sh

check-release: ## Installs, starts, upgrades and removes the packages of make release on a new Debian; needs root and 1 GB.
	@dev/check-release.sh

test: setup ## Runs every check: format, imports, all tests in the optimised build, the HTTP interface, the documents.
	@dev/test.sh

test-core: setup ## Builds and tests the root package in debug, without the server's dependencies.
	swift build $(SHARED) --build-tests
	swift test $(SHARED) --skip-build --disable-xctest

test-debug: setup test-core ## Runs all tests in debug, with the assertions of Swift and of SwiftNIO.
	swift build $(SERVER) --build-tests
	swift test $(SERVER) --skip-build --disable-xctest

test-release: setup ## Runs all tests in the optimised build.
	swift build -c release $(SHARED) --build-tests
	swift test -c release $(SHARED) --skip-build --disable-xctest
	swift build -c release $(SERVER) --build-tests
	swift test -c release $(SERVER) --skip-build --disable-xctest

api: setup ## Checks the OpenAPI description against the running server, with schemathesis.
	swift build $(SERVER) --product assay
	dev/check-api.sh .build/debug

interop: setup ## Lets clients from PyPI ask the simulator and the drop-in, and verify signed payloads.
	swift build $(SERVER) --product assay
	dev/interop/main.py .build/debug/assay

corpus: setup ## Verifies the corpus, compares the drop-in with Apple's recorded answers, and prints the report.
	swift test $(SHARED) --disable-xctest --filter CorpusTests
	swift test $(SERVER) --disable-xctest --filter RecordedAnswerTests

bench: setup ## Measures against the floor and against OpenSSL, side by side.
	dev/bench.sh

# make bench-large PURCHASES=1000000 ORDERS=4000000 creates a smaller one.
bench-large: setup ## Creates a database of 5 million purchases and 20 million orders once (some 25 GB), and compares it with a small one.
	dev/bench-large.sh $(PURCHASES) $(ORDERS)

size: setup ## Prints what PurchaseKit adds to the size of an app.
	dev/app_size.py

pictures: build ## Makes the pictures of the documents anew, in Chromium.
	dev/pictures.py

docs: setup ## Writes the documents as HTML with a search field, and the libraries with DocC, to .build/documentation.
	dev/docs.py

fuzz: setup ## Fuzzes each parser, ten minutes in all, and prints the executions.
	dev/fuzz.sh

torture: setup ## Flips every bit, cuts every prefix, measures the cost of hostile bytes, asks OpenSSL for a second opinion, and compares the ledger with the simulated store.
	dev/torture.sh

format: ## Formats the sources.
	dev/format.sh

lint: ## Checks format, imports, availability, links, and committed files; prints the size of the repository.
	dev/lint.sh

clean: ## Removes the products of builds.
	rm -rf .build .build-* Server/.build Benchmarks/.build .torture

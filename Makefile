# One target per task of a developer; "make help" lists them. They need Go and make, and race also needs a C compiler.
# Tools are pinned in go.mod and run with go tool.

GO        ?= go
# All targets compile in one way, so that each package is compiled once; only race and ntconv-duckdb need cgo.
# Without cgo, the binary is static, and Go code looks up the names of hosts and users. -trimpath keeps the paths of this
# machine out of it.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -trimpath)
# Flags for go test in the targets test, race and e2e.
TESTFLAGS ?=
# Extent of fuzzing per target: a count (50000x) or a time (5m). The default is a count. Up to Go 1.26 a target may fail
# with "context deadline exceeded" and without an input when its time ends (go.dev/issue/75804), and part of the time is
# spent on inputs found earlier.
FUZZTIME  ?= 50000x
# Mutants of small files: their number, the number of the first one, the seed, the number of processes, and
# comma-separated prefixes of target names. A seed and a number always produce the same mutant.
MUTANTS   ?= 10000000
FIRST     ?= 0
SEED      ?= 1
WORKERS   ?= 1
TARGETS   ?=
# Benchmarks to run, their packages, and the time per benchmark.
BENCH     ?= .
BENCHPKGS ?= ./internal/trace/wire/... ./internal/tables/parquetwriter ./reader ./writer ./symbol ./internal/profile ./internal/span/... ./internal/testing/readable
BENCHTIME ?= 1s
# The vulnerability check and its database. The check is run at a fixed version and is not a tool of go.mod, because its
# modules would become dependencies of ntconv.
VULNCHECK ?= golang.org/x/vuln/cmd/govulncheck@v1.9.0
VULNDB    ?= https://vuln.go.dev
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
# Programs that are packaged, and whose licenses are checked. ntconv-fleet takes minutes per platform; ntconv-duckdb is only for that of
# this machine.
PROGRAMS  ?= ntconv ntconv-duckdb ntconv-fleet
# Directory of binaries.
BIN       ?= bin
DEMO      ?= testdata/cpu-env.nettrace.zst

# Where make install puts the files: below DESTDIR, at the places in PREFIX where shells and man look for them.
PREFIX    ?= /usr/local
DESTDIR   ?=
# Version of the packages; empty: from the last tag v* of git, or else the commit.
VERSION   ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/ntconv
	$(GO) build -o $(BIN)/ ./cmd/ntconv

# DuckDB for ntconv sql, in a module of its own, because it needs a C and C++ compiler and has 54 MB. With musl or on macOS it is not
# static.
STATIC ?= $(if $(filter Linux,$(shell uname -s)),-linkmode external -extldflags=-static)

.PHONY: sql
sql: ## Build bin/ntconv-duckdb, which runs the queries of ntconv sql where no duckdb is installed
	cd duckdb && CGO_ENABLED=1 $(GO) build -ldflags '-s -w $(STATIC)' -o ../$(BIN)/ntconv-duckdb .

.PHONY: fleet
fleet: ## Build bin/ntconv-fleet: ntconv with object stores, Apache Iceberg and Apache Beam
	cd fleet && $(GO) build -ldflags '-s -w' -o ../$(BIN)/ntconv-fleet .

# Beam's own image starts the worker of a pipeline; TAG names the result.
TAG ?= ntconv-fleet

.PHONY: fleet-image
fleet-image: ## Build a container image with ntconv-fleet, for the workers of Apache Beam; TAG
	$$(command -v docker || command -v podman) build -t $(TAG) -f fleet/Dockerfile .

.PHONY: test-fleet
test-fleet: sql ## Test ntconv-fleet
	cd fleet && $(GO) vet ./... && $(GO) test -timeout 30m $(TESTFLAGS) ./...

# The binary writes its own manual pages and completions.
SHARE     = $(DESTDIR)$(PREFIX)/share
COMPLETIONS = bash:bash-completion/completions/ntconv zsh:zsh/site-functions/_ntconv fish:fish/vendor_completions.d/ntconv.fish

.PHONY: install
install: build ## Install the command, its manual pages and completions; PREFIX, DESTDIR
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(SHARE)/man"
	install -m 755 $(BIN)/ntconv "$(DESTDIR)$(PREFIX)/bin/ntconv"
	for name in ntconv-duckdb ntconv-fleet; do \
		if [ -x $(BIN)/$$name ]; then install -m 755 $(BIN)/$$name "$(DESTDIR)$(PREFIX)/bin/$$name"; fi; \
	done
	$(BIN)/ntconv man "$(SHARE)/man"
	@for c in $(COMPLETIONS); do \
		to="$(SHARE)/$${c#*:}"; mkdir -p "$${to%/*}" && $(BIN)/ntconv completion $${c%%:*} > "$$to" || exit 1; echo "$$to"; \
	done

.PHONY: uninstall
uninstall: ## Remove what make install installed; PREFIX, DESTDIR
	rm -f "$(DESTDIR)$(PREFIX)/bin/ntconv" "$(DESTDIR)$(PREFIX)/bin/ntconv-duckdb" "$(DESTDIR)$(PREFIX)/bin/ntconv-fleet" "$(SHARE)"/man/man1/ntconv.1 "$(SHARE)"/man/man1/ntconv-*.1 "$(SHARE)"/man/man7/ntconv-*.7
	@for c in $(COMPLETIONS); do rm -f "$(SHARE)/$${c#*:}"; done

.PHONY: demo
demo: build ## Build, convert a trace of testdata and show its top methods
	bin/ntconv info $(DEMO)
	bin/ntconv to pprof -f -o bin/demo.pb.gz $(DEMO)
	bin/ntconv top -n 15 bin/demo.pb.gz

.PHONY: test
test: ## Run all tests
	$(GO) test -timeout 30m $(TESTFLAGS) ./...

# CONCURRENT matches code that starts goroutines or shares memory between them. RACETESTS are the tests of the command that
# run it on several inputs, with pipes, receivers, interrupts, progress or a server, and once in every format. All other
# tests of the command run the same code with other words; the nightly checks run them, too (RACETESTS=.). RACEPKGS are the
# packages with such code; empty RACETESTS omit the command.
CONCURRENT = ^[[:space:]]*go (func|[a-zA-Z_.]+\()|sync\.(Mutex|RWMutex|WaitGroup|Map|Pool)|atomic\.
RACETESTS ?= Batch|Broken|Closed|ConvertEach|DatasetJobs|DatasetWriters|FIFO|FailingWrites|Follow|Interrupted|Jobs|Library|Pipe|Progress|RecordFormats|Sending|Signals|StandardOutput|ViewIn
# Without this setting, every command that a test runs would sleep for a second at its end.
RACE       = CGO_ENABLED=1 GORACE=atexit_sleep_ms=10 $(GO) test -race -short -timeout 60m $(TESTFLAGS)

RACEPKGS  ?= $$(git grep -lE '$(CONCURRENT)' -- '*.go' ':!*_test.go' ':!cmd' ':!internal/run/command' ':!e2e' ':!duckdb' ':!fleet' ':!examples' ':!.ci' | xargs -n1 dirname | sort -u | sed 's|^|./|')

.PHONY: race
race: ## Run the race detector on the packages with goroutines, the long tests shortened; RACEPKGS, RACETESTS
	$(RACE) $(RACEPKGS)
	@[ -z '$(RACETESTS)' ] || $(RACE) -run '$(RACETESTS)' ./internal/run/command

.PHONY: e2e
e2e: ## Test the command and its output with the programs that read it
	cd duckdb && CGO_ENABLED=1 $(GO) test $(TESTFLAGS) ./...
	cd e2e && $(GO) test -timeout 60m $(TESTFLAGS) ./...

.PHONY: lint
lint: ## Check format, go vet and staticcheck
	@unformatted=$$(gofmt -s -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt -s -w is needed for:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./... ./.ci/testlog ./.ci/programs ./.ci/licenses ./.ci/packages
	$(GO) tool staticcheck ./... ./.ci/testlog ./.ci/programs ./.ci/licenses ./.ci/packages
	$(GO) build -o bin/ honnef.co/go/tools/cmd/staticcheck
	cd e2e && $(GO) vet ./... && ../bin/staticcheck ./...
	cd duckdb && export CGO_ENABLED=1 && $(GO) vet ./... && ../bin/staticcheck ./...

.PHONY: fuzz
fuzz: ## Fuzz every target for FUZZTIME inputs (or a time)
	@$(GO) test -list '^Fuzz' ./... | \
	awk '/^Fuzz/ { name[n++] = $$1 } \
		/^ok/ { for (i = 0; i < n; i++) print $$2, name[i]; n = 0 } \
		/^FAIL./ { print "failed", $$2 }' | { \
		bad=0; \
		while read -r package target; do \
			if [ "$$package" = failed ]; then echo "$$target does not build; for the reason, run: go vet ./..."; bad=1; continue; fi; \
			echo "$(GO) test -run '^$$' -fuzz '^$$target$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$package"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$package < /dev/null || bad=1; \
		done; \
		exit $$bad; \
	}

.PHONY: mutate
mutate: ## Read MUTANTS corrupt copies of small files with every reader, importer, exporter and comparison
	@$(GO) test -c -o bin/mutate.test ./internal/testing/mutate
	@cd internal/testing/mutate && share=$$(($(MUTANTS) / $(WORKERS))) && pids= && bad=0 && \
	for w in $$(seq 0 $$(($(WORKERS) - 1))); do \
		count=$$share; [ $$w -eq $$(($(WORKERS) - 1)) ] && count=$$(($(MUTANTS) - w * share)); \
		[ $$count -eq 0 ] && continue; \
		../../../bin/mutate.test -test.run '^TestCampaign$$' -test.timeout 0 -seed $(SEED) -first $$(($(FIRST) + w * share)) -mutants $$count -targets '$(TARGETS)' & \
		pids="$$pids $$!"; \
	done; \
	for p in $$pids; do wait $$p || bad=1; done; exit $$bad

.PHONY: growth
growth: ## Check that steps and memory of the command grow no faster than n log n, for every kind of table
	$(GO) test $(TESTFLAGS) -count=1 -timeout 60m ./internal/testing/growth -args -sample 1

.PHONY: nightly
nightly: ## Run what takes long and rarely fails: all tests in full, fuzz, mutate, growth, cross, vulncheck and packages
	.ci/run nightly

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities in the code that ntconv calls; skipped if their database cannot be reached
	@if out=$$($(GO) run $(VULNCHECK) -db $(VULNDB) ./... 2>&1); then echo "$$out"; exit 0; fi; \
	echo "$$out"; \
	case "$$out" in \
		*"fetching vulnerabilities:"*) echo "make vulncheck: skipped: the database $(VULNDB) cannot be reached";; \
		*"go: golang.org/x/vuln"*|*"go: download"*": "*) echo "make vulncheck: skipped: $(VULNCHECK) cannot be downloaded";; \
		*) exit 1;; \
	esac

.PHONY: licenses
licenses: ## List the licenses of compiled modules, check that they are allowed, and write THIRD_PARTY.md of each program; PROGRAMS
	@for p in $(PROGRAMS); do $(GO) run ./.ci/licenses -program $$p -platforms '$(PLATFORMS)' -write || exit 1; done

.PHONY: bench
bench: ## Measure ns/event, MB/s, allocations and ratios; BENCH, BENCHPKGS and BENCHTIME select them
	@$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) $(BENCHPKGS) | awk -f .ci/bench.awk

.PHONY: faults
faults: ## Make every system call of the command fail in turn, and kill it at each; Linux only, takes half an hour
	$(GO) test ./internal/run/command -run TestFaults -faults -v -timeout 4h

.PHONY: big
big: ## Convert streams of 512 MiB and of more than 4 GiB, and 1,000,000 spans, and compare their peak memory
	$(GO) test ./internal/testing/tracegen -run TestPeak -big -v -timeout 4h

.PHONY: speed
speed: ## Compare the speed of the command with dotnet-trace; needs the reference data next to the checkout
	cd e2e && $(GO) run ./speed

.PHONY: cover
cover: ## Measure the test coverage of statements: bin/cover.html
	@mkdir -p bin
	$(GO) test -short -coverpkg ./... -coverprofile bin/cover.out ./...
	$(GO) tool cover -html bin/cover.out -o bin/cover.html
	$(GO) tool cover -func bin/cover.out | tail -n 1

.PHONY: cross
cross: ## Build for every platform into bin/
	@for p in $(PLATFORMS); do \
		os=$${p%/*} arch=$${p#*/}; ext=; [ $$os = windows ] && ext=.exe; \
		echo "GOOS=$$os GOARCH=$$arch $(GO) build"; \
		GOOS=$$os GOARCH=$$arch $(GO) build -o bin/ntconv-$$os-$$arch$$ext ./cmd/ntconv || exit 1; \
		GOOS=$$os GOARCH=$$arch $(GO) build ./... || exit 1; \
	done
	@# The tests of the other systems are compiled, too; they cannot run here.
	@for os in darwin windows; do echo "GOOS=$$os $(GO) vet"; GOOS=$$os $(GO) vet ./... || exit 1; done

.PHONY: packages
packages: ## Build archives, .deb, .rpm, bills of materials and checksums for every platform into bin/packages; VERSION, PROGRAMS
	$(GO) run ./.ci/packages -programs '$(PROGRAMS)' -platforms '$(PLATFORMS)' -version '$(VERSION)' -o $(BIN)/packages

.PHONY: container
container: ## Build the container image ntconv with docker or podman
	$$(command -v docker || command -v podman) build -t ntconv .

.PHONY: clean
clean: ## Remove build results
	rm -rf bin

# Thin names over go commands. `make check` is what CI runs, and it needs nothing but Go, a C
# compiler for the race detector, and the Go module proxy.

GO       ?= go
FUZZTIME ?= 10m
TOOL      = $(GO) tool -modfile=internal/tools/go.mod

# Every part of `make check`, in the order in which CI runs them. `make <part>` runs one.
PARTS = test fmt vet lint race invariants golden tidy deps fuzz-seeds bench-once nested vuln

# Modules of their own, so that no importer of the library pays for what they need.
NESTED = $(filter-out internal/tools/,$(dir $(wildcard internal/*/go.mod examples/*/go.mod)))

.PHONY: check parts $(PARTS) update fuzz bench bench-peer bench-cost bench-scale bench-incremental
check: $(PARTS)

parts: ## prints the parts, one a line
	@printf '%s\n' $(PARTS)

test:
	$(GO) test ./...

fmt:
	@bad=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go' | xargs -r ls -d 2>/dev/null)); \
	if [ -n "$$bad" ]; then echo "not formatted; run gofmt -w on:"; echo "$$bad"; exit 1; fi

vet:
	$(GO) vet ./...
	$(GO) vet -tags invariants ./...

# staticcheck passes with a warning if the go command cannot load the packages.
lint:
	@out=$$($(TOOL) staticcheck ./... 2>&1); rc=$$?; echo "$$out"; \
	if echo "$$out" | grep -q 'matched no packages'; then exit 1; fi; exit $$rc

# -short: the long random runs are in `test`; here every path meets the detector once.
race:
	$(GO) test -race -short -shuffle=on -timeout 20m ./...

# Only packages that the tag can change.
invariants:
	@pkgs=$$($(GO) list -test -f '{{if .ForTest}}{{.ForTest}} {{join .Deps " "}}{{end}}' ./... \
	  | grep '/internal/invariants' | cut -d' ' -f1 | sort -u); \
	if [ -z "$$pkgs" ]; then echo "no package uses internal/invariants"; exit 0; fi; \
	$(GO) test -tags invariants $$pkgs

# Regenerates every golden file and fails if one changes: the committed ones are what the code says.
GOLDEN_SUMS = find . -path '*/testdata/*' -type f | LC_ALL=C sort | xargs -r sha256sum
golden:
	@before=$$($(GOLDEN_SUMS)); $(MAKE) --no-print-directory update || exit 1; after=$$($(GOLDEN_SUMS)); \
	if [ "$$before" != "$$after" ]; then \
	  echo "golden files changed; see git diff, and commit the change only if you can explain it"; exit 1; fi

# Rewrites golden and scenario files from what the code does now.
update:
	@pkgs=$$($(GO) list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... \
	  | awk '{for (i = 2; i <= NF; i++) if ($$i ~ /\/internal\/golden$$/) {print $$1; next}}'); \
	if [ -z "$$pkgs" ]; then echo "no package uses internal/golden"; exit 0; fi; \
	$(GO) test -short -count=1 $$pkgs -update

tidy:
	$(GO) mod tidy -diff
	cd internal/tools && $(GO) mod tidy -diff
	@set -e; for m in $(NESTED); do (cd $$m && echo "$$m: go mod tidy -diff" && $(GO) mod tidy -diff); done

# `go run ./internal/depcheck/ledger -w` writes the ledger anew.
deps:
	$(GO) run ./internal/depcheck/ledger
	$(GO) test ./internal/depcheck

fuzz-seeds:
	$(GO) test -run '^Fuzz' ./...

bench-once:
	$(GO) test -short -run '^$$' -bench . -benchtime 1x ./...

nested:
	@set -e; for m in $(NESTED); do (cd $$m && echo "$$m: vet, which compiles it" && $(GO) vet ./...); done

# Exit status 3 of govulncheck: the code reaches a known vulnerability. A database that cannot be
# reached says nothing about the code, so that is reported and passed over.
vuln:
	@set +e; out=$$($(TOOL) govulncheck ./... 2>&1); rc=$$?; echo "$$out"; \
	if [ $$rc -eq 0 ]; then exit 0; fi; \
	if [ $$rc -ne 3 ] && echo "$$out" | grep -q 'fetching vulnerabilities'; then \
	  echo "vuln: SKIPPED, the vulnerability database cannot be reached from here"; exit 0; fi; \
	exit $$rc

# Below: not part of check.

# FUZZTIME for each fuzz target; what the nightly run does.
fuzz:
	@set -e; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p; done; done

# `make bench > new.txt`, then `go tool -modfile=internal/tools/go.mod benchstat old.txt new.txt`.
bench:
	$(GO) test -run '^$$' -bench . -benchmem -count 6 ./scheduling/...

# Most of the time is the peer's; `go run . -mix plain -runs 3` in internal/bench is quick.
bench-peer:
	cd internal/bench && $(GO) run .

# Writes the table that is kept in the repository. Most of the time is the peer's: `go run ./cost -peer 0` in internal/bench
# does without.
bench-cost:
	cd internal/bench && $(GO) run ./cost -o COST.md

bench-scale:
	$(GO) run ./internal/cmd/bench-scale

bench-incremental:
	$(GO) run ./internal/cmd/bench-incremental

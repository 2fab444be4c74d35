package depcheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// LedgerFile is the ledger's name, relative to Root.
const LedgerFile = "deps.txt"

const ledgerHead = `# External packages (neither ours nor Go's) that each public package reaches.
# Written by: go run ./internal/depcheck/ledger -w
`

// Ledger renders the external packages that each public package reaches, sorted.
func Ledger(pkgs map[string]Package) string {
	var b strings.Builder
	b.WriteString(ledgerHead)
	for _, path := range slices.Sorted(maps.Keys(pkgs)) {
		p := pkgs[path]
		if !p.Public() || len(p.GoFiles) == 0 {
			continue
		}
		deps := External(pkgs, p)
		fmt.Fprintf(&b, "\n%s: %d\n", p.Rel(), len(deps))
		for _, d := range deps {
			fmt.Fprintf(&b, "  %s\n", d)
		}
	}
	return b.String()
}

// External returns the packages that p reaches outside this module and the standard library, sorted.
func External(pkgs map[string]Package, p Package) []string {
	var out []string
	for _, d := range p.Deps {
		if q, known := pkgs[d]; known && !q.Standard && !q.Ours() {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return out
}

// LedgerDiff compares two ledgers line by line, as "+" and "-" lines under their package; empty if
// they are equal.
func LedgerDiff(committed, now string) string {
	old, cur := ledgerLines(committed), ledgerLines(now)
	var b strings.Builder
	for _, l := range slices.Sorted(maps.Keys(old)) {
		if !cur[l] {
			fmt.Fprintf(&b, "- %s\n", l)
		}
	}
	for _, l := range slices.Sorted(maps.Keys(cur)) {
		if !old[l] {
			fmt.Fprintf(&b, "+ %s\n", l)
		}
	}
	return b.String()
}

// ledgerLines qualifies each line with the package that it is about.
func ledgerLines(s string) map[string]bool {
	lines, pkg := map[string]bool{}, ""
	for l := range strings.Lines(s) {
		l = strings.TrimRight(l, "\n")
		switch {
		case l == "" || strings.HasPrefix(l, "#"):
		case strings.HasPrefix(l, "  "):
			lines[pkg+" -> "+strings.TrimSpace(l)] = true
		default:
			pkg, _, _ = strings.Cut(l, ":")
			lines[l] = true
		}
	}
	return lines
}

package depcheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// LedgerFile is the ledger's name, relative to Root.
const LedgerFile = "deps.txt"

const ledgerHead = `# External packages (neither ours nor Go's) that each public package reaches: how many, and
# those that it does not owe to another public package of ours.
# Written by: go run ./internal/depcheck/ledger -w
`

// Ledger renders how many external packages each public package reaches, and which of them it does not
// owe to a public package of ours that it imports; sorted.
func Ledger(pkgs map[string]Package) string {
	var b strings.Builder
	b.WriteString(ledgerHead)
	for _, path := range slices.Sorted(maps.Keys(pkgs)) {
		p := pkgs[path]
		if !p.Public() || len(p.GoFiles) == 0 {
			continue
		}
		all, owed := External(pkgs, p), map[string]bool{}
		for _, d := range p.Deps {
			if q := pkgs[d]; q.Public() {
				for _, e := range External(pkgs, q) {
					owed[e] = true
				}
			}
		}
		own := slices.DeleteFunc(slices.Clone(all), func(d string) bool { return owed[d] })
		fmt.Fprintf(&b, "\n%s: %d, its own %d\n", p.Rel(), len(all), len(own))
		for _, d := range own {
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

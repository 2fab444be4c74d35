// Command ledger compares deps.txt with what the public packages reach now, and with -w writes it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fleetwright/fleetwright/internal/depcheck"
)

func main() {
	write := flag.Bool("w", false, "write "+depcheck.LedgerFile+" instead of comparing")
	flag.Parse()
	if err := run(*write); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(write bool) error {
	root, err := depcheck.Root()
	if err != nil {
		return err
	}
	pkgs, err := depcheck.List(root)
	if err != nil {
		return err
	}
	file, now := filepath.Join(root, depcheck.LedgerFile), depcheck.Ledger(pkgs)
	if write {
		return os.WriteFile(file, []byte(now), 0o644)
	}
	committed, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if d := depcheck.LedgerDiff(string(committed), now); d != "" {
		return fmt.Errorf("depcheck: %s is stale; if these are wanted, run `go run ./internal/depcheck/ledger -w`:\n%s",
			depcheck.LedgerFile, d)
	}
	return nil
}

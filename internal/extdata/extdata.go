// Package extdata finds reference data that is not part of this repository: facts to compare with and
// workloads under licences that keep them out of it. Nothing but tests and developers' commands use
// it, and each says so and skips when the data is not there.
package extdata

import (
	"os"
	"path/filepath"
	"runtime"
)

// Env names the environment variable that points to the data directory.
const Env = "FLEETWRIGHT_DATA"

// Dir returns the directory rel (such as "ec2" or "workloads") of the data: below $FLEETWRIGHT_DATA
// if that is set, else below a directory "data" of any folder beside this checkout.
func Dir(rel string) (string, bool) {
	if base := os.Getenv(Env); base != "" {
		dir := filepath.Join(base, rel)
		_, err := os.Stat(dir)
		return dir, err == nil
	}
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return "", false
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(root), "*", "data", rel))
	if len(found) == 0 {
		return "", false
	}
	return found[0], true
}

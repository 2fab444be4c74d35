// Package depcheck holds the rules on what may import what, and the ledger of external packages that
// an importer of each public package pays for. The rules are a test of this package; every one has
// its reason, which the test prints when the rule is broken.
//
// It asks the go command (`go list -deps -json`), so it sees what a build sees: imports of files
// built for linux/amd64, without tests.
package depcheck

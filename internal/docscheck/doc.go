// Package docscheck has no code but tests: of what is promised about the repository's own text. Every
// public package opens with a doc.go, documents what it exports and shows an example that runs;
// files stay of a readable size; nothing happens on import; no file names a path of somebody's machine;
// the program in the README is one that is compiled and run here; and the evidence that the table of features
// names is there.
package docscheck

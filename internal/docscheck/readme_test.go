package docscheck

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// block returns the n-th fenced block of a language in a Markdown text, counted from 0.
func block(t *testing.T, text, language string, n int) string {
	t.Helper()
	parts := strings.Split(text, "\n```"+language+"\n")
	if len(parts) < n+2 {
		t.Fatalf("README.md has no %s block number %d", language, n)
	}
	body, _, closed := strings.Cut("\n"+parts[n+1], "\n```")
	if !closed {
		t.Fatalf("README.md: %s block number %d is not closed", language, n)
	}
	return strings.TrimPrefix(body, "\n") + "\n"
}

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReadmeShowsTheProgramThatIsCompiled(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(root(t), "internal", "readme", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if got := block(t, readme(t), "go", 0); got != string(src) {
		t.Error("the Go block of README.md is not internal/readme/main.go; copy the file into it")
	}
}

func TestReadmeShowsWhatTheProgramPrints(t *testing.T) {
	var stderr bytes.Buffer
	cmd := exec.Command("go", "run", "./internal/readme")
	cmd.Dir, cmd.Stderr = root(t), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go run ./internal/readme: %v\n%s", err, stderr.Bytes())
	}
	if want := block(t, readme(t), "text", 0); string(out) != want {
		t.Errorf("README.md says\n%s\nand the program prints\n%s", want, out)
	}
}

func TestReadmeNamesTheCommandsThatCIRuns(t *testing.T) {
	ci, err := os.ReadFile(filepath.Join(root(t), ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	commands := block(t, readme(t), "sh", 0)
	for _, c := range []string{"go run ./examples/plan", "go test ./..."} {
		if !strings.Contains(commands, c+" ") {
			t.Errorf("README.md does not open with %q", c)
		}
		if !strings.Contains(string(ci), c+"\n") {
			t.Errorf(".ci/run does not run %q, which README.md promises to work", c)
		}
	}
}

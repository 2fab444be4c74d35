// Command plan shows which EC2 nodes would hold a cluster's pods, at what price, and why the rest
// does not fit. Without flags it plans for a cluster that it carries with it; see -h.
//
// It is a problem made of files and the catalogue (input.go), one call of scheduling.Solve (here), and
// a plan shown in several ways (output.go).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Exit status.
const (
	planned  = 0
	ourFault = 1
	badInput = 2
	leftOver = 3
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var c config
	fs := flags(&c)
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		fs.SetOutput(stdout)
		fs.PrintDefaults()
		return planned
	case err == nil:
		err = c.check(fs.Args())
	}
	if err != nil {
		return complain(stderr, fmt.Errorf("%w; -h lists the flags", err), badInput)
	}
	clock := time.Now()
	problem, err := c.problem(stdin, stderr)
	if err != nil {
		return complain(stderr, err, badInput)
	}
	timing := timing{LoadMillis: time.Since(clock).Milliseconds()}

	clock = time.Now()
	c.options.Progress = progress(stderr)
	plan, err := scheduling.Solve(context.Background(), problem, &c.options)
	if bad := new(scheduling.InputError); errors.As(err, &bad) {
		return complain(stderr, err, badInput)
	} else if err != nil {
		return complain(stderr, err, ourFault)
	}
	timing.SolveMillis = time.Since(clock).Milliseconds()
	out, err := c.render(problem, plan.Document(), timing)
	if err != nil {
		return complain(stderr, err, badInput)
	}
	if _, err := stdout.Write(out); err != nil {
		return complain(stderr, err, ourFault)
	}
	if t := plan.Totals; t.Unplaced+t.NotEvaluated > 0 {
		return leftOver
	}
	return planned
}

func complain(stderr io.Writer, err error, status int) int {
	fmt.Fprintf(stderr, "plan: %v\n", err)
	return status
}

package workload

import (
	"fmt"
	"strings"
)

// maxFaults ends the reading of a file that is not what it claims to be.
const maxFaults = 20

// Error lists what is wrong with a file. Reading stops at 20 faults.
type Error struct {
	// File is the name that Read was given.
	File   string
	Faults []Fault
	// err is the reader's error, if that is what ended the reading.
	err error
}

// Fault is one thing wrong with a file.
type Fault struct {
	// Line counts from 1; 0: the file as a whole.
	Line int
	// Field is the path in a group (`requests.cpu`) or the column of a row; empty: the whole line.
	Field string
	// Problem says what is wrong with which value, Remedy how to mend it.
	Problem, Remedy string
}

// String prints place, problem and remedy in one line.
func (f Fault) String() string {
	var place []string
	if f.Line > 0 {
		place = append(place, fmt.Sprintf("line %d", f.Line))
	}
	if f.Field != "" {
		place = append(place, f.Field)
	}
	s := f.Problem
	if len(place) > 0 {
		s = strings.Join(place, ", ") + ": " + s
	}
	if f.Remedy != "" {
		s += "; " + f.Remedy
	}
	return s
}

// Error prints every fault on a line of its own.
func (e *Error) Error() string {
	if len(e.Faults) == 1 {
		return "workload: " + e.File + " " + e.Faults[0].String()
	}
	s := fmt.Sprintf("workload: %s has %d faults", e.File, len(e.Faults))
	if len(e.Faults) >= maxFaults {
		s = fmt.Sprintf("workload: %s has %d faults or more", e.File, len(e.Faults))
	}
	for _, f := range e.Faults {
		s += "\n  " + f.String()
	}
	return s
}

// Unwrap returns the error of the reader that ended the reading, if one did.
func (e *Error) Unwrap() error { return e.err }

// faults collects what is wrong; place is where the reading stands.
type faults struct {
	line int
	list []Fault
}

func (f *faults) add(field, problem, remedy string) {
	if !f.full() {
		f.list = append(f.list, Fault{Line: f.line, Field: field, Problem: problem, Remedy: remedy})
	}
}

func (f *faults) full() bool { return len(f.list) >= maxFaults }

// quote shortens what a message repeats of the input.
func quote(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%.57q...", s)
	}
	return fmt.Sprintf("%q", s)
}

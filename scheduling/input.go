package scheduling

import "fmt"

// InputError lists everything wrong with a problem that keeps Solve from starting. Faults of a
// single pod are not among them: that pod is left out with CodeInvalid and the rest goes on.
type InputError struct {
	Faults []Fault
}

// Fault is one thing wrong with a problem.
type Fault struct {
	// Path says where, by name: `pools["gpu"].requirements[2]`.
	Path string
	// Problem says what is wrong with which value, Remedy how to mend it.
	Problem, Remedy string
}

// String prints place, problem and remedy in one line.
func (f Fault) String() string {
	s := f.Path + ": " + f.Problem
	if f.Remedy != "" {
		s += "; " + f.Remedy
	}
	return s
}

// Error prints at most ten faults.
func (e *InputError) Error() string {
	s := fmt.Sprintf("scheduling: problem has %d fault(s)", len(e.Faults))
	for i, f := range e.Faults {
		if i == 10 {
			return s + fmt.Sprintf("\n  ... and %d more", len(e.Faults)-i)
		}
		s += "\n  " + f.String()
	}
	return s
}

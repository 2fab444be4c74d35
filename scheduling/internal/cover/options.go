package cover

// Options bound the work and give a start.
type Options struct {
	// Rounds bounds the rounds of column generation, DiveRounds those after each step of the dive, Pivots those of
	// the simplex method each time.
	Rounds, DiveRounds, Pivots int
	// Levels are how hard the best content of a site is looked for once the level before finds none.
	Levels []Level
	// Smooth is how much of the last good worths is mixed into those of the relaxation.
	Smooth float64
	// Gap is the relative gap at which generation ends.
	Gap float64
	// Rows is how many items the relaxation takes; more are grouped.
	Rows int
	// Proof is how hard contents are looked for in the last rounds, for the sake of the bound, Proofs how many such
	// rounds there are at most.
	Proof  Level
	Proofs int
	// Work bounds generation and dive, Improve what is spent on improving the result; in microseconds, about.
	Work, Improve int64
	// Seeds are contents known from elsewhere.
	Seeds []Pattern
	// Admit, if set, takes those parts out of a content of the site that may not be there beside the others.
	Admit func(site int32, parts []Part) []Part
	// Spend, if set, is told what was done, in the same unit, and says whether to go on.
	Spend func(steps int64) bool
	Trace func(format string, args ...any)
}

// Level is how much work goes into the best content of one site.
type Level struct {
	// Branches bounds the search by branches of the relaxation; Stages, from 1 to 4, is how far the one by labels
	// goes, each stage about ten times the work of the one before.
	Branches, Stages int
	// Slack is the part of the price that is not looked for, and by which the best found may be missed.
	Slack float64
	// Prove is whether to go on for a better bound once contents are found.
	Prove bool
}

// Effort returns the usual options; best: more work.
func Effort(best bool) Options {
	o := Options{Rounds: 30, DiveRounds: 1, Pivots: 20_000, Smooth: 0.5, Gap: 0.004, Rows: 400, Work: 400_000, Improve: 100_000,
		Levels: []Level{{100, 1, 0.001, false}}, Proof: Level{50, 1, 0.001, true}, Proofs: 1}
	if best {
		o.Rounds, o.DiveRounds, o.Gap, o.Rows, o.Work, o.Improve = 400, 3, 0.0005, 600, 20_000_000, 8_000_000
		o.Levels = []Level{{100, 1, 0.0005, false}, {100, 2, 0.0005, false}, {100, 3, 0.001, false}}
		o.Proof, o.Proofs = Level{200, 4, 0.001, true}, 6
	}
	return o
}

func (o *Options) trace(format string, args ...any) {
	if o.Trace != nil {
		o.Trace(format, args...)
	}
}

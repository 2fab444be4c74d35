package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/fleetwright/fleetwright/scheduling"
)

// rounding is an error in percent that comes of floating point.
const rounding = 1e-7

// longestBest is how long a plan at effort Best may take.
const longestBest = time.Minute

// most is how far above a proven bound a plan may be, in percent: each, and on average over a group. 0: no promise.
type most struct{ each, average float64 }

// promised returns the promise for a workload at an effort.
func promised(r *row, effort scheduling.Effort) most {
	best := effort == scheduling.EffortBest
	switch {
	case effort == scheduling.EffortFast:
		return most{}
	case r.kind == "microservices" && best: // the bound may leave out spread and affinity
		return most{each: 15}
	case r.kind == "adversarial" && best && r.pods <= 500:
		return most{each: 5}
	case r.kind == "adversarial" && best:
		return most{each: 20}
	case r.kind == "microservices", r.kind == "adversarial":
		return most{each: 25}
	case best:
		return most{each: 2, average: 1}
	}
	return most{each: 6, average: 4}
}

// groups are the kinds over which averages are taken.
var groups = []struct {
	name  string
	kinds []string
}{
	{"real traces", []string{"trace"}},
	{"simple, batch, gpu-ml, planted", []string{"simple", "batch", "gpu-ml", "planted"}},
	{"all of these", []string{"trace", "simple", "batch", "gpu-ml", "planted"}},
	{"simple", []string{"simple"}},
	{"batch", []string{"batch"}},
	{"gpu-ml", []string{"gpu-ml"}},
	{"planted", []string{"planted"}},
	{"microservices", []string{"microservices"}},
	{"adversarial", []string{"adversarial"}},
}

// averaged are the first of the groups, those whose average is promised; the others are for the reader.
const averaged = 3

// dollars is a price as a number; prices are below the precision of neither.
func dollars(p scheduling.Price) float64 { return float64(p.Nano()) / 1e9 }

// fullest is the plan of ours that places most pods, of the least effort.
func (r *row) fullest() *outcome {
	best := &r.ours[0]
	for i := range r.ours {
		if r.ours[i].placed > best.placed {
			best = &r.ours[i]
		}
	}
	return best
}

// proven returns the largest bound that holds for plans of the pods that the fullest plan places, and whose it is.
func (r *row) proven() (bound scheduling.Price, of string) {
	full := r.fullest()
	for i := range r.ours {
		o := &r.ours[i]
		if slices.Equal(o.left, full.left) && o.lower.Known() && (!bound.Known() || o.lower.Nano() > bound.Nano()) {
			bound, of = o.lower, o.effort.String()
		}
	}
	if r.planted.Known() && r.planted.Nano() > 0 && len(full.left) == 0 && (!bound.Known() || r.planted.Nano() >= bound.Nano()) {
		bound, of = r.planted, "planted"
	}
	return bound, of
}

// above returns by how many percent a plan is dearer than the proven bound, if that is about the same pods.
func (r *row) above(o *outcome) (percent float64, ok bool) {
	bound, _ := r.proven()
	if !bound.Known() || bound.Nano() <= 0 || !slices.Equal(o.left, r.fullest().left) {
		return 0, false
	}
	return 100 * (dollars(o.price)/dollars(bound) - 1), true
}

// misses says what is wrong with the row: promises that are not kept, plans and bounds that cannot be right.
func (r *row) misses() (out []string) {
	bound, of := r.proven()
	for i := range r.ours {
		o := &r.ours[i]
		add := func(format string, arguments ...any) {
			out = append(out, fmt.Sprintf("%v: ", o.effort)+fmt.Sprintf(format, arguments...))
		}
		percent, ok := r.above(o)
		most := promised(r, o.effort).each
		switch {
		case o.fault != nil:
			add("BROKEN plan: %.300v", o.fault)
		case len(o.left) > len(r.fullest().left):
			add("places %d pods fewer than %v", len(o.left)-len(r.fullest().left), r.fullest().effort)
		case ok && percent < -rounding:
			add("BROKEN bound: %v of %s is above the price %v", bound, of, o.price)
		case most > 0 && !ok:
			add("no proven bound for these pods")
		case most > 0 && percent > most+rounding:
			add("%.2f %% above the bound, promised %g %%: %.2f too much", percent, most, percent-most)
		}
		if o.effort == scheduling.EffortBest && o.took > longestBest {
			add("takes %v, promised %v", o.took.Round(time.Second/10), longestBest)
		}
		if i > 0 && slices.Equal(o.left, r.ours[i-1].left) && o.price.Nano() > r.ours[i-1].price.Nano() {
			add("at %v is dearer than %v at %v", o.price, r.ours[i-1].effort, r.ours[i-1].price)
		}
		if c := r.check; r.region == c.region && c.bound > 0 && o.placed >= c.pods && dollars(o.price) < c.bound-0.0001 { // rounded there
			add("BROKEN: %v is below the bound of bounds.csv, %.4f", o.price, c.bound)
		}
		if wrong := r.againstPeer(o); wrong != "" {
			add("%s", wrong)
		}
	}
	if p := r.peer; p != nil && p.fault == nil && !p.late && slices.Equal(p.left, r.fullest().left) && bound.Known() && p.price.Nano() < bound.Nano() {
		out = append(out, fmt.Sprintf("BROKEN bound: %v of %s is above the peer's price %v", bound, of, p.price))
	}
	return out
}

// againstPeer says whether the peer does better: more pods, or a lower price for as many. A price for fewer pods says
// something only if it is not lower.
func (r *row) againstPeer(o *outcome) string {
	p := r.peer
	switch {
	case p == nil, p.late, p.placed == 0:
		return ""
	case p.placed > o.placed && p.fault == nil:
		return fmt.Sprintf("places %d pods fewer than the peer", p.placed-o.placed)
	case p.placed == o.placed && o.price.Nano() > p.price.Nano():
		return fmt.Sprintf("%v is above the peer's price %v by %.2f %%%s", o.price, p.price,
			100*(dollars(o.price)/dollars(p.price)-1), p.breaks())
	}
	return ""
}

// breaks says so if the peer's plan does not hold.
func (o *outcome) breaks() string {
	if n := o.broken(); n > 0 {
		return fmt.Sprintf(" (whose plan breaks %d rules)", n)
	}
	return ""
}

// average returns the mean distance from the bounds over the rows of some kinds, and over how many.
func average(rows []*row, kinds []string, effort scheduling.Effort) (percent float64, n int) {
	for _, r := range rows {
		if !slices.Contains(kinds, r.kind) {
			continue
		}
		for i := range r.ours {
			if above, ok := r.above(&r.ours[i]); ok && r.ours[i].effort == effort {
				percent, n = percent+above, n+1
			}
		}
	}
	return percent / float64(max(n, 1)), n
}

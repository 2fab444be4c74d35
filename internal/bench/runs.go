package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// runs is the flag that says how often each mix is run.
type runs struct {
	all int
	// except by row.
	except map[string]int
}

func (r *runs) of(row string) int {
	if n, ok := r.except[row]; ok {
		return n
	}
	return r.all
}

// String prints what Set reads; the flag package calls it on a zero value too.
func (r *runs) String() string {
	parts := []string{strconv.Itoa(r.all)}
	for _, row := range slices.Sorted(maps.Keys(r.except)) {
		parts = append(parts, fmt.Sprintf("%s=%d", row, r.except[row]))
	}
	return strings.Join(parts, ",")
}

// Set reads "5,preferences=3": a number alone is for all mixes, those behind it are exceptions.
func (r *runs) Set(text string) error {
	out := runs{all: r.all, except: maps.Clone(r.except)}
	if out.except == nil {
		out.except = map[string]int{}
	}
	for _, part := range strings.Split(text, ",") {
		row, number, named := strings.Cut(part, "=")
		if !named {
			row, number = "", part
		}
		mix, _, _ := strings.Cut(row, "@")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of runs; write 1 or more", number)
		}
		if _, ok := mixes[mix]; named && !ok {
			return fmt.Errorf("no mix %q; there are %s", mix, strings.Join(mixNames(), ", "))
		}
		if named {
			out.except[row] = n
		} else {
			out.all, out.except = n, map[string]int{}
		}
	}
	*r = out
	return nil
}

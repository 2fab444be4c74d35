package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// check is a row of bounds.csv: a bound on the price of any fleet for so many pods, proven elsewhere, and the prices of two
// plain packings (first fit decreasing into the largest general type; greedy first fit). Zero: not there.
type check struct {
	region             string
	pods               int
	bound, ffd, greedy float64
}

// readBounds returns the rows for one kind of offers by file. No file: no bounds.
func readBounds(path, offers string) (map[string]check, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	column := map[string]int{}
	for i, name := range slices.Concat(rows[:min(1, len(rows))]...) {
		column[name] = i
	}
	for _, name := range []string{"workload", "offers", "region", "pods", "bound", "ffd_largest", "greedy"} {
		if _, ok := column[name]; !ok {
			return nil, fmt.Errorf("%s: has no column %s", path, name)
		}
	}
	out := map[string]check{}
	for _, row := range rows[1:] {
		if row[column["offers"]] != offers {
			continue
		}
		number := func(name string) float64 {
			v, _ := strconv.ParseFloat(row[column[name]], 64) // empty where there is none
			return v
		}
		out[row[column["workload"]]] = check{
			region: row[column["region"]], pods: int(number("pods")), bound: number("bound"),
			ffd: number("ffd_largest"), greedy: number("greedy"),
		}
	}
	return out, nil
}

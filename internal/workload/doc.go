// Package workload reads lists of pods written by hand, by a generator or from a trace, and makes the
// Kubernetes pods of them that a cluster would hold: what should run, never where.
//
// Two formats are read, each plain or gzipped: pod groups (*.jsonl: a meta record with pools and DaemonSets,
// then one group of equal pods per line) and rows (*.csv: one row per pod, or per count pods). Read tells
// them apart by name, or by the first byte where the name says nothing.
//
// Plain, Spread and Services make workloads for benchmarks from a seed.
//
// The package touches no files and knows no instance types: the pools it returns have none. What it can not
// use it refuses by line and field (see Error); it does not guess. Three columns of traces are checked
// and then ignored, because a plan is about one instant and whole GPUs: gpu_milli, arrival_s, departure_s.
package workload

// Command bench-incremental times what-ifs: a compiled cluster is asked, for each of its nodes in turn, where the
// pods would go if that node were drained, and at what price.
//
// There are two clusters, one whose nodes have two fifths of their cpu left and one that is full, so that every pod
// that moves needs a launch; and two sizes, since what a what-if allocates must not grow with the
// cluster. Every node is asked about once before the clock starts, since the first answer may keep what later ones use.
// The exit status is 1 if a promise is not kept; a busy machine may be the reason.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	var c config
	flag.IntVar(&c.small, "nodes", 1000, "nodes of the cluster that the promises are about; 15 pods each")
	flag.IntVar(&c.large, "large", 4000, "nodes of the large cluster")
	flag.IntVar(&c.asked, "asked", 1000, "what-ifs per cluster, each about another node")
	flag.Uint64Var(&c.seed, "seed", 1, "seed of the clusters")
	flag.Parse()
	if c.asked < 1 || c.small < c.asked || c.large < c.small {
		fmt.Fprintln(os.Stderr, "bench-incremental: -asked must be 1 or more, -nodes no less than that, -large no less than -nodes")
		os.Exit(2)
	}
	kept, err := run(c, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-incremental:", err)
		os.Exit(2)
	}
	if !kept {
		os.Exit(1)
	}
}

type config struct {
	small, large, asked int
	seed                uint64
}

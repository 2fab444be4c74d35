package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/scheduling"
)

const usage = `Usage: go run ./examples/plan [flags]

Shows which EC2 nodes would hold a cluster's pods, at what price, and why the rest does not fit.
With none of -f, -pods and -replay it plans for a cluster of its own (examples/plan/cluster).
Machine types and prices are those of the embedded catalogue; nothing is asked of AWS.

  go run ./examples/plan -explain batch/currency-rates-29393405-00000
  go run ./examples/plan -f nodepools.yaml -f deployments/ -region eu-west-1
  kubectl get nodes,pods,daemonsets -A -o yaml | go run ./examples/plan -f - -f nodepools.yaml
  go run ./examples/plan -o json > plan.json; go run ./examples/plan -arch arm64 -diff plan.json

Exit status: 0 every pod has a node, 3 some have none, 2 bad input, 1 a fault of the program.

Flags:
`

// config is what the flags say.
type config struct {
	files, types, arch, capacityTypes list
	pods, region, replay, dump        string
	output, explain, diff             string
	options                           scheduling.Options
}

// list is a flag that may be repeated.
type list []string

func (l *list) String() string     { return "" }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// commas is a list whose values may also be separated by commas.
func (l *list) commas(s string) error {
	for v := range strings.SplitSeq(s, ",") {
		*l = append(*l, strings.TrimSpace(v))
	}
	return nil
}

func oneOf(to *string, values ...string) func(string) error {
	return func(s string) error {
		*to = s
		if !slices.Contains(values, s) {
			return fmt.Errorf("use %s", strings.Join(values, " or "))
		}
		return nil
	}
}

func flags(c *config) *flag.FlagSet {
	fs := flag.NewFlagSet("plan", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // run says what is wrong, and where.
	fs.Var(&c.files, "f", "Kubernetes and Karpenter objects, YAML or JSON: a `FILE`, a directory, or - for standard input; may be repeated")
	fs.StringVar(&c.pods, "pods", "", "a list of pods or pod groups: a `FILE`.csv or .jsonl, which may be gzipped")
	fs.StringVar(&c.region, "region", "", "the EC2 `REGION`; if not given, the input's, or else us-east-1")
	fs.Func("types", "machine types to allow: `GLOBS` such as m7g.*,r8g.2xlarge", c.types.commas)
	fs.Func("arch", "architectures to allow: `LIST` of amd64, arm64", c.arch.commas)
	fs.Func("capacity-types", "ways to pay to allow: `LIST` of on-demand, spot", c.capacityTypes.commas)
	c.output = "text"
	fs.Func("o", "`FORMAT` of the output: text (default), json, or nodes (the Node objects that would register)", oneOf(&c.output, "text", "json", "nodes"))
	fs.StringVar(&c.explain, "explain", "", "show only where `POD` (namespace/name) goes, and why, or why nowhere")
	fs.StringVar(&c.diff, "diff", "", "show only what differs from a plan that -o json wrote to `FILE`")
	fs.StringVar(&c.dump, "dump", "", "also write the problem, all that the plan depends on, to `FILE`")
	fs.StringVar(&c.replay, "replay", "", "plan for the problem that -dump wrote to `FILE`")
	fs.Int64Var(&c.options.Steps, "steps", 0, "stop after `N` steps of work, about a microsecond each, with what is planned by then (default no limit)")
	fs.Func("effort", "`EFFORT` for a cheaper plan and a tighter bound: fast, default or best", func(s string) error {
		efforts := map[string]scheduling.Effort{"fast": scheduling.EffortFast, "default": scheduling.EffortDefault, "best": scheduling.EffortBest}
		c.options.Effort = efforts[s]
		return oneOf(new(string), "fast", "default", "best")(s)
	})
	fs.Func("preferences", "`POLICY` for soft constraints: respect (default) or ignore", func(s string) error {
		if s == "ignore" {
			c.options.Preferences = scheduling.PreferencesIgnore
		}
		return oneOf(new(string), "respect", "ignore")(s)
	})
	return fs
}

func (c *config) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q is not a flag; did you mean -f %s?", rest[0], rest[0])
	case c.options.Steps < 0:
		return fmt.Errorf("-steps %d is negative", c.options.Steps)
	case c.replay != "" && len(c.files)+len(c.types)+len(c.arch)+len(c.capacityTypes)+len(c.pods)+len(c.region) > 0:
		return errors.New("-replay takes the whole problem from its file: leave out -f, -pods, -region, -types, -arch and -capacity-types")
	case c.explain != "" && c.diff != "":
		return errors.New("-explain and -diff each show something else: choose one")
	case c.output != "text" && (c.explain != "" || c.diff != ""):
		return errors.New("-explain and -diff print text: leave out -o")
	}
	return nil
}

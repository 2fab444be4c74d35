package scheduling

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Verify re-tests every constraint of every pod of a plan against its problem, by definition rather
// than by search, and shares nothing with the solver but the data types and ValueSet. It is slow
// on purpose and takes any plan, also a nonsensical one. It returns nil or a *VerifyError with all that it found.
//
// Rules follow the documentation of Kubernetes: nodes that exist have exactly the labels they show, a
// new node has what pool, type and offering say, and every alternative of a launch has to do. What
// the plan did not cause (a node that was overfull before) is not charged to it.
//
// Pods are bound one after another, in the plan's BindOrder or, as any order is to do without one, in the
// order of the plan; each has to pass the filters of kube-scheduler against what is bound before it.
//
// It does not judge: preferences, which are wishes; the strict order of pool weights and of priorities, which
// depends on the state in which a pod was tried; and whether the plan is cheap.
func Verify(problem *Problem, plan *Plan) error {
	v := &verifier{problem: problem, plan: plan}
	if problem == nil || plan == nil {
		v.report("structure", "", "problem and plan must both be given")
		return v.result()
	}
	v.prepare()
	v.checkAccount()
	v.checkTotals()
	v.checkShapes()
	v.checkLaunches()
	v.checkPrices()
	v.checkLimits()
	v.checkReservations()
	v.checkCommitments()
	v.checkPlacements()
	v.replay()
	v.checkGangs()
	v.checkUnplaced()
	return v.result()
}

// VerifyError lists all that is wrong with a plan.
type VerifyError struct {
	Violations []Violation
}

// Violation is one rule broken by a plan.
type Violation struct {
	// Rule is one of structure, once, totals, catalog, reason, relaxed, bindOrder (the plan's own
	// bookkeeping); offering, price, alternatives, labels, taints, resources, requests, ports, daemonSets,
	// minValues, limits, pools, reservations, commitments, invalid (launches); node (existing nodes); volumes, attach,
	// resourceClaims (what pods mount or ask for by claim); spread, affinity, antiAffinity, gang (pods among
	// each other); placeable (a pod left out for a reason that does not hold).
	Rule string
	// Subject names what breaks it: a pod as namespace/name, a launch as `launch 3 (pool/type)`.
	Subject string
	// Detail says how.
	Detail string
}

// String prints the violation in one line.
func (w Violation) String() string {
	if w.Subject == "" {
		return w.Rule + ": " + w.Detail
	}
	return w.Rule + ": " + w.Subject + ": " + w.Detail
}

// Error prints at most ten violations.
func (e *VerifyError) Error() string {
	s := fmt.Sprintf("scheduling: plan breaks its problem in %d way(s)", len(e.Violations))
	for i, w := range e.Violations {
		if i == 10 {
			return s + fmt.Sprintf("\n  ... and %d more", len(e.Violations)-i)
		}
		s += "\n  " + verifyClip(w.String(), 400)
	}
	return s
}

func verifyClip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}

// verifier is one run of Verify.
type verifier struct {
	problem    *Problem
	plan       *Plan
	violations []Violation

	aliases   map[string]string
	wellKnown map[string]bool
	// pods holds what was read off a pod, problem pods, bound pods and DaemonSets alike; members the pods
	// of demands, which share a template but not a name.
	pods    map[*corev1.Pod]*verifyPod
	members map[int32]*verifyPod
	// fresh holds the nodes that launches may become, existing those of the problem.
	fresh    map[verifyColumn]*verifyNode
	existing []*verifyNode
	// goodShape tells which shapes can be looked at without stumbling.
	goodShape []bool
	// on lists the problem pods that the plan puts on each existing node, filled what is there in the end.
	on     [][]int32
	filled map[int]*verifyFull
	// covers is what launches take of commitments, nil until it is asked for.
	covers  map[string]*verifyCover
	storage *verifyStorage
	company *verifyCompany
	supply  *verifySupply
	gangs   map[string]*verifyGang
}

func (v *verifier) prepare() {
	v.aliases = v.problem.Labels.Aliases
	if v.aliases == nil {
		v.aliases = KubernetesAliases()
	}
	known := v.problem.Labels.WellKnown
	if known == nil {
		known = KubernetesLabels()
	}
	v.wellKnown = map[string]bool{}
	for _, k := range known {
		v.wellKnown[v.key(k)] = true
	}
	v.pods, v.members = map[*corev1.Pod]*verifyPod{}, map[int32]*verifyPod{}
	v.storage = newVerifyStorage(&v.problem.Storage)
	v.company = newVerifyCompany()
	v.filled = map[int]*verifyFull{}
	v.fresh = map[verifyColumn]*verifyNode{}
	for i := range v.problem.Nodes {
		v.existing = append(v.existing, v.existingNode(&v.problem.Nodes[i]))
	}
	v.on = make([][]int32, len(v.problem.Nodes))
	for _, p := range v.plan.Placements {
		if verifyInRange(p.Node, v.problem.Nodes) && v.pod(p.Pod) != nil {
			v.on[p.Node] = append(v.on[p.Node], p.Pod)
		}
	}
}

func (v *verifier) report(rule, subject, format string, args ...any) {
	v.violations = append(v.violations, Violation{Rule: rule, Subject: subject, Detail: fmt.Sprintf(format, args...)})
}

func (v *verifier) result() error {
	if len(v.violations) == 0 {
		return nil
	}
	return &VerifyError{Violations: v.violations}
}

func verifyInRange[T any](i int32, s []T) bool { return i >= 0 && int(i) < len(s) }

// pod returns the problem's i-th pod, nil if there is none.
func (v *verifier) pod(i int32) *corev1.Pod { return v.problem.PodAt(i) }

func (v *verifier) podName(i int32) string {
	if v.pod(i) == nil {
		return fmt.Sprintf("pod %d", i)
	}
	return v.problem.PodName(i)
}

// member reads the problem's i-th pod, which must be there. The pods of a demand have all in common but
// their names, and with these the names of claims that are made for each of them.
func (v *verifier) member(i int32) *verifyPod {
	p := v.read(v.pod(i))
	if int(i) < len(v.problem.Pods) {
		return p
	}
	if v.members[i] == nil {
		own := *p
		own.name = v.podName(i)
		own.mounts = v.mounts(p.pod, own.name)
		v.members[i] = &own
	}
	return v.members[i]
}

func (v *verifier) launchName(i int) string {
	s := v.plan.Launches[i].Shape
	name := fmt.Sprintf("launch %d", i)
	if verifyInRange(s, v.plan.Shapes) && v.goodShape[s] {
		shape := &v.plan.Shapes[s]
		pool := &v.problem.Pools[shape.Pool]
		name += " (" + pool.Name + "/" + pool.InstanceTypes[shape.Choice.Type].Name + ")"
	}
	return name
}

// checkAccount: every pod of the problem is in exactly one place, and every index means something.
func (v *verifier) checkAccount() {
	seen := map[int32]int{}
	count := func(pod int32, where string) {
		if v.pod(pod) == nil {
			v.report("structure", where, "pod index %d is not in the problem", pod)
			return
		}
		seen[pod]++
	}
	for i, l := range v.plan.Launches {
		where := fmt.Sprintf("launch %d", i)
		if !verifyInRange(l.Shape, v.plan.Shapes) {
			v.report("structure", where, "shape index %d is not in the plan", l.Shape)
		}
		if len(l.Pods) == 0 {
			v.report("structure", where, "holds no pod")
		}
		for _, p := range l.Pods {
			count(p, where)
		}
	}
	for i, p := range v.plan.Placements {
		where := fmt.Sprintf("placement %d", i)
		if !verifyInRange(p.Node, v.problem.Nodes) {
			v.report("structure", where, "node index %d is not in the problem", p.Node)
		}
		count(p.Pod, where)
	}
	for i, u := range v.plan.Unplaced {
		where := fmt.Sprintf("unplaced %d", i)
		if !verifyInRange(u.Reason, v.plan.Reasons) {
			v.report("reason", where, "reason index %d is not in the plan", u.Reason)
		} else if v.plan.Reasons[u.Reason].Code == "" {
			v.report("reason", where, "the reason has no code")
		}
		count(u.Pod, where)
	}
	for i, p := range v.plan.NotEvaluated {
		count(p, fmt.Sprintf("notEvaluated %d", i))
	}
	v.checkOnce(seen)
	for i, r := range v.plan.Relaxed {
		for _, p := range r.Pods {
			if v.pod(p) == nil {
				v.report("relaxed", fmt.Sprintf("relaxation %d", i), "pod index %d is not in the problem", p)
			}
		}
	}
	v.checkBindOrderList()
}

// checkOnce: nobody is lost and nobody is there twice. A demand may be huge: a hundred names are enough.
func (v *verifier) checkOnce(seen map[int32]int) {
	reported := 0
	check := func(i int) bool {
		if n := seen[int32(i)]; n != 1 {
			v.report("once", v.podName(int32(i)), "is %d times in the plan, must be once", n)
			reported++
		}
		return reported < 100
	}
	for i, pod := range v.problem.Pods {
		if pod != nil && !check(i) {
			return
		}
	}
	next := len(v.problem.Pods)
	for i := range v.problem.Demands {
		d := &v.problem.Demands[i]
		n := int(max(d.Count, 0))
		for k := 0; k < n && d.Template != nil; k++ {
			if !check(next + k) {
				return
			}
		}
		next += n
	}
}

// checkBindOrderList: a bind order lists each placed pod once and nothing else.
func (v *verifier) checkBindOrderList() {
	if v.plan.BindOrder == nil {
		return
	}
	var placed []int32
	for _, l := range v.plan.Launches {
		placed = append(placed, l.Pods...)
	}
	for _, p := range v.plan.Placements {
		placed = append(placed, p.Pod)
	}
	order := slices.Clone(v.plan.BindOrder)
	slices.Sort(placed)
	slices.Sort(order)
	if !slices.Equal(placed, order) {
		v.report("bindOrder", "", "lists %d pods, which are not the %d placed ones", len(order), len(placed))
	}
}

// checkTotals: the sums are those of the plan, and the bound is below the price.
func (v *verifier) checkTotals() {
	t := v.plan.Totals
	var nano int64
	known, placed := true, len(v.plan.Placements)
	for _, l := range v.plan.Launches {
		placed += len(l.Pods)
		if verifyInRange(l.Shape, v.plan.Shapes) {
			p := v.plan.Shapes[l.Shape].Price
			known = known && p.Known()
			nano += p.Nano()
		}
	}
	if !t.Price.Known() || !known || t.Price.Nano() != nano {
		v.report("totals", "", "price is %v, the launches cost %v", t.Price, PriceFromNano(nano))
	}
	if t.LowerBound.Known() && t.LowerBound.Nano() > nano {
		v.report("totals", "", "lower bound %v is above the price %v", t.LowerBound, PriceFromNano(nano))
	}
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"nodes", t.Nodes, len(v.plan.Launches)},
		{"pods", t.Pods, placed},
		{"unplaced", t.Unplaced, len(v.plan.Unplaced)},
		{"notEvaluated", t.NotEvaluated, len(v.plan.NotEvaluated)},
	} {
		if c.got != c.want {
			v.report("totals", "", "%s is %d, the plan has %d", c.name, c.got, c.want)
		}
	}
	if !v.plan.Catalog.Equal(v.problem.Catalog) {
		v.report("catalog", "", "is %+v, the problem's is %+v", v.plan.Catalog, v.problem.Catalog)
	}
	if len(v.plan.NotEvaluated) > 0 && v.plan.Options.Steps == 0 {
		v.report("totals", "", "%d pods were not evaluated although no step budget was set", len(v.plan.NotEvaluated))
	}
}

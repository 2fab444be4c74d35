package manifest

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/provider/overlay"
	"github.com/fleetwright/fleetwright/scheduling"
	"github.com/fleetwright/fleetwright/scheduling/snapshot"
)

// Overlay is a NodeOverlay.
type Overlay struct {
	overlay.Overlay
	// Origin is where the manifest stands.
	Origin snapshot.Origin
	doc    snapshot.Document
}

type overlayReader struct {
	reader
	overlay Overlay
	in      nodeOverlay
}

// plainPrice is the CRD's pattern.
var plainPrice = regexp.MustCompile(`^\d+(\.\d+)?$`)

// readOverlay decodes and checks a NodeOverlay. The rules are those of the CRD of karpenter.sh/v1alpha1 and of
// Karpenter's own validation at run time.
func readOverlay(d snapshot.Document) *overlayReader {
	r := &overlayReader{reader: reader{doc: d}}
	r.decode(&r.in)
	spec := &r.in.Spec
	r.overlay = Overlay{Overlay: overlay.Overlay{Name: r.in.Name, Capacity: spec.Capacity}, Origin: d.Origin, doc: d}
	o := &r.overlay.Overlay
	switch {
	case spec.Weight == nil:
	case *spec.Weight == 0: // To the library it means that nothing is said.
		r.fault("spec.weight", "0 is not between 1 and 10000", "write a weight in between, or none")
	default:
		o.Weight = *spec.Weight
	}
	if spec.Requirements == nil {
		r.fault(overlayRequirements, "the overlay does not say what it is for", "add requirements; [] means every type")
	}
	r.requirements(overlayRequirements, spec.Requirements)
	for i, req := range spec.Requirements {
		if req.MinValues != nil {
			r.warn(fmt.Sprintf("%s[%d].minValues", overlayRequirements, i), "minValues mean something to pools only; it has no effect", "remove it")
			req.MinValues = nil
		}
		o.Requirements = append(o.Requirements, req)
	}
	r.prices(spec)
	if !r.bad && spec.Price == nil && spec.PriceAdjustment == nil && len(spec.Capacity) == 0 {
		r.warn("spec", "the overlay changes nothing", "give it price, priceAdjustment or capacity")
	}
	for _, f := range o.Faults() {
		field, _, _ := strings.Cut(f.Path, "[")
		switch field {
		case "requirements": // Checked above, by stricter rules.
		case "name":
			r.fault("metadata.name", f.Problem, f.Remedy)
		case "capacity":
			name := strings.Trim(f.Path[len(field):], `["]`)
			r.fault("spec.capacity"+key(name), f.Problem, f.Remedy)
		default:
			r.fault("spec."+f.Path, f.Problem, f.Remedy)
		}
	}
	return r
}

func (r *overlayReader) prices(spec *nodeOverlaySpec) {
	o := &r.overlay.Overlay
	if spec.PriceAdjustment != nil {
		o.PriceAdjustment = *spec.PriceAdjustment
		if o.PriceAdjustment == "" {
			r.fault("spec.priceAdjustment", "it is empty", `write a signed amount or percentage, such as "-10%", or remove it`)
		}
	}
	if spec.Price == nil {
		return
	}
	price, err := scheduling.ParsePrice(*spec.Price)
	if err != nil || !plainPrice.MatchString(*spec.Price) {
		r.fault("spec.price", fmt.Sprintf("%q is no price", *spec.Price), `write an amount per hour, such as "0.096"`)
		return
	}
	o.Price = price
}

// ApplyOverlays gives the pools of p the instance types that the overlays make of theirs, so attach types first. It
// says which overlays match nothing, which contradict each other, and whose capacity goes further than its
// requirements. The error is about types that cannot be read; see [overlay.Apply], which also has the numbers.
func (r *Result) ApplyOverlays(p *scheduling.Problem) ([]snapshot.Finding, error) {
	all := make([]overlay.Overlay, len(r.Overlays))
	byName := map[string]*Overlay{}
	for i := range r.Overlays {
		all[i], byName[r.Overlays[i].Name] = r.Overlays[i].Overlay, &r.Overlays[i]
	}
	applied, err := overlay.Apply(p.Pools, all, p.Labels)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	out := disagreements(applied.Conflicts, byName)
	for _, e := range applied.Effects {
		o := byName[e.Overlay]
		switch {
		case e.Offerings == 0:
			problem, remedy := unmatched(&o.Overlay, p)
			out = append(out, o.doc.Report(snapshot.Warning, overlayRequirements, problem, remedy))
		case e.Widened > 0:
			out = append(out, o.doc.Report(snapshot.Warning, "spec.capacity",
				fmt.Sprintf("only some offerings of %d types match, and capacity belongs to the type: all their offerings have it", e.Widened), "ask for labels of types only"))
		}
	}
	p.Pools = applied.Pools
	return snapshot.SortFindings(out), nil
}

// unmatched says why an overlay matches nothing, if one label is to blame.
func unmatched(o *overlay.Overlay, p *scheduling.Problem) (problem, remedy string) {
	known := map[string]bool{scheduling.PoolLabel: true, scheduling.CapacityTypeLabel: true, corev1.LabelTopologyZone: true, corev1.LabelInstanceTypeStable: true}
	for _, pool := range p.Pools {
		for k := range pool.Labels {
			known[p.Labels.Key(k)] = true
		}
		for _, t := range pool.InstanceTypes {
			for _, req := range t.Requirements {
				known[p.Labels.Key(req.Key)] = true
			}
			for _, offering := range t.Offerings {
				for k := range offering.Labels {
					known[p.Labels.Key(k)] = true
				}
			}
		}
	}
	problem = "no offering of any pool matches; the overlay has no effect"
	for _, req := range o.Requirements {
		if !known[p.Labels.Key(req.Key)] && req.Operator != corev1.NodeSelectorOpDoesNotExist && req.Operator != corev1.NodeSelectorOpNotIn {
			return problem, fmt.Sprintf("no type, offering or pool's template has the label %s: check its spelling", req.Key)
		}
	}
	return problem, "widen the requirements, or remove the overlay"
}

// disagreements makes one finding of all conflicts of the same overlays over one field.
func disagreements(all []overlay.Conflict, byName map[string]*Overlay) (out []snapshot.Finding) {
	type subject struct {
		overlays string
		field    overlay.Field
		resource corev1.ResourceName
	}
	same := map[subject][]overlay.Conflict{}
	for _, c := range all {
		at := subject{strings.Join(c.Overlays, ", "), c.Field, c.Resource}
		same[at] = append(same[at], c)
	}
	for at, cs := range same { // The findings are sorted later.
		c, o := cs[0], byName[cs[0].Overlays[0]]
		path := "spec.price"
		switch {
		case at.resource != "":
			path = "spec." + string(at.field) + key(string(at.resource))
		case o.PriceAdjustment != "":
			path = "spec.priceAdjustment"
		}
		where := strings.TrimSpace(c.Type+" "+c.Offering) + " in pool " + c.Pool
		if n := len(cs) - 1; n > 0 {
			where += fmt.Sprintf(" and %d more", n)
		}
		out = append(out, o.doc.Report(snapshot.Warning, path,
			fmt.Sprintf("%s have the same weight and say different things of %s; none of them counts there", at.overlays, where),
			"give them different weights, or requirements that exclude each other"))
	}
	return out
}

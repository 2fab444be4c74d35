package manifest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
	"github.com/fleetwright/fleetwright/scheduling/snapshot"
)

// Result is what the manifests say. Its slices are sorted by name, whatever the order of the documents.
type Result struct {
	// Pools have no instance types yet; their NodeClass says where those come from.
	Pools []Pool
	// Overlays are the NodeOverlays; see ApplyOverlays.
	Overlays []Overlay
	// Rest are documents that are no Karpenter manifests, in the order given.
	Rest []snapshot.Document
	// Findings are sorted by place.
	Findings []snapshot.Finding
}

// Pool is a NodePool.
type Pool struct {
	// Pool is all that the solver needs but the instance types: attach those of NodeClass.
	scheduling.Pool
	// NodeClass names the object that says what the nodes are made of.
	NodeClass NodeClassRef
	// Annotations are put on every node of the pool.
	Annotations map[string]string
	// Origin is where the manifest stands.
	Origin snapshot.Origin
}

// NodeClassRef names a provider's node class, such as an EC2NodeClass.
type NodeClassRef struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// Err returns a *[snapshot.FindingsError] with the findings of severity Error, or nil.
func (r *Result) Err() error { return snapshot.ErrorOf("manifest", r.Findings) }

// SchedulingPools returns the pools as the solver takes them, without instance types.
func (r *Result) SchedulingPools() []scheduling.Pool {
	out := make([]scheduling.Pool, len(r.Pools))
	for i, p := range r.Pools {
		out[i] = p.Pool
	}
	return out
}

// AddTo appends the pools to p, in their order, and gives the nodes of p that are still starting the startup
// taints of their pool, which Node objects do not tell from others.
func (r *Result) AddTo(p *scheduling.Problem) {
	startup := map[string][]corev1.Taint{}
	p.Pools = append(p.Pools, r.SchedulingPools()...)
	for _, pool := range r.Pools {
		startup[pool.Name] = pool.StartupTaints
	}
	for i := range p.Nodes {
		if n := &p.Nodes[i]; n.Uninitialized && n.StartupTaints == nil {
			n.StartupTaints = startup[n.Pool]
		}
	}
}

// Read reads the documents that package snapshot leaves over. A pool or overlay with an error is left out.
func Read(docs []snapshot.Document) *Result {
	r := &Result{}
	var pools []candidate[Pool]
	var overlays []candidate[Overlay]
	for _, d := range docs {
		switch group, _, _ := strings.Cut(d.APIVersion, "/"); {
		case d.APIVersion == "karpenter.sh/v1" && d.Kind == "NodePool":
			c := readPool(d)
			r.Findings = append(r.Findings, c.findings...)
			if !c.bad {
				pools = append(pools, candidate[Pool]{c.pool, c.in.ObjectMeta, c.in.Spec, d})
			}
		case d.APIVersion == "karpenter.sh/v1alpha1" && d.Kind == "NodeOverlay":
			c := readOverlay(d)
			r.Findings = append(r.Findings, c.findings...)
			if !c.bad {
				overlays = append(overlays, candidate[Overlay]{c.overlay, c.in.ObjectMeta, c.in.Spec, d})
			}
		case isKarpenter(group):
			r.Findings = append(r.Findings, notRead(d))
		default:
			r.Rest = append(r.Rest, d)
		}
	}
	r.Pools = group(r, "pool", pools)
	r.Overlays = group(r, "overlay", overlays)
	r.Findings = snapshot.SortFindings(r.Findings)
	return r
}

func isKarpenter(group string) bool {
	return group == "karpenter.sh" || group == "karpenter.k8s.aws"
}

// notRead reports a Karpenter manifest of a kind or version that is not understood yet. Where a source of
// nodes is lost by that, it is an error.
func notRead(d snapshot.Document) snapshot.Finding {
	what := fmt.Sprintf("%s of %s is not read yet", d.Kind, d.APIVersion)
	switch {
	case d.Kind == "NodePool":
		return d.Report(snapshot.Error, "apiVersion", what+"; the pool is left out", "write it as karpenter.sh/v1")
	case d.Kind == "Provisioner":
		return d.Report(snapshot.Error, "apiVersion", what+"; it is left out", "write it as a NodePool of karpenter.sh/v1")
	case d.Kind == "NodeClaim" || d.Kind == "Machine":
		return d.Report(snapshot.Warning, "", what+"; a node that has not registered is not seen", "")
	case d.Kind == "NodeOverlay":
		return d.Report(snapshot.Error, "apiVersion", what+"; it is left out", "write it as karpenter.sh/v1alpha1")
	case d.Kind == "EC2NodeClass" || d.Kind == "AWSNodeTemplate":
		return d.Report(snapshot.Warning, "", what+"; its settings have no effect on the plan", "")
	}
	return d.Report(snapshot.Error, "kind", fmt.Sprintf("%s has no kind %q; the document is left out", d.APIVersion, d.Kind), "check the spelling of kind and apiVersion")
}

package scheduling

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// alone is what a pod of the class takes of a node on which it is alone: its volumes are all attached there, whoever
// else mounts them elsewhere.
func (c *compiler) alone(cl *class) []int64 {
	if cl.volumes == nil || len(cl.volumes.shared) == 0 {
		return cl.req
	}
	req := slices.Clone(cl.req)
	for _, s := range cl.volumes.shared {
		if d := slices.Index(c.dims, AttachLimit(s.driver)); d >= 0 {
			req[d]++
		}
	}
	return req
}

// placesOfVolumes are the alternatives that the volumes allow; one without conditions if there are none.
func (cl *class) placesOfVolumes() [][]int32 {
	if cl.volumeTerms == nil {
		return [][]int32{nil}
	}
	return cl.volumeTerms
}

// roomOf is what the candidate offers to pods, and what DaemonSets take of it.
func (c *compiler) roomOf(x *candidate) (alloc, overhead []int64) {
	alloc, overhead = make([]int64, len(c.dims)), make([]int64, len(c.dims))
	c.vector(x.t.Capacity, alloc)
	c.vector(x.t.Overhead, overhead)
	for d := range alloc {
		alloc[d] = max(alloc[d]-overhead[d], 0)
	}
	clear(overhead)
	for i := range c.rows {
		if c.rows[i].t != x.t || c.rows[i].pool != x.pool {
			continue
		}
		for _, d := range c.rows[i].daemons {
			for k, q := range c.daemons[d].req {
				overhead[k] += q
			}
		}
		break
	}
	for d := range alloc {
		alloc[d] -= overhead[d]
		if _, ok := x.t.Capacity[c.dims[d]]; c.attachDim[d] && !ok {
			alloc[d] = pack.Unlimited
		}
	}
	return alloc, overhead
}

// missAttachment tells of more volumes than the type can have attached. Nothing that one could edit helps.
func (c *compiler) missAttachment(x *candidate, d int, note noteFunc) {
	want, have := x.req[d]+x.overhead[d], max(x.alloc[d]+x.overhead[d], 0)
	note(3, (want-have)*1_000_000/want, Reason{Code: CodeAttachLimit, Nearest: Nearest{Resource: c.dims[d], Wanted: want, Available: have}})
}

// wrongOn lists the conditions that the labels which an offering decides do not meet.
func (c *compiler) wrongOn(o *Offering, atoms []int32) (wrong []int32) {
	for _, a := range atoms {
		if v, ok := offeringValue(o, c.atoms[a].key); ok && !c.atoms[a].set.Has(v) {
			wrong = append(wrong, a)
		}
	}
	return wrong
}

// missVolumes compares what volumes ask of labels that the offering does not decide.
func (c *compiler) missVolumes(x *candidate, note noteFunc) {
	for _, a := range x.volumes {
		if have, ok := c.typeHas(x, &c.atoms[a]); !ok {
			note(5, 0, c.volumesElsewhere(a, have, ""))
		}
	}
}

// volumesElsewhere is the reason for volumes that can be mounted only under a condition that a candidate does not meet.
func (c *compiler) volumesElsewhere(a int32, have, zone string) Reason {
	at := &c.atoms[a]
	have = strings.ReplaceAll(have, strconv.Quote(newNode), "a new name")
	return Reason{Code: CodeVolume, Nearest: Nearest{Requirement: at.key + " " + at.set.String(), Have: have, Zone: zone}}
}

// typeHas reports whether the candidate can have a label as the condition asks, and if not, what it has. Labels that
// the offering decides are not looked at.
func (c *compiler) typeHas(x *candidate, at *atom) (string, bool) {
	if len(x.t.Offerings) > 0 {
		if _, decided := offeringValue(&x.t.Offerings[0], at.key); decided {
			return "", true
		}
	}
	have := c.labelSet(&row{pool: x.pool, t: x.t}, x.sets, at.key)
	return have.String(), !have.Intersect(at.set).Empty()
}

// takenBy tells of an offering that would do, if its reservation or commitment had enough left.
func (c *compiler) takenBy(o *Offering) Reason {
	if o.Commitment != "" {
		return Reason{Code: CodeOffering, Nearest: Nearest{Zone: o.Zone}, Detail: "commitment " + o.Commitment + " has too little left, and there is no other price"}
	}
	r := Reason{Code: CodeOffering, Nearest: Nearest{Zone: o.Zone}, Detail: "reservation " + o.Reservation + " has nothing left"}
	if c.opts.Reserved == ReservedStrict {
		r.Code, r.Detail = CodeReservation, o.Reservation
	}
	return r
}

// missRest is for candidates with nothing else wrong: a DaemonSet has the pod's host port, or conditions that can each
// be met cannot be met together.
func (c *compiler) missRest(x *candidate, note noteFunc) {
	for i := range c.rows {
		if c.rows[i].t != x.t || c.rows[i].pool != x.pool {
			continue
		}
		for _, d := range c.rows[i].daemons {
			for _, p := range x.cl.ports {
				if portsClash([]hostPort{p}, c.daemons[d].ports) {
					name := podName(c.p.DaemonSets[c.daemons[d].index])
					note(1, 0, Reason{Code: CodePort, Detail: fmt.Sprintf("%s %d, held by %s", p.protocol, p.port, name)})
					return
				}
			}
		}
	}
	var asked []string
	for _, a := range slices.Concat(x.term, x.volumes) {
		if at := &c.atoms[a]; at.key != corev1.LabelHostname {
			asked = append(asked, at.key+" "+at.set.String())
		}
	}
	note(1, 0, Reason{Code: CodeRequirement, Nearest: Nearest{Requirement: strings.Join(asked, ", ")}, Detail: "no one node can have it all"})
}

package scheduling

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Message says in at most two sentences what keeps the pod from being placed, how near the
// nearest candidate comes, and the smallest change that would help. It is at most 600 characters
// long, whatever the names in it.
func (r Reason) Message() string {
	s := r.what()
	if c := r.Change.imperative(r.Code); c != "" {
		s += ": " + c
	}
	return clip(s, 597)
}

// at names the nearest candidate: "m5.large of pool default in us-east-1a".
func (n *Nearest) at() string {
	var parts []string
	if n.Type != "" {
		parts = append(parts, clip(n.Type, 40))
	}
	if n.Pool != "" {
		if len(parts) > 0 {
			parts = append(parts, "of")
		}
		parts = append(parts, "pool "+clip(n.Pool, 63))
	}
	if n.Zone != "" {
		parts = append(parts, "in "+clip(n.Zone, 30))
	}
	return strings.Join(parts, " ")
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// what is the message without the remedy.
func (r *Reason) what() string {
	n := &r.Nearest
	at, detail := n.at(), clip(r.Detail, 160)
	with := func(s string) string {
		if detail != "" {
			return s + " (" + detail + ")"
		}
		return s
	}
	switch r.Code {
	case CodeInvalid:
		return "the pod is not valid: " + orElse(detail, "Kubernetes would refuse it")
	case CodeNoPool:
		return with("there is no pool with instance types to take a node from, and no existing node takes it")
	case CodeNotModelled:
		return "asks for " + orElse(detail, "something") + ", which this version cannot weigh, so it is not placed by guess"
	case CodeTaint:
		if n.Taint == "" {
			return with("does not tolerate the taints of " + orElse(prefixed("pool ", clip(n.Pool, 63)), "any pool"))
		}
		return with("does not tolerate taint " + clip(n.Taint, 100) + prefixed(" of pool ", clip(n.Pool, 63)))
	case CodeRequirement:
		return with(n.labels(at))
	case CodeResource:
		return with(r.shortage(at))
	case CodeOffering:
		return with("what would suit it is not to be had where it may run" + n.wanted() + prefixed("; the nearest is ", at))
	case CodePrice:
		return with("what would suit it has no known price where it may run" + prefixed("; the nearest is ", at))
	case CodePort:
		return with(fmt.Sprintf("a DaemonSet holds its host port on every type that fits%s", prefixed(", such as ", at)))
	case CodeMinValues:
		return with(n.minValues())
	case CodeLimit:
		return with(n.limit())
	case CodeSpread, CodeAntiAffinity, CodeAffinity:
		return r.between(at, detail)
	case CodeVolume:
		return r.volumes(at)
	case CodeAttachLimit:
		return with(r.attachments(at))
	case CodeResourceClaim:
		return "asks for devices by resource claims" + prefixed(" ", detail) + ", which this version cannot weigh, so it is not placed by guess"
	case CodeReservation:
		return with("the capacity reservations that it could use have nothing left") + prefixed("; the nearest is ", at) +
			"; wait until a machine of theirs is given back, or let it go elsewhere (Options.Reserved)"
	case CodeGang:
		return r.gang()
	}
	return with(clip(string(r.Code), 60) + prefixed(", nearest: ", at))
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// wanted prints the requirement in brackets.
func (n *Nearest) wanted() string {
	if n.Requirement == "" {
		return ""
	}
	return " (" + clip(n.Requirement, 120) + ")"
}

func (n *Nearest) labels(at string) string {
	if pool, ok := strings.CutPrefix(n.Requirement, "pool wants "); ok {
		return fmt.Sprintf("the pool's own requirements rule out its types: it wants %s, and the nearest%s has %s",
			clip(pool, 160), prefixed(", ", at)+",", orElse(clip(n.Have, 120), "something else"))
	}
	s := "needs " + orElse(clip(n.Requirement, 160), "labels that nothing has")
	switch {
	case n.Have != "" && at != "":
		return s + "; the nearest, " + at + ", has " + clip(n.Have, 120)
	case at != "":
		return s + "; the nearest is " + at
	case n.Have != "":
		return s + "; there is " + clip(n.Have, 120)
	}
	return s
}

func (r *Reason) shortage(at string) string {
	n := &r.Nearest
	if n.Resource == "" {
		return "is larger than every type with the right labels" + prefixed(", the nearest is ", at)
	}
	s := "needs " + amountText(n.Resource, n.Wanted, up)
	if c := &r.Change; c.Kind == ChangeRequest && c.Resource == n.Resource && c.Amount < n.Available {
		s += ", DaemonSets included" // The pod alone may have what they leave.
	}
	if at == "" {
		return s + "; the most there is on any type is " + unitless(n.Resource, n.Available, down)
	}
	if n.Available <= 0 {
		return s + "; the nearest, " + at + ", has none"
	}
	where := Nearest{Pool: n.Pool, Zone: n.Zone}
	return fmt.Sprintf("%s; the largest%s%s has %s", s, prefixed(" of ", where.at()), commas(clip(n.Type, 40)),
		unitless(n.Resource, n.Available, down))
}

func commas(s string) string {
	if s == "" {
		return ""
	}
	return ", " + s + ","
}

func (n *Nearest) minValues() string {
	key, pool := orElse(clip(n.Requirement, 100), "a label"), prefixed(" of pool ", clip(n.Pool, 63))
	if n.Wanted == 0 {
		return fmt.Sprintf("what would fit has fewer values of %s than the minValues%s ask for", key, pool)
	}
	return fmt.Sprintf("what would fit has %d values of %s, and the minValues%s ask for %d", n.Available, key, pool, n.Wanted)
}

func (n *Nearest) limit() string {
	pool := orElse(clip(n.Pool, 63), "(unnamed)")
	if n.Resource == "" {
		return "the limits of " + orElse(prefixed("pool ", clip(n.Pool, 63)), "the pools") + " leave no room for another node"
	}
	s := fmt.Sprintf("the limit of pool %s leaves %s", pool, amountText(n.Resource, n.Available, down))
	if n.Wanted > 0 {
		s += fmt.Sprintf(", and %s would take %s", orElse(clip(n.Type, 40), "another node"), unitless(n.Resource, n.Wanted, up))
	}
	return s
}

// imperative tells what to do; empty if no single change helps.
func (c *Change) imperative(code Code) string {
	pool, typ, zone := clip(c.Pool, 63), orElse(clip(c.Type, 40), "a type that fits"), prefixed(" in ", clip(c.Zone, 30))
	label := clip(c.Key, 100)
	if c.Value != "" {
		label += "=" + clip(c.Value, 63)
	}
	switch c.Kind {
	case "":
		return ""
	case ChangeRequest:
		if c.Amount <= 0 {
			return "do without " + orElse(clip(string(c.Resource), 60), "it")
		}
		if c.Resource == corev1.ResourceCPU {
			return "lower the request to " + amountText(c.Resource, c.Amount, down)
		}
		return fmt.Sprintf("lower the %s request to %s", orElse(clip(string(c.Resource), 60), "pod's"), unitless(c.Resource, c.Amount, down))
	case ChangeToleration:
		taint := "that taint"
		if c.Taint != nil {
			taint = clip(c.Taint.ToString(), 140)
		}
		return "add a toleration for " + taint + " to the pod"
	case ChangeRequirement:
		return "let the pod's node selector or affinity allow " + orElse(label, "it")
	case ChangePool:
		return fmt.Sprintf("let pool %s offer %s", orElse(pool, "of your choice"), orElse(label, "it"))
	case ChangeLimit:
		return fmt.Sprintf("raise the limit of pool %s to %s", pool, amountText(c.Resource, c.Amount, up))
	case ChangeOffering:
		if code == CodePrice {
			return "give " + typ + zone + " a price"
		}
		return "make " + typ + zone + " available"
	case ChangeMinValues:
		return fmt.Sprintf("lower minValues of %s in pool %s to %d", orElse(label, "the label"), pool, c.Amount)
	}
	return clip(string(c.Kind), 60)
}

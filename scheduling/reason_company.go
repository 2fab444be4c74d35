package scheduling

import (
	"fmt"
	"strings"
)

// between is the message for causes that lie with other pods: what the constraint is, what it counts where,
// and who is in the way.
func (r *Reason) between(at, detail string) string {
	n := &r.Nearest
	constraint := clip(r.Constraint, 120)
	var s string
	switch r.Code {
	case CodeSpread:
		s = "every domain left would break its " + orElse(constraint, "topology spread") + n.wanted() + prefixed("; the nearest is ", at)
		if n.Wanted > 0 {
			s += fmt.Sprintf(", with a skew of %d where %d is allowed", n.Wanted, n.Available)
		}
	case CodeAntiAffinity:
		s = "every domain left has a pod it must not be with" + prefixed(", by ", constraint) + n.wanted() + prefixed("; the nearest is ", at)
	case CodeAffinity:
		s = "no domain left has the pods it must be with" + prefixed(", by ", constraint) + n.wanted() + prefixed("; the nearest is ", at)
	}
	if detail != "" && !strings.Contains(constraint, detail) {
		s += " (" + detail + ")"
	}
	if counts := domainsText(r.Domains, 200); counts != "" {
		s += "; pods counted: " + counts
	}
	return s + r.others("; in the way: ")
}

// domainsText draws counts as "us-east-1a 3, us-east-1b 0 (out of reach)", in at most about that many characters.
func domainsText(list []DomainCount, most int) string {
	var b strings.Builder
	for i, d := range list {
		s := fmt.Sprintf("%s %d%s", clip(d.Domain, 63), d.Count, d.note())
		if i > 0 {
			s = ", " + s
		}
		if i > 0 && b.Len()+len(s) > most {
			fmt.Fprintf(&b, ", and %s", count(len(list)-i, "more domain"))
			break
		}
		b.WriteString(s)
	}
	return b.String()
}

func (d *DomainCount) note() string {
	if d.Note == "" {
		return ""
	}
	return " (" + clip(d.Note, 80) + ")"
}

// maxNamed is how many pods in the way a message names.
const maxNamed = 3

// others names some of the pods that keep this one out.
func (r *Reason) others(prefix string) string {
	if len(r.InTheWay) == 0 {
		return ""
	}
	var parts []string
	for _, name := range r.InTheWay[:min(maxNamed, len(r.InTheWay))] {
		parts = append(parts, clip(name, 64))
	}
	s := prefix + strings.Join(parts, ", ")
	if len(r.InTheWay) > maxNamed {
		s += " and others"
	}
	return s
}

// volumes is the message for volumes that cannot be used, or not from any node.
func (r *Reason) volumes(at string) string {
	n := &r.Nearest
	if n.Requirement == "" {
		return orElse(clip(r.Detail, 420), "a volume of the pod cannot be used") + prefixed("; the nearest is ", at)
	}
	s := "its volumes can be mounted only where " + clip(n.Requirement, 200)
	if detail := clip(r.Detail, 160); detail != "" {
		s += " (" + detail + ")"
	}
	if at == "" {
		return s
	}
	return s + "; the nearest, " + at + ", has " + orElse(clip(n.Have, 120), "none of it")
}

// attachments is the message for more volumes than a node can have.
func (r *Reason) attachments(at string) string {
	n := &r.Nearest
	driver := clip(strings.TrimPrefix(string(n.Resource), string(AttachLimit(""))), 63)
	if n.Wanted <= 0 {
		return "needs more volumes" + prefixed(" of ", driver) + " attached than any node may have" + prefixed("; the nearest is ", at)
	}
	s := fmt.Sprintf("needs %s%s attached to its node, DaemonSets' included", count(int(n.Wanted), "volume"), prefixed(" of ", driver))
	if at == "" {
		return fmt.Sprintf("%s; the most that any may have is %d", s, n.Available)
	}
	return fmt.Sprintf("%s; the most that any may have is %d, on %s", s, n.Available, at)
}

// gang is the message for pods that wait for others of their gang.
func (r *Reason) gang() string {
	s := "too few pods of its gang have a place, so none gets one"
	if detail := clip(r.Detail, 300); detail != "" {
		s += ": " + detail
	}
	return s + r.others("; these fit nowhere even alone: ")
}

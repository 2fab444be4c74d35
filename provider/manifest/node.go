package manifest

import (
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// taints checks both lists; a key may come with several effects, but each pair only once.
func (r *poolReader) taints(taints, startup []corev1.Taint) {
	seen := map[[2]string]string{}
	check := func(list string, ts []corev1.Taint) {
		for i, t := range ts {
			at := fmt.Sprintf("spec.template.spec.%s[%d]", list, i)
			if len(validation.IsQualifiedName(t.Key)) > 0 {
				r.fault(at+".key", fmt.Sprintf("%q is no taint key", t.Key), "write name or domain/name, of letters, digits, '-', '_' and '.'")
			}
			r.labelValue(at+".value", t.Value)
			switch t.Effect {
			case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
			default:
				r.fault(at+".effect", fmt.Sprintf("%q is no effect", t.Effect), "write NoSchedule, PreferNoSchedule or NoExecute")
			}
			pair := [2]string{t.Key, string(t.Effect)}
			if first, ok := seen[pair]; ok {
				r.fault(at, fmt.Sprintf("%s:%s is there already, in %s", t.Key, t.Effect, first), "remove one of them")
				continue
			}
			seen[pair] = at
		}
	}
	check("taints", taints)
	check("startupTaints", startup)
}

// Patterns of the CRD.
var (
	duration        = regexp.MustCompile(`^([0-9]+(s|m|h))+$`)
	durationOrNever = regexp.MustCompile(`^(([0-9]+(s|m|h))+|Never)$`)
	budgetDuration  = regexp.MustCompile(`^([0-9]+(m|h)+(0s)?)$|^(([0-9]+h)?([0-9]+m)?(0s)?)$`)
	budgetNodes     = regexp.MustCompile(`^((100|[0-9]{1,2})%|[0-9]+)$`)
	cron            = regexp.MustCompile(`^(@(annually|yearly|monthly|weekly|daily|midnight|hourly)|[^\s]+(\s+[^\s]+){4})$`)
)

func (r *reader) pattern(at string, value *string, pattern *regexp.Regexp, remedy string) {
	if value != nil && !pattern.MatchString(*value) {
		r.fault(at, fmt.Sprintf("%q cannot be read", *value), remedy)
	}
}

func (r *poolReader) lifetime(spec *nodeSpec) {
	r.pattern("spec.template.spec.expireAfter", spec.ExpireAfter, durationOrNever, "write a duration such as 720h, or Never")
	r.pattern("spec.template.spec.terminationGracePeriod", spec.TerminationGracePeriod, duration, "write a duration such as 48h")
}

// disruption checks what package scheduling/disruption will use; a plan of new nodes does not.
func (r *poolReader) disruption(d *disruption) {
	const at = "spec.disruption"
	switch d.ConsolidationPolicy {
	case "", "WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced":
	default:
		r.fault(at+".consolidationPolicy", fmt.Sprintf("%q is no policy", d.ConsolidationPolicy), "write WhenEmpty, WhenEmptyOrUnderutilized or Balanced")
	}
	r.pattern(at+".consolidateAfter", d.ConsolidateAfter, durationOrNever, "write a duration such as 30s, or Never")
	if len(d.Budgets) > 50 {
		r.fault(at+".budgets", fmt.Sprintf("%d budgets are more than 50", len(d.Budgets)), "remove some")
	}
	for i, b := range d.Budgets {
		here := fmt.Sprintf("%s.budgets[%d]", at, i)
		r.pattern(here+".nodes", b.Nodes, budgetNodes, "write a number, or a percentage up to 100%")
		r.pattern(here+".schedule", b.Schedule, cron, "write five cron fields, or @daily and the like")
		r.pattern(here+".duration", b.Duration, budgetDuration, "write hours and minutes, such as 1h30m")
		if (b.Schedule == nil) != (b.Duration == nil) {
			r.fault(here, "schedule and duration only work together", "write both or neither")
		}
		for j, reason := range b.Reasons {
			if !slices.Contains([]string{"Underutilized", "Empty", "Drifted"}, reason) {
				r.fault(fmt.Sprintf("%s.reasons[%d]", here, j), fmt.Sprintf("%q is no reason", reason), "write Underutilized, Empty or Drifted")
			}
		}
	}
}

package scheduling

// Options tune a solve. The zero value, or nil, is what most callers want.
type Options struct {
	// Preferences says what soft constraints are worth: preferred node affinity, preferred pod affinity and
	// anti-affinity, ScheduleAnyway spreads and PreferNoSchedule taints.
	Preferences PreferencePolicy `json:"preferences,omitempty"`
	// PreferenceCap is how much more per hour than the plan without any preference a plan may cost under
	// PreferencesCap.
	PreferenceCap Price `json:"preferenceCap,omitzero"`
	// Reserved says what happens to pods that could use a capacity reservation of which nothing is left.
	Reserved ReservedPolicy `json:"reserved,omitempty"`
	// Effort says how much work goes into a cheaper plan and a tighter bound.
	Effort Effort `json:"effort,omitempty"`
	// Pools names the pools that may launch nodes; nil: all; empty: none.
	Pools []string `json:"pools,omitzero"`
	// MinValues says what happens where a pool's minValues cannot be had.
	MinValues MinValuesPolicy `json:"minValues,omitempty"`
	// Limits says how many launches may fall back to a larger alternative before a pool's limit
	// is passed.
	Limits LimitPolicy `json:"limits,omitempty"`
	// Steps bounds the work, in steps of about a microsecond; a step is counted, never timed, so the
	// same budget gives the same plan everywhere. 0: no bound. When it runs out the plan
	// is Partial and lists in NotEvaluated what nobody looked at.
	Steps int64 `json:"steps,omitempty"`
	// First names pods ("namespace/name") to evaluate before all others; pass the NotEvaluated
	// of the last plan to start where it stopped.
	First []string `json:"first,omitempty"`
	// MaxAlternatives caps the types kept per launch, cheapest first, 60 if 0; the plan says how
	// many there were.
	MaxAlternatives int `json:"maxAlternatives,omitempty"`
	// Parallelism is how many goroutines read the pods, which is most of the work on large problems;
	// 0: one for each processor that Go may use, up to 8. The plan does not depend on it.
	Parallelism int `json:"-"`
	// Progress, if set, is called from the solving goroutine, at most a few hundred times per call.
	Progress func(Progress) `json:"-"`
}

// Progress is a moment of a running solve.
type Progress struct {
	// Stage is what is being done: "compile", "pack", "explain".
	Stage string
	// Done and Total count pods.
	Done, Total int
}

// Effort says how much work goes into a cheaper plan and a tighter bound. More effort never gives a dearer plan.
type Effort int

const (
	// EffortDefault spends well under a second on a thousand pods of a hundred sizes.
	EffortDefault Effort = iota
	// EffortFast constructs one plan, choosing by price.
	EffortFast
	// EffortBest spends up to a minute on tens of thousands of pods.
	EffortBest
)

// PreferencePolicy says how soft constraints weigh.
type PreferencePolicy int

const (
	// PreferencesRespect meets as many preferences as it can whatever it costs: a pod is first tried
	// with all of them, then without the lightest, and so on; PreferNoSchedule taints are
	// tolerated last. A preference never makes a pod unplaceable. This is the default.
	PreferencesRespect PreferencePolicy = iota
	// PreferencesIgnore acts as if there were none.
	PreferencesIgnore
	// PreferencesCap meets preferences as long as the plan costs at most Options.PreferenceCap more than one
	// that ignores them; beyond that those that cost most are given up first.
	PreferencesCap
)

// ReservedPolicy says how pods and capacity reservations go together.
type ReservedPolicy int

const (
	// ReservedFallback takes reserved offerings while they last and any other after that. The default.
	ReservedFallback ReservedPolicy = iota
	// ReservedStrict leaves a pod over if a reservation that it could use has nothing left in this plan: the next
	// one may find that machines of the reservation were given back.
	ReservedStrict
)

// MinValuesPolicy says how strict minValues are.
type MinValuesPolicy int

const (
	// MinValuesStrict leaves a pod unplaced rather than launch with fewer values. The default.
	MinValuesStrict MinValuesPolicy = iota
	// MinValuesBestEffort lowers minValues to what there is where nothing else can hold a pod, and says so.
	MinValuesBestEffort
)

// LimitPolicy says what a pool's limit charges.
type LimitPolicy int

const (
	// LimitAllFallbacks cuts alternatives so that the limit holds even if every launch of the
	// plan falls back to its largest one. The default.
	LimitAllFallbacks LimitPolicy = iota
	// LimitOneFallback keeps more alternatives: the limit holds if at most one launch falls back.
	LimitOneFallback
)

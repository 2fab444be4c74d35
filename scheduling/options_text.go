package scheduling

import (
	"fmt"
	"slices"
	"strings"
)

// The names of the policies, by value. They are what JSON, flags and messages use.
var (
	effortNames     = [...]string{EffortDefault: "Default", EffortFast: "Fast", EffortBest: "Best"}
	preferenceNames = [...]string{PreferencesRespect: "Respect", PreferencesIgnore: "Ignore", PreferencesCap: "Cap"}
	reservedNames   = [...]string{ReservedFallback: "Fallback", ReservedStrict: "Strict"}
	minValuesNames  = [...]string{MinValuesStrict: "Strict", MinValuesBestEffort: "BestEffort"}
	limitNames      = [...]string{LimitAllFallbacks: "AllFallbacks", LimitOneFallback: "OneFallback"}
)

// String returns "Default", "Fast" or "Best".
func (e Effort) String() string { return policyString("Effort", int(e), effortNames[:]) }

// MarshalText writes the effort's name.
func (e Effort) MarshalText() ([]byte, error) { return policyText("effort", int(e), effortNames[:]) }

// UnmarshalText reads the effort's name, exactly as it is written; empty means the default.
func (e *Effort) UnmarshalText(b []byte) error {
	return policyParse(e, "effort", string(b), effortNames[:])
}

// String returns "Respect", "Ignore" or "Cap".
func (p PreferencePolicy) String() string {
	return policyString("PreferencePolicy", int(p), preferenceNames[:])
}

// MarshalText writes the policy's name.
func (p PreferencePolicy) MarshalText() ([]byte, error) {
	return policyText("preferences", int(p), preferenceNames[:])
}

// UnmarshalText reads the policy's name, exactly as it is written; empty means the default.
func (p *PreferencePolicy) UnmarshalText(b []byte) error {
	return policyParse(p, "preferences", string(b), preferenceNames[:])
}

// String returns "Fallback" or "Strict".
func (p ReservedPolicy) String() string {
	return policyString("ReservedPolicy", int(p), reservedNames[:])
}

// MarshalText writes the policy's name.
func (p ReservedPolicy) MarshalText() ([]byte, error) {
	return policyText("reserved", int(p), reservedNames[:])
}

// UnmarshalText reads the policy's name, exactly as it is written; empty means the default.
func (p *ReservedPolicy) UnmarshalText(b []byte) error {
	return policyParse(p, "reserved", string(b), reservedNames[:])
}

// String returns "Strict" or "BestEffort".
func (p MinValuesPolicy) String() string {
	return policyString("MinValuesPolicy", int(p), minValuesNames[:])
}

// MarshalText writes the policy's name.
func (p MinValuesPolicy) MarshalText() ([]byte, error) {
	return policyText("minValues", int(p), minValuesNames[:])
}

// UnmarshalText reads the policy's name, exactly as it is written; empty means the default.
func (p *MinValuesPolicy) UnmarshalText(b []byte) error {
	return policyParse(p, "minValues", string(b), minValuesNames[:])
}

// String returns "AllFallbacks" or "OneFallback".
func (p LimitPolicy) String() string { return policyString("LimitPolicy", int(p), limitNames[:]) }

// MarshalText writes the policy's name.
func (p LimitPolicy) MarshalText() ([]byte, error) {
	return policyText("limits", int(p), limitNames[:])
}

// UnmarshalText reads the policy's name, exactly as it is written; empty means the default.
func (p *LimitPolicy) UnmarshalText(b []byte) error {
	return policyParse(p, "limits", string(b), limitNames[:])
}

// canonical is the options with what has no order sorted; they share nothing with o that can change.
func (o Options) canonical() Options {
	o.Pools = sorted(o.Pools, strings.Compare)
	return o
}

func policyString(kind string, p int, names []string) string {
	if p < 0 || p >= len(names) {
		return fmt.Sprintf("%s(%d)", kind, p)
	}
	return names[p]
}

func policyText(field string, p int, names []string) ([]byte, error) {
	if p < 0 || p >= len(names) {
		return nil, fmt.Errorf("scheduling: options.%s: there is no policy %d; use one of %s", field, p, strings.Join(names, ", "))
	}
	return []byte(names[p]), nil
}

func policyParse[P ~int](p *P, field, text string, names []string) error {
	i := slices.Index(names, text)
	if text == "" {
		i = 0
	}
	if i < 0 {
		return fmt.Errorf("scheduling: options.%s: %q is not known; use one of %s", field, clip(text, 40), strings.Join(names, ", "))
	}
	*p = P(i)
	return nil
}

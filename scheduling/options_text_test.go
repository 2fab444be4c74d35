package scheduling

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestOptionsJSON(t *testing.T) {
	tests := []struct {
		name, want string
		options    Options
	}{
		{"zero", `{}`, Options{}},
		{"all", `{"preferences":"Ignore","minValues":"BestEffort","limits":"OneFallback","steps":5,"first":["a/b"],"maxAlternatives":3}`,
			Options{Preferences: PreferencesIgnore, MinValues: MinValuesBestEffort, Limits: LimitOneFallback, Steps: 5,
				First: []string{"a/b"}, MaxAlternatives: 3}},
		{"cap", `{"preferences":"Cap","preferenceCap":0,"reserved":"Strict","pools":["b","a"]}`,
			Options{Preferences: PreferencesCap, PreferenceCap: PriceFromNano(0), Reserved: ReservedStrict, Pools: []string{"b", "a"}}},
		{"no pool may launch", `{"pools":[]}`, Options{Pools: []string{}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(tt.options)
			if err != nil || string(got) != tt.want {
				t.Fatalf("%s (%v), want %s", got, err, tt.want)
			}
			var back Options
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			if (back.Pools == nil) != (tt.options.Pools == nil) {
				t.Errorf("pools %v come back as %v: nil means all, empty none", tt.options.Pools, back.Pools)
			}
			if again, _ := json.Marshal(back); string(again) != tt.want {
				t.Errorf("comes back as %s", again)
			}
		})
	}
}

func TestPolicyNames(t *testing.T) {
	var p PreferencePolicy
	var m MinValuesPolicy
	var l LimitPolicy
	var r ReservedPolicy
	parse := func(text string) []error {
		return []error{p.UnmarshalText([]byte(text)), m.UnmarshalText([]byte(text)), l.UnmarshalText([]byte(text)), r.UnmarshalText([]byte(text))}
	}
	for _, text := range []string{"respect", "Ignored", "1", "\x1b"} {
		for i, err := range parse(text) {
			if err == nil {
				t.Errorf("policy %d accepts %q", i, text)
			}
		}
	}
	for i, err := range parse("") {
		if err != nil {
			t.Errorf("policy %d: empty text is the default, got %v", i, err)
		}
	}
	if err := p.UnmarshalText([]byte("no")); err.Error() != `scheduling: options.preferences: "no" is not known; use one of Respect, Ignore, Cap` {
		t.Error(err)
	}
	if err := r.UnmarshalText([]byte("Strict")); err != nil || r != ReservedStrict || r.String() != "Strict" {
		t.Error(err, r)
	}
	if s := PreferencePolicy(7).String(); s != "PreferencePolicy(7)" {
		t.Error(s)
	}
	if _, err := LimitPolicy(-1).MarshalText(); err == nil {
		t.Error("a policy that does not exist was written")
	}
}

func TestUnknownOptions(t *testing.T) {
	tests := []struct {
		name, reason string
		options      Options
		want         string
	}{
		{"effort", "there are three", Options{Effort: 3}, "options.effort: there is no value 3; use one of Default, Fast, Best"},
		{"negative effort", "none of the three", Options{Effort: -1}, "options.effort: there is no value -1; use one of Default, Fast, Best"},
		{"another policy", "said before the work, not when the plan is written", Options{Limits: 2}, "options.limits: there is no value 2; use one of AllFallbacks, OneFallback"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Solve(t.Context(), &Problem{}, &tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %q (%s)", err, tt.want, tt.reason)
			}
		})
	}
	for _, effort := range []Effort{EffortDefault, EffortFast, EffortBest} {
		plan, err := Solve(t.Context(), &Problem{}, &Options{Effort: effort})
		if err != nil {
			t.Fatal(err)
		}
		if text := string(mustJSON(t, plan)); strings.Contains(text, `"effort": "`+effort.String()+`"`) != (effort != EffortDefault) {
			t.Errorf("effort %v is not as it should be in %s", effort, text)
		}
	}
}

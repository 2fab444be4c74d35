package workload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// groupSchema is the version of the format that is read.
const groupSchema = "pod-groups/v1"

type meta struct {
	schema, kind, region string
	seed                 json.Number
	groups, pods         *int
	pools                []poolRecord
	daemons              []daemonRecord
	planted              *plantedRecord
}

type poolRecord struct {
	Name         string                   `json:"name"`
	Weight       int32                    `json:"weight"`
	Labels       map[string]string        `json:"labels"`
	Taints       []corev1.Taint           `json:"taints"`
	Requirements []scheduling.Requirement `json:"requirements"`
}

type daemonRecord struct {
	Name     string                     `json:"name"`
	Requests map[string]json.RawMessage `json:"requests"`
}

type plantedRecord struct {
	Nodes          map[string]int `json:"nodes"`
	OptimumPerHour float64        `json:"optimumPerHour"`
}

type group struct {
	name, owner, qos string
	replicas         int
	requests         map[string]json.RawMessage
	labels, selector map[string]string
	nodeAffinity     []expression
	tolerations      []corev1.Toleration
	spread           []spread
	with, against    []podTerm
	volumeZones      []string
	priority         *int32
}

type expression struct {
	Key      string                      `json:"key"`
	Operator corev1.NodeSelectorOperator `json:"operator"`
	Values   []string                    `json:"values"`
}

type spread struct {
	TopologyKey       string                               `json:"topologyKey"`
	MaxSkew           int32                                `json:"maxSkew"`
	WhenUnsatisfiable corev1.UnsatisfiableConstraintAction `json:"whenUnsatisfiable"`
	MinDomains        *int32                               `json:"minDomains"`
}

type podTerm struct {
	TopologyKey string            `json:"topologyKey"`
	MatchLabels map[string]string `json:"matchLabels"`
	Required    *bool             `json:"required"`
	Weight      *int32            `json:"weight"`
}

// readGroups reads the JSON lines format.
func (b *builder) readGroups(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	var head *meta
	groups := 0
	for !b.full() && lines.Scan() {
		b.line++
		line := bytes.TrimSpace(lines.Bytes())
		switch {
		case len(line) == 0:
		case head == nil:
			head = new(meta)
			b.readMeta(line, head)
		default:
			groups++
			b.readGroup(line)
		}
	}
	if err := lines.Err(); err != nil {
		b.line++
		if errors.Is(err, bufio.ErrTooLong) {
			b.add("", fmt.Sprintf("is longer than %d bytes", maxLine), "write one group per line")
			return nil
		}
		return fmt.Errorf("cannot be read further: %w", err)
	}
	b.line = 0
	switch {
	case head == nil:
		b.add("", "the file is empty", `begin with a meta record: {"schema":"`+groupSchema+`"}`)
	case len(b.list) > 0:
	case head.groups != nil && *head.groups != groups:
		b.add("", fmt.Sprintf("the meta record says %d groups, there are %d", *head.groups, groups), "the file may have been cut short; mend it or drop the number")
	case head.pods != nil && *head.pods != b.count:
		b.add("", fmt.Sprintf("the meta record says %d pods, there are %d", *head.pods, b.count), "mend the replicas or drop the number")
	}
	return nil
}

// decode fills the targets from the fields of a JSON object; every field that is unknown or of the wrong
// kind is a fault of its own.
func (b *builder) decode(line []byte, targets map[string]any) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil || object == nil {
		b.add("", "is not a JSON object: "+jsonProblem(err), "write one object per line")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		target, known := targets[key]
		if !known {
			b.add(quote(key), "is no field of this record", "known fields: "+strings.Join(slices.Sorted(maps.Keys(targets)), ", "))
			continue
		}
		in := json.NewDecoder(bytes.NewReader(object[key]))
		in.DisallowUnknownFields()
		if err := in.Decode(target); err != nil {
			path := key
			if t := (*json.UnmarshalTypeError)(nil); errors.As(err, &t) && t.Field != "" {
				path += "." + t.Field
			}
			b.add(path, jsonProblem(err), "")
		}
	}
}

// jsonProblem says in the format's words what encoding/json found.
func jsonProblem(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return "null"
	case errors.As(err, &syntax):
		return fmt.Sprintf("%v at column %d", syntax, syntax.Offset)
	case errors.As(err, &kind):
		return "a " + kind.Value + " does not do, this is a " + kindWord(kind.Type)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func kindWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindWord(t.Elem())
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "list"
	case reflect.Map, reflect.Struct:
		return "record"
	case reflect.Bool:
		return "truth value"
	}
	return "text"
}

func (b *builder) readMeta(line []byte, m *meta) {
	b.decode(line, map[string]any{
		"schema": &m.schema, "kind": &m.kind, "seed": &m.seed, "region": &m.region, "groups": &m.groups,
		"pods": &m.pods, "nodePools": &m.pools, "daemonSets": &m.daemons, "planted": &m.planted,
	})
	if m.schema != groupSchema {
		b.add("schema", quote(m.schema)+" is not known", `the first line is a meta record with "schema":"`+groupSchema+`"`)
	}
	b.out.Kind, b.out.Region = m.kind, m.region
	if m.planted != nil {
		b.out.Planted = scheduling.PriceFromFloat(m.planted.OptimumPerHour)
	}
	b.addPools(m.pools)
	b.addDaemons(m.daemons)
}

func (b *builder) readGroup(line []byte) {
	before := len(b.list)
	g := group{replicas: 1, owner: "Pod"}
	b.decode(line, map[string]any{
		"name": &g.name, "replicas": &g.replicas, "owner": &g.owner, "requests": &g.requests,
		"labels": &g.labels, "nodeSelector": &g.selector, "nodeAffinity": &g.nodeAffinity,
		"tolerations": &g.tolerations, "topologySpread": &g.spread, "podAffinity": &g.with,
		"podAntiAffinity": &g.against, "volumeZones": &g.volumeZones, "priority": &g.priority, "qos": &g.qos,
	})
	if len(b.list) > before {
		return
	}
	template := b.groupPod(&g)
	if len(b.list) > before {
		return
	}
	b.expand(template, g.name, g.replicas, g.owner != "Pod" || g.replicas != 1)
}

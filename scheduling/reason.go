package scheduling

import corev1 "k8s.io/api/core/v1"

// Code is the one primary cause for which a pod was not placed. The set is closed; new codes
// come with a minor version.
type Code string

const (
	// CodeInvalid: the pod itself is wrong (negative request, malformed selector); Detail says what.
	CodeInvalid Code = "Invalid"
	// CodeNoPool: there is no pool, no pool has types, and no existing node helps.
	CodeNoPool Code = "NoPool"
	// CodeNotModelled: the pod has a constraint this version cannot weigh; placing it blindly
	// would be a guess.
	CodeNotModelled Code = "NotModelled"
	// CodeTaint: every pool that could hold it has a taint it does not tolerate.
	CodeTaint Code = "TaintNotTolerated"
	// CodeRequirement: no pool, type and offering together have the labels it asks for.
	CodeRequirement Code = "LabelsNotMet"
	// CodeResource: every type with the right labels is too small.
	CodeResource Code = "TooLarge"
	// CodeOffering: types would fit, but none is to be had in the zones and capacity types it allows.
	CodeOffering Code = "NotOffered"
	// CodePrice: the only offerings left have no known price.
	CodePrice Code = "PriceUnknown"
	// CodePort: a DaemonSet holds the host port on every type that fits.
	CodePort Code = "HostPortTaken"
	// CodeMinValues: what fits has fewer values than the pool's minValues demand.
	CodeMinValues Code = "MinValuesNotMet"
	// CodeLimit: the pool's limit leaves no room for another node.
	CodeLimit Code = "PoolLimit"
	// CodeSpread: every domain left would break a topology spread.
	CodeSpread Code = "TopologySpread"
	// CodeAntiAffinity: every domain left has a pod it must not be with.
	CodeAntiAffinity Code = "AntiAffinity"
	// CodeAffinity: no domain left has the pods it must be with.
	CodeAffinity Code = "PodAffinity"
	// CodeVolume: a claim of the pod cannot be used (missing, lost, being deleted, unbound with immediate binding), or
	// its volume cannot be reached from any node that would do.
	CodeVolume Code = "VolumeUnusable"
	// CodeAttachLimit: no node may have as many volumes attached as the pod needs.
	CodeAttachLimit Code = "AttachLimit"
	// CodeResourceClaim: the pod asks for devices by dynamic resource allocation, which is not modelled.
	CodeResourceClaim Code = "ResourceClaim"
	// CodeReservation: the reservations that the pod could use have nothing left (ReservedStrict only).
	CodeReservation Code = "ReservationTaken"
	// CodeGang: too few pods of its gang have a place, so none gets one.
	CodeGang Code = "GangIncomplete"
)

// Reason says why pods of one kind were left over, what came closest, and what would help.
type Reason struct {
	Code Code
	// Detail completes the message where the fields below do not say it all.
	Detail string
	// Nearest is the miss with the least to change.
	Nearest Nearest
	// Change is the smallest change found that would place the pod, checked one at a time: it is
	// about one pod alone on a new node.
	Change Change
	// Constraint is the spread or affinity that stands in the way, in words.
	Constraint string
	// Domains tell, for that constraint, how many pods it counts where, when the plan is carried out.
	Domains []DomainCount
	// InTheWay names pods ("namespace/name") that keep this one out, at most eight.
	InTheWay []string
}

// DomainCount is one domain of a topology constraint.
type DomainCount struct {
	// Domain is the value of the topology key; for hostnames the node's name, or "(new node)".
	Domain string `json:"domain"`
	// Count is how many pods the constraint counts there.
	Count int32 `json:"count"`
	// Note says why the pod cannot go there, if the count does not.
	Note string `json:"note,omitempty"`
}

// Nearest is the candidate that came closest.
type Nearest struct {
	// Pool and Type are names; empty if the cause lies before the choice of one.
	Pool string `json:"pool,omitempty"`
	Type string `json:"instanceType,omitempty"`
	Zone string `json:"zone,omitempty"`
	// Resource, Wanted and Available tell a shortage: Wanted includes DaemonSets, Available is what
	// the type (or the pool's limit) has; millicores for cpu.
	Resource  corev1.ResourceName `json:"resource,omitempty"`
	Wanted    int64               `json:"wanted,omitempty"`
	Available int64               `json:"available,omitempty"`
	// Requirement is what the pod asks of a label, Have what the candidate offers.
	Requirement string `json:"requirement,omitempty"`
	Have        string `json:"have,omitempty"`
	// Taint is the one that is not tolerated.
	Taint string `json:"taint,omitempty"`
}

// ChangeKind is a closed set of remedies.
type ChangeKind string

const (
	// ChangeRequest lowers what the pod asks of Resource to Amount.
	ChangeRequest ChangeKind = "LowerRequest"
	// ChangeToleration adds a toleration for Taint to the pod.
	ChangeToleration ChangeKind = "AddToleration"
	// ChangeRequirement drops or widens the pod's condition on label Key so that Value is allowed.
	ChangeRequirement ChangeKind = "AllowLabel"
	// ChangePool gives the pool the label value that the pod asks for.
	ChangePool ChangeKind = "OpenPool"
	// ChangeLimit raises Pool's limit of Resource to Amount.
	ChangeLimit ChangeKind = "RaiseLimit"
	// ChangeOffering makes an offering of Type in Zone available (or priced).
	ChangeOffering ChangeKind = "OfferType"
	// ChangeMinValues lowers the pool's minValues of Key to Amount.
	ChangeMinValues ChangeKind = "LowerMinValues"
)

// Change is one edit of the problem. The zero value means that no single edit would do.
type Change struct {
	Kind     ChangeKind          `json:"kind,omitempty"`
	Pool     string              `json:"pool,omitempty"`
	Type     string              `json:"instanceType,omitempty"`
	Zone     string              `json:"zone,omitempty"`
	Key      string              `json:"key,omitempty"`
	Value    string              `json:"value,omitempty"`
	Resource corev1.ResourceName `json:"resource,omitempty"`
	Amount   int64               `json:"amount,omitempty"`
	Taint    *corev1.Taint       `json:"taint,omitempty"`
}

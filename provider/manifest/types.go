package manifest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// nodePool mirrors the fields of karpenter.sh/v1 NodePool. Fields that a user never writes, or that
// decide nothing yet, are there so that they are not reported as unknown.
type nodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              nodePoolSpec   `json:"spec"`
	Status            map[string]any `json:"status"`
}

type nodePoolSpec struct {
	Template   nodeTemplate        `json:"template"`
	Disruption *disruption         `json:"disruption"`
	Limits     corev1.ResourceList `json:"limits"`
	Weight     *int32              `json:"weight"`
	Replicas   *int64              `json:"replicas"`
}

type nodeTemplate struct {
	Metadata struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec nodeSpec `json:"spec"`
}

type nodeSpec struct {
	Taints                 []corev1.Taint           `json:"taints"`
	StartupTaints          []corev1.Taint           `json:"startupTaints"`
	Requirements           []scheduling.Requirement `json:"requirements"`
	NodeClassRef           *NodeClassRef            `json:"nodeClassRef"`
	ExpireAfter            *string                  `json:"expireAfter"`
	TerminationGracePeriod *string                  `json:"terminationGracePeriod"`
}

type disruption struct {
	ConsolidationPolicy string   `json:"consolidationPolicy"`
	ConsolidateAfter    *string  `json:"consolidateAfter"`
	Budgets             []budget `json:"budgets"`
}

type budget struct {
	Nodes    *string  `json:"nodes"`
	Reasons  []string `json:"reasons"`
	Schedule *string  `json:"schedule"`
	Duration *string  `json:"duration"`
}

// nodeOverlay mirrors karpenter.sh/v1alpha1 NodeOverlay.
type nodeOverlay struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              nodeOverlaySpec `json:"spec"`
	Status            map[string]any  `json:"status"`
}

type nodeOverlaySpec struct {
	Requirements    []scheduling.Requirement `json:"requirements"`
	PriceAdjustment *string                  `json:"priceAdjustment"`
	Price           *string                  `json:"price"`
	Capacity        corev1.ResourceList      `json:"capacity"`
	Weight          *int32                   `json:"weight"`
}

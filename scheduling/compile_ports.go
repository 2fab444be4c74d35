package scheduling

import corev1 "k8s.io/api/core/v1"

// hostPort is a port of the node that a pod takes for itself.
type hostPort struct {
	ip, protocol string
	port         int32
}

func portsOf(p *corev1.Pod) []hostPort {
	var out []hostPort
	add := func(c *corev1.Container) {
		for _, port := range c.Ports {
			h := hostPort{ip: port.HostIP, protocol: string(port.Protocol), port: port.HostPort}
			if h.port == 0 && p.Spec.HostNetwork {
				h.port = port.ContainerPort // as the API server defaults it
			}
			if h.port == 0 {
				continue
			}
			if h.protocol == "" {
				h.protocol = string(corev1.ProtocolTCP)
			}
			if h.ip == "" || h.ip == "::" {
				h.ip = "0.0.0.0"
			}
			out = append(out, h)
		}
	}
	for i := range p.Spec.Containers {
		add(&p.Spec.Containers[i])
	}
	// kube-scheduler counts the ports of sidecars, not those of init containers that end.
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	return out
}

// portsClash reports whether two sets of host ports cannot be on one node.
func portsClash(a, b []hostPort) bool {
	for _, x := range a {
		for _, y := range b {
			if x.port == y.port && x.protocol == y.protocol && (x.ip == y.ip || x.ip == "0.0.0.0" || y.ip == "0.0.0.0") {
				return true
			}
		}
	}
	return false
}

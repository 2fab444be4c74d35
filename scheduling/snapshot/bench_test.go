package snapshot

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// dump writes what `kubectl get pods -A -o yaml` prints for n pods of a usual size.
func dump(n int) []byte {
	var b bytes.Buffer
	b.WriteString("apiVersion: v1\nitems:\n")
	for i := range n {
		fmt.Fprintf(&b, `- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      kubectl.kubernetes.io/restartedAt: "2026-01-01T00:00:00Z"
    creationTimestamp: "2026-01-02T03:04:05Z"
    generateName: web-7d4b9c6f5-
    labels:
      app.kubernetes.io/name: web
      app.kubernetes.io/part-of: shop
      pod-template-hash: 7d4b9c6f5
    name: web-7d4b9c6f5-%05d
    namespace: shop
    ownerReferences:
    - apiVersion: apps/v1
      blockOwnerDeletion: true
      controller: true
      kind: ReplicaSet
      name: web-7d4b9c6f5
      uid: 5c7e4b8a-0000-4000-8000-000000000001
    resourceVersion: "%d"
    uid: 5c7e4b8a-0000-4000-8000-%012d
  spec:
    containers:
    - args:
      - --listen
      - :8080
      env:
%s      image: registry.example.com/shop/web:1.2.3
      imagePullPolicy: IfNotPresent
      livenessProbe:
        failureThreshold: 3
        httpGet:
          path: /healthz
          port: 8080
          scheme: HTTP
        periodSeconds: 10
        successThreshold: 1
        timeoutSeconds: 1
      name: web
      ports:
      - containerPort: 8080
        name: http
        protocol: TCP
      resources:
        limits:
          memory: 1Gi
        requests:
          cpu: 250m
          memory: 1Gi
      terminationMessagePath: /dev/termination-log
      terminationMessagePolicy: File
      volumeMounts:
      - mountPath: /var/run/secrets/kubernetes.io/serviceaccount
        name: kube-api-access-abcde
        readOnly: true
    dnsPolicy: ClusterFirst
    enableServiceLinks: true
    nodeName: ip-10-0-%d-%d.ec2.internal
    priority: 0
    restartPolicy: Always
    schedulerName: default-scheduler
    securityContext: {}
    serviceAccount: web
    serviceAccountName: web
    terminationGracePeriodSeconds: 30
    tolerations:
    - effect: NoExecute
      key: node.kubernetes.io/not-ready
      operator: Exists
      tolerationSeconds: 300
    volumes:
    - name: kube-api-access-abcde
      projected:
        defaultMode: 420
        sources:
        - serviceAccountToken:
            expirationSeconds: 3607
            path: token
        - configMap:
            items:
            - key: ca.crt
              path: ca.crt
            name: kube-root-ca.crt
  status:
    conditions:
    - lastProbeTime: null
      lastTransitionTime: "2026-01-02T03:04:06Z"
      status: "True"
      type: Initialized
    - lastProbeTime: null
      lastTransitionTime: "2026-01-02T03:04:09Z"
      status: "True"
      type: Ready
    containerStatuses:
    - containerID: containerd://0123456789abcdef
      image: registry.example.com/shop/web:1.2.3
      imageID: registry.example.com/shop/web@sha256:0123456789abcdef
      lastState: {}
      name: web
      ready: true
      restartCount: 0
      started: true
      state:
        running:
          startedAt: "2026-01-02T03:04:08Z"
    hostIP: 10.0.0.1
    phase: Running
    podIP: 10.0.1.2
    podIPs:
    - ip: 10.0.1.2
    qosClass: Burstable
    startTime: "2026-01-02T03:04:05Z"
`, i, 1000+i, i, strings.Repeat("      - name: SETTING\n        value: \"some value\"\n", 12), i/250, i%250)
	}
	b.WriteString("kind: List\nmetadata:\n  resourceVersion: \"\"\n")
	return b.Bytes()
}

// BenchmarkLoad reads a dump of 1,000 pods in both formats.
func BenchmarkLoad(b *testing.B) {
	text := dump(1000)
	root, err := parseYAML(chunk{text, 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, format := range []struct {
		name string
		text []byte
	}{{"yaml", text}, {"json", Document{root: root}.JSON()}} {
		b.Run(format.name, func(b *testing.B) {
			b.SetBytes(int64(len(format.text)))
			b.ReportAllocs()
			for b.Loop() {
				var l Loader
				if err := l.Read("dump", bytes.NewReader(format.text)); err != nil {
					b.Fatal(err)
				}
				if len(l.in.pods) != 1000 {
					b.Fatal(len(l.in.pods), l.findings)
				}
			}
		})
	}
}

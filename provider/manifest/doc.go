// Package manifest reads Karpenter manifests into this library's values.
package manifest

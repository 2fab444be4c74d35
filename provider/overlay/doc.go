// Package overlay corrects what instance types are taken to cost and to have: discounts and licences that no price
// list knows, extended resources that a device plugin adds, machine room that something outside of Kubernetes
// takes. It decides for each offering and type which overlay counts, and says which contradict each other.
//
//	r, err := overlay.Apply(problem.Pools, overlays, problem.Labels)
//	problem.Pools = r.Pools           // r.Conflicts, r.Effects say what became of each overlay
//
// # Rules
//
//  1. An overlay matches an offering if its requirements go with the labels that a node bought so would have: those of
//     the type, of the offering, of the pool, and the pool's name. A label that none of them mentions is absent. A pool's
//     requirements do not count. Whether an offering is available plays no role.
//  2. A price goes to the offerings that match, which may be some of a type. Capacity and overhead belong to the type:
//     one offering that matches is enough (Effect.Widened counts the types where not all do).
//  3. Of several overlays with a word on one thing - an offering's price, one resource of a type - the heaviest
//     decides, alone: adjustments do not add up.
//  4. If the heaviest are several and say different things, the catalogue's value stays, and a Conflict
//     names them. What they say of other things counts.
//  5. An adjustment is of the catalogue's price, exact and rounded to a billionth, never below 0. An unknown price
//     stays unknown under an adjustment and becomes known by a price.
//  6. Capacity replaces the amounts that it names and leaves the others. The machine's own cpu, memory,
//     ephemeral-storage and pods cannot be named. Overhead comes on top of the type's own.
//
// Apply writes to nothing that it is given. Pools, slices and types in which nothing changes are shared with
// the result. The order of overlays means nothing; weights and names do.
//
// # Sources
//
// NodeOverlay of karpenter.sh/v1alpha1 as in Karpenter v1.14 (https://karpenter.sh/docs/concepts/nodeoverlays/).
// There, an overlay that meets another of its weight anywhere is dropped everywhere and the one later in the
// alphabet counts, also where both say the same and where a third one outweighs both; it has no overhead.
package overlay

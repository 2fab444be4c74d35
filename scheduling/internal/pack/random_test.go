package pack

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// features says what a random world has beside rows and jobs.
type features struct {
	limits, tiers, minValues, open, rules, nodes, zeroPrices, scarce, alike, reserved bool
}

// everything switches each feature on for about half of the seeds.
func everything(rng *rand.Rand) features {
	b := func() bool { return rng.IntN(2) == 0 }
	return features{limits: b(), tiers: b(), minValues: b(), open: b(), rules: b(), nodes: b(), zeroPrices: b(), scarce: b(), alike: b(), reserved: b()}
}

// world is a random problem as the kernel sees it. The jobs come in rounds.
type world struct {
	feat   features
	s      *Space
	ru     *Rules
	rounds [][]Job
}

// jobs are those of all rounds.
func (w *world) jobs() []Job { return slices.Concat(w.rounds...) }

const cent = 10_000_000 // prices are in billionths

const openStates = 3 // values of an open key; state b is the set of the values in bits of b

func meetSets(a, b int32) int32 {
	if a&b == 0 {
		return -1
	}
	return a & b
}

// newWorld builds a small problem. The same seed gives the same world.
func newWorld(rng *rand.Rand, feat features) *world {
	w := &world{feat: feat, s: &Space{Dims: 2 + rng.IntN(3), Meet: meetSets, BestEffort: rng.IntN(3) == 0}}
	pools := w.addRows(rng)
	if feat.limits {
		w.addLimits(rng, pools)
	}
	if feat.minValues {
		w.addMinValues(rng, pools)
	}
	if feat.open {
		w.addOpen(rng, pools)
	}
	if feat.reserved {
		w.addReservations(rng)
	}
	w.addTiers(rng, pools)
	classes := 1 + rng.IntN(6)
	if feat.alike {
		classes += 10
	}
	if feat.rules {
		w.ru = newRules(rng, classes)
	}
	if feat.nodes {
		w.addNodes(rng, classes)
	}
	ids := map[string]int32{}
	for range 1 + rng.IntN(3) {
		var round []Job
		jobs := 1 + rng.IntN(5)
		if feat.alike {
			jobs *= 4
		}
		for range jobs {
			j := w.newJob(rng, classes, ids)
			if feat.alike && len(round) > 0 && rng.IntN(4) > 0 {
				class, count := j.Class, j.Count
				j = round[rng.IntN(len(round))]
				j.Class, j.Count = class, count
				if rng.IntN(8) == 0 {
					j.Req = w.newJob(rng, classes, ids).Req
				}
			}
			round = append(round, j)
		}
		w.rounds = append(w.rounds, round)
	}
	return w
}

func (w *world) addRows(rng *rand.Rand) (pools int) {
	s := w.s
	pools = 1 + rng.IntN(3)
	s.OfferStart = []int32{0}
	for typ := range 1 + rng.IntN(5) {
		size := int64(1 + rng.IntN(16))
		vec := make([]int64, s.Dims)
		for d := range vec {
			vec[d] = size * int64(1+rng.IntN(8))
			if w.feat.scarce && d > 0 && rng.IntN(4) == 0 {
				vec[d] = 0
			}
		}
		for pool := range pools {
			if rng.IntN(5) == 0 && (pool > 0 || typ > 0) {
				continue
			}
			s.Rows++
			s.Type, s.Pool = append(s.Type, int32(typ)), append(s.Pool, int32(pool))
			for _, v := range vec {
				if w.feat.scarce && rng.IntN(8) == 0 {
					v -= int64(rng.IntN(6)) // DaemonSets, perhaps more than there is
				}
				s.Alloc = append(s.Alloc, v)
			}
			price := size * int64(50+rng.IntN(100)) * cent / 100
			for range 1 + rng.IntN(4) {
				if w.feat.zeroPrices && rng.IntN(10) == 0 {
					price = 0
				}
				s.Offer = append(s.Offer, price)
				price += int64(rng.IntN(3)) * cent / 5
			}
			start := s.OfferStart[len(s.OfferStart)-1]
			slices.Sort(s.Offer[start:])
			s.OfferStart = append(s.OfferStart, int32(len(s.Offer)))
		}
	}
	return pools
}

func (w *world) addLimits(rng *rand.Rand, pools int) {
	s := w.s
	for _, a := range s.Alloc {
		s.Cap = append(s.Cap, max(a, 0)+int64(rng.IntN(4)))
	}
	for range pools {
		for range s.Dims {
			limit := Unlimited
			if rng.IntN(2) == 0 {
				limit = int64(rng.IntN(400))
			}
			s.Limits = append(s.Limits, limit)
		}
		limit := Unlimited
		if rng.IntN(2) == 0 {
			limit = int64(rng.IntN(6))
		}
		s.NodeLimit = append(s.NodeLimit, limit)
	}
}

func (w *world) addReservations(rng *rand.Rand) {
	s := w.s
	for range 1 + rng.IntN(3) {
		s.Reserved = append(s.Reserved, int64(rng.IntN(7)-1))
	}
	for r := range s.Rows {
		for range s.OfferStart[r+1] - s.OfferStart[r] {
			id := int32(-1)
			if rng.IntN(3) == 0 {
				id = rng.Int32N(int32(len(s.Reserved)))
			}
			s.Reservation = append(s.Reservation, id)
		}
		if first := s.OfferStart[r]; s.Reservation[first] >= 0 && rng.IntN(2) == 0 {
			s.Offer[first] = int64(rng.IntN(2)) // paid for already
		}
	}
	if rng.IntN(2) == 0 { // amounts instead of nodes
		for id := range s.Reserved {
			s.Reserved[id] *= 3
		}
		for range s.Offer {
			s.Draw = append(s.Draw, 1+rng.Int64N(7))
		}
	}
}

func (w *world) addMinValues(rng *rand.Rand, pools int) {
	for key := range 1 + rng.IntN(2) {
		mv := MinValues{Pool: int32(rng.IntN(pools)), Need: 1 + rng.IntN(3), Key: int32(key)}
		for r := range w.s.Rows {
			v := w.s.Type[r] / int32(1+key)
			if rng.IntN(10) == 0 {
				v = -1
			}
			mv.Value = append(mv.Value, v)
		}
		w.s.MinValues = append(w.s.MinValues, mv)
	}
}

func (w *world) addOpen(rng *rand.Rand, pools int) {
	keys := 1 + rng.IntN(2)
	byPool := make([][]int32, pools)
	for p := range byPool {
		for range keys {
			byPool[p] = append(byPool[p], 1+rng.Int32N(1<<openStates-1))
		}
	}
	for r := range w.s.Rows {
		w.s.OpenStart = append(w.s.OpenStart, slices.Clone(byPool[w.s.Pool[r]]))
	}
}

func (w *world) addTiers(rng *rand.Rand, pools int) {
	w.s.Tiers = [][]int32{nil}
	for p := range pools {
		last := len(w.s.Tiers) - 1
		if w.feat.tiers && p > 0 && rng.IntN(2) == 0 {
			w.s.Tiers = append(w.s.Tiers, nil)
			last++
		}
		w.s.Tiers[last] = append(w.s.Tiers[last], int32(p))
	}
}

func newRules(rng *rand.Rand, classes int) *Rules {
	ru := &Rules{Excludes: make([][]int32, classes), Caps: make([][]Cap, classes)}
	for a := range classes {
		for b := range a + 1 {
			if rng.IntN(5) == 0 {
				ru.Excludes[a] = append(ru.Excludes[a], int32(b))
				ru.Excludes[b] = append(ru.Excludes[b], int32(a))
			}
		}
	}
	for i := range ru.Excludes {
		slices.Sort(ru.Excludes[i])
		ru.Excludes[i] = slices.Compact(ru.Excludes[i])
	}
	if classes > 10 { // some with rules about themselves only
		ru.Excludes = make([][]int32, classes)
		for c := range classes {
			switch rng.IntN(4) {
			case 0:
				ru.Excludes[c] = []int32{int32(c)}
			case 1:
				ru.Caps[c] = []Cap{{Group: int32(10 + c), Max: 1 + rng.Int32N(3), In: true, Owns: rng.IntN(4) > 0}}
			}
		}
	}
	for g := range rng.IntN(3) {
		in, own := make([]bool, classes), make([]bool, classes)
		most := 1 + rng.Int32N(4)
		for c := range min(classes, 6) {
			in[c], own[c] = rng.IntN(2) == 0, rng.IntN(3) == 0
			if in[c] || own[c] {
				ru.Caps[c] = append(ru.Caps[c], Cap{Group: int32(g), Max: most, In: in[c], Owns: own[c]})
			}
		}
	}
	return ru
}

func (w *world) addNodes(rng *rand.Rand, classes int) {
	for range 1 + rng.IntN(4) {
		n := Node{}
		for range w.s.Dims {
			n.Free = append(n.Free, int64(rng.IntN(60)-5))
		}
		if rng.IntN(2) == 0 {
			n.Content = append(n.Content, Content{Class: rng.Int32N(int32(classes)), Job: -1, Count: 1})
		}
		w.s.Nodes = append(w.s.Nodes, n)
	}
}

func (w *world) newJob(rng *rand.Rand, classes int, ids map[string]int32) Job {
	j := Job{Class: rng.Int32N(int32(classes)), Count: 1 + rng.Int32N(40), Urgent: rng.IntN(8) == 0}
	for d := range w.s.Dims {
		q := int64(rng.IntN(12))
		if d == 0 || rng.IntN(3) > 0 {
			q++ // the first resource is asked for by all, as the number of pods is
		} else {
			q = 0
		}
		j.Req = append(j.Req, q)
	}
	alts := 0
	if w.feat.open {
		alts = rng.IntN(4)
	}
	j.Mask = make(Mask, w.s.Rows)
	if alts == 0 {
		copy(j.Mask, w.newMask(rng))
	}
	for range alts {
		alt := Alternative{Mask: w.newMask(rng)}
		for k := range w.s.OpenStart[0] {
			if rng.IntN(2) == 0 {
				alt.Open = append(alt.Open, OpenReq{Key: int32(k), State: 1 + rng.Int32N(1<<openStates-1)})
			}
		}
		for r := range alt.Mask {
			for _, req := range alt.Open { // a compiled mask has only rows that can meet the term
				if meetSets(w.s.OpenStart[r][req.Key], req.State) < 0 {
					alt.Mask[r] = 0
				}
			}
			j.Mask[r] |= alt.Mask[r]
		}
		j.Alternatives = append(j.Alternatives, alt)
	}
	j.MaskID = internMask(ids, j.Mask)
	odd := rng.IntN(3)
	j.Fits = func(node int) bool { return odd == 0 || node%2 == odd-1 }
	return j
}

func internMask(ids map[string]int32, m Mask) int32 {
	key := make([]byte, 0, 8*len(m))
	for _, b := range m {
		for range 8 {
			key = append(key, byte(b))
			b >>= 8
		}
	}
	id, ok := ids[string(key)]
	if !ok {
		id = int32(len(ids))
		ids[string(key)] = id
	}
	return id
}

func (w *world) newMask(rng *rand.Rand) Mask {
	m := make(Mask, w.s.Rows)
	kind := rng.IntN(4) // all, all but a few offerings, one pool, anything
	pool := w.s.Pool[rng.IntN(w.s.Rows)]
	for r := range m {
		all := uint64(1)<<(w.s.OfferStart[r+1]-w.s.OfferStart[r]) - 1
		switch {
		case kind == 0:
			m[r] = all
		case kind == 1:
			m[r] = all &^ (1 << rng.IntN(4))
		case kind == 2 && w.s.Pool[r] == pool:
			m[r] = all
		case kind == 3:
			m[r] = all & rng.Uint64()
		}
	}
	return m
}

// packed runs a packer over the rounds. What a round leaves is not tried again.
func (w *world) packed(t *testing.T, build func(*Space, *Rules, *Budget) *Packer, b *Budget) *Result {
	t.Helper()
	p := build(w.s, w.ru, b)
	var left []int32
	for _, round := range w.rounds {
		left = append(left, p.Run(slices.Clone(round))...)
	}
	res := p.Result()
	if !slices.Equal(left, res.Left) {
		t.Errorf("Run returned %v left, the result has %v", left, res.Left)
	}
	return res
}

// eachWorld runs a test on worlds of n seeds and names the seed that fails.
func eachWorld(t *testing.T, n uint64, pick func(*rand.Rand) features, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Logf("seeds 0 to %d", n-1)
	for seed := range n {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(rng, pick(rng))
		func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("panic: %v", v)
				}
				if t.Failed() {
					t.Fatalf("seed %d, %+v", seed, w.feat)
				}
			}()
			test(t, w)
		}()
	}
}

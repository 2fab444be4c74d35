package scheduling

import (
	"context"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// Snapshot is a problem compiled once, to ask it many questions: WhatIf tells what a change would lead to, and
// costs what it moves, not what exists. Apply makes changes that last until Revert.
//
// A Snapshot is not safe for concurrent use. Fork gives each goroutine one of its own; forks share what was compiled
// and need no locks of their callers. Answers do not depend on what was asked before, or on other forks.
//
// It holds on to the problem's pods, nodes and types, which must not change while it or a fork is in use.
type Snapshot struct {
	opts    Options
	problem *Problem
	// c and the models in it are shared by forks and not written after compile; board is the snapshot's own.
	c     *compiler
	board *board.Board
	// nodes finds existing nodes of c by name.
	nodes map[string]int32
	// stale is set where the problem has changed in a way that the board does not know.
	stale bool
	// saved is what Revert returns to; its board is where the journal begins.
	saved *Snapshot
	spare whatIf
}

// Compile compiles a problem for questions. Its errors are those of [Solve]. Options.First, Steps and Progress are
// ignored. O(problem): about what a Solve takes before it packs, and as much again for the pods that run, each of
// which may have to move.
func Compile(p *Problem, opts *Options) (*Snapshot, error) {
	s := &Snapshot{problem: p}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.First, s.opts.Steps, s.opts.Progress = nil, 0, nil
	if err := s.compile(true); err != nil {
		return nil, err
	}
	s.Commit()
	return s, nil
}

// compile reads the problem anew. If movable, pods that run can be asked about.
func (s *Snapshot) compile(movable bool) error {
	c := newCompiler(s.problem, &s.opts)
	c.movable = movable
	if err := c.compile(); err != nil {
		return err
	}
	c.nodePrices()
	c.model.Prepare()
	c.depths()
	s.c, s.board, s.stale = c, board.New(&c.model), false
	s.nodes = make(map[string]int32, len(c.nodes))
	for i := range c.nodes {
		s.nodes[c.nodes[i].node.Name] = int32(i)
	}
	return nil
}

// Fork returns a snapshot in the same state, to be used at the same time as this one; what is applied to one is
// unknown to the other. Its Revert leads back to here. O(nodes and kinds of pods on them); the snapshot must not be in
// use during the call.
func (s *Snapshot) Fork() *Snapshot {
	f := &Snapshot{opts: s.opts, problem: s.problem, c: s.c, board: s.board.Clone(), nodes: s.nodes, stale: s.stale}
	f.Commit()
	return f
}

// Commit makes what was applied final: Revert returns to here from now on.
func (s *Snapshot) Commit() {
	s.board.Forget()
	s.saved = &Snapshot{problem: s.problem, c: s.c, board: s.board, nodes: s.nodes, stale: s.stale}
}

// Revert takes back all that was applied since the last Commit, or since Compile or Fork. O(what was applied).
func (s *Snapshot) Revert() {
	was := s.saved
	was.board.Rollback(0)
	s.problem, s.c, s.board, s.nodes, s.stale = was.problem, was.c, was.board, was.nodes, was.stale
}

// Problem returns the problem as it is after what was applied, as one would write it by hand: displaced pods wait at the
// end of Pods. It shares pods, nodes and types with the one that was compiled; read it only. It stays as it is when more
// is applied.
func (s *Snapshot) Problem() *Problem { return s.problem }

// Plan solves the problem as it is: all pods that wait, those that changes displaced among them. It is [Solve] of
// Problem, with the options of Compile where opts is nil, and keeps nothing between calls: to go on with a partial plan,
// name what was not evaluated in Options.First; to launch from some pools only, name them in Options.Pools.
func (s *Snapshot) Plan(ctx context.Context, opts *Options) (*Plan, error) {
	if opts == nil {
		opts = &s.opts
	}
	return Solve(ctx, s.problem, opts)
}

// Apply makes changes, all or none. An error says which change cannot be made and leaves everything as it was.
//
// Draining and removing nodes, and pods that come or go while they wait, cost what they move beside a copy of the
// lists of pods and nodes. Other changes make the next WhatIf compile the problem, once for all changes before it.
func (s *Snapshot) Apply(ch Changes) error {
	p, light, err := s.problem.with(&ch)
	if err != nil {
		return err
	}
	if !ch.nodesOnly() {
		if err := p.check(&s.opts); err != nil {
			return err
		}
	}
	if s.stale = s.stale || !light; !s.stale {
		for _, names := range [2][]string{ch.DrainNodes, ch.RemoveNodes} {
			for _, name := range names {
				s.board.Close(s.nodes[name])
			}
		}
	}
	s.problem = p
	return nil
}

// fresh compiles what Apply left stale.
func (s *Snapshot) fresh() error {
	if !s.stale {
		return nil
	}
	return s.compile(true)
}

// check finds what is wrong with the problem before any pod is read closely.
func (p *Problem) check(opts *Options) error {
	c := newCompiler(p, opts)
	if err := c.check(); err != nil {
		return err
	}
	c.readDemands()
	c.checkPodNames(&c.twice)
	return c.checkNames()
}

package scheduling

// Groups compiles the problem and returns how many groups of constraints it has.
func Groups(p *Problem) (int, error) {
	c := newCompiler(p, &Options{})
	err := c.compile()
	return len(c.model.Groups), err
}

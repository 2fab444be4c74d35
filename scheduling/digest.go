package scheduling

func problemDigest(p *Problem) string { return "" }
